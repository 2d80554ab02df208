# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of lvm_pv and lvm_vg as Operations, and what every Operation on LVM shares."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import place_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    LvmState,
    PvState,
    PvWanted,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import (
    placement_request,
    plan_pv,
    plan_pv_absent,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import (
    members_after,
    plan_vg,
    plan_vg_absent,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import kernel_path, read_lvm
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.shown import shown_pv, shown_vg

__all__ = [
    "LvmRead",
    "PvOperation",
    "VgOperation",
    "assumption",
    "predicting",
    "pv_operation",
    "pv_wanted",
    "sorted_once",
    "vg_operation",
    "vg_wanted",
]

Params = t.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True)
class LvmRead:
    """LVM, and the devices below that the plan needs, by kernel name. C(check_mode): planned parents may be missing."""

    lvm: LvmState
    below: t.Mapping[str, DeviceGeometry]
    check_mode: bool = False


def pv_wanted(params: Params) -> PvWanted:
    """The options of lvm_pv, checked and typed; raises PlanRefused."""
    alignment = params.get("dataalignment")
    return PvWanted(
        path=kernel_path(params["device"]),
        metadata_bytes=parse_optional_size(params.get("metadatasize"), "metadatasize"),
        alignment=alignment if alignment in (None, AUTO) else parse_size(alignment, "dataalignment"),
        alignment_offset_bytes=parse_optional_size(params.get("dataalignmentoffset"), "dataalignmentoffset"),
        uuid=params.get("uuid"),
    )


def vg_wanted(params: Params) -> VgWanted:
    """The options of lvm_vg, checked and typed; raises PlanRefused."""
    return VgWanted(
        name=params["name"],
        pv_paths=tuple(kernel_path(path) for path in params.get("devices") or ()),
        extent_bytes=parse_optional_size(params.get("extent_size"), "extent_size"),
        tags=sorted_once(params.get("tags")),
    )


def sorted_once(values: t.Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(sorted(set(values)))


class PvOperation:
    """Read, plan and result of one physical volume."""

    def __init__(self, wanted: PvWanted, present: bool) -> None:
        self.wanted, self.present = wanted, present

    def read(self, runner: Runner) -> LvmRead:
        # Where the array or volume itself is gone, so is the PV: a second removal has nothing to do.
        may_lack = runner.check_mode or not self.present
        below = read_device_geometry(self.wanted.path, may_lack, runner)
        lvm = read_lvm(runner) if not below.assumed else LvmState()
        return LvmRead(lvm, {self.wanted.path: below}, runner.check_mode)

    def plan(self, state: LvmRead) -> Plan:
        """The plan; its prediction is an LvmRead."""
        path = self.wanted.path
        found = state.lvm.pv(path)
        plan = plan_pv(found, self.wanted, state.below[path]) if self.present else plan_pv_absent(found, path)
        others = tuple(pv for pv in state.lvm.pvs if pv.path != path)
        after = (*others, plan.predicted) if isinstance(plan.predicted, PvState) else others
        return assumption(predicting(plan, state, pvs=after), path)

    def result(self, state: LvmRead) -> dict[str, t.Any]:
        path = self.wanted.path
        pv = state.lvm.pv(path)
        answer: dict[str, t.Any] = {"pv": shown_pv(pv) if pv else None}
        if self.present:
            request = placement_request(self.wanted, state.below[path])
            answer["requested"] = {
                "dataalignment_bytes": request.alignment_bytes,
                "dataalignmentoffset_bytes": request.alignment_offset_bytes,
                "metadatasize_bytes": request.metadata_bytes,
            }
        return answer


class VgOperation:
    """Read, plan and result of one volume group."""

    def __init__(self, wanted: VgWanted, present: bool) -> None:
        self.wanted, self.present = wanted, present

    def read(self, runner: Runner) -> LvmRead:
        tree = read_tree()
        paths = self.wanted.pv_paths if self.present else ()
        below = {path: read_device_geometry(path, runner.check_mode, runner, tree) for path in paths}
        return LvmRead(read_lvm(runner), below, runner.check_mode)

    def plan(self, state: LvmRead) -> Plan:
        """The plan; its prediction is an LvmRead."""
        found = state.lvm.vg(self.wanted.name)
        if not self.present:
            plan = plan_vg_absent(found)
            return predicting(plan, state, vgs=tuple(vg for vg in state.lvm.vgs if vg.name != self.wanted.name))
        pvs, planned = _with_planned_pvs(state, self.wanted.pv_paths)
        plan = plan_vg(found, self.wanted, pvs, state.below)
        vg = t.cast("VgState", plan.predicted)
        others = tuple(other for other in state.lvm.vgs if other.name != vg.name)
        plan = dataclasses.replace(plan, assumed_parent=plan.assumed_parent or bool(planned))
        plan = predicting(plan, state, vgs=(*others, vg), pvs=members_after(pvs, vg))
        return assumption(plan, ", ".join(planned))

    def result(self, state: LvmRead) -> dict[str, t.Any]:
        vg = state.lvm.vg(self.wanted.name)
        return {"vg": shown_vg(vg, state.lvm.pvs_of(vg.name)) if vg else None}


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


def predicting(plan: Plan, state: LvmRead, **changes: t.Any) -> Plan:
    """The plan with the whole of LVM as it will be."""
    return dataclasses.replace(
        plan, predicted=dataclasses.replace(state, lvm=dataclasses.replace(state.lvm, **changes))
    )


def assumption(plan: Plan, parent: str) -> Plan:
    """Says which parent is not there yet: check mode takes it as planned."""
    if not plan.assumed_parent or not parent:
        return plan
    sentence = f"{parent} does not exist yet as needed here; it is taken as made by an earlier task of this play"
    return dataclasses.replace(plan, warnings=(*plan.warnings, sentence))


def pv_operation(params: Params) -> PvOperation:
    """An Operation from the options of lvm_pv; raises PlanRefused for options that cannot be."""
    return PvOperation(pv_wanted(params), params["state"] == "present")


def vg_operation(params: Params) -> VgOperation:
    """An Operation from the options of lvm_vg; raises PlanRefused for options that cannot be."""
    return VgOperation(vg_wanted(params), params["state"] == "present")
