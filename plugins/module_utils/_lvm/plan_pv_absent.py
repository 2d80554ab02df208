# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a physical volume goes. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState, PvState, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_move import leave_steps

__all__ = ["plan_pv_absent"]


def plan_pv_absent(state: PvState | None, lvm: LvmState | None = None, move_data: bool = False) -> Plan:
    """The plan after which the device is no PV. One in a VG leaves it first where C(move_data) was asked for, else it is
    refused. C(lvm) is all of LVM."""
    if state is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    summary = f"remove the LVM physical volume {state.path}"
    argv = lvm_argv("pvremove", state.path)
    before, after = {"state": "present"}, {"state": "absent"}
    if state.vg_name is None:
        return Plan((Step(argv, summary, (state.path,), removes=(f"pv:{state.path}",)),), before, after)
    vg = (lvm or LvmState()).vg(state.vg_name)
    if not move_data or vg is None or lvm is None:
        raise PlanRefused(
            f"asked to remove the physical volume {state.path}, but it belongs to the volume group {state.vg_name}, with "
            f"{state.allocated_extents} extents in use; give move_data: true to move these to the other physical volumes of "
            "the group and take it out, or remove that group first (lvm_vg with state: absent)"
        )
    _check_group(state, vg)
    # Nothing is overwritten here that holds anything: vgreduce takes out only what no volume uses, and pvremove refuses
    # what is still in a group. What is mounted from the group stays so, so the guard must not take it for lost.
    steps = (*leave_steps(lvm, vg, [state], move_data), Step(argv, summary))
    return Plan(steps, before, after)


def _check_group(state: PvState, vg: VgState) -> None:
    why = vg.unusable()
    if why is None and vg.missing_pv_count:
        why = (
            f"lacks {vg.missing_pv_count} of its physical volumes; bring them back, or forget them (lvm_vg with "
            "remove_missing: true), then run again"
        )
    if why:
        raise PlanRefused(
            f"asked to remove the physical volume {state.path}, but its volume group {vg.name} {why}. Nothing was changed"
        )
