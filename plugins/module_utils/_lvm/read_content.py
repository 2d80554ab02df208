# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads what lies on a logical volume whose size is to change."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.signatures import read_signatures
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import devno_of_path
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_mounts
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.content import (
    EXT_KINDS,
    EXT_SUPERBLOCK_BYTES,
    EXT_SUPERBLOCK_OFFSET,
    LvContent,
    parse_ext,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import kernel_path
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import XfsState
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.read import read_xfs

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["read_content"]


def read_content(runner: Runner, path: str) -> LvContent | None:
    """The file system on an active LV; None when there is no such device node."""
    device = kernel_path(path)
    devno = devno_of_path(device)
    if devno is None or not os.path.exists(path):
        return None
    kinds = tuple(signature.type for signature in read_signatures(runner, [device])[device])
    mounts = [mount for mount in read_mounts() if mount.devno == devno]
    return _file_system(runner, device, kinds)._replace(
        mounted_at=tuple(dict.fromkeys(mount.mount_point for mount in mounts if mount.namespace_of is None)),
        mounted_elsewhere=any(mount.namespace_of is not None for mount in mounts),
    )


def _file_system(runner: Runner, device: str, kinds: tuple[str, ...]) -> LvContent:
    if kinds == ("xfs",):
        # Where it is mounted the mount is asked: after growing, the superblock on the device is old for a while.
        found = read_xfs(runner, device)
        if isinstance(found, XfsState):
            return LvContent(kinds, found.size_bytes, found.block_bytes or 0, found.agblocks or 0)
    if len(kinds) == 1 and kinds[0] in EXT_KINDS:
        return parse_ext(_bytes(device, EXT_SUPERBLOCK_OFFSET, EXT_SUPERBLOCK_BYTES), kinds[0])
    return LvContent(kinds)


def _bytes(device: str, offset: int, count: int) -> bytes:
    descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, count, offset)
    finally:
        os.close(descriptor)
