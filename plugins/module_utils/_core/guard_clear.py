# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""How to take down what idles on listed disks, and to wipe these disks whole. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import Closure
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step

__all__ = ["takedown_steps", "wipe_steps"]

# udev opens what appears and disappears for a moment.
_UDEV_RETRIES = 3


def takedown_steps(closure: Closure) -> list[Step]:
    """Stops every idle array and volume group in a closure, the uppermost first. Nothing is unmounted, swapped off or killed:
    each command refuses a device in use. Other maps of the device mapper stay, since nobody can tell what they are for."""
    steps: list[Step] = []
    groups: set[str] = set()
    for node in _uppermost_first(closure.lost):
        if node.is_lvm and node.vg_name:
            if node.vg_name not in groups:
                groups.add(node.vg_name)
                steps.append(_deactivate(node.vg_name))
        elif node.kind == "md":
            steps.append(_stop(node))
    return steps


def wipe_steps(tree: BlockTree, disks: t.Iterable[BlockNode]) -> list[Step]:
    """Wipes every signature of these disks and their partitions, partitions first: what lies in them comes back
    when a later table puts a partition at the same place."""
    steps = []
    for disk in disks:
        paths = [node.path for node in tree.above(disk) if node.kind == "partition"]
        if paths:
            text = f"wipe signatures from the partitions of {disk.path}"
            steps.append(Step(("wipefs", "-a", *paths), text, tuple(paths), retries=_UDEV_RETRIES))
        text = f"wipe signatures from {disk.path}"
        steps.append(Step(("wipefs", "-a", disk.path), text, (disk.path,), retries=_UDEV_RETRIES))
    return steps


def _uppermost_first(nodes: t.Sequence[BlockNode]) -> list[BlockNode]:
    """A node comes after everything among C(nodes) that stands on it."""
    waiting = {node.kernel_name: node for node in nodes}
    ordered: list[BlockNode] = []
    while waiting:
        free = [n for n in waiting.values() if not any(up in waiting for up in (*n.holders, *n.partitions))]
        for node in free or list(waiting.values()):  # a ring cannot be; never loop for ever all the same
            ordered.append(waiting.pop(node.kernel_name))
    return ordered


def _deactivate(group: str) -> Step:
    argv = ("lvm", "vgchange", "-an", "--", group)
    return Step(
        argv, f"deactivate the volume group {group}", removes=(f"vg:{group}",), retries=_UDEV_RETRIES, in_the_way=True
    )


def _stop(node: BlockNode) -> Step:
    name = f"md:{node.md_uuid}" if node.md_uuid else f"md:{node.path}"
    argv = ("mdadm", "--stop", node.path)
    return Step(argv, f"stop the array {node.kernel_name}", removes=(name,), retries=_UDEV_RETRIES, in_the_way=True)
