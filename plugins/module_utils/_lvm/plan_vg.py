# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a volume group comes to be, changes, or goes. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import (
    WIPE_RETRIES,
    lvm_argv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    DEFAULT_EXTENT_BYTES,
    LvmState,
    PvState,
    PvWanted,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import (
    alignment_warning,
    joined,
    placement_arguments,
    placement_request,
    predict_pv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg_change import (
    check_usable,
    forget_steps,
    update_vg,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg_check import (
    check_sectors,
    check_vg_wish,
    vg_fields,
    vg_members,
)

__all__ = ["combined_create", "members_after", "plan_vg", "plan_vg_absent"]


def plan_vg(
    state: VgState | None,
    wanted: VgWanted,
    pvs: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry] | None = None,
    lvm: LvmState | None = None,
) -> Plan:
    """The plan that makes the VG, or brings members and tags up to the wish.

    C(pvs) are the PVs of C(wanted.pv_paths), read or predicted, and those that are in the VG; C(below) gives sectors;
    C(lvm) is all of LVM, needed where PVs leave. Raises PlanRefused for what cannot change in place and for PVs of other groups.
    """
    check_vg_wish(wanted)
    members = vg_members(wanted, pvs)
    if state is None:
        return _create(wanted, members, below or {})
    check_sectors(wanted.name, members, below or {})
    return update_vg(state, wanted, members, lvm or LvmState(pvs=tuple(pvs), vgs=(state,)))


def plan_vg_absent(state: VgState | None, remove_missing: bool = False) -> Plan:
    """The plan after which the VG is gone and its PVs are free; refused while it has LVs, or members are missing that
    were not to be forgotten."""
    if state is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    check_usable(state, "remove", may_miss=remove_missing)
    if state.lv_names:
        raise PlanRefused(
            f"asked to remove the volume group {state.name}, but it has logical volumes: {', '.join(state.lv_names)}; "
            "remove them first (lvm_lv with state: absent), then run again"
        )
    step = Step(
        lvm_argv("vgremove", state.name), f"remove the volume group {state.name}", removes=(f"vg:{state.name}",)
    )
    return Plan((*forget_steps(state), step), before={"state": "present"}, after={"state": "absent"})


def combined_create(
    wanted: VgWanted, pv_wishes: t.Sequence[PvWanted], below: t.Mapping[str, DeviceGeometry]
) -> Plan | None:
    """Makes new PVs and a VG of them with one vgcreate, which saves a process for each PV.

    None where that cannot say the same as single steps: PVs that differ in their placement, or have what vgcreate does
    not take (a chosen UUID, a bootloader area, another sector for the label).
    C(predicted) is the VG; C(members_after) gives its PVs.
    """
    check_vg_wish(wanted)
    requests = {placement_request(wish, below[wish.path]) for wish in pv_wishes}
    special = any(wish.uuid or wish.bootloader_bytes or wish.label_sector is not None for wish in pv_wishes)
    if len(requests) != 1 or special:
        return None
    pvs = [predict_pv(wish, below[wish.path]) for wish in pv_wishes]
    plan = _create(wanted, pvs, below)
    paths = tuple(pv.path for pv in pvs)
    head, rest = plan.steps[0].argv[:2], plan.steps[0].argv[2:]
    summary = f"make {', '.join(paths)} LVM physical volumes with data at {format_size(pvs[0].pe_start_bytes)}, and "
    steps = (
        Step(("wipefs", "-a", *paths), f"wipe old signatures from {', '.join(paths)}", paths, retries=WIPE_RETRIES),
        plan.steps[0]._replace(
            argv=(*head, *placement_arguments(requests.pop()), *rest),
            summary=summary + plan.steps[0].summary,
            writes=paths,
        ),
    )
    warnings = [text for pv in pvs for text in [alignment_warning(pv, below[pv.path])] if text]
    return plan._replace(steps=steps, warnings=(*warnings, *plan.warnings))


def members_after(pvs: t.Sequence[PvState], vg: VgState) -> tuple[PvState, ...]:
    """The PVs as they are once the planned VG holds them, or no longer does."""
    return tuple(_member_after(pv, vg) for pv in pvs)


def _member_after(pv: PvState, vg: VgState) -> PvState:
    if pv.vg_name is None and pv.path in vg.pv_paths:
        return joined(pv, vg.name, vg.extent_bytes)
    if pv.vg_name == vg.name and pv.path not in vg.pv_paths:
        return pv._replace(vg_name=None, extent_count=0, allocated_extents=0, free_ranges=())
    return pv


def _create(wanted: VgWanted, members: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]) -> Plan:
    if not members:
        raise PlanRefused(f"the volume group {wanted.name} does not exist; give devices to make it on")
    check_sectors(wanted.name, members, below)
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
    return Plan((step,), {}, vg_fields(predicted, wanted), predicted=predicted, assumed_parent=predicted.assumed)
