# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where LVM puts the first physical extent of a PV: its own arithmetic, in bytes."""

from __future__ import annotations

import typing as t

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry

__all__ = [
    "DEFAULT_ALIGNMENT_BYTES",
    "LEAST_METADATA_BYTES",
    "DeviceTopology",
    "PeRequest",
    "PvPlacement",
    "auto_alignment",
    "auto_alignment_offset",
    "data_extents",
    "effective_alignment",
    "pe_start_bytes",
    "place_pv",
    "round_up",
]

KIB = 1024
# Eight pages: pvcreate refuses a smaller area.
LEAST_METADATA_BYTES = 32 * KIB
DEFAULT_ALIGNMENT_BYTES = 1024 * KIB
PAGE_BYTES = 4096
# With these LVM's default data start is 1 MiB for every page size that it knows.
_DEFAULT_METADATA_BYTES = {4096: 1020 * KIB, 8192: 1016 * KIB, 65536: 960 * KIB}


class DeviceTopology(t.NamedTuple):
    """What a device tells LVM of itself (sysfs); 0 where it tells nothing. C(md_stripe_bytes): md's full stripe."""

    md_stripe_bytes: int = 0
    minimum_io_bytes: int = 0
    optimal_io_bytes: int = 0
    alignment_offset_bytes: int = 0


class PeRequest(t.NamedTuple):
    """What pvcreate was asked for; None: not asked. C(metadata_bytes) is a floor, as in LVM."""

    metadata_bytes: int | None = None
    alignment_bytes: int | None = None
    alignment_offset_bytes: int | None = None
    bootloader_bytes: int = 0
    metadata_copies: int = 1
    page_bytes: int = PAGE_BYTES


class PvPlacement(t.NamedTuple):
    """Where the areas of a PV lie, in bytes from the start of the device."""

    metadata_bytes: int
    bootloader_start_bytes: int
    pe_start_bytes: int


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple that is not below the value."""
    return -(-value // multiple) * multiple


def effective_alignment(request: PeRequest, topology: DeviceTopology | None = None) -> tuple[int, int]:
    """Alignment and offset that pvcreate uses.

    An asked alignment always wins. Else it is 1 MiB, replaced by what md or the device reports where
    1 MiB is no multiple of that; of several the last of md stripe, minimum and optimal I/O size wins.
    """
    seen = topology or DeviceTopology()
    offset = request.alignment_offset_bytes
    offset = seen.alignment_offset_bytes if offset is None else offset
    if request.alignment_bytes:
        return request.alignment_bytes, offset
    alignment = max(DEFAULT_ALIGNMENT_BYTES, request.page_bytes)
    for reported in (seen.md_stripe_bytes, seen.minimum_io_bytes, seen.optimal_io_bytes):
        if reported and DEFAULT_ALIGNMENT_BYTES % reported:
            alignment = reported
    return alignment, offset


def place_pv(request: PeRequest, topology: DeviceTopology | None = None) -> PvPlacement:
    """Places metadata, bootloader area and data.

    The metadata area starts on the first page boundary after the label and grows until its end is aligned.
    """
    alignment, offset = effective_alignment(request, topology)
    start = request.page_bytes
    asked = request.metadata_bytes or _DEFAULT_METADATA_BYTES.get(request.page_bytes, 960 * KIB)
    end = (
        round_up(start + asked, alignment) + offset if request.metadata_copies else round_up(start, alignment) + offset
    )
    data = end
    if request.bootloader_bytes:
        data = round_up(end - offset + request.bootloader_bytes, alignment) + offset
    return PvPlacement(
        metadata_bytes=end - start if request.metadata_copies else 0,
        bootloader_start_bytes=end if request.bootloader_bytes else 0,
        pe_start_bytes=data,
    )


def pe_start_bytes(request: PeRequest, topology: DeviceTopology | None = None) -> int:
    """Byte of the device at which extent 0 lies."""
    return place_pv(request, topology).pe_start_bytes


def auto_alignment(below: DeviceGeometry) -> int:
    """The alignment that puts the data of a PV on a multiple of the full stripe below; 1 MiB where that is one."""
    if below.stripe is None or DEFAULT_ALIGNMENT_BYTES % below.stripe.full_bytes == 0:
        return max(DEFAULT_ALIGNMENT_BYTES, below.physical_sector_bytes)
    return below.stripe.full_bytes


def auto_alignment_offset(below: DeviceGeometry) -> int:
    """What must be added to a multiple of the alignment when byte 0 of the device is off the grid of its stripe."""
    if below.stripe is None:
        return 0
    return -below.offset_bytes % below.stripe.full_bytes


def data_extents(device_bytes: int, pe_start: int, extent_bytes: int) -> int:
    """Whole extents behind the data start."""
    return max(0, (device_bytes - pe_start) // extent_bytes)
