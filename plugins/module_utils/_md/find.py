# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Which array is meant: by UUID, else by name, else by its members. Never by /dev/mdN. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdState,
    MdSuperblock,
    MdWanted,
)

__all__ = ["arrays_of_superblocks", "find_array", "find_others", "find_pieces"]


def find_array(arrays: t.Iterable[MdState], wanted: MdWanted, devices: t.Sequence[str]) -> MdState | None:
    """The array that the wish means, None when there is none. C(devices) are the kernel's paths of its devices.

    Raises PlanRefused when several arrays have the name and nothing else tells them apart.
    """
    known = list(arrays)
    if wanted.uuid is not None:
        same = [array for array in known if array.uuid == wanted.uuid]
        if same:
            return _best(same)
    named = [array for array in known if array.name == wanted.name and wanted.homehost in (None, array.homehost)]
    if len({array.uuid for array in named}) > 1:
        named = _narrowed(named, wanted, devices)
    if named:
        return _best(named)
    same = [array for array in known if devices and set(array.member_paths()) == set(devices)]
    if not same and wanted.metadata == "0.90":
        # Such an array has no name; after a member was replaced its members are no longer quite those of the wish.
        same = [one for one in known if one.metadata == "0.90" and set(one.member_paths()) & set(devices)]
    return _best(same)


def _narrowed(named: list[MdState], wanted: MdWanted, devices: t.Sequence[str]) -> list[MdState]:
    sharing = [array for array in named if set(array.member_paths()) & set(devices)]
    if len({array.uuid for array in sharing}) == 1:
        return sharing
    labels = "; ".join(f"{array.homehost}:{array.label} on {', '.join(array.member_paths())}" for array in named)
    raise PlanRefused(
        f"{len(named)} arrays of this host are named {wanted.name}: {labels}. "
        "Nothing was changed; say which one is meant by its uuid"
    )


def _best(same: t.Sequence[MdState]) -> MdState | None:
    """Of several assemblies of one array the running one, else the one with most members."""
    return max(same, key=lambda array: (array.active, len(array.members)), default=None)


def find_pieces(arrays: t.Iterable[MdState], array: MdState | None) -> tuple[MdState, ...]:
    """Further assemblies with the same UUID: a member that was pulled and came back is assembled alone."""
    if array is None or array.uuid is None:
        return ()
    return tuple(one for one in arrays if one.uuid == array.uuid and one.kernel_name != array.kernel_name)


def find_others(arrays: t.Iterable[MdState], array: MdState | None, devices: t.Sequence[str]) -> tuple[MdState, ...]:
    """Arrays that hold one of the devices and are not the array meant."""
    own = array.uuid if array is not None else None
    return tuple(
        one
        for one in arrays
        if (own is None or one.uuid != own) and one is not array and set(one.member_paths()) & set(devices)
    )


def arrays_of_superblocks(superblocks: t.Iterable[MdSuperblock], kernel_name: str = "") -> list[MdState]:
    """The arrays that these superblocks tell of, as not running; one per UUID, the newest superblock counts."""
    groups: dict[str, list[MdSuperblock]] = {}
    for block in superblocks:
        groups.setdefault(block.uuid, []).append(block)
    return [_array_of(group, kernel_name) for group in groups.values()]


def _array_of(group: t.Sequence[MdSuperblock], kernel_name: str) -> MdState:
    newest = max(group, key=lambda block: block.event_count)
    members = sorted(group, key=lambda block: (block.slot is None, block.slot or 0, block.path))
    slots = {block.slot for block in group if block.slot is not None}
    return MdState(
        path=f"/dev/md/{newest.name}" if newest.name else "",
        kernel_name=kernel_name,
        uuid=newest.uuid,
        name=newest.name,
        homehost=newest.homehost,
        level=newest.level,
        raid_devices=newest.raid_devices,
        chunk_bytes=newest.chunk_bytes,
        layout=newest.layout,
        metadata=newest.metadata,
        bitmap=newest.bitmap,
        component_size_bytes=newest.component_size_bytes,
        array_size_bytes=newest.array_size_bytes,
        data_offset_bytes=newest.data_offset_bytes,
        members=tuple(
            MdMember(block.path, slot=block.slot, state=_state_word(block), data_offset_bytes=block.data_offset_bytes)
            for block in members
        ),
        degraded=max(0, newest.raid_devices - len(slots)),
        array_state="inactive" if kernel_name else "stopped",
        active=False,
        event_count=newest.event_count,
    )


def _state_word(block: MdSuperblock) -> str:
    if block.is_journal:
        return "journal"
    return "in_sync" if block.slot is not None else "spare"
