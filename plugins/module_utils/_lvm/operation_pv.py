# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of lvm_pv as an Operation."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import AUTO, LvmState, PvState, PvWanted
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation import (
    LvmRead,
    Params,
    assumption,
    predicting,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import (
    placement_request,
    plan_pv,
    plan_pv_absent,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import kernel_path, read_lvm
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.shown import shown_pv

__all__ = ["PvOperation", "pv_operation", "pv_wanted"]


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


def pv_operation(params: Params) -> PvOperation:
    """An Operation from the options of lvm_pv; raises PlanRefused for options that cannot be."""
    return PvOperation(pv_wanted(params), params["state"] == "present")
