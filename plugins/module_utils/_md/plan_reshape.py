# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Changes that move or extend the data of an array that runs: level, number of devices, chunk, size. Pure.

Only where they were consented to, on an array that is whole and idle. One is begun at a time, since the kernel does one at a
time; what is left over is planned again when it has ended.
"""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import check_chunk, level_name
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdMember, MdState, MdWanted
from ansible_collections.plumbline.storage.plugins.module_utils._md.size import array_size_bytes, available_bytes

__all__ = ["LEVEL_CHANGES", "reshape"]

# From, to: how many devices come in, at least; what it means.
LEVEL_CHANGES = {
    ("raid1", "raid5"): 0,
    ("raid0", "raid4"): 1,
    ("raid0", "raid5"): 1,
    ("raid0", "raid10"): 2,
    ("raid4", "raid5"): 0,
    ("raid5", "raid6"): 1,
    ("raid10", "raid0"): 0,
}
# Levels whose number of devices can grow, and those whose chunk can change. mdadm does both to a raid0, too, by way of a raid4
# without its parity that a program of its own turns back at the end; when that program dies, the array stays a degraded raid4.
_GROWING = ("raid1", "raid4", "raid5", "raid6", "raid10")
_RECHUNKED = ("raid4", "raid5", "raid6", "raid10")
_SIZED = ("raid1", "raid4", "raid5", "raid6", "raid10")
_DAYS = 24 * 3600


class _Change(t.NamedTuple):
    """One thing that differs: its name, what is, what is asked, both in words."""

    name: str
    found: str
    asked: str


def reshape(
    draft: Draft, wanted: MdWanted, members: t.Sequence[DeviceGeometry], fresh: t.Sequence[DeviceGeometry]
) -> Draft:
    """The draft with the first change that is due. C(fresh) are listed devices that are not members yet."""
    state = draft.after
    changes = _changes(state, wanted, members)
    if not changes:
        return draft
    listed = "; ".join(f"{one.name} is {one.found}, asked is {one.asked}" for one in changes)
    _check_possible(state, wanted, members, changes, listed)
    if not wanted.reshape:
        raise DriftFound(
            f"the array {state.label} exists on {', '.join(state.member_paths())} and differs: {listed}. This can be "
            "changed while the array is used, by a reshape or a resync that takes hours on large disks; it is never begun "
            "by itself. Nothing was changed; set reshape: true, or correct the wish"
        )
    waits = _waits(draft)
    if waits:
        return draft.waiting(f"{listed}: this is begun when {waits}; run again then, or set wait_for_sync: true")
    draft = _begin(draft, wanted, members, fresh)
    if len(changes) > 1:
        left = ", ".join(one.name for one in changes)
        draft = draft.waiting(
            f"{left} are changed one after the other; run again when the first has ended, or set wait_for_sync: true"
        )
    return draft


def _changes(state: MdState, wanted: MdWanted, members: t.Sequence[DeviceGeometry]) -> list[_Change]:
    found = []
    level = level_name(wanted.level) if wanted.level is not None else state.level
    if level != state.level:
        found.append(_Change("level", state.level, level))
    if members and len(members) != state.raid_devices:
        found.append(_Change("number of devices", str(state.raid_devices), str(len(members))))
    if wanted.chunk_bytes not in (None, state.chunk_bytes):
        found.append(_Change("chunk", format_size(state.chunk_bytes), format_size(wanted.chunk_bytes)))
    size = _wanted_size(state, wanted)
    if size is not None and size != state.component_size_bytes:
        found.append(_Change("size", format_size(state.component_size_bytes), format_size(size)))
    return found


def _wanted_size(state: MdState, wanted: MdWanted) -> int | None:
    if not wanted.size_max:
        return wanted.size_bytes
    largest = _largest_size(state)
    if largest is None or state.component_size_bytes is None:
        return None
    # The bitmap and the superblock may keep a little more than their due.
    return largest if largest - state.component_size_bytes > 256 * 1024 + (state.chunk_bytes or 0) else None


def _largest_size(state: MdState) -> int | None:
    """What every member can contribute where its data begins now."""
    rooms = [
        available_bytes(
            member.size_bytes, state.metadata, member.data_offset_bytes or 0, state.consistency_policy == "ppl"
        )
        for member in state.members
        if member.works and member.size_bytes is not None
    ]
    unit = state.chunk_bytes or 1024
    return min(rooms) // unit * unit if rooms else None


def _check_possible(
    state: MdState,
    wanted: MdWanted,
    members: t.Sequence[DeviceGeometry],
    changes: t.Sequence[_Change],
    listed: str,
) -> None:
    """Raises PlanRefused for what cannot be done in place, whatever is consented to."""
    opening = f"the array {state.label} exists on {', '.join(state.member_paths())}{_hint(state)} and differs: {listed}"
    closing = "Nothing was changed; correct the wish, or remove the array with state: absent and make it anew"
    names = [one.name for one in changes]
    why = None
    if "level" in names:
        why = _level_problem(state, wanted, members)
    elif "number of devices" in names:
        why = _count_problem(state, members)
    if why is None and "chunk" in names:
        why = _chunk_problem(state, wanted)
    if why is None and "size" in names:
        why = _size_problem(state, wanted)
    if why is not None:
        raise DriftFound(f"{opening}. {why}. {closing}")


def _hint(state: MdState) -> str:
    return f" ({state.degraded} of its {state.raid_devices} members are missing)" if state.degraded else ""


def _level_problem(state: MdState, wanted: MdWanted, members: t.Sequence[DeviceGeometry]) -> str | None:
    old, new = state.level, level_name(wanted.level or state.level)
    if (old, new) not in LEVEL_CHANGES:
        known = ", ".join(f"{one} to {other}" for one, other in LEVEL_CHANGES)
        return f"A {old} cannot become a {new} in place; what can is {known}"
    more = (len(members) or state.raid_devices) - state.raid_devices
    least = LEVEL_CHANGES[old, new]
    if (old, new) == ("raid0", "raid10"):
        least = state.raid_devices
        if more > least:
            return f"As a raid10 it has {least} more devices, a copy of each; add further ones when it is one"
    if (old, new) == ("raid10", "raid0"):
        near = state.layout == "n2" and state.raid_devices % 2 == 0
        if not near:
            return "Only a raid10 with layout n2 on an even number of devices can become a raid0"
        return "It loses one device of each pair, which mdadm chooses; leave devices out" if members else None
    if old == "raid1" and state.raid_devices != 2:
        return "Only a raid1 of two devices can become a raid5"
    if more < least:
        return f"{new} needs {least} more device{'s' * (least != 1)}; list {'them' if least != 1 else 'it'} behind the members, blank"
    return None


def _count_problem(state: MdState, members: t.Sequence[DeviceGeometry]) -> str | None:
    if len(members) < state.raid_devices:
        return "An array is never made smaller here: what lies at its end would be lost"
    if state.level not in _GROWING:
        return f"A {state.level} cannot take in more devices"
    if state.level == "raid10" and not (state.layout or "").startswith("n"):
        return f"Only a raid10 with a near layout can take in more devices, not {state.layout}"
    if state.consistency_policy in ("ppl", "journal"):
        return f"With the consistency policy {state.consistency_policy} it cannot be reshaped"
    return None


def _chunk_problem(state: MdState, wanted: MdWanted) -> str | None:
    chunk = wanted.chunk_bytes or 0
    level = level_name(wanted.level or state.level)
    check_chunk(level, chunk)
    if level not in _RECHUNKED or (state.level == "raid10" and not (state.layout or "").startswith("n")):
        return f"The chunk of a {level}{' with layout ' + str(state.layout) if state.layout else ''} cannot be changed"
    if state.consistency_policy in ("ppl", "journal"):
        return f"With the consistency policy {state.consistency_policy} it cannot be reshaped"
    component = state.component_size_bytes
    if component is not None and component % chunk and level != "raid0":
        return (
            f"What each member contributes, {format_size(component)}, is no multiple of {format_size(chunk)}; the array would "
            "become smaller"
        )
    return None


def _size_problem(state: MdState, wanted: MdWanted) -> str | None:
    if state.level not in _SIZED:
        return f"A {state.level} always uses the whole of each member"
    size, present = _wanted_size(state, wanted) or 0, state.component_size_bytes or 0
    if size < present:
        return "An array is never made smaller here: what lies at its end would be lost"
    if state.level == "raid10" and not (state.layout or "").startswith("n"):
        return f"Only a raid10 with a near layout can become larger, not {state.layout}"
    largest = _largest_size(state)
    if largest is not None and size > largest:
        offset = max(member.data_offset_bytes or 0 for member in state.members)
        return (
            f"The smallest member can give at most {format_size(largest)}: its data begins at {format_size(offset)} now, which a "
            "reshape may have moved"
        )
    return None


def _waits(draft: Draft) -> str | None:
    """What has to end before a reshape can begin."""
    state = draft.after
    if state.reshaping:
        return "the reshape that runs has ended"
    if state.busy:
        return f"the {state.sync_action} that runs has ended"
    if any(member.role in ("spare", "rebuilding", "replacement") and draft.steps for member in state.members):
        return "the devices that are added have been rebuilt"
    if state.missing_slots or state.degraded:
        if not any(member.role in ("spare", "rebuilding") for member in state.members):
            raise PlanRefused(
                f"the array {state.label} is to be reshaped, but {len(state.missing_slots) or state.degraded} of its "
                f"{state.raid_devices} members are missing. Nothing was changed; list a device in its place and let it be "
                "rebuilt first"
            )
        return "the missing members have been rebuilt"
    return None


def _begin(
    draft: Draft, wanted: MdWanted, members: t.Sequence[DeviceGeometry], fresh: t.Sequence[DeviceGeometry]
) -> Draft:
    state = draft.after
    level = level_name(wanted.level or state.level)
    count = len(members) or state.raid_devices
    if level != state.level:
        return _change_level(draft, wanted, level, count, fresh)
    if count != state.raid_devices:
        return _grow(
            draft,
            wanted,
            [f"--raid-devices={count}"],
            fresh,
            f"from {state.raid_devices} to {count} devices",
            raid_devices=count,
        )
    if wanted.chunk_bytes not in (None, state.chunk_bytes):
        chunk = wanted.chunk_bytes or 0
        return _grow(
            draft, wanted, [f"--chunk={chunk // 1024}K"], (), f"to a chunk of {format_size(chunk)}", chunk_bytes=chunk
        )
    size = _wanted_size(state, wanted)
    if size is None:
        return draft
    word = "max" if wanted.size_max else f"{size // 1024}K"
    return _grow(
        draft,
        wanted._replace(backup_file=None),
        [f"--size={word}"],
        (),
        f"to {format_size(size)} on each member",
        component_size_bytes=size,
    )


def _change_level(draft: Draft, wanted: MdWanted, level: str, count: int, fresh: t.Sequence[DeviceGeometry]) -> Draft:
    state = draft.after
    options = [f"--level={level[len('raid') :]}"]
    fields: dict[str, t.Any] = {"level": level}
    if level == "raid0":
        if state.bitmap == "internal":
            argv = ("mdadm", "--grow", "--bitmap=none", draft.path)
            draft = draft.then(
                Step(argv, f"remove the bitmap of the array {state.label}, which a raid0 has not", retries=2)
            )
        kept = tuple(member for member in state.members if member.slot is not None and member.slot % 2 == 0)
        fields.update(
            raid_devices=count // 2, layout=None, bitmap="none", members=kept, consistency_policy=None, sync_action=None
        )
        return _grow(draft, wanted, options, (), f"from {state.level} to {level}", **fields)
    if count != state.raid_devices:
        options.append(f"--raid-devices={count}")
        fields["raid_devices"] = count
    if level in ("raid5", "raid6"):
        fields["layout"] = "parity-last" if state.level == "raid4" else "left-symmetric"
    if state.level == "raid1":
        fields["chunk_bytes"] = 64 * 1024
    if level == "raid10":
        fields["layout"] = "n2"
    return _grow(draft, wanted, options, fresh, f"from {state.level} to {level}", **fields)


def _grow(
    draft: Draft, wanted: MdWanted, options: list[str], fresh: t.Sequence[DeviceGeometry], what: str, **changes: t.Any
) -> Draft:
    """New devices are wiped first. mdadm returns when the reshape runs; the kernel does the rest."""
    state = draft.after
    paths = tuple(device.path for device in fresh)
    backup = [f"--backup-file={wanted.backup_file}"] if wanted.backup_file else []
    if paths:
        wipe = Step(("wipefs", "--all", *paths), f"wipe signatures from {', '.join(paths)}", writes=paths, retries=2)
        draft = draft.then(wipe)
    argv = ("mdadm", "--grow", draft.path, *options, *backup, *(["--add", *paths] if paths else []))
    step = Step(argv, f"reshape the array {state.label} {what}", writes=paths, timeout_seconds=_DAYS)
    draft = draft.then(step, **changes)._replace(reshapes=True)
    for number, device in enumerate(fresh):
        slot = state.raid_devices + number if "raid_devices" in changes else None
        draft = draft.with_member(
            MdMember(
                device.path, slot=slot, state="in_sync" if slot is not None else "spare", size_bytes=device.size_bytes
            )
        )
    return _with_size(draft)


def _with_size(draft: Draft) -> Draft:
    """The size that the array has when the reshape has ended."""
    state = draft.after
    if state.component_size_bytes is None or (not state.chunk_bytes and state.level != "raid1"):
        return draft
    total = array_size_bytes(
        state.level, state.raid_devices, state.layout, state.component_size_bytes, state.chunk_bytes
    )
    return draft.then(array_size_bytes=total, sync_action=state.sync_action)
