# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""LVM objects as a person gets them back from a module. Pure."""

from __future__ import annotations

import math
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    LvSegment,
    LvState,
    PvRun,
    PvState,
    VgState,
)

__all__ = ["shown_lv", "shown_pv", "shown_vg"]


def shown_pv(pv: PvState) -> dict[str, t.Any]:
    """A PV; sizes in bytes, None where not known."""
    return {
        "device": pv.path,
        "name": pv.lvm_name or pv.path,
        "uuid": pv.uuid,
        "vg": pv.vg_name,
        "size_bytes": pv.size_bytes,
        "device_size_bytes": pv.device_size_bytes,
        "pe_start_bytes": pv.pe_start_bytes,
        "metadata_area_bytes": pv.mda_size_bytes,
        "metadata_copies": pv.mda_count,
        "bootloader_start_bytes": pv.ba_start_bytes,
        "bootloader_bytes": pv.ba_size_bytes,
        "missing": pv.missing,
        "allocatable": pv.allocatable,
        "tags": list(pv.tags),
        "extent_count": pv.extent_count,
        "allocated_extents": pv.allocated_extents,
    }


def shown_vg(
    vg: VgState, pvs: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry] | None = None
) -> dict[str, t.Any]:
    """A VG and its PVs. C(below) are the devices under them, as far as they were looked at."""
    stripes = {ground.stripe.full_bytes for ground in (below or {}).values() if ground.stripe is not None}
    return {
        "name": vg.name,
        "uuid": vg.uuid,
        "extent_size_bytes": vg.extent_bytes,
        "extent_count": vg.extent_count,
        "free_extents": vg.free_extents,
        "devices": list(vg.pv_paths),
        "pvs": [shown_pv(pv) for pv in pvs],
        "lvs": list(vg.lv_names),
        "tags": list(vg.tags),
        "missing_pv_count": vg.missing_pv_count,
        "full_stripe_bytes": max(stripes) if len(stripes) == 1 else None,
        # A volume that begins on a multiple of so many extents lies on a full stripe, if the first extent does.
        "extents_per_full_stripe": _lcm(stripes.pop(), vg.extent_bytes) // vg.extent_bytes
        if len(stripes) == 1
        else None,
    }


def _lcm(one: int, other: int) -> int:
    return one * other // math.gcd(one, other)


def shown_lv(
    lv: LvState, vg: VgState | None, pvs: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]
) -> dict[str, t.Any]:
    """An LV, its segments on PVs, and its full stripe."""
    stripe = geometry_of_lv(lv, vg, pvs, below)[0] if vg and below else None
    return {
        "vg": lv.vg,
        "name": lv.name,
        "path": lv.path,
        "uuid": lv.uuid,
        "type": lv.type,
        "size_bytes": lv.size_bytes,
        "extents": lv.extents,
        "stripes": lv.stripes,
        "stripe_size_bytes": lv.stripe_bytes or None,
        "mirrors": lv.mirrors,
        "region_size_bytes": lv.region_bytes or None,
        "mirrorlog": lv.mirrorlog,
        "synced_at_creation": lv.synced,
        "alloc": lv.alloc,
        "read_only": lv.read_only,
        "readahead": lv.readahead,
        "kernel_readahead_bytes": lv.kernel_readahead_bytes,
        "active": lv.active,
        "health": lv.health,
        "sync_action": lv.sync_action or None,
        "sync_percent": lv.sync_percent,
        "tags": list(lv.tags),
        "segments": [_segment(segment) for segment in lv.segments],
        "pieces": [_piece(run, vg, pvs, below) for run in sorted(lv.runs, key=_place)],
        "stripe_unit_bytes": stripe.stripe.unit_bytes if stripe and stripe.stripe else None,
        "full_stripe_bytes": stripe.stripe.full_bytes if stripe and stripe.stripe else None,
        "stripe_offset_bytes": stripe.offset_bytes if stripe and stripe.stripe else None,
    }


def _place(run: PvRun) -> tuple[str, int]:
    return run.pv_path, run.start_extent


def _piece(
    run: PvRun, vg: VgState | None, pvs: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]
) -> dict[str, t.Any]:
    """A run of extents on a PV: in extents, in bytes of the device, and against the full stripe of what lies below."""
    pv = next((pv for pv in pvs if pv.path == run.pv_path), None)
    start = None
    if pv is not None and vg is not None:
        start = pv.pe_start_bytes + run.start_extent * vg.extent_bytes
    ground = below.get(run.pv_path)
    stripe = ground.stripe if ground else None
    off = None
    if start is not None and ground is not None and stripe is not None:
        off = misalignment(ground.offset_bytes + start, stripe.full_bytes)
    return {
        "device": run.pv_path,
        "part": run.part,
        "start_extent": run.start_extent,
        "extents": run.extents,
        "start_bytes": start,
        "size_bytes": run.extents * vg.extent_bytes if vg else None,
        "behind_stripe_bytes": off,
    }


def _segment(segment: LvSegment) -> dict[str, t.Any]:
    return {
        "type": segment.type,
        "start_extent": segment.start_extent,
        "extents": segment.extents,
        "stripes": segment.stripes,
        "stripe_size_bytes": segment.stripe_bytes or None,
        "areas": [
            {"device": area.pv_path or area.lv_name, "start_extent": area.start_extent} for area in segment.areas
        ],
    }
