# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the identity of every disk from sysfs, without asking the disks and without root."""

from __future__ import annotations

import collections
import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import (
    devno_of_path,
    list_names,
    read_int,
    read_text,
)
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity, normalise_wwn
from ansible_collections.plumbline.storage.plugins.module_utils._disk.sources import identity_fields

__all__ = ["mark_duplicates", "read_disk", "read_disks"]

# What is never a disk to build on: optical drives and RAM disks.
_NOT_DISKS = ("rom", "ram", "floppy", "mtd")
_PCI_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def read_disks(tree: BlockTree, dev_root: str = "/dev") -> list[DiskIdentity]:
    """The identity of every device at the bottom of the tree that has a size, by kernel name; duplicates are marked."""
    links = _by_path_links(dev_root)
    bottom = [node for node in tree.nodes.values() if node.kind not in _NOT_DISKS and node.size_bytes]
    disks = [
        read_disk(node, links.get(node.devno, ())) for node in bottom if not tree.below(node) and _stands_alone(node)
    ]
    return mark_duplicates(disks)


def _stands_alone(node: BlockNode) -> bool:
    """A stopped or empty md or device-mapper device has nothing below it either, but is no disk."""
    return node.kind not in ("md", "dm", "partition", "bcache")


def read_disk(node: BlockNode, by_path: tuple[str, ...] = ()) -> DiskIdentity:
    """The identity of one disk, without knowledge of the others."""
    fields = identity_fields(node)
    rate = fields.get("rotation_rate_rpm")
    disk = DiskIdentity(
        kernel_name=node.kernel_name,
        device_path=node.path,
        devno=node.devno,
        capacity_bytes=node.size_bytes,
        logical_sector_size_bytes=node.logical_sector_bytes,
        physical_sector_size_bytes=node.physical_sector_bytes,
        media_type="unknown" if rate is None else ("rotating" if rate else "ssd"),
        by_path=by_path,
        host=os.uname().nodename,
        controller_pci_address=_pci_address(node),
        nr_requests=read_int(os.path.join(node.sysfs_path, "queue/nr_requests")),
        io_scheduler=_scheduler(read_text(os.path.join(node.sysfs_path, "queue/scheduler"))),
        **fields,
    )
    return disk._replace(identity_confidence=_confidence(disk))


def mark_duplicates(disks: t.Sequence[DiskIdentity]) -> list[DiskIdentity]:
    """Marks serial numbers and WWNs that two disks show. Same serial and same WWN is one LUN on several paths."""
    wwns = collections.Counter(normalise_wwn(disk.wwn) for disk in disks)
    holders: dict[t.Any, set[str]] = {}
    for disk in disks:
        holders.setdefault(_serial_key(disk), set()).add(normalise_wwn(disk.wwn) or disk.kernel_name)
    marked = []
    for disk in disks:
        same_wwn = normalise_wwn(disk.wwn) is not None and wwns[normalise_wwn(disk.wwn)] > 1
        same_serial = disk.serial_number is not None and len(holders[_serial_key(disk)]) > 1
        confidence = "low" if same_wwn or same_serial else disk.identity_confidence
        marked.append(
            disk._replace(duplicate_serial=same_serial, duplicate_wwn=same_wwn, identity_confidence=confidence)
        )
    return marked


def _serial_key(disk: DiskIdentity) -> tuple[t.Any, ...]:
    # Namespaces of one NVMe controller share its serial number rightly.
    return (disk.serial_number, disk.namespace_id if disk.transport == "nvme" else None)


def _confidence(disk: DiskIdentity) -> str:
    if not disk.has_own_serial() or disk.model is None:
        return "low"
    return "high" if normalise_wwn(disk.wwn) is not None else "medium"


def _by_path_links(dev_root: str) -> dict[str, tuple[str, ...]]:
    directory = os.path.join(dev_root, "disk/by-path")
    found: dict[str, tuple[str, ...]] = {}
    for name in list_names(directory):
        devno = devno_of_path(os.path.join(directory, name))
        if devno is not None:
            found[devno] = (*found.get(devno, ()), name)
    return found


def _pci_address(node: BlockNode) -> str | None:
    found = _PCI_ADDRESS.findall(node.sysfs_path)
    return found[-1] if found else None


def _scheduler(text: str | None) -> str | None:
    match = re.search(r"\[([^\]]+)\]", text or "")
    return match.group(1) if match else text
