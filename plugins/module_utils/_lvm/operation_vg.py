# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of lvm_vg as an Operation."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import place_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import PvState, PvWanted, VgState, VgWanted
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation import (
    LvmRead,
    Params,
    assumption,
    keeping_others_seen,
    predicting,
    sorted_once,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import placement_request
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import (
    members_after,
    plan_vg,
    plan_vg_absent,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import has_devices_file, kernel_path, read_lvm
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.shown import shown_vg

__all__ = ["VgOperation", "vg_operation", "vg_wanted"]


def vg_wanted(params: Params) -> VgWanted:
    """The options of lvm_vg, checked and typed; raises PlanRefused."""
    return VgWanted(
        name=params["name"],
        pv_paths=tuple(kernel_path(path) for path in params.get("devices") or ()),
        extent_bytes=parse_optional_size(params.get("extent_size"), "extent_size"),
        tags=sorted_once(params.get("tags")),
        remove_extra=bool(params.get("remove_extra_devices")),
        move_data=bool(params.get("move_data")),
        remove_missing=bool(params.get("remove_missing")),
    )


class VgOperation:
    """Read, plan and result of one volume group."""

    def __init__(self, wanted: VgWanted, present: bool) -> None:
        self.wanted, self.present = wanted, present

    def read(self, runner: Runner) -> LvmRead:
        tree = read_tree()
        paths = self.wanted.pv_paths if self.present else ()
        below = {path: read_device_geometry(path, runner.check_mode, runner, tree) for path in paths}
        return LvmRead(read_lvm(runner), below, runner.check_mode, has_devices_file())

    def plan(self, state: LvmRead) -> Plan:
        """The plan; its prediction is an LvmRead."""
        found = state.lvm.vg(self.wanted.name)
        if not self.present:
            plan = plan_vg_absent(found, self.wanted.remove_missing)
            return predicting(plan, state, vgs=tuple(vg for vg in state.lvm.vgs if vg.name != self.wanted.name))
        pvs, planned = _with_planned_pvs(state, self.wanted.pv_paths)
        plan = plan_vg(found, self.wanted, pvs, state.below, state.lvm._replace(pvs=pvs))
        plan = keeping_others_seen(plan, state, self.wanted.pv_paths)
        vg = t.cast(VgState, plan.predicted)
        others = tuple(other for other in state.lvm.vgs if other.name != vg.name)
        plan = plan._replace(assumed_parent=plan.assumed_parent or bool(planned))
        plan = predicting(plan, state, vgs=(*others, vg), pvs=members_after(pvs, vg))
        return assumption(plan, ", ".join(planned))

    def result(self, state: LvmRead) -> dict[str, t.Any]:
        vg = state.lvm.vg(self.wanted.name)
        return {"vg": shown_vg(vg, state.lvm.pvs_of(vg.name), state.below) if vg else None}


def _with_planned_pvs(state: LvmRead, paths: t.Sequence[str]) -> tuple[tuple[PvState, ...], list[str]]:
    """The PVs, and in check mode also those that an earlier task would have made; their paths apart."""
    lacking = [path for path in paths if state.lvm.pv(path) is None] if state.check_mode else []
    made = []
    for path in lacking:
        below = state.below[path]
        placed = place_pv(placement_request(PvWanted(path), below))
        # Where the data begins was decided by a task that did not run, so the size stays unknown.
        made.append(PvState(path, None, placed.pe_start_bytes, placed.metadata_bytes, assumed=True))
    return (*state.lvm.pvs, *made), lacking


def vg_operation(params: Params) -> VgOperation:
    """An Operation from the options of lvm_vg; raises PlanRefused for options that cannot be."""
    return VgOperation(vg_wanted(params), params["state"] == "present")
