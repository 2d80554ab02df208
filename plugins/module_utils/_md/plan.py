# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Plans for md arrays. Pure: the state of the array and the geometry of its devices in, steps and a prediction out."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import compose_stripe, md_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import (
    check_devices,
    check_wish,
    differences,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    NO_NAMED,
    MdConfig,
    MdMember,
    MdNamed,
    MdState,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_create import created
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_members import change_members
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_reshape import reshape
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_settings import (
    change_settings,
    configure,
    degraded_notes,
    stale_notes,
    unconfigure,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_state import (
    assemble,
    is_half_made,
    removal_steps,
    stopped,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import stop_step

__all__ = ["array_fields", "geometry_of", "plan_md", "plan_md_absent", "plan_md_assembled", "plan_md_stopped"]

Devices = t.Sequence[DeviceGeometry]


def geometry_of(state: MdState, members: Devices = ()) -> DeviceGeometry:
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
    copied = (
        *(
            "kernel_name",
            "uuid",
            "name",
            "homehost",
            "level",
            "raid_devices",
            "chunk_bytes",
            "layout",
            "metadata",
            "bitmap",
        ),
        *("component_size_bytes", "array_size_bytes", "data_offset_bytes", "readahead_bytes", "consistency_policy"),
        *("degraded", "sync_action", "sync_percent", "sync_speed_bytes_per_second", "array_state"),
    )
    fields = {name: getattr(state, name) for name in copied}
    fields["kernel_name"] = state.kernel_name or None
    return {
        "state": "present" if state.active else state.array_state,
        "path": state.path,
        **fields,
        "missing_slots": list(state.missing_slots),
        "config": state.config,
        "members": [_member_fields(member) for member in state.members],
    }


def _member_fields(member: MdMember) -> dict[str, t.Any]:
    return {
        "path": member.path,
        "devno": member.devno,
        "slot": member.slot,
        "role": member.role,
        "state": member.state,
        "write_mostly": member.write_mostly,
        "size_bytes": member.size_bytes,
        "data_offset_bytes": member.data_offset_bytes,
    }


def plan_md(
    state: MdState | None,
    wanted: MdWanted,
    members: Devices,
    spares: Devices = (),
    *,
    named: MdNamed = NO_NAMED,
    others: t.Sequence[MdState] = (),
    pieces: t.Sequence[MdState] = (),
    begun: str | None = None,
    config: MdConfig | None = None,
) -> Plan:
    """Makes the array, assembles it, or changes what may change in place; C(predicted) is its MdState.

    C(others) are foreign arrays on the same devices: assembled ones are taken down first (the guard decides whether
    they may be). C(begun) is what a run before began on the array and did not end. Raises PlanRefused for a wish that cannot
    be, or an array that would have to be made anew.
    """
    check_wish(wanted)
    check_devices([*members, *spares, *named.devices()], _asked(wanted))
    listed = {device.path for device in (*members, *spares, *named.devices())}
    if state is not None and is_half_made(state, begun, listed):
        return _plan_create(wanted, members, spares, named, (state, *pieces, *others), config)
    if state is None:
        return _plan_create(wanted, members, spares, named, others, config)
    _refuse_differences(state, wanted)
    _refuse_others(state, others)
    return _plan_existing(state, wanted, members, spares, named, pieces, config)


def _asked(wanted: MdWanted) -> list[str]:
    return [*wanted.members, *(wanted.spares or ()), *([wanted.journal] if wanted.journal else [])]


def _refuse_others(state: MdState, others: t.Sequence[MdState]) -> None:
    if others:
        taken = "; ".join(f"{one.label} holds {', '.join(one.member_paths())}" for one in others)
        raise PlanRefused(f"devices asked for the array {state.label} belong to other arrays: {taken}")


def _refuse_differences(state: MdState, wanted: MdWanted) -> None:
    found = differences(state, wanted)
    if not found:
        return
    listed = "; ".join(f"{name} is {is_}, asked is {want}" for name, is_, want in found)
    hint = f" ({state.degraded} of its {state.raid_devices} members are missing)" if state.degraded else ""
    raise DriftFound(
        f"the array {state.label} exists on {', '.join(state.member_paths())}{hint} and differs in what cannot "
        f"be changed in place: {listed}. Nothing was changed; correct the wish, or remove the array with state: absent"
    )


def _plan_create(
    wanted: MdWanted,
    members: Devices,
    spares: Devices,
    named: MdNamed,
    others: t.Sequence[MdState],
    config: MdConfig | None,
) -> Plan:
    draft = configure(created(wanted, members, spares, named, others), wanted, config)
    return Plan(
        steps=draft.steps,
        before=array_fields(None),
        after=array_fields(draft.after),
        warnings=draft.notes,
        predicted=draft.after,
        assumed_parent=any(device.assumed for device in (*members, *spares, *named.devices())),
    )


def _plan_existing(
    state: MdState,
    wanted: MdWanted,
    members: Devices,
    spares: Devices,
    named: MdNamed,
    pieces: t.Sequence[MdState],
    config: MdConfig | None,
) -> Plan:
    draft = Draft(state, state.kernel_path)
    if not state.active:
        draft = assemble(draft, wanted, pieces, named)
    else:
        draft = _stop_pieces(draft, pieces, {device.path for device in (*members, *spares)})
    draft, fresh = change_members(draft, wanted, members, spares, named)
    draft = reshape(draft, wanted, members, fresh)
    draft = change_settings(draft, wanted, named)
    draft = configure(draft, wanted, config)
    if not draft.steps:
        draft = draft.waiting(*degraded_notes(draft.after)).noted(*stale_notes(draft.after, members))
    return _change_plan(state, draft)


def _stop_pieces(draft: Draft, pieces: t.Sequence[MdState], listed: set[str]) -> Draft:
    """A member that was away and came back is assembled alone; it is let go when it is listed, to be added again."""
    for one in pieces:
        shown = f"{one.kernel_path} ({', '.join(one.member_paths())})"
        if one.kernel_name and set(one.member_paths()) <= listed:
            draft = draft.then(stop_step(one, keep=True))
        else:
            draft = draft.noted(
                f"a part of the array {draft.after.label} is assembled on its own as {shown}; it is left alone"
            )
    return draft


def _change_plan(state: MdState, draft: Draft) -> Plan:
    fields, changed = array_fields(state), array_fields(draft.after)
    managed = [key for key in fields if fields[key] != changed[key]]
    if draft.steps and not managed:
        # A step that only brings a device back changes no field of the prediction.
        fields, changed, managed = {"steps": []}, {"steps": [step.summary for step in draft.steps]}, ["steps"]
    return Plan(
        steps=draft.steps,
        before={key: fields[key] for key in managed},
        after={key: changed[key] for key in managed},
        warnings=draft.notes,
        pending=draft.pending,
        more=draft.reshapes or draft.more,
        predicted=draft.after,
    )


def plan_md_assembled(
    state: MdState | None,
    wanted: MdWanted,
    members: Devices = (),
    *,
    named: MdNamed = NO_NAMED,
    pieces: t.Sequence[MdState] = (),
) -> Plan:
    """Starts an array that is there, and never makes one."""
    check_wish(wanted)
    if state is None:
        where = f" on {', '.join(device.path for device in members)}" if members else " on this host"
        raise PlanRefused(
            f"the array {wanted.name} was to be assembled, but no superblock of it was found{where}. Nothing was changed"
        )
    _refuse_differences(state, wanted)
    draft = Draft(state, state.kernel_path)
    if not state.active:
        draft = assemble(draft, wanted, pieces, named)
    else:
        draft = draft.waiting(*degraded_notes(state))
    return _change_plan(state, draft)


def plan_md_stopped(state: MdState | None, wanted: MdWanted, pieces: t.Sequence[MdState] = ()) -> Plan:
    """Stops an array, whose superblocks and content stay."""
    if state is None:
        note = f"the array {wanted.name} was not found on this host, neither assembled nor by its superblocks"
        return Plan(warnings=(note,))
    _refuse_differences(state, wanted)
    return _change_plan(state, stopped(Draft(state, state.kernel_path), pieces))


def plan_md_absent(
    state: MdState | None,
    wanted: MdWanted,
    members: Devices = (),
    pieces: t.Sequence[MdState] = (),
    config: MdConfig | None = None,
) -> Plan:
    """Wipes what is inside, stops every assembly of the array and wipes the superblocks of all its members.

    C(members) are the devices named in the wish (none: whatever the array has). Raises PlanRefused when the array has
    members that the wish does not name.
    """
    empty = Draft(state or MdState(path=""), "")
    first, last = unconfigure(empty, wanted, config)
    if state is None:
        return Plan(last.steps, before=array_fields(None), after=array_fields(None))
    draft = removal_steps(state, wanted, members, pieces)
    steps = (*first.steps, *draft.steps, *last.steps)
    return Plan(steps, array_fields(state), array_fields(None), draft.notes)
