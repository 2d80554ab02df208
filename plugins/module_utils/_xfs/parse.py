# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The superblock of XFS, typed: the on-disk format of the kernel's fs/xfs/libxfs/xfs_format.h, struct xfs_dsb."""

from __future__ import annotations

import functools
import struct
import uuid

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import XfsState

__all__ = ["MAGIC", "SUPERBLOCK_BYTES", "is_unfinished", "parse_superblock"]

MAGIC = b"XFSB"
# What must be read: the structure is shorter, but its checksum covers one sector of the file system.
SUPERBLOCK_BYTES = 4096
_STRUCT_BYTES = 264
_CRC_OFFSET = 224
_IN_PROGRESS_OFFSET = 126

_VERSION_MASK, _VERSION_5 = 0x000F, 5
_V4_FEATURES2 = {0x0080: "projid32bit", 0x0100: "crc", 0x0200: "ftype"}
_RO_COMPAT = {0x1: "finobt", 0x2: "rmapbt", 0x4: "reflink", 0x8: "inobtcount"}
_INCOMPAT = {0x1: "ftype", 0x2: "sparse", 0x8: "bigtime", 0x20: "nrext64", 0x40: "exchange", 0x80: "parent"}


def is_unfinished(data: bytes) -> bool:
    """Whether mkfs.xfs began this file system and did not end (sb_inprogress)."""
    return data[:4] == MAGIC and len(data) > _IN_PROGRESS_OFFSET and data[_IN_PROGRESS_OFFSET] != 0


def parse_superblock(data: bytes, device: str, mounted_at: tuple[str, ...] = ()) -> XfsState:
    """The file system that begins with these bytes. Raises ParseError for anything but a sound XFS superblock."""
    what = f"the XFS superblock of {device}"
    if data[:4] != MAGIC or len(data) < _STRUCT_BYTES:
        raise ParseError(what, data[:32])
    block, data_blocks = struct.unpack_from(">IQ", data, 4)
    agblocks, agcount, _rbmblocks, log_blocks, version, sector, inode = struct.unpack_from(">IIIIHHH", data, 84)
    unit, width = struct.unpack_from(">II", data, 184)
    log_unit, features2 = struct.unpack_from(">II", data, 196)
    if agcount == 0:
        raise ParseError(f"{what}: it has no allocation group", data[:32])
    _check_sound(what, data, block, sector, version)
    return XfsState(
        device=device,
        uuid=str(uuid.UUID(bytes=data[32:48])),
        label=data[108:120].split(b"\0")[0].decode(errors="replace"),
        block_bytes=block,
        sector_bytes=sector,
        agcount=agcount,
        agblocks=agblocks,
        data_blocks=data_blocks,
        log_blocks=log_blocks,
        inode_bytes=inode,
        sunit_bytes=unit * block,
        swidth_bytes=width * block,
        # Without a log stripe unit mkfs.xfs writes 1 on old file systems: a unit of one byte means none.
        log_sunit_bytes=log_unit if log_unit > 1 else 0,
        features=_features(data, version, features2),
        mounted_at=mounted_at,
    )


def _check_sound(what: str, data: bytes, block: int, sector: int, version: int) -> None:
    for name, value in (("block size", block), ("sector size", sector)):
        if value < 512 or value > 65536 or value & (value - 1):
            raise ParseError(f"{what}: its {name} is {value}", data[:32])
    if version & _VERSION_MASK == _VERSION_5 and len(data) >= sector:
        stored = struct.unpack_from("<I", data, _CRC_OFFSET)[0]
        if stored != _crc32c(data[:_CRC_OFFSET] + bytes(4) + data[_CRC_OFFSET + 4 : sector]):
            raise ParseError(f"{what}: its checksum is wrong", data[:32])


def _features(data: bytes, version: int, features2: int) -> tuple[str, ...]:
    names = {name for bit, name in _V4_FEATURES2.items() if features2 & bit}
    if version & _VERSION_MASK == _VERSION_5:
        ro_compat, incompat = struct.unpack_from(">II", data, 212)
        names |= {name for bit, name in _RO_COMPAT.items() if ro_compat & bit}
        names |= {name for bit, name in _INCOMPAT.items() if incompat & bit}
        names.add("crc")
    return tuple(sorted(names))


@functools.lru_cache(maxsize=1)
def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _bit in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


def _crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), which the standard library does not have."""
    value, table = 0xFFFFFFFF, _crc_table()
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF
