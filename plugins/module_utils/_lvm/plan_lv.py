# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a logical volume comes to be, changes, or goes. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    LV_TYPES,
    ExtentRequest,
    LvLayout,
    largest_extents,
    resolve_extents,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import (
    WIPE_RETRIES,
    lvm_argv,
    wipe_argv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv, place_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    LvSegment,
    LvState,
    LvWanted,
    PvState,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import (
    allowed_pvs,
    base_type,
    check_usable,
    check_wish,
    compare_shape,
    free_extents_of,
    grown_extents,
    space_of,
)

__all__ = ["DEFAULT_STRIPE_BYTES", "layout_of", "plan_lv", "plan_lv_absent", "vg_after_lv"]

DEFAULT_STRIPE_BYTES = 64 * 1024


def layout_of(wanted: LvWanted, pv_count: int) -> LvLayout:
    """The shape of a new LV with its defaults: linear; striped over every PV it may use; one additional copy."""
    kind = wanted.type or ("striped" if (wanted.stripes or 1) > 1 else "linear")
    if kind not in LV_TYPES:
        raise PlanRefused(f"type was given as {kind!r}, which is not known; use one of {', '.join(LV_TYPES)}")
    traits = LV_TYPES[kind]
    mirrors = wanted.mirrors if wanted.mirrors is not None else int(traits.mirrored)
    stripes = wanted.stripes
    if stripes is None:
        stripes = max((pv_count - traits.parity) // (mirrors + 1), traits.least_stripes) if traits.striped else 1
    return LvLayout(kind, stripes, mirrors)


def plan_lv(
    state: LvState | None,
    wanted: LvWanted,
    vg: VgState,
    pvs: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry] | None = None,
) -> Plan:
    """The plan that makes the LV, or brings its size, readahead, tags and activation up to the wish.

    C(vg) and C(pvs) are the group and its PVs, read or predicted; C(below) the geometry of those PVs' devices, for the
    check of alignment. C(predicted) is an LvState. Raises PlanRefused for what cannot change in place.
    """
    check_wish(wanted)
    allowed = allowed_pvs(wanted, vg, pvs)
    if state is not None:
        return _update(state, wanted, vg, allowed, below or {})
    return _create(wanted, vg, allowed, below or {})


def plan_lv_absent(state: LvState | None, vg: VgState | None) -> Plan:
    """The plan after which the LV is gone. Its signatures are wiped first: else the next LV there would show them."""
    if state is None or vg is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    name = f"{vg.name}/{state.name}"
    check_usable(vg, f"remove the logical volume {name}")
    if base_type(state) not in LV_TYPES or state.hidden:
        raise PlanRefused(
            f"asked to remove the logical volume {name}, but its type is {state.type}, which this module does not "
            "handle; remove it with lvremove"
        )
    steps = [] if state.active else [_activate(name)]
    steps += [
        Step(wipe_argv(state.path), f"wipe signatures from {state.path}", (state.path,), retries=WIPE_RETRIES),
        Step(
            lvm_argv("lvremove", "-y", name),
            f"remove the logical volume {name}",
            removes=(f"lv:{name}",),
            retries=WIPE_RETRIES,
        ),
    ]
    return Plan(tuple(steps), before={"state": "present"}, after={"state": "absent"})


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
    return dataclasses.replace(vg, free_extents=free, lv_names=tuple(sorted({*vg.lv_names, lv.name}))), after


def _taken(pv: PvState, end: int) -> PvState:
    ranges = [(max(start, end), start + count - max(start, end)) for start, count in pv.free_ranges]
    kept = tuple((start, count) for start, count in ranges if count > 0)
    return dataclasses.replace(
        pv, free_ranges=kept, allocated_extents=(pv.extent_count or 0) - sum(count for _unused, count in kept)
    )


def _create(wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]) -> Plan:
    name = f"{vg.name}/{wanted.name}"
    if wanted.size is None:
        raise PlanRefused(f"the logical volume {name} does not exist; give size or extents to make it")
    check_usable(vg, f"make the logical volume {name}")
    layout = layout_of(wanted, len(allowed))
    problem = layout.problem()
    if problem:
        raise PlanRefused(f"the logical volume {name} cannot be made: {problem}")
    if vg.free_extents is None:
        return _create_assumed(wanted, vg, layout)
    extents = _new_extents(wanted, vg, layout, allowed)
    stripe_bytes = _stripe_bytes(wanted, vg, layout)
    segments = place_lv(layout, extents, vg.extent_bytes, allowed)
    predicted = _predict(wanted, vg, layout, extents=extents, stripe_bytes=stripe_bytes, segments=segments)
    warnings = geometry_of_lv(predicted, vg, allowed, below)[1] if below else ()
    arguments = (*_shape_arguments(layout, stripe_bytes, wanted), "-l", str(extents), *_rest_arguments(wanted, vg))
    summary = (
        f"make the {layout.type} logical volume {name} with {extents} extents ({format_size(predicted.size_bytes)})"
    )
    steps = [Step(lvm_argv("lvcreate", "-y", *arguments), summary)]
    if wanted.active is False:
        steps.append(_deactivate(name))
    return Plan(
        tuple(steps), {}, _fields(predicted, wanted), tuple(warnings), predicted=predicted, assumed_parent=vg.assumed
    )


def _create_assumed(wanted: LvWanted, vg: VgState, layout: LvLayout) -> Plan:
    """An LV in a group that exists only in the plan of another task: its size is not known yet."""
    size = t.cast(ExtentRequest, wanted.size)
    stripe_bytes = _stripe_bytes(wanted, vg, layout)
    predicted = dataclasses.replace(
        _predict(wanted, vg, layout, extents=0, stripe_bytes=stripe_bytes, segments=()), size_bytes=None, extents=None
    )
    arguments = (*_shape_arguments(layout, stripe_bytes, wanted), *size.lvm_arguments(), *_rest_arguments(wanted, vg))
    step = Step(
        lvm_argv("lvcreate", "-y", *arguments), f"make the {layout.type} logical volume {vg.name}/{wanted.name}"
    )
    return Plan((step,), {}, _fields(predicted, wanted), predicted=predicted, assumed_parent=True)


def _new_extents(wanted: LvWanted, vg: VgState, layout: LvLayout, allowed: t.Sequence[PvState]) -> int:
    space = space_of(vg, allowed)
    extents = resolve_extents(t.cast(ExtentRequest, wanted.size), layout, vg.extent_bytes, space)
    most = largest_extents(layout, vg.extent_bytes, space.free_per_pv)
    if 0 < extents <= most:
        return extents
    name = f"{vg.name}/{wanted.name}"
    if layout.images > len(allowed):
        raise PlanRefused(
            f"the {layout.type} logical volume {name} needs {layout.images} physical volumes side by side, but only "
            f"{len(allowed)} may be used; ask for fewer stripes or mirrors, or add devices to the group"
        )
    free = ", ".join(f"{pv.path} {free_extents_of(pv)}" for pv in allowed)
    raise PlanRefused(
        f"the {layout.type} logical volume {name} was asked for with {extents} extents of "
        f"{format_size(vg.extent_bytes)}, but at most {most} fit (free extents: {free or 'none'}); ask for less, or "
        "use extents: 100%FREE"
    )


def _stripe_bytes(wanted: LvWanted, vg: VgState, layout: LvLayout) -> int:
    if not layout.traits.striped:
        if wanted.stripe_bytes is not None:
            raise PlanRefused(f"type {layout.type} has no stripes, so stripesize has no meaning; leave it out")
        return 0
    size = wanted.stripe_bytes or min(DEFAULT_STRIPE_BYTES, vg.extent_bytes)
    if size > vg.extent_bytes:
        raise PlanRefused(
            f"stripesize was given as {format_size(size)}, but the group {vg.name} has extents of "
            f"{format_size(vg.extent_bytes)}, and a stripe cannot be larger than an extent"
        )
    return size


def _shape_arguments(layout: LvLayout, stripe_bytes: int, wanted: LvWanted) -> tuple[str, ...]:
    words = ["--type", layout.type]
    if layout.traits.striped:
        words += ["-i", str(layout.stripes), "-I", f"{stripe_bytes}b"]
    if layout.traits.mirrored:
        words += ["-m", str(layout.mirrors)]
    if wanted.region_bytes is not None:
        words += ["-R", f"{wanted.region_bytes}b"]
    return tuple(words)


def _rest_arguments(wanted: LvWanted, vg: VgState) -> tuple[str, ...]:
    """What is the same for every type. C(-W y -Z y): what an earlier LV left there must not come back."""
    words = ["-W", "y", "-Z", "y", *_readahead_words(wanted.readahead)]
    words += [word for tag in sorted(wanted.tags or ()) for word in ("--addtag", tag)]
    return (*words, "-n", wanted.name, vg.name, *(wanted.pv_paths or ()))


def _readahead_words(readahead: str | int | None) -> tuple[str, ...]:
    if readahead is None:
        return ()
    return ("-r", readahead if isinstance(readahead, str) else str(readahead // SECTOR_BYTES))


def _predict(
    wanted: LvWanted,
    vg: VgState,
    layout: LvLayout,
    *,
    extents: int,
    stripe_bytes: int,
    segments: tuple[LvSegment, ...],
) -> LvState:
    shaped = tuple(
        dataclasses.replace(segment, stripe_bytes=stripe_bytes, region_bytes=wanted.region_bytes or 0)
        for segment in segments
    )
    return LvState(
        vg=vg.name,
        name=wanted.name,
        uuid=None,
        type=layout.type,
        size_bytes=extents * vg.extent_bytes,
        extents=extents,
        segments=shaped,
        active=wanted.active is not False,
        readahead=AUTO if wanted.readahead is None else wanted.readahead,
        tags=tuple(sorted(wanted.tags or ())),
        assumed=vg.assumed,
    )


def _update(
    state: LvState,
    wanted: LvWanted,
    vg: VgState,
    allowed: t.Sequence[PvState],
    below: t.Mapping[str, DeviceGeometry],
) -> Plan:
    name = f"{vg.name}/{state.name}"
    compare_shape(state, wanted)
    extents = grown_extents(state, wanted, vg, allowed)
    after = dataclasses.replace(
        state,
        extents=extents,
        size_bytes=extents * vg.extent_bytes,
        readahead=state.readahead if wanted.readahead is None else wanted.readahead,
        tags=state.tags if wanted.tags is None else tuple(sorted(wanted.tags)),
        active=state.active if wanted.active is None else wanted.active,
    )
    steps: list[Step] = []
    if extents != state.extents:
        argv = lvm_argv("lvextend", "-l", str(extents), name, *(wanted.pv_paths or ()))
        steps.append(Step(argv, f"extend {name} from {state.extents} to {extents} extents"))
    steps += _setting_steps(state, after, name)
    if steps:
        check_usable(vg, f"change the logical volume {name}")
    warnings = geometry_of_lv(state, vg, allowed, below)[1] if below else ()
    return Plan(tuple(steps), _fields(state, wanted), _fields(after, wanted), tuple(warnings), predicted=after)


def _setting_steps(state: LvState, after: LvState, name: str) -> list[Step]:
    steps: list[Step] = []
    if after.readahead != state.readahead:
        steps.append(
            Step(lvm_argv("lvchange", *_readahead_words(after.readahead), name), f"set the readahead of {name}")
        )
    if set(after.tags) != set(state.tags):
        words = [word for tag in sorted(set(after.tags) - set(state.tags)) for word in ("--addtag", tag)]
        words += [word for tag in sorted(set(state.tags) - set(after.tags)) for word in ("--deltag", tag)]
        steps.append(
            Step(lvm_argv("lvchange", *words, name), f"set the tags of {name}: {', '.join(after.tags) or 'none'}")
        )
    if after.active != state.active:
        steps.append(_activate(name) if after.active else _deactivate(name))
    return steps


def _activate(name: str) -> Step:
    return Step(lvm_argv("lvchange", "-ay", "-K", name), f"activate {name}")


def _deactivate(name: str) -> Step:
    return Step(lvm_argv("lvchange", "-an", name), f"deactivate {name}", retries=WIPE_RETRIES)


def _fields(state: LvState, wanted: LvWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"vg": state.vg, "name": state.name, "state": "present"}
    fields.update(type=base_type(state), size_bytes=state.size_bytes)
    managed = {
        "stripes": (wanted.stripes, state.stripes),
        "stripe_size_bytes": (wanted.stripe_bytes, state.stripe_bytes),
        "mirrors": (wanted.mirrors, state.mirrors),
        "region_size_bytes": (wanted.region_bytes, state.region_bytes),
        "readahead": (wanted.readahead, state.readahead),
        "tags": (wanted.tags, list(state.tags)),
        "active": (wanted.active, state.active),
    }
    fields.update({key: has for key, (want, has) in managed.items() if want is not None})
    return fields
