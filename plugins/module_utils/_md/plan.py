# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Plans for md arrays. Pure: the state of the array and the geometry of its devices in, steps and a prediction out."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import compose_stripe, md_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import (
    check_creatable,
    check_devices,
    check_wish,
    differences,
    unequal_warnings,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState, MdWanted
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import (
    assemble_step,
    bitmap_step,
    create_steps,
    predict_created,
    readahead_step,
    stop_step,
    wipe_content_step,
    zero_step,
)

__all__ = ["array_fields", "geometry_of", "plan_md", "plan_md_absent"]


def geometry_of(state: MdState, members: t.Sequence[DeviceGeometry] = ()) -> DeviceGeometry:
    """The array as the layer above sees it, whether read or predicted. Without members they count as plain disks."""
    own = md_stripe(state.level, state.raid_devices, state.chunk_bytes, state.layout)
    stripe, _unused = compose_stripe(own, members)
    inner = members[0].stripe if members else None
    offset = 0
    if inner is not None:
        offset = misalignment(members[0].offset_bytes + (state.data_offset_bytes or 0), inner.full_bytes)
    return DeviceGeometry(
        path=state.path,
        size_bytes=state.array_size_bytes,
        logical_sector_bytes=max([512, *(member.logical_sector_bytes for member in members)]),
        physical_sector_bytes=max([512, *(member.physical_sector_bytes for member in members)]),
        stripe=stripe,
        offset_bytes=offset,
        assumed=state.assumed,
    )


def array_fields(state: MdState | None) -> dict[str, t.Any]:
    """The array as a person gets it and as a diff shows it; sizes in bytes."""
    if state is None:
        return {"state": "absent"}
    return {
        "state": "present" if state.active else state.array_state,
        "path": state.path,
        "kernel_name": state.kernel_name or None,
        "uuid": state.uuid,
        "name": state.name,
        "homehost": state.homehost,
        "level": state.level,
        "raid_devices": state.raid_devices,
        "chunk_bytes": state.chunk_bytes,
        "layout": state.layout,
        "metadata": state.metadata,
        "bitmap": state.bitmap,
        "component_size_bytes": state.component_size_bytes,
        "array_size_bytes": state.array_size_bytes,
        "data_offset_bytes": state.data_offset_bytes,
        "readahead_bytes": state.readahead_bytes,
        "consistency_policy": state.consistency_policy,
        "degraded": state.degraded,
        "sync_action": state.sync_action,
        "array_state": state.array_state,
        "members": [dataclasses.asdict(member) for member in state.members],
    }


def plan_md(
    state: MdState | None,
    wanted: MdWanted,
    members: t.Sequence[DeviceGeometry],
    spares: t.Sequence[DeviceGeometry] = (),
    *,
    others: t.Sequence[MdState] = (),
    pieces: t.Sequence[MdState] = (),
) -> Plan:
    """Makes the array, assembles it, or changes what may change in place; C(predicted) is its MdState.

    C(others) are foreign arrays on the same devices: assembled ones are taken down first (the guard decides whether
    they may be). Raises PlanRefused for a wish that cannot be, or an array that would have to be made anew.
    """
    check_wish(wanted)
    check_devices([*members, *spares], [*wanted.members, *wanted.spares])
    if state is None:
        return _plan_create(wanted, members, spares, others)
    _refuse_differences(state, wanted, members, spares)
    if others:
        taken = "; ".join(f"{one.label} holds {', '.join(one.member_paths())}" for one in others)
        raise PlanRefused(f"devices asked for the array {state.label} belong to other arrays: {taken}")
    if not state.active:
        return _plan_assemble(state, wanted, pieces)
    return _plan_change(state, wanted, pieces)


def _refuse_differences(
    state: MdState, wanted: MdWanted, members: t.Sequence[DeviceGeometry], spares: t.Sequence[DeviceGeometry]
) -> None:
    found = differences(state, wanted, members, spares)
    if not found:
        return
    listed = "; ".join(f"{name} is {is_}, asked is {want}" for name, is_, want in found)
    hint = f" ({state.degraded} of its {state.raid_devices} members are missing)" if state.degraded else ""
    raise PlanRefused(
        f"the array {state.label} exists on {', '.join(state.member_paths())}{hint} and differs in what cannot "
        f"be changed in place: {listed}. Nothing was changed; correct the wish, or remove the array with state: absent"
    )


def _plan_create(
    wanted: MdWanted,
    members: t.Sequence[DeviceGeometry],
    spares: t.Sequence[DeviceGeometry],
    others: t.Sequence[MdState],
) -> Plan:
    check_creatable(wanted, members, spares)
    after = predict_created(wanted, members, spares)
    steps = [*_take_down(others), *create_steps(wanted, after)]
    if wanted.readahead_bytes is not None:
        steps.append(readahead_step(after.path, wanted.readahead_bytes))
    _unused, composed = compose_stripe(
        md_stripe(after.level, after.raid_devices, after.chunk_bytes, after.layout), members
    )
    assumed = [device.path for device in (*members, *spares) if device.assumed]
    return Plan(
        steps=tuple(steps),
        before=array_fields(None),
        after=array_fields(after),
        warnings=(
            *unequal_warnings(after.level, members),
            *composed,
            *([f"{', '.join(assumed)}: not there yet, taken as planned by an earlier task"] if assumed else []),
        ),
        predicted=after,
        assumed_parent=bool(assumed),
    )


def _take_down(others: t.Sequence[MdState]) -> list[Step]:
    steps: list[Step] = []
    for array in others:
        if array.kernel_name:
            steps.append(stop_step(array))
        steps.append(zero_step(array.label, array.present_paths()))
    return steps


def _plan_assemble(state: MdState, wanted: MdWanted, pieces: t.Sequence[MdState]) -> Plan:
    if state.degraded:
        raise PlanRefused(
            f"the array {state.label} is not running, and only {state.raid_devices - state.degraded} of its "
            f"{state.raid_devices} members were found ({', '.join(state.member_paths())}). Nothing was changed; "
            "connect the missing ones, or start it without them by hand with mdadm --assemble --run"
        )
    steps = [stop_step(one, keep=True) for one in (state, *pieces) if one.kernel_name]
    steps.append(assemble_step(wanted.name, state))
    after = dataclasses.replace(state, active=True, array_state="clean", kernel_name="")
    steps, after = _settings(steps, after, wanted, after.path)
    return Plan(tuple(steps), array_fields(state), array_fields(after), predicted=after)


def _plan_change(state: MdState, wanted: MdWanted, pieces: t.Sequence[MdState]) -> Plan:
    steps, after = _settings([], state, wanted, state.kernel_path)
    fields, changed = array_fields(state), array_fields(after)
    managed = [key for key in fields if fields[key] != changed[key]]
    return Plan(
        steps=tuple(steps),
        before={key: fields[key] for key in managed},
        after={key: changed[key] for key in managed},
        warnings=tuple(
            f"a part of the array {state.label} is assembled on its own as {one.kernel_path} "
            f"({', '.join(one.member_paths())}); it is left alone"
            for one in pieces
        ),
        predicted=after,
    )


def _settings(steps: list[Step], state: MdState, wanted: MdWanted, path: str) -> tuple[list[Step], MdState]:
    """What can change in place: bitmap and readahead."""
    after, steps = state, list(steps)
    if wanted.bitmap is not None and state.bitmap not in (None, wanted.bitmap):
        steps.append(bitmap_step(dataclasses.replace(state, kernel_name=path[len("/dev/") :]), wanted.bitmap))
        after = dataclasses.replace(after, bitmap=wanted.bitmap)
    if wanted.readahead_bytes is not None and state.readahead_bytes != wanted.readahead_bytes:
        steps.append(readahead_step(path, wanted.readahead_bytes))
        after = dataclasses.replace(after, readahead_bytes=wanted.readahead_bytes // SECTOR_BYTES * SECTOR_BYTES)
    return steps, after


def plan_md_absent(
    state: MdState | None,
    wanted: MdWanted,
    members: t.Sequence[DeviceGeometry] = (),
    pieces: t.Sequence[MdState] = (),
) -> Plan:
    """Wipes what is inside, stops every assembly of the array and wipes the superblocks of all its members.

    C(members) are the devices named in the wish (none: whatever the array has). Raises PlanRefused when the array has
    members that the wish does not name.
    """
    if state is None:
        return Plan(before=array_fields(None), after=array_fields(None))
    assemblies = [one for one in (state, *pieces) if one.kernel_name]
    paths = tuple(dict.fromkeys(path for one in (state, *pieces) for path in one.present_paths()))
    named = {device.path for device in members}
    if named and not set(paths) <= named:
        raise PlanRefused(
            f"the array {state.label} has members that were not named: {', '.join(sorted(set(paths) - named))}. "
            "Nothing was changed; name them all under devices, or none"
        )
    steps = [wipe_content_step(one) for one in assemblies if one.active]
    steps += [stop_step(one) for one in assemblies]
    if paths:
        steps.append(zero_step(wanted.name, paths))
    lost = state.raid_devices - sum(member.slot is not None and member.present for member in state.members)
    warning = (
        f"{lost} of the {state.raid_devices} members of the array {state.label} could not be found, so a superblock "
        "may come back with the disk; run this again when it does"
    )
    return Plan(tuple(steps), array_fields(state), array_fields(None), (warning,) if lost > 0 else ())
