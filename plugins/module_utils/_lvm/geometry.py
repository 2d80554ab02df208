# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where an LV lies on the devices below, and what the layer above must know of it. Pure."""

from __future__ import annotations

import itertools
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import LvLayout, metadata_extents
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.offset import Piece, beginning_of
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import lv_stripe, lv_stripe_units
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    LvmState,
    LvSegment,
    LvState,
    PvRun,
    PvState,
    SegmentArea,
    VgState,
)

__all__ = ["geometry_of_lv", "physical_lv", "place_lv", "runs_of_placement"]


def place_lv(layout: LvLayout, extents: int, extent_bytes: int, pvs: t.Sequence[PvState]) -> tuple[LvSegment, ...]:
    """The segments that a new LV will most likely get: exact in an empty group, else LVM may choose other free extents.

    A raid's images are shown on the PVs they lie on, behind the metadata volume that LVM puts before each where it begins:
    on further PVs, onto which the images go on, there is none.
    """
    if layout.images == 1:
        return _place_linear(layout, extents, pvs)
    rows, segments, done = extents // layout.stripes, [], 0
    metadata = metadata_extents(rows, extent_bytes) if layout.traits.metadata_volumes else 0
    left = {pv.path: sum(count for _unused, count in pv.free_ranges) for pv in pvs}
    starts = {pv.path: pv.free_ranges[0][0] if pv.free_ranges else 0 for pv in pvs}
    chosen = sorted(left, key=lambda path: -left[path])[: layout.images]
    for path in chosen:
        left[path] -= metadata
        starts[path] += metadata
    while rows > 0:
        step = min(rows, *(left[path] for path in chosen)) if len(chosen) == layout.images else 0
        if step <= 0:
            break
        # LVM names the areas of one segment in the order of the PVs in the group.
        ordered = [path for path in left if path in chosen]
        areas = tuple(SegmentArea(starts[path], pv_path=path) for path in ordered)
        segments.append(_segment(layout, done, step * layout.stripes, areas))
        for path in chosen:
            left[path] -= step
            starts[path] += step
        done, rows = done + step * layout.stripes, rows - step
        chosen = sorted(left, key=lambda path: -left[path])[: layout.images]
    return tuple(segments)


def _place_linear(layout: LvLayout, extents: int, pvs: t.Sequence[PvState]) -> tuple[LvSegment, ...]:
    segments: list[LvSegment] = []
    done = 0
    # LVM takes one run that holds all of it where there is one, the largest of the first such PV.
    whole = [
        (pv.path, max(pv.free_ranges, key=lambda run: run[1]))
        for pv in pvs
        if any(count >= extents for _unused, count in pv.free_ranges)
    ]
    if whole:
        path, run = whole[0]
        return (_segment(layout, 0, extents, (SegmentArea(run[0], pv_path=path),)),)
    for pv in pvs:
        for start, count in pv.free_ranges:
            step = min(count, extents - done)
            if step > 0:
                segments.append(_segment(layout, done, step, (SegmentArea(start, pv_path=pv.path),)))
                done += step
    return tuple(segments)


def _segment(layout: LvLayout, start: int, extents: int, areas: tuple[SegmentArea, ...]) -> LvSegment:
    return LvSegment(
        type=layout.type,
        start_extent=start,
        extents=extents,
        stripes=layout.images,
        data_stripes=layout.stripes,
        data_copies=layout.mirrors + 1,
        areas=areas,
    )


def runs_of_placement(layout: LvLayout, segments: t.Sequence[LvSegment], extent_bytes: int) -> tuple[PvRun, ...]:
    """All that a planned LV takes of the PVs: its areas, and before the first of each image the metadata."""
    runs: list[PvRun] = []
    rows = sum(segment.extents for segment in segments) // layout.stripes
    metadata = metadata_extents(rows, extent_bytes) if layout.traits.metadata_volumes else 0
    for number, segment in enumerate(segments):
        for area in segment.areas:
            extra = metadata if number == 0 else 0
            size = segment.extents // max(segment.data_stripes, 1)
            runs.append(PvRun(area.pv_path or "", area.start_extent - extra, size + extra))
    return tuple(runs)


def physical_lv(state: LvmState, lv: LvState) -> LvState:
    """The LV with every area of its segments on a PV, and with all runs of extents that it takes, its hidden parts' too.

    Where an image goes on in another place the segment is cut, so that each of the segments lies on one run of every PV.
    """
    segments = tuple(piece for segment in lv.segments for piece in _cut(state, lv.vg, segment))
    hidden = [part for part in state.lvs_of(lv.vg) if part.hidden and _is_part(part.name, lv.name)]
    log = f"{lv.name}_mlog"
    kind = ("disk" if any(part.name == log for part in hidden) else "core") if lv.type == "mirror" else None
    runs = [*_runs(lv, None), *(run for part in hidden for run in _runs(part, part.name))]
    return lv._replace(segments=segments, runs=tuple(runs), mirrorlog=kind)


def _is_part(part: str, name: str) -> bool:
    """Whether a hidden LV is a part of the LV of this name: its suffix is LVM's own."""
    return re.fullmatch(re.escape(name) + r"_(r|m)?(image|meta|log)(_\d+)?(_extracted)?", part) is not None


def _runs(lv: LvState, part: str | None) -> list[PvRun]:
    return [
        PvRun(area.pv_path, area.start_extent, segment.extents // max(segment.data_stripes, 1), part)
        for segment in lv.segments
        for area in segment.areas
        if area.pv_path is not None
    ]


def _cut(state: LvmState, vg: str, segment: LvSegment) -> t.Iterator[LvSegment]:
    """The segment with its areas on PVs, in as many segments as the pieces of its images make."""
    stripes = max(segment.data_stripes, 1)
    rows = segment.extents // stripes
    images = [_pieces_on_pvs(state, vg, area, rows) for area in segment.areas]
    ends = {end for pieces in images for end in itertools.accumulate(count for count, _unused in pieces)}
    begin = 0
    for end in sorted(ends or {rows}):
        yield segment._replace(
            start_extent=segment.start_extent + begin * stripes,
            extents=(end - begin) * stripes,
            areas=tuple(_area_at(pieces, begin) for pieces in images),
        )
        begin = end


def _pieces_on_pvs(
    state: LvmState, vg: str, area: SegmentArea, rows: int, depth: int = 8
) -> list[tuple[int, SegmentArea]]:
    """So many extents of an area as runs on PVs, in order, with their lengths; a part that is not known stays as it is."""
    image = state.lv(vg, area.lv_name) if area.lv_name else None
    found: list[tuple[int, SegmentArea]] = []
    for segment in image.segments if image and depth else ():
        skip = max(area.start_extent - segment.start_extent, 0)
        count = min(area.start_extent + rows, segment.start_extent + segment.extents) - segment.start_extent - skip
        if count > 0 and segment.areas:
            inner = segment.areas[0]._replace(start_extent=segment.areas[0].start_extent + skip)
            found += _pieces_on_pvs(state, vg, inner, count, depth - 1)
    return found if sum(count for count, _unused in found) == rows else [(rows, area)]


def _area_at(pieces: t.Sequence[tuple[int, SegmentArea]], row: int) -> SegmentArea:
    """The area that has this row, from there on."""
    begin = 0
    for count, area in pieces:
        if row < begin + count:
            return area._replace(start_extent=area.start_extent + row - begin)
        begin += count
    return pieces[-1][1]


def geometry_of_lv(
    lv: LvState, vg: VgState, pvs: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]
) -> tuple[DeviceGeometry, tuple[str, ...]]:
    """The LV as the layer above sees it, and warnings on alignment.

    C(lv) has physical segments (see C(physical_lv)); C(below) maps the path of each PV to its device.
    """
    by_path = {pv.path: pv for pv in pvs}
    paths = list(dict.fromkeys(area.pv_path for segment in lv.segments for area in segment.areas if area.pv_path))
    grounds = [below[path] for path in paths if path in below]
    stripe, warnings = _stripe(lv, grounds)
    offset, more = _offset(lv, vg, by_path, below, stripe)
    return (
        DeviceGeometry(
            path=lv.path,
            size_bytes=lv.size_bytes,
            logical_sector_bytes=max([ground.logical_sector_bytes for ground in grounds], default=512),
            physical_sector_bytes=max([ground.physical_sector_bytes for ground in grounds], default=512),
            stripe=stripe,
            offset_bytes=offset,
            assumed=lv.assumed,
        ),
        (*warnings, *more),
    )


def _stripe(lv: LvState, grounds: t.Sequence[DeviceGeometry]) -> tuple[Stripe | None, tuple[str, ...]]:
    if not lv.segments:
        return None, ()
    shapes = {(segment.data_stripes, segment.stripe_bytes) for segment in lv.segments}
    if len(shapes) > 1:
        return None, (f"{lv.path} has segments of unlike stripes, so nothing above can line up with all of it",)
    units = lv_stripe_units(lv.segments[0].type, lv.stripes, lv.mirrors)
    return lv_stripe(units, lv.stripe_bytes or None, grounds)


def _offset(
    lv: LvState,
    vg: VgState,
    pvs: t.Mapping[str, PvState],
    below: t.Mapping[str, DeviceGeometry],
    stripe: Stripe | None,
) -> tuple[int, tuple[str, ...]]:
    """Where byte 0 of the LV lies on the grid of its full stripe; a sentence when it is off, or segments disagree."""
    pieces = [piece for segment in lv.segments for piece in _pieces(segment, vg, pvs, below)]
    begins = beginning_of(stripe, pieces, lv.stripes, lv.stripe_bytes)
    if stripe is None or (begins.alike and not begins.offset_bytes):
        return 0, ()
    if not begins.alike:
        return begins.offset_bytes, (
            f"the pieces of {lv.path} lie differently on the full stripes below, so that no file system can line up "
            "with all of them; keep sizes and starts multiples of the full stripe",
        )
    if not begins.reachable:
        return begins.offset_bytes, (
            f"{lv.path} begins off the full stripes of what lies below, by an amount that its stripesize of "
            f"{format_size(lv.stripe_bytes)} does not divide: no write through it will be a full stripe; an extent size "
            "that is a multiple of the stripe below avoids it",
        )
    return begins.offset_bytes, (
        f"{lv.path} begins {format_size(begins.offset_bytes)} behind a full stripe "
        f"({format_size(stripe.full_bytes)}) of what lies below: writes of full stripes through it will read first; an "
        "extent size that is a multiple of the stripe avoids it",
    )


def _pieces(
    segment: LvSegment, vg: VgState, pvs: t.Mapping[str, PvState], below: t.Mapping[str, DeviceGeometry]
) -> t.Iterator[Piece]:
    for area in segment.areas:
        ground, pv = below.get(area.pv_path or ""), pvs.get(area.pv_path or "")
        if ground is not None and pv is not None and ground.stripe is not None:
            place = ground.offset_bytes + pv.pe_start_bytes + area.start_extent * vg.extent_bytes
            yield Piece(segment.start_extent * vg.extent_bytes, place, ground.stripe)
