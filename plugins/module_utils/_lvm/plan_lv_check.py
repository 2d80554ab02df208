# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a wish for a logical volume may ask, and where it differs from the volume that is there. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    LV_TYPES,
    FreeSpace,
    LvLayout,
    largest_extents,
    resolve_extents,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import check_name, check_tags
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvState, LvWanted, PvState, VgState

__all__ = [
    "allowed_pvs",
    "base_type",
    "check_usable",
    "check_wish",
    "compare_shape",
    "free_extents_of",
    "grown_extents",
    "space_of",
]

_PAGE_BYTES = 4096


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


def base_type(state: LvState) -> str:
    """The type as it is asked for: LVM names the variant of parity too, such as raid5_ls."""
    return state.type.split("_", maxsplit=1)[0] if state.type.startswith("raid") else state.type


def compare_shape(state: LvState, wanted: LvWanted) -> None:
    """Raises PlanRefused where the shape differs: it cannot change in place."""
    asked: list[tuple[str, t.Any, t.Any]] = [
        ("type", wanted.type, base_type(state)),
        ("stripes", wanted.stripes, state.stripes),
        ("mirrors", wanted.mirrors, state.mirrors),
        ("stripesize", wanted.stripe_bytes, state.stripe_bytes),
        ("regionsize", wanted.region_bytes, state.region_bytes),
    ]
    differing = [(option, want, has) for option, want, has in asked if want is not None and want != has]
    if not differing:
        return
    told = "; ".join(
        f"{option} is {_shown(option, has)}, asked for was {_shown(option, want)}" for option, want, has in differing
    )
    raise PlanRefused(
        f"the logical volume {state.vg}/{state.name} exists, and {told}; this cannot change in place. Leave the option "
        "out to take the volume as it is, or remove it (state: absent) and make it anew"
    )


def _shown(option: str, value: t.Any) -> str:
    return format_size(value) if option.endswith("size") else str(value)


def grown_extents(state: LvState, wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState]) -> int:
    """Extents after the plan. A percentage is met by an LV that exists: it tells how much to take at creation."""
    now = state.extents or 0
    if wanted.size is None or wanted.size.is_percent:
        return now
    known = base_type(state) in LV_TYPES
    layout = LvLayout(base_type(state), state.stripes, state.mirrors) if known else LvLayout()
    space = space_of(vg, allowed)
    extents = resolve_extents(wanted.size, layout, vg.extent_bytes, space)
    if extents == now:
        return now
    name = f"{vg.name}/{state.name}"
    if extents < now:
        raise PlanRefused(
            f"the logical volume {name} has {now} extents ({format_size(state.size_bytes)}), and {extents} "
            f"({format_size(extents * vg.extent_bytes)}) were asked for; this module never shrinks a volume. Ask for "
            "its size or more"
        )
    most = now + largest_extents(layout, vg.extent_bytes, space.free_per_pv) if known else now
    if extents > most:
        raise PlanRefused(
            f"the logical volume {name} has {now} extents, and {extents} were asked for, but it can have at most "
            f"{most} in the group as it is; ask for less, or add devices to the group (a striped volume needs free "
            "extents on as many devices as it has stripes)"
        )
    return extents
