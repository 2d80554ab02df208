# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads all block devices from sysfs in one pass, without starting a program."""

from __future__ import annotations

import os
import re
import sys
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import (
    devno_of_path,
    list_names,
    read_int,
    read_text,
)

__all__ = ["md_uuid_digits", "read_tree"]

_SECTOR_BYTES = 512
# Drivers whose devices have no identity of their own, by the start of their names.
_DRIVER_KINDS = (
    ("loop", "loop"),
    ("zram", "zram"),
    ("ram", "ram"),
    ("sr", "rom"),
    ("fd", "floppy"),
    ("mtdblock", "mtd"),
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
    wholes: dict[str, _Whole] = {}
    nodes = {}
    for name in list_names(class_directory):
        node = _read_node(class_directory, name, partition_uuids, wholes)
        if node is not None:
            nodes[name] = node
    return BlockTree(nodes, devno_of_path)


# What partitions share with their disk: read once per disk, since reading sysfs is what this costs.
_Whole = dict[str, t.Any]


def _read_node(
    class_directory: str, name: str, partition_uuids: dict[str, str], wholes: dict[str, _Whole]
) -> BlockNode | None:
    directory = _directory_of(class_directory, name)
    entries = set(list_names(directory))
    kind = _kind(name, entries)
    if "dev" not in entries or (kind == "loop" and "loop" not in entries):
        return None  # hidden path of a multipath NVMe namespace, free loop device, or gone meanwhile
    devno = read_text(os.path.join(directory, "dev"))
    if devno is None:
        return None
    whole = os.path.dirname(directory) if kind == "partition" else directory
    if whole not in wholes:
        wholes[whole] = _read_whole(whole)
    fields = dict(wholes[whole])
    fields["read_only"] = fields["read_only"] or read_int(os.path.join(directory, "ro")) == 1
    return BlockNode(
        kernel_name=name,
        path="/dev/" + name.replace("!", "/"),
        devno=devno,
        size_bytes=(read_int(os.path.join(directory, "size")) or 0) * _SECTOR_BYTES,
        kind=kind,
        holders=list_names(os.path.join(directory, "holders")),
        sysfs_path=directory,
        **fields,
        **_own_fields(directory, kind, devno, entries, partition_uuids),
    )


def _read_whole(directory: str) -> _Whole:
    rotational = read_int(os.path.join(directory, "queue/rotational"))
    return {
        "read_only": read_int(os.path.join(directory, "ro")) == 1,
        "removable": read_int(os.path.join(directory, "removable")) == 1,
        "rotational": None if rotational is None else rotational == 1,
        "logical_sector_bytes": read_int(os.path.join(directory, "queue/logical_block_size")) or _SECTOR_BYTES,
        "physical_sector_bytes": read_int(os.path.join(directory, "queue/physical_block_size")) or _SECTOR_BYTES,
    }


def _own_fields(
    directory: str, kind: str, devno: str, entries: set[str], partition_uuids: dict[str, str]
) -> dict[str, t.Any]:
    def text(attribute: str) -> str | None:
        return read_text(os.path.join(directory, attribute))

    if kind == "partition":
        start = read_int(os.path.join(directory, "start"))
        return {
            "parent": os.path.basename(os.path.dirname(directory)),
            "partition_number": read_int(os.path.join(directory, "partition")),
            "partition_start_bytes": None if start is None else start * _SECTOR_BYTES,
            "partition_uuid": partition_uuids.get(devno),
        }
    fields: dict[str, t.Any] = {"partitions": _partitions(directory, entries)}
    if kind in ("md", "dm", "bcache"):
        fields["slaves"] = list_names(os.path.join(directory, "slaves"))
    if kind == "dm":
        fields.update(dm_name=text("dm/name"), dm_uuid=text("dm/uuid"), suspended=text("dm/suspended") == "1")
    if kind == "md":
        fields.update(
            md_uuid=_md_uuid(directory, devno), md_level=text("md/level"), md_array_state=text("md/array_state")
        )
    if kind == "loop":
        fields["loop_backing_file"] = text("loop/backing_file")
    return fields


def _directory_of(class_directory: str, name: str) -> str:
    """Where the link in /sys/class/block leads: one step, much cheaper than resolving every part of the path."""
    link = os.path.join(class_directory, name)
    try:
        return os.path.normpath(os.path.join(class_directory, os.readlink(link)))
    except OSError:
        return link


def _kind(name: str, entries: set[str]) -> str:
    for entry, kind in (("partition", "partition"), ("md", "md"), ("dm", "dm")):
        if entry in entries:
            return kind
    for prefix, kind in _DRIVER_KINDS:
        if re.fullmatch(prefix + r"\d+", name):
            return kind
    return "disk" if "device" in entries else "unknown"


def _partitions(directory: str, entries: set[str]) -> tuple[str, ...]:
    own = os.path.basename(directory)
    found = (name for name in entries if name.startswith(own))
    return tuple(sorted(name for name in found if os.path.exists(os.path.join(directory, name, "partition"))))


def _md_uuid(directory: str, devno: str) -> str | None:
    """32 hexadecimal digits. Older kernels do not show it in sysfs; udev keeps it from the array's start."""
    text = read_text(os.path.join(directory, "md/uuid"))
    if text:
        return md_uuid_digits(text, read_text(os.path.join(directory, "md/metadata_version")) or "")
    return md_uuid_digits(_udev_property(devno, "MD_UUID") or "")


def md_uuid_digits(text: str, metadata: str = "", byteorder: str = sys.byteorder) -> str | None:
    """The UUID as mdadm and blkid have it, 32 digits, from what the kernel shows. A superblock 0.90 keeps four numbers in the
    machine's byte order, of which the kernel shows the bytes as they lie in memory."""
    digits = re.sub("[^0-9a-f]", "", text.lower())
    if len(digits) != 32 or not digits.strip("0"):
        return None
    if metadata.startswith("0.90") and byteorder == "little":
        return "".join(bytes.fromhex(digits[at : at + 8])[::-1].hex() for at in range(0, 32, 8))
    return digits


def _udev_property(devno: str, name: str) -> str | None:
    text = read_text(f"/run/udev/data/b{devno}") or ""
    match = re.search(f"^E:{name}=(.*)$", text, re.MULTILINE)
    return match.group(1) if match else None


def _partition_uuids(dev_root: str) -> dict[str, str]:
    """Device number -> PARTUUID in lower case, from udev's links."""
    directory = os.path.join(dev_root, "disk/by-partuuid")
    found = {devno_of_path(os.path.join(directory, name)): name.lower() for name in list_names(directory)}
    return {devno: name for devno, name in found.items() if devno is not None}
