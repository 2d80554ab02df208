# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the partition table of a disk: one program, and the partition nodes from sysfs."""

from __future__ import annotations

import os

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import CommandError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import TableState
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import parse_table

__all__ = ["kernel_name", "partition_nodes", "read_machine_id", "read_table"]

_COPY_MISPLACED = "backup GPT table is not on the end of the device"
_NO_TABLE = "does not contain a recognized partition table"
SYSFS = "/sys"
_LARGEST_OPTIMAL_IO_BYTES = 64 * 1024**2


def kernel_name(disk: str) -> str:
    """The kernel's name of a whole disk given by any path; raises PlanRefused for anything that is not one."""
    real = os.path.realpath(disk)
    name = os.path.basename(real).replace("/", "!")
    folder = os.path.join(SYSFS, "class/block", name)
    if not os.path.isdir(folder):
        raise PlanRefused(f"disk was given as {disk}, and this host has no such block device")
    if os.path.exists(os.path.join(folder, "partition")):
        raise PlanRefused(f"disk was given as {disk}, which is a partition; give the whole disk")
    if os.path.isdir(os.path.join(folder, "dm")):
        raise PlanRefused(
            f"disk was given as {disk}, which is a device-mapper device ({real}); its partitions are not the kernel's "
            "own, and this module makes regions on whole disks only"
        )
    return name


def partition_nodes(name: str) -> dict[int, str]:
    """The partition nodes that the kernel shows of a disk, by partition number."""
    folder = os.path.join(SYSFS, "class/block", name)
    found = {}
    for entry in os.listdir(folder):
        try:
            with open(os.path.join(folder, entry, "partition"), encoding="ascii") as stream:
                found[int(stream.read())] = f"/dev/{entry.replace('!', '/')}"
        except (FileNotFoundError, NotADirectoryError):
            continue
    return found


def read_table(runner: Runner, disk: str) -> TableState:
    """The table of a disk, with label None where there is none. Raises PlanRefused when it is not a whole disk."""
    name = kernel_name(disk)
    path = f"/dev/{name.replace('!', '/')}"
    nodes = partition_nodes(name)
    result = runner.query(["sfdisk", "-J", path], ok=(0, 1))
    if result.rc == 0:
        found = parse_table(result.stdout, path, nodes)
        sizes = {number: _sysfs_number(node[5:], "size") * 512 for number, node in nodes.items()}
        misplaced = _COPY_MISPLACED in result.stderr
        return found._replace(optimal_io_bytes=_optimal_io_bytes(name), kernel_sizes=sizes, copy_misplaced=misplaced)
    if _NO_TABLE not in result.stderr:
        raise CommandError(result.argv, result.rc, result.stdout, result.stderr)
    table = TableState(disk=path, sector_bytes=_logical_sector_bytes(name))
    leftovers = tuple(nodes[number] for number in sorted(nodes))
    return table._replace(leftovers=leftovers, optimal_io_bytes=_optimal_io_bytes(name))


def _logical_sector_bytes(name: str) -> int:
    return _sysfs_number(name, "queue/logical_block_size")


def _optimal_io_bytes(name: str) -> int:
    """0 also for what cannot be true: some disks report 33553920, which no alignment meets."""
    value = _sysfs_number(name, "queue/optimal_io_size")
    return 0 if value % 4096 or value > _LARGEST_OPTIMAL_IO_BYTES else value


def _sysfs_number(name: str, file: str) -> int:
    try:
        with open(os.path.join(SYSFS, "class/block", name.replace("/", "!"), file), encoding="ascii") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return 0


def read_machine_id() -> str:
    """This host's id, or an empty text where it has none."""
    try:
        with open("/etc/machine-id", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return ""
