# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""How large an array becomes, in mdadm's and the kernel's own arithmetic (mdadm 4.2 to 4.4). Pure; bytes."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import first_aligned
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import has_chunk, raid10_copies

__all__ = [
    "array_size_bytes",
    "available_bytes",
    "component_size_bytes",
    "concatenated_bytes",
    "default_data_offset_bytes",
]

_SECTOR = 512
_KIB = 1024
_MIB = 1024 * 1024
_HEADROOM_SECTORS = 128 * 1024 * 2
_PPL_SECTORS = 1024 * 1024 // _SECTOR
_SUPERBLOCK_SECTORS = 12 * 2


def _bitmap_sectors(device_sectors: int) -> int:
    """Room that mdadm keeps for a bitmap: it grows with the device."""
    if device_sectors < 64 * 2:
        return 0
    if device_sectors - 64 * 2 >= 200 * 1024 * 1024 * 2:
        return 128 * 2
    if device_sectors - 4 * 2 > 8 * 1024 * 1024 * 2:
        return 64 * 2
    return 4 * 2


def default_data_offset_bytes(
    device_bytes: int, chunk_bytes: int | None, metadata: str = "1.2", ppl: bool = False
) -> int:
    """Where mdadm lets the data begin on members of this size: about 0.1 % headroom, at most 128 MiB, whole MiB."""
    if metadata in ("0.90", "1.0"):
        return 0
    sectors = device_bytes // _SECTOR
    headroom = _HEADROOM_SECTORS
    floor = (chunk_bytes // _KIB) * 2 * 2 if chunk_bytes else 0
    while (headroom << 10) > sectors and headroom > floor:
        headroom >>= 1
    reserved = _PPL_SECTORS if ppl else _bitmap_sectors(sectors)
    return first_aligned((_SUPERBLOCK_SECTORS + reserved + headroom) * _SECTOR, _MIB)


def available_bytes(device_bytes: int, metadata: str, data_offset_bytes: int, ppl: bool = False) -> int:
    """What one member can contribute behind (or before) its superblock; 0 or less: nothing."""
    sectors = device_bytes // _SECTOR
    if metadata == "0.90":
        return ((sectors & ~127) - 128) * _SECTOR
    if metadata == "1.0":
        reserved = _PPL_SECTORS if ppl else _bitmap_sectors(sectors)
        return ((sectors & ~7) - (8 * 2 + 8 + reserved)) * _SECTOR
    return sectors * _SECTOR - data_offset_bytes


def component_size_bytes(level: str, available: t.Sequence[int], chunk_bytes: int | None) -> int:
    """What every member contributes: the smallest, in whole chunks where the level has them, else in whole KiB."""
    unit = chunk_bytes if chunk_bytes and has_chunk(level) else _KIB
    return min(available) // unit * unit


def concatenated_bytes(available: t.Sequence[int], chunk_bytes: int | None) -> int:
    """The size of raid0 (and, without a chunk, linear), where each member gives all that it has.

    The kernel cuts each member to whole chunks and then masks with chunk - 1 sectors, which loses a little more where
    the chunk is not a power of two.
    """
    if not chunk_bytes:
        return sum(each // _KIB * _KIB for each in available)
    chunk = chunk_bytes // _SECTOR
    sectors = [each // _SECTOR // chunk * chunk for each in available]
    return sum(each & ~(chunk - 1) for each in sectors) * _SECTOR


def array_size_bytes(
    level: str, raid_devices: int, layout: str | None, component_bytes: int, chunk_bytes: int | None
) -> int:
    """The size of the array when every member contributes C(component_bytes)."""
    if level == "raid1":
        return component_bytes
    if level != "raid10" or not chunk_bytes:
        parity = {"raid4": 1, "raid5": 1, "raid6": 2}.get(level, 0)
        return component_bytes * (raid_devices - parity)
    kind, copies = raid10_copies(layout)
    # The order of the divisions is the kernel's: what it cuts off depends on it.
    chunks = component_bytes // chunk_bytes
    if kind == "n":
        return chunks * raid_devices // copies * chunk_bytes
    return chunks // copies * raid_devices * chunk_bytes
