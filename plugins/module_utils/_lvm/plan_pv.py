# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a physical volume comes to be, or is brought up to the wish. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import WIPE_RETRIES, lvm_argv, wipe_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import PvState, PvWanted, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_change import change_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_check import (
    check_pv_wish,
    compare_pv,
    pv_fields,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import (
    alignment_warning,
    placement_arguments,
    placement_request,
    predict_pv,
)

__all__ = ["plan_pv"]


def plan_pv(
    state: PvState | None,
    wanted: PvWanted,
    below: DeviceGeometry,
    vg: VgState | None = None,
    check_mode: bool = False,
) -> Plan:
    """The plan that makes the device a PV, or brings one up to the wish; refused where it cannot change in place.

    C(vg) is the group of a PV that is in one. In C(check_mode) a group may be taken as made by an earlier task.
    """
    check_pv_wish(wanted)
    if state is None:
        plan = _create(wanted, below)
        state = t.cast("PvState", plan.predicted)
    else:
        compare_pv(state, wanted, below)
        plan = change_pv(state, wanted, below, vg)
    if state.vg_name is not None or not _needs_group(state, wanted):
        return plan
    if not check_mode:
        raise PlanRefused(
            f"tags or allocatable were given for {state.path}, but LVM keeps them in the metadata of a volume group, "
            "and it is in none; add it to one first (lvm_vg), then set them"
        )
    sentence = f"{state.path} is in no volume group yet; one is taken as made by an earlier task of this play"
    return plan._replace(assumed_parent=True, warnings=(*plan.warnings, sentence))


def _needs_group(state: PvState, wanted: PvWanted) -> bool:
    return bool(wanted.tags) or wanted.allocatable is False


def _create(wanted: PvWanted, below: DeviceGeometry) -> Plan:
    predicted = predict_pv(wanted, below)
    arguments = list(placement_arguments(placement_request(wanted, below)))
    if wanted.label_sector is not None:
        arguments += ["--labelsector", str(wanted.label_sector)]
    if wanted.uuid:
        arguments += ["--uuid", wanted.uuid, "--norestorefile"]
    made = f"make {wanted.path} an LVM physical volume with its data at {format_size(predicted.pe_start_bytes)}"
    steps = (
        Step(wipe_argv(wanted.path), f"wipe old signatures from {wanted.path}", (wanted.path,), retries=WIPE_RETRIES),
        Step(lvm_argv("pvcreate", *arguments, wanted.path), made, (wanted.path,)),
    )
    warning = alignment_warning(predicted, below)
    return Plan(
        steps,
        before={},
        after=pv_fields(predicted, wanted),
        warnings=(warning,) if warning else (),
        predicted=predicted,
        assumed_parent=below.assumed,
    )
