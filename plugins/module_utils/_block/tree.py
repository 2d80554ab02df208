# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads all block devices from sysfs in one pass, without starting a program."""

from __future__ import annotations

import os
import re

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import (
    devno_of_path,
    list_names,
    read_int,
    read_text,
)

__all__ = ["read_tree"]

_SECTOR_BYTES = 512
# Drivers whose devices have no identity of their own, by the start of their names.
_DRIVER_KINDS = (
    ("loop", "loop"),
    ("zram", "zram"),
    ("ram", "ram"),
    ("sr", "rom"),
    ("nbd", "nbd"),
    ("rbd", "rbd"),
    ("drbd", "drbd"),
    ("bcache", "bcache"),
    ("zd", "zvol"),
)


def read_tree(sysfs_root: str = "/sys", dev_root: str = "/dev") -> BlockTree:
    """Every block device of the host with its relations. Reads sysfs only; unreadable attributes are None."""
    class_directory = os.path.join(sysfs_root, "class/block")
    partition_uuids = _partition_uuids(dev_root)
    nodes = {}
    for name in list_names(class_directory):
        node = _read_node(os.path.join(class_directory, name), name, partition_uuids)
        if node is not None:
            nodes[name] = node
    return BlockTree(nodes, devno_of_path)


def _read_node(link: str, name: str, partition_uuids: dict[str, str]) -> BlockNode | None:
    devno = read_text(os.path.join(link, "dev"))
    if devno is None:  # hidden path of a multipath NVMe namespace, or gone meanwhile
        return None
    directory = os.path.realpath(link)
    number = read_int(os.path.join(directory, "partition"))
    parent = os.path.basename(os.path.dirname(directory)) if number is not None else None
    whole = os.path.dirname(directory) if parent else directory
    start = read_int(os.path.join(directory, "start")) if parent else None
    rotational = read_int(os.path.join(whole, "queue/rotational"))
    return BlockNode(
        kernel_name=name,
        path="/dev/" + name.replace("!", "/"),
        devno=devno,
        size_bytes=(read_int(os.path.join(directory, "size")) or 0) * _SECTOR_BYTES,
        kind=_kind(directory, name, number),
        parent=parent,
        partitions=() if parent else _partitions(directory),
        slaves=list_names(os.path.join(directory, "slaves")),
        holders=list_names(os.path.join(directory, "holders")),
        dm_name=read_text(os.path.join(directory, "dm/name")),
        dm_uuid=read_text(os.path.join(directory, "dm/uuid")),
        md_uuid=_md_uuid(directory, devno),
        md_level=read_text(os.path.join(directory, "md/level")),
        md_array_state=read_text(os.path.join(directory, "md/array_state")),
        partition_number=number,
        partition_start_bytes=None if start is None else start * _SECTOR_BYTES,
        partition_uuid=partition_uuids.get(devno) if parent else None,
        loop_backing_file=read_text(os.path.join(directory, "loop/backing_file")),
        read_only=read_int(os.path.join(directory, "ro")) == 1 or read_int(os.path.join(whole, "ro")) == 1,
        removable=read_int(os.path.join(whole, "removable")) == 1,
        suspended=read_int(os.path.join(directory, "dm/suspended")) == 1,
        rotational=None if rotational is None else rotational == 1,
        logical_sector_bytes=read_int(os.path.join(whole, "queue/logical_block_size")) or _SECTOR_BYTES,
        physical_sector_bytes=read_int(os.path.join(whole, "queue/physical_block_size")) or _SECTOR_BYTES,
        sysfs_path=directory,
    )


def _kind(directory: str, name: str, partition_number: int | None) -> str:
    if partition_number is not None:
        return "partition"
    if os.path.isdir(os.path.join(directory, "md")):
        return "md"
    if os.path.isdir(os.path.join(directory, "dm")):
        return "dm"
    for prefix, kind in _DRIVER_KINDS:
        if re.fullmatch(prefix + r"\d+", name):
            return kind
    return "disk" if os.path.exists(os.path.join(directory, "device")) else "unknown"


def _partitions(directory: str) -> tuple[str, ...]:
    return tuple(name for name in list_names(directory) if os.path.exists(os.path.join(directory, name, "partition")))


def _md_uuid(directory: str, devno: str) -> str | None:
    """32 hexadecimal digits. Older kernels do not show it in sysfs; udev keeps it from the array's start."""
    if not os.path.isdir(os.path.join(directory, "md")):
        return None
    text = read_text(os.path.join(directory, "md/uuid")) or _udev_property(devno, "MD_UUID")
    digits = re.sub("[^0-9a-f]", "", (text or "").lower())
    return digits if len(digits) == 32 and digits.strip("0") else None


def _udev_property(devno: str, name: str) -> str | None:
    text = read_text(f"/run/udev/data/b{devno}") or ""
    match = re.search(f"^E:{name}=(.*)$", text, re.MULTILINE)
    return match.group(1) if match else None


def _partition_uuids(dev_root: str) -> dict[str, str]:
    """Device number -> PARTUUID in lower case, from udev's links."""
    directory = os.path.join(dev_root, "disk/by-partuuid")
    found = {devno_of_path(os.path.join(directory, name)): name.lower() for name in list_names(directory)}
    return {devno: name for devno, name in found.items() if devno is not None}
