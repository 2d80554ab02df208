# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a wish for a logical volume may ask, and where it differs from the volume that is there. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    FreeSpace,
    canonical_type,
    lv_family,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import check_name, check_tags
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    UNKNOWN_DEVICE,
    LvState,
    LvWanted,
    PvState,
    VgState,
)

__all__ = [
    "REGION_TYPES",
    "allowed_pvs",
    "check_synced",
    "check_usable",
    "check_wish",
    "compare_shape",
    "free_extents_of",
    "space_of",
]

_PAGE_BYTES = 4096
_WHOLE_PERCENT = 100.0
# Types whose region size can be changed while they are in use.
REGION_TYPES = ("raid1", "raid4", "raid5", "raid6", "raid10")


def free_extents_of(pv: PvState) -> int:
    """Extents of a PV that a new LV may take."""
    return 0 if pv.missing or not pv.allocatable else sum(count for _unused, count in pv.free_ranges)


def check_wish(wanted: LvWanted) -> None:
    """Raises PlanRefused for options that no LV can have."""
    check_name(wanted.vg, "vg")
    check_name(wanted.name, "name")
    check_tags(wanted.tags)
    for option, value in (("stripes", wanted.stripes), ("mirrors", wanted.mirrors)):
        if value is not None and value < (1 if option == "stripes" else 0):
            raise PlanRefused(f"{option} was given as {value}, which is too few")
    if wanted.mirrorlog is not None and wanted.type not in (None, "mirror"):
        raise PlanRefused(
            f"mirrorlog was given as {wanted.mirrorlog}, but only the type mirror has such a log (asked for was type {wanted.type}); "
            "leave it out"
        )
    both = sorted(set(wanted.leave_paths) & set(wanted.pv_paths or ()))
    if both:
        raise PlanRefused(f"{', '.join(both)} was given both in devices and in leave_devices; name it in one of them")
    for option, size in (("stripesize", wanted.stripe_bytes), ("regionsize", wanted.region_bytes)):
        if size is not None and (size < _PAGE_BYTES or size & (size - 1)):
            raise PlanRefused(
                f"{option} was given as {format_size(size)}, but LVM takes a power of two of at least 4KiB, such as "
                f"{format_size(max(_PAGE_BYTES, 1 << max(size.bit_length() - 1, 0)))}"
            )
    if isinstance(wanted.readahead, int) and wanted.readahead % SECTOR_BYTES:
        raise PlanRefused(f"readahead was given as {wanted.readahead} bytes, but LVM counts it in sectors of 512 bytes")


def check_usable(vg: VgState, what: str) -> None:
    """Raises PlanRefused when nothing of the group may be changed."""
    why = vg.unusable()
    if why:
        raise PlanRefused(f"asked to {what}, but the volume group {vg.name} {why}. Nothing was changed")
    if vg.missing_pv_count:
        raise PlanRefused(
            f"asked to {what}, but {vg.missing_pv_count} physical volumes of the group {vg.name} are missing; bring "
            "them back, or remove them with vgreduce --removemissing, then run again"
        )


def allowed_pvs(wanted: LvWanted, vg: VgState, pvs: t.Sequence[PvState]) -> list[PvState]:
    """The PVs that a new LV may use, in the order given."""
    members = {pv.path: pv for pv in pvs if pv.path in vg.pv_paths and not pv.missing}
    if wanted.pv_paths is None:
        return list(members.values())
    strangers = [path for path in wanted.pv_paths if path not in members]
    if strangers and not vg.assumed:
        raise PlanRefused(
            f"the logical volume {wanted.vg}/{wanted.name} was asked for on {', '.join(strangers)}, but the group "
            f"{vg.name} has {', '.join(vg.pv_paths) or 'no devices'}; name devices of the group"
        )
    return [members[path] for path in wanted.pv_paths if path in members]


def space_of(vg: VgState, allowed: t.Sequence[PvState]) -> FreeSpace:
    """What an LV on these PVs can take."""
    return FreeSpace(
        free_per_pv=tuple(free_extents_of(pv) for pv in allowed),
        pvs_extents=sum(pv.extent_count or 0 for pv in allowed),
        vg_extents=vg.extent_count or 0,
        vg_free=vg.free_extents or 0,
    )


def check_synced(state: LvState, vg: VgState, what: str) -> None:
    """Raises PlanRefused when a redundant LV is not whole and in step: LVM would refuse in the middle."""
    name = f"{vg.name}/{state.name}"
    if not state.active:
        raise PlanRefused(f"asked to {what} {name}, but it is not active; give active: true in a task before")
    if state.health or (state.sync_percent is not None and state.sync_percent < _WHOLE_PERCENT):
        raise PlanRefused(
            f"asked to {what} {name}, but it is not in step (health {state.health or 'ok'}, {state.sync_percent}% synchronised); "
            "wait for it (wait_for_sync: true), or repair it, and run again"
        )


def compare_shape(state: LvState, wanted: LvWanted) -> None:
    """Raises DriftFound where the shape differs in what cannot change in place."""
    asked: list[tuple[str, t.Any, t.Any]] = [
        ("type", _type_asked(state, wanted), _type_found(state, wanted)),
        ("stripes", wanted.stripes, state.stripes),
        ("stripesize", wanted.stripe_bytes, state.stripe_bytes),
        ("mirrorlog", wanted.mirrorlog, state.mirrorlog),
    ]
    family = lv_family(state.type)
    if family != "raid1" or wanted.mirrors == 0:
        asked.append(("mirrors", wanted.mirrors, state.mirrors))
    if family not in REGION_TYPES:
        asked.append(("regionsize", wanted.region_bytes, state.region_bytes))
    differing = [(option, want, has) for option, want, has in asked if want is not None and want != has]
    differing += _strange_places(state, wanted)
    if not differing:
        return
    told = "; ".join(
        f"{option} is {_shown(option, has)}, asked for was {_shown(option, want)}" for option, want, has in differing
    )
    raise DriftFound(
        f"the logical volume {state.vg}/{state.name} exists, and {told}; this cannot change in place. Leave the option "
        "out to take the volume as it is, or remove it (state: absent) and make it anew"
    )


def _type_asked(state: LvState, wanted: LvWanted) -> str | None:
    """A family is met by any of its variants, a variant only by itself."""
    asked = wanted.type
    return asked if asked is None or asked == lv_family(asked) else canonical_type(asked)


def _type_found(state: LvState, wanted: LvWanted) -> str:
    family = lv_family(state.type)
    return family if wanted.type == family else canonical_type(state.type)


def _strange_places(state: LvState, wanted: LvWanted) -> list[tuple[str, t.Any, t.Any]]:
    """The devices, where the LV lies on others than are named and is not moved off them."""
    if wanted.pv_paths is None:
        return []
    used = sorted({run.pv_path for run in state.runs} - {UNKNOWN_DEVICE})
    strange = [path for path in used if path not in wanted.pv_paths and path not in wanted.leave_paths]
    return [("devices", ", ".join(wanted.pv_paths), ", ".join(used))] if strange else []


def _shown(option: str, value: t.Any) -> str:
    return format_size(value) if option.endswith("size") else str(value)
