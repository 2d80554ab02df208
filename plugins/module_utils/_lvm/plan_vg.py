# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a volume group comes to be, changes, or goes. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import (
    WIPE_RETRIES,
    check_name,
    check_tags,
    lvm_argv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import PvState, PvWanted, VgState, VgWanted
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import (
    alignment_warning,
    joined,
    placement_arguments,
    placement_request,
    predict_pv,
)

__all__ = ["DEFAULT_EXTENT_BYTES", "combined_create", "members_after", "plan_vg", "plan_vg_absent"]

DEFAULT_EXTENT_BYTES = 4 * 1024 * 1024
_ODD_EXTENT_BYTES = 128 * 1024


def plan_vg(
    state: VgState | None,
    wanted: VgWanted,
    pvs: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry] | None = None,
) -> Plan:
    """The plan that makes the VG, or brings members and tags up to the wish.

    C(pvs) are the PVs of C(wanted.pv_paths), read or predicted, and those that are in the VG; C(below) gives sectors.
    Raises PlanRefused for what cannot change in place and for PVs of other groups.
    """
    _check(wanted)
    if state is None:
        return _create(wanted, _members(wanted, pvs), below or {})
    return _update(state, wanted, pvs)


def plan_vg_absent(state: VgState | None) -> Plan:
    """The plan after which the VG is gone and its PVs are free; refused while it has LVs or members are missing."""
    if state is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    _check_usable(state, "remove")
    if state.lv_names:
        raise PlanRefused(
            f"asked to remove the volume group {state.name}, but it has logical volumes: {', '.join(state.lv_names)}; "
            "remove them first (lvm_lv with state: absent), then run again"
        )
    step = Step(
        lvm_argv("vgremove", state.name), f"remove the volume group {state.name}", removes=(f"vg:{state.name}",)
    )
    return Plan((step,), before={"state": "present"}, after={"state": "absent"})


def combined_create(
    wanted: VgWanted, pv_wishes: t.Sequence[PvWanted], below: t.Mapping[str, DeviceGeometry]
) -> Plan | None:
    """Makes new PVs and a VG of them with one vgcreate, which saves a process for each PV.

    None where that cannot say the same as single steps: PVs that differ in their placement, or a chosen UUID.
    C(predicted) is the VG; C(members_after) gives its PVs.
    """
    _check(wanted)
    requests = {placement_request(wish, below[wish.path]) for wish in pv_wishes}
    if len(requests) != 1 or any(wish.uuid for wish in pv_wishes):
        return None
    pvs = [predict_pv(wish, below[wish.path]) for wish in pv_wishes]
    plan = _create(wanted, pvs, below)
    paths = tuple(pv.path for pv in pvs)
    head, rest = plan.steps[0].argv[:2], plan.steps[0].argv[2:]
    summary = f"make {', '.join(paths)} LVM physical volumes with data at {format_size(pvs[0].pe_start_bytes)}, and "
    steps = (
        Step(("wipefs", "-a", *paths), f"wipe old signatures from {', '.join(paths)}", paths, retries=WIPE_RETRIES),
        dataclasses.replace(
            plan.steps[0],
            argv=(*head, *placement_arguments(requests.pop()), *rest),
            summary=summary + plan.steps[0].summary,
            writes=paths,
        ),
    )
    warnings = [text for pv in pvs for text in [alignment_warning(pv, below[pv.path])] if text]
    return dataclasses.replace(plan, steps=steps, warnings=(*warnings, *plan.warnings))


def members_after(pvs: t.Sequence[PvState], vg: VgState) -> tuple[PvState, ...]:
    """The PVs as they are once the planned VG holds them."""
    return tuple(
        joined(pv, vg.name, vg.extent_bytes) if pv.vg_name is None and pv.path in vg.pv_paths else pv for pv in pvs
    )


def _check(wanted: VgWanted) -> None:
    check_name(wanted.name, "name")
    check_tags(wanted.tags)
    extent = wanted.extent_bytes
    if extent is None:
        return
    power_of_two = extent > 0 and extent & (extent - 1) == 0
    if extent < SECTOR_BYTES or not (power_of_two or extent % _ODD_EXTENT_BYTES == 0):
        raise PlanRefused(
            f"extent_size was given as {format_size(extent)}, but LVM takes a power of two or a multiple of 128KiB"
        )


def _members(wanted: VgWanted, pvs: t.Sequence[PvState]) -> list[PvState]:
    """The PVs of the wish, each free or in this very VG. Raises PlanRefused."""
    if len(set(wanted.pv_paths)) != len(wanted.pv_paths):
        raise PlanRefused(
            f"devices of the volume group {wanted.name} name the same device twice: {', '.join(wanted.pv_paths)}"
        )
    by_path = {pv.path: pv for pv in pvs}
    lacking = [path for path in wanted.pv_paths if path not in by_path]
    if lacking:
        raise PlanRefused(
            f"the volume group {wanted.name} was asked for on {', '.join(lacking)}, which is no LVM physical volume; "
            "make it one first (lvm_pv)"
        )
    members = [by_path[path] for path in wanted.pv_paths]
    taken = [f"{pv.path} is in {pv.vg_name}" for pv in members if pv.vg_name not in (None, wanted.name)]
    if taken:
        raise PlanRefused(
            f"the volume group {wanted.name} was asked for on physical volumes of another group: {'; '.join(taken)}. "
            "Remove them there first, or name others"
        )
    return members


def _check_sectors(name: str, members: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]) -> None:
    sizes = {path: below[path].logical_sector_bytes for path in (pv.path for pv in members) if path in below}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{path} {size}" for path, size in sizes.items())
        raise PlanRefused(
            f"the devices of the volume group {name} have logical sectors of unequal size in bytes ({found}); a group "
            "must not mix them, use devices of one kind"
        )


def _create(wanted: VgWanted, members: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]) -> Plan:
    if not members:
        raise PlanRefused(f"the volume group {wanted.name} does not exist; give devices to make it on")
    _check_sectors(wanted.name, members, below)
    extent = wanted.extent_bytes or DEFAULT_EXTENT_BYTES
    paths = tuple(pv.path for pv in members)
    pvs = [joined(pv, wanted.name, extent) for pv in members]
    counts = [pv.extent_count for pv in pvs]
    if any(count == 0 for count in counts):
        raise PlanRefused(
            f"the volume group {wanted.name} was asked for with extents of {format_size(extent)}, but not one fits on "
            f"{', '.join(pv.path for pv in pvs if pv.extent_count == 0)}; ask for smaller extents"
        )
    total = None if None in counts else sum(t.cast("list[int]", counts))
    predicted = VgState(
        name=wanted.name,
        uuid=None,
        extent_bytes=extent,
        extent_count=total,
        free_extents=total,
        pv_paths=tuple(sorted(paths)),
        tags=tuple(sorted(wanted.tags or ())),
        assumed=any(pv.assumed for pv in members),
    )
    tags = [word for tag in predicted.tags for word in ("--addtag", tag)]
    step = Step(
        lvm_argv("vgcreate", "-s", f"{extent}b", *tags, wanted.name, *paths),
        f"make the volume group {wanted.name} with extents of {format_size(extent)} on {', '.join(paths)}",
    )
    return Plan((step,), {}, _fields(predicted, wanted), predicted=predicted, assumed_parent=predicted.assumed)


def _update(state: VgState, wanted: VgWanted, pvs: t.Sequence[PvState]) -> Plan:
    if wanted.extent_bytes is not None and wanted.extent_bytes != state.extent_bytes:
        raise PlanRefused(
            f"the volume group {state.name} has extents of {format_size(state.extent_bytes)}, but extent_size "
            f"{format_size(wanted.extent_bytes)} was asked for; this module does not change it in place. Leave it out "
            "to take the group as it is, or remove the group (state: absent) and make it anew"
        )
    new = tuple(pv for pv in _members(wanted, pvs) if pv.vg_name is None)
    steps = (*_extend_steps(state, new), *_tag_steps(state, wanted))
    if steps:
        _check_usable(state, "change")
    joining = [joined(pv, state.name, state.extent_bytes) for pv in new]
    added = [pv.extent_count for pv in joining]
    predicted = dataclasses.replace(
        state,
        pv_paths=tuple(sorted({*state.pv_paths, *(pv.path for pv in new)})),
        extent_count=_plus(state.extent_count, added),
        free_extents=_plus(state.free_extents, added),
        tags=state.tags if wanted.tags is None else tuple(sorted(wanted.tags)),
    )
    missing = (
        f"the volume group {state.name} lacks {state.missing_pv_count} of its physical volumes; bring them back or "
        "remove them with vgreduce --removemissing"
    )
    return Plan(
        steps,
        _fields(state, wanted),
        _fields(predicted, wanted),
        warnings=(missing,) if state.missing_pv_count else (),
        predicted=predicted,
        assumed_parent=any(pv.assumed for pv in new),
    )


def _plus(count: int | None, added: t.Sequence[int | None]) -> int | None:
    if count is None or None in added:
        return None
    return count + sum(number or 0 for number in added)


def _extend_steps(state: VgState, new: t.Sequence[PvState]) -> tuple[Step, ...]:
    if not new:
        return ()
    paths = tuple(pv.path for pv in new)
    return (Step(lvm_argv("vgextend", state.name, *paths), f"add {', '.join(paths)} to the volume group {state.name}"),)


def _tag_steps(state: VgState, wanted: VgWanted) -> tuple[Step, ...]:
    if wanted.tags is None or set(wanted.tags) == set(state.tags):
        return ()
    words = [word for tag in sorted(set(wanted.tags) - set(state.tags)) for word in ("--addtag", tag)]
    words += [word for tag in sorted(set(state.tags) - set(wanted.tags)) for word in ("--deltag", tag)]
    shown = ", ".join(sorted(wanted.tags)) or "none"
    return (Step(lvm_argv("vgchange", *words, state.name), f"set the tags of the volume group {state.name}: {shown}"),)


def _check_usable(state: VgState, verb: str) -> None:
    why = state.unusable()
    if why:
        raise PlanRefused(f"asked to {verb} the volume group {state.name}, but it {why}. Nothing was changed")
    if state.missing_pv_count:
        raise PlanRefused(
            f"asked to {verb} the volume group {state.name}, but {state.missing_pv_count} of its physical volumes are "
            "missing; bring them back, or remove them with vgreduce --removemissing, then run again"
        )


def _fields(state: VgState, wanted: VgWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"name": state.name, "state": "present"}
    if wanted.pv_paths:
        fields["devices"] = list(state.pv_paths)
    fields["extent_size_bytes"] = state.extent_bytes
    if wanted.tags is not None:
        fields["tags"] = list(state.tags)
    return fields
