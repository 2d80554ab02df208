# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides what changes in place on a volume group: members that come, leave or are gone, and tags. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    UNKNOWN_DEVICE,
    LvmState,
    PvState,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_move import leave_steps
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import joined
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg_check import vg_fields

__all__ = ["check_usable", "forget_steps", "update_vg"]


def update_vg(state: VgState, wanted: VgWanted, members: t.Sequence[PvState], lvm: LvmState) -> Plan:
    """The plan for a VG that is there. C(members) are the PVs of the wish, C(lvm) is all of LVM."""
    if wanted.extent_bytes is not None and wanted.extent_bytes != state.extent_bytes:
        raise DriftFound(
            f"the volume group {state.name} has extents of {format_size(state.extent_bytes)}, but extent_size "
            f"{format_size(wanted.extent_bytes)} was asked for; this module does not change it in place. Leave it out "
            "to take the group as it is, or remove the group (state: absent) and make it anew"
        )
    new = tuple(pv for pv in members if pv.vg_name is None)
    joining = [joined(pv, state.name, state.extent_bytes) for pv in new]
    lost = [pv for pv in lvm.pvs_of(state.name) if pv.missing] if wanted.remove_missing else []
    extra = _extra(state, wanted, lvm)
    steps = (*_extend_steps(state, new), *_leave_steps(state, wanted, lvm, extra, joining), *_tag_steps(state, wanted))
    if wanted.remove_missing and state.missing_pv_count:
        _check_forgettable(state, lvm)
        steps = (*forget_steps(state), *steps)
    if steps:
        check_usable(state, "change", may_miss=wanted.remove_missing)
    predicted = _predicted(state, wanted, joining, (*extra, *lost))
    return Plan(
        steps,
        _fields(state, wanted),
        _fields(predicted, wanted),
        warnings=() if wanted.remove_missing else _missing_warning(state),
        predicted=predicted,
        assumed_parent=any(pv.assumed for pv in new),
    )


def _fields(state: VgState, wanted: VgWanted) -> dict[str, t.Any]:
    fields = vg_fields(state, wanted)
    return {**fields, "missing_pv_count": state.missing_pv_count} if wanted.remove_missing else fields


def _extra(state: VgState, wanted: VgWanted, lvm: LvmState) -> list[PvState]:
    """Members that the wish does not name, where those are to leave; what is missing is another matter."""
    if not wanted.remove_extra:
        return []
    return [pv for pv in lvm.pvs_of(state.name) if pv.path not in wanted.pv_paths and not pv.missing]


def _leave_steps(
    state: VgState, wanted: VgWanted, lvm: LvmState, extra: t.Sequence[PvState], joining: t.Sequence[PvState]
) -> tuple[Step, ...]:
    """After the new members came, since there may be no other room."""
    if not extra:
        return ()
    new = {pv.path for pv in joining}
    after = lvm._replace(pvs=(*(pv for pv in lvm.pvs if pv.path not in new), *joining))
    return leave_steps(after, state, extra, wanted.move_data)


def _predicted(state: VgState, wanted: VgWanted, joining: t.Sequence[PvState], leaving: t.Sequence[PvState]) -> VgState:
    gone = {pv.path for pv in leaving}
    change = [pv.extent_count for pv in joining] + [-(pv.extent_count or 0) for pv in leaving]
    return state._replace(
        pv_paths=tuple(sorted({*(path for path in state.pv_paths if path not in gone), *(pv.path for pv in joining)})),
        extent_count=_plus(state.extent_count, change),
        free_extents=_plus(state.free_extents, change),
        tags=state.tags if wanted.tags is None else tuple(sorted(wanted.tags)),
        missing_pv_count=0 if wanted.remove_missing else state.missing_pv_count,
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


def forget_steps(state: VgState) -> tuple[Step, ...]:
    """Takes PVs out of the metadata that are gone. LVM refuses it while an LV needs them: no force is used."""
    if not state.missing_pv_count:
        return ()
    summary = f"forget {state.missing_pv_count} missing physical volumes of the volume group {state.name}"
    return (Step(lvm_argv("vgreduce", "--removemissing", state.name), summary),)


def _check_forgettable(state: VgState, lvm: LvmState) -> None:
    """Raises PlanRefused while LVs lie on PVs that are missing."""
    lost = {pv.path for pv in lvm.pvs_of(state.name) if pv.missing} | {UNKNOWN_DEVICE}
    using = [
        lv.name
        for lv in lvm.lvs_of(state.name)
        if any(area.pv_path in lost for segment in lv.segments for area in segment.areas)
    ]
    if using:
        raise PlanRefused(
            f"asked to forget the missing physical volumes of the volume group {state.name}, but logical volumes need "
            f"them: {', '.join(using)}. Bring the devices back; or repair redundant volumes (lvm_lv with repair: true) and "
            "remove the others (lvm_lv with state: absent), then run again"
        )


def check_usable(state: VgState, verb: str, may_miss: bool = False) -> None:
    """Raises PlanRefused for a VG that must not be changed; C(may_miss): PVs that are gone are dealt with."""
    why = state.unusable()
    if why:
        raise PlanRefused(f"asked to {verb} the volume group {state.name}, but it {why}. Nothing was changed")
    if state.missing_pv_count and not may_miss:
        raise PlanRefused(
            f"asked to {verb} the volume group {state.name}, but {state.missing_pv_count} of its physical volumes are "
            "missing; bring them back, or give remove_missing: true to forget them where no logical volume needs them"
        )


def _missing_warning(state: VgState) -> tuple[str, ...]:
    if not state.missing_pv_count:
        return ()
    return (
        f"the volume group {state.name} lacks {state.missing_pv_count} of its physical volumes; bring them back, or "
        "forget them with remove_missing: true (vgreduce --removemissing)",
    )
