# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The file system on a logical volume, as far as a change of size must know it; ext superblocks. Pure."""

from __future__ import annotations

import struct
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

__all__ = ["EXT_KINDS", "EXT_SUPERBLOCK_BYTES", "EXT_SUPERBLOCK_OFFSET", "LvContent", "parse_ext", "usable_bytes"]

EXT_KINDS = ("ext2", "ext3", "ext4")
EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_BYTES = 1024, 1024
_EXT_MAGIC = 0xEF53
_EXT_64BIT = 0x80
# resize2fs leaves out a last group that would have fewer blocks than its own tables and these.
_EXT_LEAST_DATA_BLOCKS = 50
# The kernel leaves out a last allocation group smaller than this (XFS_MIN_AG_BLOCKS).
_XFS_LEAST_GROUP_BLOCKS = 64


class LvContent(t.NamedTuple):
    """What lies on an LV. C(kinds) are all signatures, none: empty or unrecognised data.

    C(mounted_at) are mount points that this process sees. C(fs_bytes) is the size of the file system, C(block_bytes) its
    block, C(group_blocks) one group of them, and C(group_overhead_blocks) what a new group needs for itself.
    """

    kinds: tuple[str, ...] = ()
    fs_bytes: int | None = None
    block_bytes: int = 0
    group_blocks: int = 0
    first_block: int = 0
    group_overhead_blocks: int = 0
    mounted_at: tuple[str, ...] = ()
    mounted_elsewhere: bool = False

    @property
    def mounted(self) -> bool:
        return bool(self.mounted_at) or self.mounted_elsewhere

    @property
    def kind(self) -> str | None:
        """The one signature; None without, or where several contradict each other."""
        return self.kinds[0] if len(set(self.kinds)) == 1 else None

    @property
    def shown(self) -> str:
        return " and ".join(dict.fromkeys(self.kinds)) or "no file system that is known here"


def usable_bytes(content: LvContent, device_bytes: int) -> int:
    """How large the file system can be on a device of this size: a short tail is left unused."""
    if not content.block_bytes or not content.group_blocks:
        return device_bytes
    blocks = device_bytes // content.block_bytes
    tail = (blocks - content.first_block) % content.group_blocks
    least = _XFS_LEAST_GROUP_BLOCKS if content.kind == "xfs" else content.group_overhead_blocks + _EXT_LEAST_DATA_BLOCKS
    # A tail that continues the group in which the file system ends today is always taken.
    grows_into_new_group = (content.fs_bytes or 0) // content.block_bytes <= blocks - tail
    if tail and tail < least and grows_into_new_group:
        blocks -= tail
    return blocks * content.block_bytes


def parse_ext(data: bytes, kind: str) -> LvContent:
    """An ext2, ext3 or ext4 by its superblock (struct ext4_super_block of the kernel's fs/ext4/ext4.h). Raises ParseError."""
    if len(data) < EXT_SUPERBLOCK_BYTES or struct.unpack_from("<H", data, 56)[0] != _EXT_MAGIC:
        raise ParseError(f"the superblock of {kind}", data[:64])
    blocks, first, log_block = struct.unpack_from("<I12xI I", data, 4)
    group_blocks, _frags, group_inodes = struct.unpack_from("<III", data, 32)
    inode_bytes, incompat = struct.unpack_from("<H", data, 88)[0], struct.unpack_from("<I", data, 96)[0]
    reserved_gdt = struct.unpack_from("<H", data, 206)[0]
    if incompat & _EXT_64BIT:
        blocks |= struct.unpack_from("<I", data, 336)[0] << 32
    block_bytes = 1024 << log_block
    tables = 3 + reserved_gdt + -(-group_inodes * (inode_bytes or 128) // block_bytes)
    return LvContent((kind,), blocks * block_bytes, block_bytes, group_blocks, first, tables)
