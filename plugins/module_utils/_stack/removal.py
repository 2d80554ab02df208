# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The plan that takes a stack of ours down, in holder order: content first, then its container, then the next below. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import VgState
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState
from ansible_collections.plumbline.storage.plugins.module_utils._mount.plan import plan_unmount
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan_absent import plan_partition_absent
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import World, merge, region_wanted
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import owner_tag
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import StackRecord

__all__ = ["compose_region_removal", "compose_removal", "compose_unmount", "unassembled_arrays"]

# udev may hold a device for a moment after each change; the step is tried again when it has settled.
_RETRIES = 5


def unassembled_arrays(record: StackRecord, world: World) -> list[str]:
    """Layers of the record whose array is not assembled on this host."""
    present = {array.uuid for array in world.arrays if array.active}
    return [layer for layer, uuid in record.arrays.items() if uuid not in present]


def compose_removal(record: StackRecord, world: World, regions: t.Sequence[str]) -> Plan:
    """Takes every layer of the record down that is there; C(regions) are the device nodes of its regions.

    A ghost of an old layer would come back with the next one at the same place, so every layer is wiped before its container goes.
    Raises PlanRefused when something carries the stack's name but is not the stack's.
    """
    steps: list[Step] = []
    groups = [_own_group(record, world, name) for name in reversed(list(record.groups.values()))]
    for group in (found for found in groups if found is not None):
        steps += _group_steps(world, group)
    # Of one UUID there can be two: the array, and an old member that came back and stands apart.
    arrays = [array for uuid in reversed(list(record.arrays.values())) for array in world.arrays if array.uuid == uuid]
    carried = {path for group in groups if group is not None for path in group.pv_paths}
    for array in arrays:
        steps += _array_steps(array, wipe=array.kernel_path not in carried)
    if regions:
        steps.append(_wipe(regions, "wipe what the layers left on the regions"))
    return Plan(
        tuple(steps), before={"stack": record.id, "state": "present"}, after={"stack": record.id, "state": "absent"}
    )


def compose_unmount(record: StackRecord, world: World) -> Plan:
    """Takes the permanent mounts of the record down. Raises PlanRefused when one is in use."""
    return merge(
        [plan_unmount(world.mounts[path], record.id) for path in record.mount_points() if path in world.mounts]
    )


def _own_group(record: StackRecord, world: World, name: str) -> VgState | None:
    group = world.lvm.vg(name)
    if group is not None and owner_tag(record.id) not in group.tags:
        raise PlanRefused(
            f"asked to remove stack {record.id}, but the volume group {name} does not carry its tag {owner_tag(record.id)}, so it is "
            "somebody else's; rename it with vgrename, or remove it by hand"
        )
    return group


def _group_steps(world: World, group: VgState) -> list[Step]:
    steps = []
    volumes = [lv for lv in world.lvm.lvs_of(group.name) if lv.active and not lv.hidden]
    if volumes:
        steps.append(_wipe([lv.path for lv in volumes], f"wipe the volumes of {group.name}"))
    steps.append(
        Step(
            lvm_argv("vgremove", "-f", group.name),
            f"remove the volume group {group.name} with its volumes",
            removes=(f"vg:{group.name}",),
            retries=_RETRIES,
        )
    )
    steps.append(_wipe(group.pv_paths, f"wipe the physical volumes of {group.name}"))
    return steps


def _array_steps(array: MdState, wipe: bool) -> list[Step]:
    steps = [_wipe([array.kernel_path], f"wipe what is on array {array.label}")] if wipe and array.active else []
    steps.append(
        Step(
            ("mdadm", "--stop", array.kernel_path),
            f"stop array {array.label}",
            removes=(f"md:{array.uuid}",),
            retries=_RETRIES,
        )
    )
    return steps


def _wipe(paths: t.Sequence[str], summary: str) -> Step:
    return Step(("wipefs", "-a", "-q", *paths), summary, writes=tuple(paths), retries=_RETRIES)


def compose_region_removal(record: StackRecord, world: World) -> Plan:
    """Removes the regions, and a table that was made for them."""
    plans = []
    for disk, table in zip(world.disks, world.tables):
        present = {part.uuid for part in table.partitions}
        indexes = [index for index, uuid in enumerate(record.partitions) if uuid in present] or [0]
        plans += [plan_partition_absent(table, region_wanted(record, index, disk.path), disk) for index in indexes]
    return merge(plans)
