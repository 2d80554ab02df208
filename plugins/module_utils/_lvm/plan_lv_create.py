# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a logical volume comes to be. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    LV_TYPE_NAMES,
    LV_TYPES,
    ExtentRequest,
    LvLayout,
    largest_extents,
    lv_family,
    resolve_extents,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import (
    geometry_of_lv,
    place_lv,
    runs_of_placement,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    LvSegment,
    LvState,
    LvWanted,
    PvState,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import (
    REGION_TYPES,
    check_usable,
    free_extents_of,
    space_of,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_settings import (
    deactivate,
    managed_fields,
    readahead_words,
    set_permission,
)

__all__ = ["DEFAULT_STRIPE_BYTES", "layout_of", "plan_lv_create"]

DEFAULT_STRIPE_BYTES = 64 * 1024
# raid6 is always synchronised: its two parities must be right before the first error.
_NOSYNC_TYPES = ("raid1", "raid4", "raid5", "raid10", "mirror")


def layout_of(wanted: LvWanted, pv_count: int) -> LvLayout:
    """The shape of a new LV with its defaults: linear; striped over every PV it may use; one additional copy."""
    kind = wanted.type or ("striped" if (wanted.stripes or 1) > 1 else "linear")
    if kind not in LV_TYPE_NAMES:
        raise PlanRefused(f"type was given as {kind!r}, which is not known; use one of {', '.join(LV_TYPE_NAMES)}")
    traits = LV_TYPES[lv_family(kind)]
    mirrors = wanted.mirrors if wanted.mirrors is not None else int(traits.mirrored)
    stripes = wanted.stripes
    if stripes is None:
        stripes = max((pv_count - traits.parity) // (mirrors + 1), traits.least_stripes) if traits.striped else 1
    return LvLayout(kind, stripes, mirrors, 0 if kind == "mirror" and wanted.mirrorlog == "core" else None)


def plan_lv_create(
    wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]
) -> Plan:
    name = f"{vg.name}/{wanted.name}"
    if wanted.size is None:
        raise PlanRefused(f"the logical volume {name} does not exist; give size or extents to make it")
    check_usable(vg, f"make the logical volume {name}")
    layout = layout_of(wanted, len(allowed))
    problem = layout.problem()
    if problem:
        raise PlanRefused(f"the logical volume {name} cannot be made: {problem}")
    _check_options(wanted, layout)
    if vg.free_extents is None:
        return _create_assumed(wanted, vg, layout)
    extents = _new_extents(wanted, vg, layout, allowed)
    stripe_bytes = _stripe_bytes(wanted, vg, layout)
    segments = place_lv(layout, extents, vg.extent_bytes, allowed)
    predicted = _predict(wanted, vg, layout, extents=extents, stripe_bytes=stripe_bytes, segments=segments)
    warnings = [*geometry_of_lv(predicted, vg, allowed, below)[1]] if below else []
    warnings += _size_warning(predicted, vg, allowed, below)
    if wanted.nosync:
        warnings.append(
            f"{name} is made without an initial synchronisation (nosync): its copies or parity are right only where something "
            "was written since"
        )
    arguments = (*_shape_arguments(layout, stripe_bytes, wanted), "-l", str(extents), *_rest_arguments(wanted, vg))
    summary = (
        f"make the {layout.type} logical volume {name} with {extents} extents ({format_size(predicted.size_bytes)})"
    )
    steps = [Step(lvm_argv("lvcreate", "-y", *arguments), summary)]
    if wanted.read_only:
        # Made writable first: what an earlier volume left there has to be wiped.
        steps.append(set_permission(name, True))
    if wanted.active is False:
        steps.append(deactivate(name))
    return Plan(
        tuple(steps),
        {},
        managed_fields(predicted, wanted),
        tuple(warnings),
        predicted=predicted,
        assumed_parent=vg.assumed,
    )


def _size_warning(
    lv: LvState, vg: VgState, pvs: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]
) -> list[str]:
    """A volume that does not end on a full stripe pushes the next one off it."""
    stripe = geometry_of_lv(lv, vg, pvs, below)[0].stripe if below else None
    rest = misalignment(lv.size_bytes or 0, stripe.full_bytes) if stripe else 0
    if stripe is None or not rest or not (lv.size_bytes or 0) > rest:
        return []
    return [
        f"{lv.path} of {format_size(lv.size_bytes)} ends {format_size(rest)} behind a full stripe ({format_size(stripe.full_bytes)}): "
        "a volume that begins behind it is off the stripes; sizes that are multiples of the stripe avoid it"
    ]


def _check_options(wanted: LvWanted, layout: LvLayout) -> None:
    """Raises PlanRefused for options that a volume of this type does not have."""
    name, family = f"{wanted.vg}/{wanted.name}", lv_family(layout.type)
    if wanted.mirrorlog is not None and family != "mirror":
        raise PlanRefused(
            f"mirrorlog was given, but {name} would be of type {layout.type}, and only type mirror has a log"
        )
    if wanted.region_bytes is not None and family not in (*REGION_TYPES, "mirror"):
        raise PlanRefused(
            f"regionsize was given, but {name} would be of type {layout.type}, which keeps no log of regions"
        )
    if wanted.nosync and family not in _NOSYNC_TYPES:
        raise PlanRefused(
            f"nosync was given, but {name} would be of type {layout.type}, which "
            + ("LVM always synchronises" if layout.traits.parity else "has nothing to synchronise")
            + "; leave it out"
        )


def _create_assumed(wanted: LvWanted, vg: VgState, layout: LvLayout) -> Plan:
    """An LV in a group that exists only in the plan of another task: its size is not known yet."""
    size = t.cast(ExtentRequest, wanted.size)
    stripe_bytes = _stripe_bytes(wanted, vg, layout)
    predicted = _predict(wanted, vg, layout, extents=0, stripe_bytes=stripe_bytes, segments=())._replace(
        size_bytes=None, extents=None
    )
    arguments = (*_shape_arguments(layout, stripe_bytes, wanted), *size.lvm_arguments(), *_rest_arguments(wanted, vg))
    step = Step(
        lvm_argv("lvcreate", "-y", *arguments), f"make the {layout.type} logical volume {vg.name}/{wanted.name}"
    )
    return Plan((step,), {}, managed_fields(predicted, wanted), predicted=predicted, assumed_parent=True)


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
    if wanted.mirrorlog is not None:
        words += ["--mirrorlog", wanted.mirrorlog]
    if wanted.alloc is not None:
        words += ["--alloc", wanted.alloc]
    if wanted.nosync:
        words.append("--nosync")
    return tuple(words)


def _rest_arguments(wanted: LvWanted, vg: VgState) -> tuple[str, ...]:
    """What is the same for every type. C(-W y -Z y): what an earlier LV left there must not come back."""
    words = ["-W", "y", "-Z", "y", *readahead_words(wanted.readahead)]
    words += [word for tag in sorted(wanted.tags or ()) for word in ("--addtag", tag)]
    return (*words, "-n", wanted.name, vg.name, *(wanted.pv_paths or ()))


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
        segment._replace(stripe_bytes=stripe_bytes, region_bytes=wanted.region_bytes or 0) for segment in segments
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
        alloc=wanted.alloc or "inherit",
        read_only=bool(wanted.read_only),
        mirrorlog=(wanted.mirrorlog or "disk") if layout.type == "mirror" else None,
        synced=not wanted.nosync,
        runs=runs_of_placement(layout, segments, vg.extent_bytes) if extents else (),
        readahead=AUTO if wanted.readahead is None else wanted.readahead,
        tags=tuple(sorted(wanted.tags or ())),
        assumed=vg.assumed,
    )
