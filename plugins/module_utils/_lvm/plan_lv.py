# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a logical volume comes to be, changes, or goes. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import lv_family
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.content import LvContent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    UNKNOWN_DEVICE,
    LvState,
    LvWanted,
    PvState,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_absent import plan_lv_absent, stranger
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import (
    allowed_pvs,
    check_synced,
    check_usable,
    check_wish,
    compare_shape,
    free_extents_of,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_create import (
    DEFAULT_STRIPE_BYTES,
    layout_of,
    plan_lv_create,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_repair import (
    Repair,
    degraded_sentence,
    leave_steps,
    repair_steps,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_settings import (
    managed_fields,
    setting_steps,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_size import (
    file_system_bytes_after,
    size_steps,
    wanted_extents,
)

__all__ = ["DEFAULT_STRIPE_BYTES", "layout_of", "plan_lv", "plan_lv_absent", "vg_after_lv"]

_CONVERT_SECONDS = 3600.0


def plan_lv(
    state: LvState | None,
    wanted: LvWanted,
    vg: VgState,
    pvs: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry] | None = None,
    content: LvContent | None = None,
    others_lost: bool = False,
) -> Plan:
    """The plan that makes the LV, or brings what can change up to the wish.

    C(vg) and C(pvs) are the group and its PVs, read or predicted; C(below) the geometry of those PVs' devices, for the
    check of alignment; C(content) what lies on the LV, where its size may have to follow; C(others_lost): other LVs lie on
    missing PVs too. C(predicted) is an LvState. Raises PlanRefused for what cannot be, DriftFound for what cannot change.
    """
    check_wish(wanted)
    allowed = allowed_pvs(wanted, vg, pvs)
    if state is not None:
        return _update(state, wanted, vg, allowed, below or {}, content, others_lost)
    return plan_lv_create(wanted, vg, allowed, below or {})


def vg_after_lv(vg: VgState, pvs: t.Sequence[PvState], lv: LvState) -> tuple[VgState, tuple[PvState, ...]]:
    """The group and its PVs once the planned LV takes its place: the ground of the next LV in the same plan."""
    used: dict[str, int] = {}
    for segment in lv.segments:
        for area in segment.areas:
            if area.pv_path:
                per_area = segment.extents // max(segment.data_stripes, 1)
                used[area.pv_path] = max(used.get(area.pv_path, 0), area.start_extent + per_area)
    after = tuple(_taken(pv, used.get(pv.path, 0)) for pv in pvs)
    free = None if vg.free_extents is None else sum(free_extents_of(pv) for pv in after)
    return vg._replace(free_extents=free, lv_names=tuple(sorted({*vg.lv_names, lv.name}))), after


def _taken(pv: PvState, end: int) -> PvState:
    ranges = [(max(start, end), start + count - max(start, end)) for start, count in pv.free_ranges]
    kept = tuple((start, count) for start, count in ranges if count > 0)
    return pv._replace(
        free_ranges=kept, allocated_extents=(pv.extent_count or 0) - sum(count for _unused, count in kept)
    )


def _update(
    state: LvState,
    wanted: LvWanted,
    vg: VgState,
    allowed: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry],
    content: LvContent | None,
    others_lost: bool,
) -> Plan:
    name = f"{vg.name}/{state.name}"
    why = stranger(state)
    if why:
        raise PlanRefused(f"asked for the logical volume {name}, but {why}; this module leaves such volumes alone")
    compare_shape(state, wanted)
    repair = repair_steps(state, wanted, vg, allowed, others_lost) if wanted.repair else Repair((), vg)
    steps = leave_steps(state, wanted, vg, allowed)
    steps += _convert_steps(state, wanted, vg, allowed)
    extents = wanted_extents(state, wanted, vg, allowed)
    sized, warnings = size_steps(state, wanted, vg, extents, content)
    after = _after(state, wanted, vg, extents)
    steps += [*sized, *setting_steps(state, after, name)]
    if repair.steps or steps:
        # A repair is what a group with missing devices needs; anything else waits until it is whole.
        group = repair.vg if steps else vg._replace(missing_pv_count=0)
        check_usable(group, f"change the logical volume {name}")
    steps = [*repair.steps, *steps]
    if not wanted.repair:
        warnings += [text for text in (degraded_sentence(state, vg),) if text]
    warnings += geometry_of_lv(state, vg, allowed, below)[1] if below else ()
    before, fields = managed_fields(state, wanted), managed_fields(after, wanted)
    if wanted.resizefs and content is not None and content.fs_bytes is not None:
        before["file_system_bytes"] = content.fs_bytes
        fields["file_system_bytes"] = file_system_bytes_after(content, extents * vg.extent_bytes)
    return Plan(tuple(steps), before, fields, tuple(warnings), predicted=after)


def _after(state: LvState, wanted: LvWanted, vg: VgState, extents: int) -> LvState:
    gone = {*wanted.leave_paths, *((UNKNOWN_DEVICE,) if wanted.repair else ())}
    return state._replace(
        extents=extents,
        size_bytes=extents * vg.extent_bytes,
        readahead=state.readahead if wanted.readahead is None else wanted.readahead,
        tags=state.tags if wanted.tags is None else tuple(sorted(wanted.tags)),
        active=state.active if wanted.active is None else wanted.active,
        alloc=state.alloc if wanted.alloc is None else wanted.alloc,
        read_only=state.read_only if wanted.read_only is None else wanted.read_only,
        health="" if wanted.repair else state.health,
        segments=_converted(state, wanted),
        runs=tuple(run for run in state.runs if run.pv_path not in gone),
    )


def _converted(state: LvState, wanted: LvWanted) -> tuple[t.Any, ...]:
    """The segments with other numbers of copies and another region size."""
    copies = None if wanted.mirrors is None or wanted.mirrors == state.mirrors else wanted.mirrors + 1
    return tuple(
        segment._replace(
            stripes=copies * segment.data_stripes if copies else segment.stripes,
            data_copies=copies or segment.data_copies,
            region_bytes=wanted.region_bytes or segment.region_bytes,
        )
        for segment in state.segments
    )


def _convert_steps(state: LvState, wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState]) -> list[Step]:
    """More or fewer copies of a raid1, and another region size."""
    name = f"{vg.name}/{state.name}"
    steps: list[Step] = []
    if wanted.mirrors is not None and wanted.mirrors != state.mirrors and lv_family(state.type) == "raid1":
        check_synced(state, vg, "change the copies of")
        if wanted.mirrors > state.mirrors:
            if not state.synced:
                raise PlanRefused(
                    f"asked for {wanted.mirrors} mirrors of {name}, which has {state.mirrors} and was made without synchronising "
                    "them (nosync): LVM adds no copy to such a volume. Resynchronise it first (lvchange --resync)"
                )
            _check_room(state, wanted, vg, allowed)
        places = wanted.pv_paths or () if wanted.mirrors > state.mirrors else ()
        argv = lvm_argv("lvconvert", "-y", "-m", str(wanted.mirrors), name, *places)
        summary = f"change {name} from {state.mirrors} to {wanted.mirrors} mirrors"
        steps.append(Step(argv, summary, timeout_seconds=_CONVERT_SECONDS))
    if wanted.region_bytes is not None and wanted.region_bytes != state.region_bytes:
        check_synced(state, vg, "change the region size of")
        argv = lvm_argv("lvconvert", "-y", "-R", f"{wanted.region_bytes}b", name)
        steps.append(Step(argv, f"set the region size of {name} to {format_size(wanted.region_bytes)}"))
    return steps


def _check_room(state: LvState, wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState]) -> None:
    used = {run.pv_path for run in state.runs}
    needed = (state.extents or 0) + 1
    fit = [pv.path for pv in allowed if pv.path not in used and free_extents_of(pv) >= needed]
    more = (wanted.mirrors or 0) - state.mirrors
    if len(fit) < more:
        raise PlanRefused(
            f"asked for {wanted.mirrors} mirrors of {vg.name}/{state.name}, which has {state.mirrors}: {more} more device(s) with "
            f"{needed} free extents and no part of it are needed, but there is {', '.join(fit) or 'none'}; add devices to the group"
        )
