# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the arrays of a host: sysfs, and one mdadm process per array for what sysfs lacks (name, homehost, UUID)."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import list_names, read_int, read_text
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import MissingTool
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdMember, MdState, MdSuperblock
from ansible_collections.plumbline.storage.plugins.module_utils._md.parse import (
    array_from_sysfs,
    parse_examine,
    parse_export,
    parse_personalities,
    parse_scan_devices,
)

__all__ = ["personality_problem", "read_arrays", "read_superblocks", "read_sync", "scan_devices"]

_VALUES = (
    "array_state",
    "bitmap/location",
    "chunk_size",
    "component_size",
    "consistency_policy",
    "degraded",
    "layout",
    "level",
    "metadata_version",
    "raid_disks",
    "reshape_position",
    "sync_action",
    "sync_completed",
    "sync_speed",
)
# The kernel asks for a module by this number when a level is first used.
_LEVEL_NUMBERS = {"linear": -1, "raid0": 0, "raid1": 1, "raid4": 4, "raid5": 5, "raid6": 6, "raid10": 10}
_MODULES = {"linear": "md-linear", "raid4": "raid456", "raid5": "raid456", "raid6": "raid456"}


def read_arrays(runner: Runner, tree: BlockTree | None = None) -> list[MdState]:
    """All assembled arrays of the host, inactive ones too, in the order of their kernel names. Queries only."""
    tree = read_tree() if tree is None else tree
    links = _links_by_devno(tree)
    found = []
    for node in tree.nodes.values():
        if node.kind == "md" and not _is_empty(node):
            found.append(_read_array(runner, node, tree, links.get(node.devno, node.path)))
    return found


def _is_empty(node: BlockNode) -> bool:
    """A device node that is left over from a stopped array."""
    names = list_names(os.path.join(node.sysfs_path, "md"))
    return node.md_array_state in (None, "clear") and not any(name.startswith("dev-") for name in names)


def _links_by_devno(tree: BlockTree, directory: str = "/dev/md") -> dict[str | None, str]:
    paths = [os.path.join(directory, name) for name in list_names(directory)]
    return {tree.devno_of(path): path for path in paths}


def _read_array(runner: Runner, node: BlockNode, tree: BlockTree, path: str) -> MdState:
    values, members = _read_files(node.sysfs_path, tree)
    # An array whose members' superblocks cannot be read is still an array: name and UUID are then unknown.
    export = parse_export(runner.query(["mdadm", "--detail", "--export", node.path], ok=None).stdout)
    return array_from_sysfs(node.kernel_name, path, values, export, members)


def _read_files(sysfs_path: str, tree: BlockTree) -> tuple[dict[str, str], list[MdMember]]:
    directory = os.path.join(sysfs_path, "md")
    values = {name: read_text(os.path.join(directory, name)) for name in _VALUES}
    values["size"] = read_text(os.path.join(sysfs_path, "size"))
    for name in ("queue/read_ahead_kb", "queue/optimal_io_size"):
        values[name] = read_text(os.path.join(sysfs_path, name))
    devices = [name for name in list_names(directory) if name.startswith("dev-")]
    members = [_read_member(os.path.join(directory, name), tree) for name in devices]
    if devices:
        values["data_offset"] = read_text(os.path.join(directory, devices[0], "offset"))
    return {key: value for key, value in values.items() if value is not None}, members


def read_sync(state: MdState) -> MdState | None:
    """The array again, by its files alone: what it does and with which devices. None when it is gone."""
    tree = read_tree()
    node = tree.named(state.kernel_name)
    if node is None or _is_empty(node):
        return None
    values, members = _read_files(node.sysfs_path, tree)
    homehost = f"{state.homehost}:" if state.homehost is not None else ""
    export = {"MD_UUID": state.uuid or "", "MD_NAME": f"{homehost}{state.name or ''}"}
    return array_from_sysfs(state.kernel_name, state.path, values, export, members)


def _read_member(directory: str, tree: BlockTree) -> MdMember:
    devno = read_text(os.path.join(directory, "block/dev")) or ""
    node = tree.numbered(devno)
    slot = read_text(os.path.join(directory, "slot")) or "none"
    name = os.path.basename(directory)[len("dev-") :].replace("!", "/")
    return MdMember(
        # Another disk may have its name by now.
        path=node.path if node else f"/dev/{name} (gone)",
        devno=devno,
        slot=int(slot) if slot.isdigit() else None,
        state=(read_text(os.path.join(directory, "state")) or "unknown") if node else "missing",
        size_bytes=node.size_bytes if node else None,
        data_offset_bytes=(read_int(os.path.join(directory, "offset")) or 0) * SECTOR_BYTES,
        optimal_io_bytes=_optimal_io_bytes(node) if node else None,
    )


def _optimal_io_bytes(node: BlockNode) -> int | None:
    """A partition has the queue of its disk."""
    directory = os.path.dirname(node.sysfs_path) if node.kind == "partition" else node.sysfs_path
    return read_int(os.path.join(directory, "queue/optimal_io_size"))


def read_superblocks(runner: Runner, paths: t.Sequence[str]) -> tuple[MdSuperblock, ...]:
    """What md superblocks the devices carry; one process for all. Devices without one are left out."""
    if not paths:
        return ()
    return parse_examine(runner.query(["mdadm", "--examine", *paths], ok=None).stdout)


def scan_devices(runner: Runner, uuid: str | None, name: str | None) -> tuple[str, ...]:
    """Devices anywhere on the host whose superblock names the array; for arrays that are not assembled."""
    return parse_scan_devices(runner.query(["mdadm", "--examine", "--scan", "--verbose"], ok=None).stdout, uuid, name)


def personality_problem(runner: Runner, level: str) -> str | None:
    """A sentence when the kernel cannot run arrays of the level, else None. Asks modprobe without loading anything."""
    mdstat = read_text("/proc/mdstat")
    if mdstat is not None and level in parse_personalities(mdstat):
        return None
    try:
        answer = runner.query(["modprobe", "-n", "-q", f"md-level-{_LEVEL_NUMBERS[level]}"], ok=None)
    except MissingTool:
        return None
    if answer.rc == 0:
        return None
    module = _MODULES.get(level, level)
    return (
        f"level {level} was asked for, but the running kernel {os.uname().release} has no md personality for it: the "
        f"module {module} is not there. Install the package with this kernel's modules, or choose another level"
    )
