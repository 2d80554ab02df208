# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What mkfs.xfs should be told of the stripe below it."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry

__all__ = [
    "MIN_GEOMETRY_BYTES",
    "MIN_SIZE_BYTES",
    "XfsStripe",
    "grown_blocks",
    "xfs_log_unit_bytes",
    "xfs_stripe",
]

MIN_SIZE_BYTES = 300 * 1024**2
MIN_GEOMETRY_BYTES = 1024**3
# mkfs.xfs leaves out a last allocation group smaller than this.
_LEAST_GROUP_BYTES = 16 * 1024**2
_SMALL_SECTOR_BYTES = 512
_LOG_UNIT_LIMIT = 256 * 1024
_LOG_UNIT_CUT = 32 * 1024


class XfsStripe(t.NamedTuple):
    """su in bytes and sw in units for mkfs.xfs; both 0 mean no stripe geometry. C(log_unit_bytes) 0: none."""

    su_bytes: int = 0
    sw_units: int = 0
    log_unit_bytes: int = 0
    warnings: tuple[str, ...] = ()


def xfs_log_unit_bytes(su_bytes: int, block_bytes: int = 4096, sector_bytes: int = 512) -> int:
    """The log stripe unit that mkfs.xfs derives from su: the same, but 32 KiB where su is more than 256 KiB.

    With sectors larger than 512 bytes it takes one block, whatever su is.
    """
    if sector_bytes > _SMALL_SECTOR_BYTES:
        return block_bytes
    if su_bytes > _LOG_UNIT_LIMIT:
        return max(_LOG_UNIT_CUT, block_bytes)
    return su_bytes


def xfs_stripe(device: DeviceGeometry, size_bytes: int | None = None, block_bytes: int = 4096) -> XfsStripe:
    """su and sw for a file system on the device, with warnings where the stripe cannot be used or does not fit.

    C(size_bytes) is the size of the file system when it is smaller than the device.
    """
    stripe, size = device.stripe, size_bytes if size_bytes is not None else device.size_bytes
    if stripe is None:
        return XfsStripe()
    if size is not None and size < MIN_GEOMETRY_BYTES:
        return XfsStripe(
            warnings=(
                f"{device.path} has {format_size(size)}; mkfs.xfs takes stripe geometry only from 1GiB up, "
                f"so su {format_size(stripe.unit_bytes)} and sw {stripe.width_units} are left out",
            )
        )
    if stripe.unit_bytes % block_bytes:
        return XfsStripe(
            warnings=(
                f"the stripe unit {format_size(stripe.unit_bytes)} of {device.path} is not a multiple of the "
                f"block size {format_size(block_bytes)}, so the file system is made without stripe geometry",
            )
        )
    warnings: tuple[str, ...] = ()
    if device.offset_bytes:
        warnings = (
            f"{device.path} starts {format_size(device.offset_bytes)} behind a full stripe of "
            f"{format_size(stripe.full_bytes)}, so no write of the file system covers whole stripes",
        )
    log_unit = xfs_log_unit_bytes(stripe.unit_bytes, block_bytes, device.physical_sector_bytes)
    return XfsStripe(stripe.unit_bytes, stripe.width_units, log_unit, warnings)


def grown_blocks(device_bytes: int, block_bytes: int, group_blocks: int, present_blocks: int) -> int:
    """How many blocks a file system should have on a device that is at least as large.

    A tail that would begin a new allocation group and is smaller than mkfs.xfs makes one is left out, as mkfs.xfs does: a file
    system just made has nothing to grow.
    """
    blocks = device_bytes // block_bytes
    tail = blocks % group_blocks
    if 0 < tail < _LEAST_GROUP_BYTES // block_bytes and blocks - tail >= present_blocks:
        return blocks - tail
    return max(blocks, present_blocks)
