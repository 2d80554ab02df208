# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Which devices an array that runs gains and loses, so that it has those that are listed. Pure.

A vacant place is filled by a listed device that is not a member yet. A member that is not listed is replaced by such a device,
or removed when it is only a spare, where that was asked for. Everything else is refused.
"""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import is_redundant
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import check_sectors
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.member_steps import (
    add_steps,
    detach_step,
    forget_steps,
    readd_step,
    remove_step,
    replace_step,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdNamed,
    MdState,
    MdSuperblock,
    MdWanted,
)

__all__ = ["change_members"]

Devices = t.Sequence[DeviceGeometry]


def change_members(
    draft: Draft, wanted: MdWanted, members: Devices, spares: Devices, named: MdNamed
) -> tuple[Draft, tuple[DeviceGeometry, ...]]:
    """The draft with the devices that are listed, and those of them that only a reshape could take in."""
    if not members and wanted.spares is None:
        return draft, ()
    listed = [*members, *spares]
    check_sectors(listed)
    if not is_redundant(draft.after.level):
        return draft, _strangers_of_plain(draft.after, members)
    draft = _let_go_detached(draft)
    draft = _return_faulty(draft, listed)
    draft = _dismiss(draft, wanted, listed)
    fresh = [device for device in listed if draft.after.member(device.path) is None]
    draft, fresh = _fill_places(draft, wanted, fresh, named)
    draft, fresh = _replace_extras(draft, wanted, members, fresh, listed, named)
    beyond = max(0, len(members) - draft.after.raid_devices)
    _refuse_strangers(draft.after, wanted, members, fresh[beyond:] if beyond else fresh, listed)
    return draft, tuple(fresh[:beyond])


def _strangers_of_plain(state: MdState, members: Devices) -> tuple[DeviceGeometry, ...]:
    """Of an array without redundancy no member can leave; more may only come with a reshape."""
    paths = {device.path for device in members}
    gone = [path for path in state.member_paths() if path not in paths]
    fresh = tuple(device for device in members if state.member(device.path) is None)
    if members and (gone or len(fresh) > max(0, len(members) - state.raid_devices)):
        raise PlanRefused(
            f"the array {state.label} exists on {_words(state.member_paths())}, and {_words(sorted(paths))} were asked for; "
            f"{state.level} has no redundancy, so no member of it can be replaced. Nothing was changed"
        )
    return fresh


def _let_go_detached(draft: Draft) -> Draft:
    """A disk that was pulled stays in the array as faulty where nothing let it go; it has no path to name it by."""
    gone = [member for member in draft.after.members if member.role == "missing"]
    if not gone:
        return draft
    draft = draft.then(detach_step(draft.after, draft.path))
    for member in gone:
        draft = draft.without_member(member.path)
    return draft


def _return_faulty(draft: Draft, listed: Devices) -> Draft:
    """Listed members that failed are taken out and put in again."""
    for device in listed:
        member = draft.after.member(device.path)
        if member is not None and member.role == "faulty":
            _check_alive(draft.after, device.path)
            draft = draft.then(
                remove_step(draft.after, draft.path, device.path), readd_step(draft.after, draft.path, device.path)
            ).with_member(MdMember(device.path, member.devno, state="spare", size_bytes=member.size_bytes))
    return draft


def _dismiss(draft: Draft, wanted: MdWanted, listed: Devices) -> Draft:
    """Devices without data of the array that are not listed go, where that was asked for."""
    if not wanted.remove_extra_members:
        return draft
    paths = {device.path for device in listed}
    for member in draft.after.members:
        leaves = member.role == "faulty" or (member.role == "spare" and wanted.spares is not None)
        if leaves and member.path not in paths:
            draft = draft.then(*forget_steps(draft.after, draft.path, member.path)).without_member(member.path)
    return draft


def _vacancies(state: MdState, wanted: MdWanted) -> int:
    """How many devices the array can take in without a reshape."""
    filled = {member.slot for member in state.members if member.role in ("active", "rebuilding")}
    idle = sum(member.role == "spare" for member in state.members)
    return state.raid_devices + len(wanted.spares or ()) - len(filled) - idle


def _fill_places(
    draft: Draft, wanted: MdWanted, fresh: list[DeviceGeometry], named: MdNamed
) -> tuple[Draft, list[DeviceGeometry]]:
    count = max(0, _vacancies(draft.after, wanted))
    for device in fresh[:count]:
        _check_alive(draft.after, device.path)
        draft = _added(draft, device, named)
    return draft, fresh[count:]


def _added(draft: Draft, device: DeviceGeometry, named: MdNamed) -> Draft:
    state = draft.after
    _check_room(state, device)
    block = next((one for one in named.superblocks if one.path == device.path), None)
    if block is not None and block.uuid == state.uuid:
        _check_old_copy(state, block)
        steps = [readd_step(state, draft.path, device.path)]
    else:
        steps = add_steps(state, draft.path, device.path)
    return draft.then(*steps).with_member(MdMember(device.path, state="spare", size_bytes=device.size_bytes))


def _check_old_copy(state: MdState, block: MdSuperblock) -> None:
    if block.event_count > state.event_count:
        raise PlanRefused(
            f"{block.path} carries a superblock of the array {state.label} that is newer (event {block.event_count}) than "
            f"the array itself (event {state.event_count}): it was used without the others. Nothing was changed; find out "
            "which of the two has the data that you want, and wipe the superblock of the other by hand"
        )


def _check_alive(state: MdState, path: str) -> None:
    """An array that lost more than it can lose cannot rebuild anything."""
    lost = len(state.missing_slots)
    spare_copies = {"raid1": state.raid_devices - 1, "raid6": 2}.get(state.level, 1)
    if state.level != "raid10" and lost > spare_copies:
        raise PlanRefused(
            f"{path} cannot be added to the array {state.label}: {lost} of its {state.raid_devices} members are missing, more "
            f"than a {state.level} can lose. Nothing was changed; connect the missing ones and assemble it again"
        )


def _check_room(state: MdState, device: DeviceGeometry) -> None:
    if state.component_size_bytes is None or device.size_bytes is None:
        return
    # Where its data begins mdadm decides anew for each device; a superblock needs this much at least.
    if device.size_bytes < state.component_size_bytes + 64 * 1024:
        raise PlanRefused(
            f"{device.path} has {format_size(device.size_bytes)}, but every member of the array {state.label} contributes "
            f"{format_size(state.component_size_bytes)} behind its superblock. Nothing was changed; list a larger device"
        )


def _extras(state: MdState, wanted: MdWanted, listed: Devices) -> list[MdMember]:
    """Working devices that are not listed. Spares count only where spares are listed, or are to go."""
    paths = {device.path for device in listed}
    found = [member for member in state.members if member.works and member.path not in paths]
    if wanted.spares is None:
        return [member for member in found if member.role != "spare"]
    return found


def _replace_extras(
    draft: Draft,
    wanted: MdWanted,
    members: Devices,
    fresh: list[DeviceGeometry],
    listed: Devices,
    named: MdNamed,
) -> tuple[Draft, list[DeviceGeometry]]:
    if not wanted.remove_extra_members:
        return draft, fresh
    asked = {device.path for device in members}
    waiting = [m.path for m in draft.after.members if m.role == "spare" and m.path in asked]
    added = {step.argv[-1] for step in draft.steps}
    for member in _extras(draft.after, wanted, listed):
        if member.role != "active" or "want_replacement" in member.state:
            continue
        new = next((path for path in waiting if path not in added), None)
        if new is None and fresh and len(members) <= draft.after.raid_devices:
            draft = _added(draft, fresh[0], named)
            new, fresh = fresh[0].path, fresh[1:]
        if new is None:
            continue
        waiting = [path for path in waiting if path != new]
        draft = _replaced(draft, member, new)
    return draft, fresh


def _replaced(draft: Draft, old: MdMember, new: str) -> Draft:
    if draft.after.metadata == "0.90":
        raise PlanRefused(
            f"{old.path} of the array {draft.after.label} cannot be replaced by {new}: metadata 0.90 does not know this. "
            f"Nothing was changed; mark {old.path} as failed with mdadm --fail, and {new} will be added in its place"
        )
    spare = draft.after.member(new) or MdMember(new)
    draft = draft.then(replace_step(draft.after, draft.path, old.path, new))
    draft = draft.with_member(MdMember(old.path, old.devno, old.slot, f"{old.state},want_replacement", old.size_bytes))
    return draft.with_member(MdMember(new, spare.devno, old.slot, "spare,replacement", spare.size_bytes))


def _refuse_strangers(
    state: MdState, wanted: MdWanted, members: Devices, fresh: t.Sequence[DeviceGeometry], listed: Devices
) -> None:
    """What is left over: listed devices without a place, or members that are not listed."""
    extras = [
        member
        for member in _extras(state, wanted, listed)
        if "want_replacement" not in member.state and (members or member.role == "spare")
    ]
    if members and len(members) < state.raid_devices and not fresh:
        raise PlanRefused(
            f"the array {state.label} has {state.raid_devices} places, and {len(members)} devices were listed. An array is "
            f"never made smaller here. Nothing was changed; list the devices of all places{_naming(extras)}"
        )
    if fresh:
        asked = _words([device.path for device in fresh])
        advice = (
            f"; to have {_words([one.path for one in extras])} replaced, set remove_extra_members: true"
            if extras and not wanted.remove_extra_members
            else "; list it under spares to keep it as one"
            if not extras
            else ""
        )
        raise PlanRefused(
            f"{asked} is listed, but the array {state.label} has no vacant place: its devices are "
            f"{_words(state.member_paths())}. Nothing was changed{advice}"
        )
    if extras:
        raise PlanRefused(
            f"the array {state.label} has devices that are not listed: {_words([one.path for one in extras])} "
            f"({', '.join(one.role for one in extras)}). Nothing was changed; list them, or for a spare set "
            "remove_extra_members: true, and for a member list the device that takes its place, too"
        )


def _naming(extras: t.Sequence[MdMember]) -> str:
    return f", also {_words([one.path for one in extras])}" if extras else ""


def _words(paths: t.Sequence[str]) -> str:
    return ", ".join(paths) or "none"
