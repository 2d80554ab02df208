# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how physical volumes leave a group: their extents move to others first, where there is room. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import physical_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState, LvState, PvState, VgState

__all__ = ["leave_steps"]

# A move copies all data and may take days; LVM goes on with it after a restart.
_MOVE_TIMEOUT_SECONDS = 7 * 86400.0
_ONE_COPY = ("linear", "mixed")


def leave_steps(lvm: LvmState, vg: VgState, leaving: t.Sequence[PvState], move_data: bool) -> tuple[Step, ...]:
    """The steps that empty PVs and take them out of their group. Raises PlanRefused where that cannot be."""
    names = ", ".join(pv.path for pv in leaving)
    staying = _staying(lvm, vg, leaving, names)
    used = [pv for pv in leaving if pv.allocated_extents]
    if used and not move_data:
        found = "; ".join(
            f"{pv.path}: {pv.allocated_extents} extents of {', '.join(_users(lvm, vg, pv))}" for pv in used
        )
        raise PlanRefused(
            f"asked to take {names} out of the volume group {vg.name}, but logical volumes lie there ({found}). Give "
            "move_data: true to move them to other physical volumes of the group first, or remove them"
        )
    if used and not _moving(lvm, vg):
        _check_room(lvm, vg, used, staying)
    steps = [_closed_step(pv) for pv in leaving if used and len(leaving) > 1 and pv.allocatable]
    for pv in used:
        summary = f"move {pv.allocated_extents} extents from {pv.path} to other physical volumes of {vg.name}"
        steps.append(Step(lvm_argv("pvmove", "-i", "1", pv.path), summary, timeout_seconds=_MOVE_TIMEOUT_SECONDS))
    paths = tuple(pv.path for pv in leaving)
    steps.append(Step(lvm_argv("vgreduce", vg.name, *paths), f"take {names} out of the volume group {vg.name}"))
    return tuple(steps)


def _closed_step(pv: PvState) -> Step:
    """So that what moves off one that leaves does not go to another that leaves."""
    return Step(lvm_argv("pvchange", "-x", "n", pv.path), f"let logical volumes take no more extents of {pv.path}")


def _staying(lvm: LvmState, vg: VgState, leaving: t.Sequence[PvState], names: str) -> list[PvState]:
    """The PVs that stay; refused where none would, or none with a metadata area."""
    gone = {pv.path for pv in leaving}
    staying = [pv for pv in lvm.pvs_of(vg.name) if pv.path not in gone]
    if not staying:
        raise PlanRefused(
            f"asked to take {names} out of the volume group {vg.name}, which has no other physical volume; add another "
            "first, or remove the group (lvm_vg with state: absent)"
        )
    if not any(pv.mda_count for pv in staying):
        raise PlanRefused(
            f"asked to take {names} out of the volume group {vg.name}, but the physical volumes that would stay have no "
            "metadata area (pvmetadatacopies 0), so the group would be lost; add one that has, then run again"
        )
    return staying


def _lvs_on(lvm: LvmState, vg: VgState, pv: PvState) -> list[LvState]:
    """The LVs, hidden parts counted to their whole, that have extents on a PV."""
    volumes = [physical_lv(lvm, lv) for lv in lvm.lvs_of(vg.name) if not lv.hidden]
    return [lv for lv in volumes if any(run.pv_path == pv.path for run in lv.runs)]


def _users(lvm: LvmState, vg: VgState, pv: PvState) -> list[str]:
    return [lv.name for lv in _lvs_on(lvm, vg, pv)] or ["hidden volumes"]


def _moving(lvm: LvmState, vg: VgState) -> bool:
    """Whether a move that was cut off is under way: it has its room already."""
    return any(lv.name.startswith("pvmove") and lv.hidden for lv in lvm.lvs_of(vg.name))


def _check_room(lvm: LvmState, vg: VgState, used: t.Sequence[PvState], staying: t.Sequence[PvState]) -> None:
    """Raises PlanRefused where the others have too little room. A part of a volume never joins its other parts on one PV."""
    open_pvs = [pv for pv in staying if pv.allocatable and not pv.missing]
    for pv in used:
        volumes = _lvs_on(lvm, vg, pv)
        spread = [lv for lv in volumes if lv.type not in _ONE_COPY]
        taken = {run.pv_path for lv in spread for run in lv.runs}
        # LVM keeps the whole move off the PVs of redundant volumes, but of stripes only the stripes.
        need = pv.allocated_extents
        if not any(lv.type.startswith(("raid", "mirror")) for lv in spread):
            need = sum(run.extents for lv in spread for run in lv.runs if run.pv_path == pv.path)
        _enough(vg, pv, need, [other for other in open_pvs if other.path not in taken], [lv.name for lv in spread])
    _enough(vg, used[0], sum(pv.allocated_extents for pv in used), open_pvs, [])


def _enough(vg: VgState, pv: PvState, need: int, others: t.Sequence[PvState], apart: t.Sequence[str]) -> None:
    free = sum(extents for other in others for _start, extents in other.free_ranges)
    if free >= need:
        return
    kept = f" that hold no other part of {', '.join(apart)}" if apart else ""
    raise PlanRefused(
        f"asked to move {need} extents off {pv.path}, but the other physical volumes of {vg.name}{kept} have only "
        f"{free} free extents that volumes may take; add a physical volume to the group first (lvm_vg), then run again"
    )
