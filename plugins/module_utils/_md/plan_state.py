# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Plans that start, stop and remove arrays that are there. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import is_redundant
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdNamed,
    MdState,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import (
    array_path,
    assemble_step,
    stop_step,
    wipe_content_step,
    zero_step,
)

__all__ = ["assemble", "is_half_made", "removal_steps", "stopped"]


def is_half_made(state: MdState | None, begun: str | None, listed: t.Container[str]) -> bool:
    """Whether an array is the leavings of a create that was cut short, so that nothing can be lost with it.

    An array with redundancy counts its first start as an event, so one without events was never started. One without
    redundancy counts none: there our own note must say that it was being made, and a member must lack its superblock.
    """
    if state is None or state.active or not state.level:
        return False
    if not all(path in listed for path in state.member_paths()):
        return False
    if begun == "remove":
        return True
    if state.event_count > 0:
        return False
    return is_redundant(state.level) or (begun == "create" and state.degraded > 0)


def assemble(draft: Draft, wanted: MdWanted, pieces: t.Sequence[MdState], named: MdNamed) -> Draft:
    """Start an array that is not running. Members whose superblock is out of date are left out, as mdadm does."""
    state = draft.after
    old = _out_of_date(state, named)
    fresh = [member for member in state.members if member.path not in old]
    lost = state.raid_devices - len({member.slot for member in fresh if member.slot is not None})
    if lost > 0 and not wanted.run_degraded:
        _refuse_degraded(state, lost, fresh, sorted(old))
    steps = [stop_step(one, keep=True) for one in (state, *pieces) if one.kernel_name]
    paths = [member.path for member in fresh]
    found = state._replace(members=tuple(fresh), degraded=max(0, lost))
    steps.append(assemble_step(wanted.name, found, paths, degraded=lost > 0))
    after = found._replace(active=True, array_state="clean", kernel_name="", path=array_path(wanted.name))
    return draft._replace(after=after, path=after.path, steps=(*draft.steps, *steps))


def _out_of_date(state: MdState, named: MdNamed) -> set[str]:
    """Members whose events are behind: mdadm tolerates one."""
    blocks = [block for block in named.superblocks if block.uuid == state.uuid]
    newest = max((block.event_count for block in blocks), default=0)
    return {block.path for block in blocks if block.event_count + 1 < newest}


def _refuse_degraded(state: MdState, lost: int, fresh: t.Sequence[MdMember], old: t.Sequence[str]) -> t.NoReturn:
    stale = f"; {', '.join(old)} carries an older state of it and would be left out" if old else ""
    empty = (
        " It was never started since it was made, so it holds nothing: to be rid of it, list all its devices under "
        "devices and run again."
        if is_redundant(state.level) and state.event_count == 0
        else ""
    )
    raise PlanRefused(
        f"the array {state.label} is not running, and only {state.raid_devices - lost} of its {state.raid_devices} members "
        f"were found ({', '.join(member.path for member in fresh)}){stale}. Nothing was changed; connect the missing ones, or set "
        f"run_degraded: true to start it without them.{empty}"
    )


def stopped(draft: Draft, pieces: t.Sequence[MdState]) -> Draft:
    """Stop every assembly of the array. Its content stays, so that no consent is needed; its use is refused."""
    steps = [stop_step(one, keep=True) for one in (draft.after, *pieces) if one.kernel_name]
    if not steps:
        return draft
    return draft.then(
        *steps, active=False, array_state="stopped", kernel_name="", sync_action=None, readahead_bytes=None
    )


def removal_steps(
    state: MdState, wanted: MdWanted, named: t.Sequence[DeviceGeometry], pieces: t.Sequence[MdState]
) -> Draft:
    """Wipe what is inside, stop every assembly and wipe the superblocks of all members.

    C(named) are the devices of the wish (none: whatever the array has). Raises PlanRefused when the array has members that
    the wish does not name.
    """
    assemblies = [one for one in (state, *pieces) if one.kernel_name]
    paths = tuple(dict.fromkeys(path for one in (state, *pieces) for path in one.present_paths()))
    known = {device.path for device in named}
    if known and not set(paths) <= known:
        raise PlanRefused(
            f"the array {state.label} has members that were not named: {', '.join(sorted(set(paths) - known))}. "
            "Nothing was changed; name them all under devices, or none"
        )
    steps = [wipe_content_step(one) for one in assemblies if one.active]
    steps += [stop_step(one) for one in assemblies]
    if paths:
        steps.append(zero_step(wanted.name, paths))
    return Draft(state, state.kernel_path, tuple(steps), _lost_notes(state))


def _lost_notes(state: MdState) -> tuple[str, ...]:
    lost = state.raid_devices - sum(member.slot is not None and member.present for member in state.members)
    if lost <= 0:
        return ()
    return (
        f"{lost} of the {state.raid_devices} members of the array {state.label} could not be found, so a superblock "
        "may come back with the disk; run this again when it does",
    )
