# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The superblock of XFS, typed (struct xfs_dsb of the kernel's fs/xfs/libxfs/xfs_format.h); what the kernel says of a mounted one
(struct xfs_fsop_geom of xfs_fs.h); the text of mkfs.xfs and xfs_info."""

from __future__ import annotations

import functools
import re
import struct
import uuid

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import XfsState

__all__ = [
    "FSGEOMETRY_BYTES",
    "MAGIC",
    "SUPERBLOCK_BYTES",
    "is_unfinished",
    "log_is_dirty",
    "parse_info",
    "parse_superblock",
    "with_fsgeometry",
]

MAGIC = b"XFSB"
# What must be read: the structure is shorter, but its checksum covers one sector of the file system.
SUPERBLOCK_BYTES = 4096
_STRUCT_BYTES = 264
_CRC_OFFSET = 224
_IN_PROGRESS_OFFSET = 126

_VERSION_MASK, _VERSION_5 = 0x000F, 5
# The structure that XFS_IOC_FSGEOMETRY fills.
FSGEOMETRY_BYTES = 256
_V4_FEATURES2 = {0x0080: "projid32bit", 0x0100: "crc", 0x0200: "ftype"}
_RO_COMPAT = {0x1: "finobt", 0x2: "rmapbt", 0x4: "reflink", 0x8: "inobtcount"}
_INCOMPAT = {
    0x1: "ftype",
    0x2: "sparse",
    0x4: "metauuid",
    0x8: "bigtime",
    0x20: "nrext64",
    0x40: "exchange",
    0x80: "parent",
}


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
        # An internal log begins behind the first allocation group; an external one has no place on this device.
        log_external=struct.unpack_from(">Q", data, 48)[0] == 0,
        features=_features(data, version, features2),
        mounted_at=mounted_at,
    )


def with_fsgeometry(state: XfsState, data: bytes) -> XfsState:
    """A mounted file system as the kernel knows it. Its superblock on the device may be older: growing writes to the log first.

    Where another file system covers the mount point it is of that one, and not taken."""
    if str(uuid.UUID(bytes=data[64:80])) != state.uuid:
        return state
    block, _rtext, agblocks, agcount, log_blocks = struct.unpack_from("=5I", data, 0)
    data_blocks = struct.unpack_from("=Q", data, 32)[0]
    sunit, swidth = struct.unpack_from("=II", data, 80)
    return state._replace(
        block_bytes=block,
        agblocks=agblocks,
        agcount=agcount,
        log_blocks=log_blocks,
        data_blocks=data_blocks,
        sunit_bytes=sunit * block,
        swidth_bytes=swidth * block,
    )


_INFO_FEATURES = (
    "crc",
    "finobt",
    "sparse",
    "rmapbt",
    "reflink",
    "bigtime",
    "inobtcount",
    "nrext64",
    "exchange",
    "parent",
)


def parse_info(text: str, device: str) -> XfsState:
    """The file system that mkfs.xfs or xfs_info describe. Raises ParseError."""
    fields: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        head, equals, rest = line.partition("=")
        section = (head.split() or [section])[0] if equals else section
        for name, value in re.findall(r"([a-z0-9-]+)=(\S+?)(?:,|\s|$)", rest):
            fields.setdefault(f"{section}.{name}", value)
    try:
        return _info_state(fields, text, device)
    except (KeyError, ValueError):
        raise ParseError(f"what mkfs.xfs says of {device}", text) from None


def _info_state(fields: dict[str, str], text: str, device: str) -> XfsState:
    block, log_block = int(fields["data.bsize"]), int(fields["log.bsize"])
    values = {name.partition(".")[2]: value for name, value in fields.items()}
    features = {name for name in _INFO_FEATURES if values.get(name) == "1"}
    features |= {name for name in ("ftype", "projid32bit") if values.get(name) == "1"}
    return XfsState(
        device=device,
        block_bytes=block,
        sector_bytes=int(fields["meta-data.sectsz"]),
        agcount=int(fields["meta-data.agcount"]),
        agblocks=int(fields["meta-data.agsize"]),
        data_blocks=int(fields["data.blocks"]),
        log_blocks=int(fields["log.blocks"]),
        inode_bytes=int(fields["meta-data.isize"]),
        sunit_bytes=int(fields["data.sunit"]) * block,
        swidth_bytes=int(fields["data.swidth"]) * block,
        log_sunit_bytes=int(fields["log.sunit"]) * log_block,
        log_external=re.search(r"^log +=internal", text, re.MULTILINE) is None,
        features=tuple(sorted(features)),
    )


def log_is_dirty(text: str) -> bool:
    """Whether xfs_logprint -t says that the log holds changes that a mount must replay."""
    return "<DIRTY>" in text


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
