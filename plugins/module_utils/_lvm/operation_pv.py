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
    keeping_others_seen,
    predicting,
    sorted_once,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import plan_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_absent import plan_pv_absent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import placement_request
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import (
    has_devices_file,
    kernel_path,
    read_lvm,
    with_label_sector,
)
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
        metadata_copies=params.get("pvmetadatacopies"),
        bootloader_bytes=parse_optional_size(params.get("bootloaderareasize"), "bootloaderareasize"),
        label_sector=params.get("labelsector"),
        allocatable=params.get("allocatable"),
        tags=sorted_once(params.get("tags")),
        resize=bool(params.get("resize")),
        move_data=bool(params.get("move_data")),
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
        if self.wanted.label_sector is not None and not below.assumed:
            lvm = with_label_sector(lvm, self.wanted.path)
        return LvmRead(lvm, {self.wanted.path: below}, runner.check_mode, has_devices_file())

    def plan(self, state: LvmRead) -> Plan:
        """The plan; its prediction is an LvmRead."""
        path, lvm = self.wanted.path, state.lvm
        found = lvm.pv(path)
        others = tuple(pv for pv in lvm.pvs if pv.path != path)
        if not self.present:
            return predicting(plan_pv_absent(found, lvm, self.wanted.move_data), state, pvs=others)
        vg = lvm.vg(found.vg_name) if found is not None and found.vg_name is not None else None
        plan = plan_pv(found, self.wanted, state.below[path], vg, state.check_mode)
        plan = keeping_others_seen(plan, state, (path,))
        after = (*others, t.cast(PvState, plan.predicted))
        return assumption(predicting(plan, state, pvs=after), path if state.below[path].assumed else "")

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
                "pvmetadatacopies": request.metadata_copies,
                "bootloaderareasize_bytes": request.bootloader_bytes,
            }
        return answer


def pv_operation(params: Params) -> PvOperation:
    """An Operation from the options of lvm_pv; raises PlanRefused for options that cannot be."""
    return PvOperation(pv_wanted(params), params["state"] == "present")
