# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Builds and removes stacks on this host: reads the world, lets the pure part plan, asks the guard, applies, verifies."""

from __future__ import annotations

import dataclasses
import os
import typing as t
import uuid as uuidlib

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import read_text
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    PlanRefused,
    StepFailed,
    StorageError,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import settle
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import level_name
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import kernel_path, read_lvm
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState
from ansible_collections.plumbline.storage.plugins.module_utils._md.operation import take_back_failed_create
from ansible_collections.plumbline.storage.plugins.module_utils._md.read import (
    personality_problem,
    read_arrays,
    read_superblocks,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.read_wish import with_superblocks
from ansible_collections.plumbline.storage.plugins.module_utils._mount.read import read_mount
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import TableState
from ansible_collections.plumbline.storage.plugins.module_utils._partition.read import read_table
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import (
    Built,
    World,
    compose_layers,
    compose_regions,
    filesystem_paths,
    merge,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import mounts_of
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import (
    StackRecord,
    delete_record,
    write_record,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.removal import (
    compose_region_removal,
    compose_removal,
    compose_unmount,
    unassembled_arrays,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.settings import (
    Setting,
    active_word,
    setting_file,
    settings_plan,
    wanted_settings,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.read import read_xfs

__all__ = ["StackBuilder", "fresh_uuid"]

_REREAD_TRIES = 3


def fresh_uuid() -> str:
    return str(uuidlib.uuid4())


def disk_geometry(disk: DiskIdentity) -> DeviceGeometry:
    """A whole disk as the layer above sees it."""
    return DeviceGeometry(
        path=disk.device_path,
        size_bytes=disk.capacity_bytes,
        logical_sector_bytes=disk.logical_sector_size_bytes,
        physical_sector_bytes=disk.physical_sector_size_bytes,
    )


class StackBuilder:
    """Works on one set of disks. C(consent) is what the person listed; what a record names as ours needs no more.

    C(tolerant) leaves what differs and cannot change as it is, with a warning.
    """

    def __init__(
        self, runner: Runner, consent: Consent, disks: t.Sequence[DiskIdentity] = (), tolerant: bool = False
    ) -> None:
        self.runner, self.consent, self.disks, self.tolerant = runner, consent, tuple(disks), tolerant
        self.warnings: list[str] = []
        self._applied: list[Step] = []
        self._plans: list[Plan] = []
        self._guards: dict[str, Guard] = {}

    # --- reading -------------------------------------------------------------------------------------------------

    def read_ground(self) -> World:
        """The disks and their partition tables."""
        disks = tuple(disk_geometry(disk) for disk in self.disks)
        return World(disks=disks, tables=tuple(read_table(self.runner, disk.path) for disk in disks))

    def read_layers(
        self, record: StackRecord, stack: StackDescription | None, regions: t.Sequence[DeviceGeometry] = ()
    ) -> World:
        """Arrays, LVM, file systems and mounts of a stack, as far as it has them. Few processes."""
        tree = read_tree()
        arrays = tuple(self._read_arrays(tree)) if record.arrays else ()
        lvm = read_lvm(self.runner) if record.groups else LvmState()
        paths = {
            f"/dev/md/{name}": array.kernel_path
            for name in record.array_names.values()
            for array in arrays
            if array.uuid in record.arrays.values() and array.name == name
        }
        devices = {} if stack is None else filesystem_paths(stack, record, regions)
        real = {name: paths.get(path, path) for name, path in devices.items()}
        wished = set(mounts_of(stack).values()) if stack else set()
        places = {*record.mount_points(), *wished}
        return World(
            arrays=arrays,
            lvm=lvm,
            filesystems={path: read_xfs(self.runner, path) if os.path.exists(path) else None for path in real.values()},
            mounts={place: read_mount(place, users=place not in wished) for place in places},
            kernel_paths=paths,
            mapped={path: os.path.realpath(path) for path in real.values()} if places else {},
            personality_problems=self._personality_problems(stack) if stack is not None and not arrays else {},
        )

    def _read_arrays(self, tree: BlockTree) -> list[MdState]:
        """Also arrays that lie there inactive: what they are stands on their members."""
        return [with_superblocks(self.runner, array) for array in read_arrays(self.runner, tree)]

    def _personality_problems(self, stack: StackDescription) -> dict[str, str]:
        levels = {level_name(layer.options["level"]) for layer in stack.layers if layer.kind == "md"}
        problems = {level: personality_problem(self.runner, level) for level in sorted(levels)}
        return {level: problem for level, problem in problems.items() if problem}

    def region_nodes(self, record: StackRecord, tree: BlockTree | None = None) -> list[BlockNode]:
        """The regions of a record that the kernel shows."""
        nodes = (tree or read_tree()).nodes.values()
        return [node for uuid in record.partitions for node in nodes if node.partition_uuid == uuid]

    # --- building ------------------------------------------------------------------------------------------------

    def plan_ground(self, record: StackRecord) -> tuple[Plan, tuple[DeviceGeometry, ...]]:
        """The plan that makes the regions, with the clearing of listed disks that hold something. Asks the guard."""
        world = self.read_ground()
        plan, regions = compose_regions(record, world)
        if not plan.changed:
            return plan, regions
        guard = self._guard(record)
        paths = [disk.path for disk, table in zip(world.disks, world.tables) if not _has_region(record, table)]
        clear = Plan(tuple(guard.clear_steps(paths)))
        guard.check(merge([clear, plan]))
        return merge([clear, plan]), regions

    def plan_blank_ground(self, record: StackRecord) -> tuple[Plan, tuple[DeviceGeometry, ...]]:
        """The plan that makes the regions once everything on the disks is gone."""
        disks = tuple(disk_geometry(disk) for disk in self.disks)
        tables = tuple(TableState(disk.path, sector_bytes=disk.logical_sector_bytes) for disk in disks)
        return compose_regions(record, World(disks=disks, tables=tables))

    def compose(
        self,
        stack: StackDescription,
        record: StackRecord,
        regions: t.Sequence[DeviceGeometry],
        usable_bytes: int | None,
    ) -> Built:
        """What there is of the stack, and the plan for the rest."""
        built = compose_layers(
            stack, record, regions, self.read_layers(record, stack, regions), usable_bytes, self.tolerant
        )
        said = [*built.plan.warnings, *(f"left as it is: {text}" for text in built.drift)]
        self.warnings += [text for text in said if text not in self.warnings]
        return built

    def ensure_regions(
        self, record: StackRecord, before_change: t.Callable[[tuple[DeviceGeometry, ...]], t.Any] | None = None
    ) -> tuple[tuple[DeviceGeometry, ...], bool]:
        """Makes the regions that are missing; what was on those disks is taken down and lost, if it may be.

        C(before_change) gets the planned regions and may refuse while nothing has been changed. Returns the regions as
        devices, and whether anything changed.
        """
        plan, regions = self.plan_ground(record)
        if not plan.changed:
            self._plans.append(plan)
            return regions, False
        if before_change is not None:
            before_change(regions)
        self._apply(plan, record)
        rest, regions = compose_regions(record, self.read_ground())
        _refuse_rest(rest, "the region of every disk")
        return regions, True

    def _apply(self, plan: Plan, record: StackRecord) -> None:
        """Records what will be ours, then runs the steps under the guard's eye."""
        write_record(record)
        self._run(plan, self._guard(record).before_step)
        self._plans.append(plan)
        settle(self.runner)

    def _run(self, plan: Plan, before_step: t.Callable[[Step], None] | None = None) -> None:
        """Runs the steps. A failure tells all that was done since the start, not only the part of this plan."""
        try:
            self._applied += apply_plan(plan, self.runner, before_step=before_step)
        except StepFailed as error:
            whole = StepFailed([*self._applied, *error.completed], error.step, error.cause)
            whole.cleanup = self._taken_back(error.step)
            raise whole from error

    def _taken_back(self, failed: Step) -> list[str]:
        """What a failed create left is removed; where that fails too, the first failure is the one to be told."""
        try:
            return take_back_failed_create(self.runner, failed)
        except StorageError as error:
            return [f"could not clean up: {error.message}"]

    def applied(self) -> Plan:
        """Everything that was run so far, as a plan."""
        return merge(self._plans)._replace(steps=tuple(self._applied))

    def build(
        self,
        stack: StackDescription,
        record: StackRecord,
        regions: t.Sequence[DeviceGeometry],
        usable_bytes: int | None,
    ) -> tuple[Built, bool]:
        """Builds what is missing of a stack and verifies the whole by reading it again. Returns it, and whether anything changed."""
        built = self.compose(stack, record, regions, usable_bytes)
        changed = built.plan.changed
        if changed:
            self._guard(record).check(built.plan)
            self._apply(built.plan, record)
            built = self.compose(stack, record, regions, usable_bytes)
            _refuse_rest(built.plan, f"stack {stack.name}")
        else:
            self._plans.append(built.plan)
        return built, self._apply_settings(stack, record, built) or changed

    def _apply_settings(self, stack: StackDescription, record: StackRecord, built: Built) -> bool:
        differing = self.differing_settings(stack, built)
        before = [
            (setting_file(name, setting.name), found)
            for name, setting, found in differing
            if setting.device in self._disk_paths()
        ]
        if before:
            known = {path for path, _unused in record.settings_before}
            kept = (*record.settings_before, *(entry for entry in before if entry[0] not in known))
            write_record(dataclasses.replace(record, settings_before=kept))
        plan = settings_plan(differing)
        self._run(plan)
        self._plans.append(plan)
        return plan.changed

    def _disk_paths(self) -> list[str]:
        return [disk.device_path for disk in self.disks]

    def differing_settings(self, stack: StackDescription, built: Built) -> list[tuple[str, Setting, str]]:
        """Settings whose present value is another one: kernel name, setting, present value."""
        differing = []
        for setting in wanted_settings(stack, built.devices, self._disk_paths()):
            name = os.path.basename(kernel_path(setting.device))
            found = read_text(setting_file(name, setting.name))
            if found is None:
                raise PlanRefused(f"{setting.name} was asked for {setting.device}, which does not have this setting")
            if active_word(found) != setting.value:
                differing.append((name, setting, active_word(found)))
        return differing

    # --- removing ------------------------------------------------------------------------------------------------

    def plan_removal(self, record: StackRecord) -> Plan:
        """What removing would do now, with its refusals; arrays that lie in pieces are not assembled for it."""
        world = self.read_layers(record, None)
        unmount = compose_unmount(record, world)
        # Once our own mount is gone the guard looks at what is below; as long as it is there, it would refuse that.
        layers = self._removal(record, world, self._region_paths(record), judged=not unmount.changed)
        return merge([unmount, layers])

    def remove(self, record: StackRecord) -> Plan:
        """Removes the layers of a record, and its regions unless they outlive it. Returns what was done."""
        self._forget_applied()
        nodes = self._region_paths(record)
        world = self.read_layers(record, None)
        unmount = compose_unmount(record, world)
        if unmount.changed:
            self._run(unmount)
            settle(self.runner)
        if unassembled_arrays(record, world) and nodes:
            world = self._assemble(record, world, nodes)
        plan = self._removal(record, world, nodes)
        self._run(plan, self._guard(record).before_step)
        settle(self.runner)
        self._verify_removed(record)
        self._restore_settings(record)
        delete_record(record.id)
        self._forget_applied()
        return merge([unmount, plan])

    def _forget_applied(self) -> None:
        """A failure tells what was done to this stack, not to the one before."""
        self._applied.clear()
        self._plans.clear()

    def _region_paths(self, record: StackRecord) -> list[str]:
        return [node.path for node in self.region_nodes(record)]

    def _removal(self, record: StackRecord, world: World, nodes: t.Sequence[str], judged: bool = True) -> Plan:
        """The plan for layers and, where they go too, regions, after the guard has judged the whole of it."""
        plans = [compose_removal(record, world, nodes)]
        if not record.keeps_regions:
            self.disks = self.disks or self._recorded_disks(record)
            plans.append(compose_region_removal(record, self.read_ground()))
        plan = merge(plans)
        if judged:
            self._guard(record).check(plan)
        return plan

    def _verify_removed(self, record: StackRecord) -> None:
        """Nothing may stand on the regions any more, and no region may be left where they go too."""
        held = [node.path for node in self.region_nodes(record) if node.holders]
        if held:
            raise VerifyFailed(
                f"stack {record.id} was removed without an error, but {', '.join(held)} is still held; run again"
            )
        if record.keeps_regions:
            return
        for _unused in range(_REREAD_TRIES):
            rest = compose_region_removal(record, self.read_ground())
            if not rest.changed:
                return
            # The kernel keeps showing a partition that udev held open while its table went.
            self._guard(record).check(rest)
            self._run(rest, self._guard(record).before_step)
            settle(self.runner)
        _refuse_rest(compose_region_removal(record, self.read_ground()), f"the removal of {record.id}")

    def _assemble(self, record: StackRecord, world: World, regions: list[str]) -> World:
        """Brings up arrays that lie there in pieces, so that what is inside them can be wiped too."""
        present = {block.uuid for block in read_superblocks(self.runner, regions)}
        lying = [layer for layer in unassembled_arrays(record, world) if record.arrays[layer] in present]
        for array in world.arrays:
            if array.uuid in record.arrays.values() and not array.active:
                self.runner.change(["mdadm", "--stop", array.kernel_path], ok=None)
        for layer in lying:
            name, uuid = record.array_names[layer], record.arrays[layer]
            self.runner.change(["mdadm", "--assemble", "--run", f"/dev/md/{name}", f"--uuid={uuid}", *regions], ok=None)
        if not lying:
            return world
        settle(self.runner)
        return self.read_layers(record, None)

    def _restore_settings(self, record: StackRecord) -> None:
        for path, value in record.settings_before:
            if os.path.exists(path):
                self.runner.change(["tee", path], stdin=f"{value}\n", ok=None)

    def _recorded_disks(self, record: StackRecord) -> tuple[DiskIdentity, ...]:
        """The disks of a record, found by their names; one that is gone cannot be cleaned and is told of."""
        present = read_disks(read_tree())
        found = []
        for entry in record.disks:
            match = [disk for disk in present if set(disk.names()) & set(entry["names"])]
            if len(match) == 1:
                found.append(match[0])
            else:
                self.warnings.append(
                    f"disk {'/'.join(entry['names'])} of stack {record.id} is not there; its region was not removed"
                )
        return tuple(found)

    def _guard(self, record: StackRecord) -> Guard:
        """One guard per record: the one that checked a plan must also see its steps."""
        if record.id not in self._guards:
            self._guards[record.id] = Guard(self.runner, self.consent, ours=record.container_ids())
        return self._guards[record.id]


def _has_region(record: StackRecord, table: TableState) -> bool:
    return any(part.uuid in record.partitions for part in table.partitions)


def _refuse_rest(plan: Plan, what: str) -> None:
    if plan.changed:
        left = "; ".join(step.summary for step in plan.steps)
        raise VerifyFailed(
            f"{what} was made without an error, but reading again shows that this is still to do: {left}"
        )
