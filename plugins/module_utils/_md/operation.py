# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of md_array as an Operation."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import level_name, normalise_layout
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import check_wish
from ansible_collections.plumbline.storage.plugins.module_utils._md.cleanup import cleanup_steps
from ansible_collections.plumbline.storage.plugins.module_utils._md.find import (
    arrays_of_superblocks,
    find_array,
    find_others,
    find_pieces,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdReading,
    MdState,
    MdSuperblock,
    MdWanted,
    format_md_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import (
    array_fields,
    geometry_of,
    plan_md,
    plan_md_absent,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.read import (
    personality_problem,
    read_arrays,
    read_superblocks,
    scan_devices,
)

__all__ = ["MdOperation", "md_operation", "read_md", "take_back_failed_create", "wanted_from_params"]


def wanted_from_params(params: t.Mapping[str, t.Any]) -> MdWanted:
    """The options, checked and typed; raises PlanRefused."""
    level = level_name(params["level"]) if params.get("level") is not None else None
    layout = params.get("layout")
    readahead = parse_optional_size(params.get("readahead"), "readahead")
    if readahead is not None and readahead % SECTOR_BYTES:
        raise PlanRefused(f"readahead was given as {params['readahead']}; it must be a multiple of 512 bytes")
    wanted = MdWanted(
        name=params["name"],
        level=level,
        members=tuple(params.get("devices") or ()),
        spares=tuple(params.get("spares") or ()),
        chunk_bytes=parse_optional_size(params.get("chunk"), "chunk"),
        layout=normalise_layout(level, layout) if level else layout,
        metadata=params.get("metadata"),
        bitmap=params.get("bitmap"),
        size_bytes=parse_optional_size(params.get("size"), "size"),
        data_offset_bytes=parse_optional_size(params.get("data_offset"), "data_offset"),
        homehost=params.get("homehost"),
        uuid=format_md_uuid(params["uuid"]) if params.get("uuid") else None,
        assume_clean=bool(params.get("assume_clean")),
        readahead_bytes=readahead,
    )
    check_wish(wanted)
    return wanted


def read_md(
    runner: Runner, wanted: MdWanted, check_mode: bool = False, missing_ok: bool = False, tree: BlockTree | None = None
) -> MdReading:
    """Everything a plan for one array needs. Queries only.

    C(missing_ok) passes over devices that do not exist (for a removal). Raises PlanRefused for a missing disk.
    """
    tree = read_tree() if tree is None else tree
    members, spares = (
        tuple(
            read_device_geometry(path, check_mode, runner, tree)
            for path in paths
            if not missing_ok or tree.node_of(path) is not None
        )
        for paths in (wanted.members, wanted.spares)
    )
    devices = [device.path for device in (*members, *spares) if not device.assumed]
    arrays = [_with_superblocks(runner, array) for array in read_arrays(runner, tree)]
    array = find_array(arrays, wanted, devices)
    taken = {path for one in arrays for path in one.member_paths()}
    superblocks: tuple[MdSuperblock, ...] = ()
    if array is None or not array.active:
        paths = [path for path in devices if path not in taken]
        if not paths and not devices:
            paths = [path for path in scan_devices(runner, wanted.uuid, wanted.name) if path not in taken]
        superblocks = read_superblocks(runner, paths)
        arrays += arrays_of_superblocks(superblocks)
        array = _joined(find_array(arrays, wanted, devices), arrays)
    return MdReading(
        array=array,
        members=members,
        spares=spares,
        others=find_others(arrays, array, devices),
        pieces=find_pieces(arrays, array),
        superblocks=superblocks,
        personality_problem=personality_problem(runner, wanted.level) if wanted.level and array is None else None,
    )


def _with_superblocks(runner: Runner, array: MdState) -> MdState:
    """An inactive array has no level in sysfs: what it is stands on its members."""
    if array.active or not array.members:
        return array
    found = arrays_of_superblocks(read_superblocks(runner, array.present_paths()), array.kernel_name)
    return dataclasses.replace(found[0], path=array.path) if len(found) == 1 else array


def _joined(array: MdState | None, arrays: t.Sequence[MdState]) -> MdState | None:
    """One view of an array that is not running: the members held by an inactive assembly and the free ones together."""
    if array is None or array.active:
        return array
    parts = [one for one in arrays if one.uuid == array.uuid]
    members = {member.path: member for one in parts for member in one.members}
    slots = {member.slot for member in members.values() if member.slot is not None}
    kernel_name = next((one.kernel_name for one in parts if one.kernel_name), "")
    return dataclasses.replace(
        array,
        kernel_name=kernel_name,
        members=tuple(sorted(members.values(), key=lambda each: (each.slot is None, each.slot or 0, each.path))),
        degraded=max(0, array.raid_devices - len(slots)),
    )


def take_back_failed_create(runner: Runner, wanted: MdWanted, before: MdReading, failed: Step) -> list[str]:
    """After a failed create: stops and wipes what it left on our devices. Returns what was done, as sentences."""
    if failed.argv[:2] != ("mdadm", "--create"):
        return []
    runner.query(["udevadm", "settle", "--timeout=10"], ok=None)
    devices = [device.path for device in before.devices()]
    arrays = [_with_superblocks(runner, array) for array in read_arrays(runner)]
    known = {block.uuid for block in before.superblocks}
    steps = cleanup_steps(wanted.name, devices, known, arrays, read_superblocks(runner, devices))
    return [f"cleaned up: {step.summary}" for step in apply_plan(Plan(steps), runner)]


class MdOperation:
    """Read, plan and result of one array."""

    def __init__(self, wanted: MdWanted, present: bool) -> None:
        self.wanted, self.present = wanted, present
        self._before: MdReading | None = None

    def read(self, runner: Runner) -> MdReading:
        reading = read_md(runner, self.wanted, runner.check_mode, missing_ok=not self.present)
        self._before = self._before or reading
        return reading

    def plan(self, state: MdReading) -> Plan:
        """The plan; its prediction is an MdReading."""
        if not self.present:
            plan = plan_md_absent(state.array, self.wanted, state.devices(), state.pieces)
            return dataclasses.replace(plan, predicted=state.as_predicted(None))
        if state.personality_problem:
            raise PlanRefused(state.personality_problem)
        plan = plan_md(state.array, self.wanted, state.members, state.spares, others=state.others, pieces=state.pieces)
        return dataclasses.replace(plan, predicted=state.as_predicted(plan.predicted))

    def result(self, state: MdReading) -> dict[str, t.Any]:
        if state.array is None:
            return {"array": None}
        return {"array": {**array_fields(state.array), **_stripe_fields(state.array, state.members)}}

    def after_failure(self, runner: Runner, failed: Step) -> list[str]:
        if self._before is None or not self.present:
            return []
        return take_back_failed_create(runner, self.wanted, self._before, failed)


def _stripe_fields(array: MdState, members: t.Sequence[DeviceGeometry]) -> dict[str, t.Any]:
    stripe = geometry_of(array, members).stripe if array.level else None
    return {
        "stripe_unit_bytes": stripe.unit_bytes if stripe else None,
        "stripe_width_units": stripe.width_units if stripe else None,
        "full_stripe_bytes": stripe.full_bytes if stripe else None,
    }


def md_operation(params: t.Mapping[str, t.Any]) -> MdOperation:
    """An Operation from the options of md_array; raises PlanRefused for options that cannot be."""
    return MdOperation(wanted_from_params(params), params["state"] == "present")
