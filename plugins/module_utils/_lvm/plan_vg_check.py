# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Checks the wish for a volume group, and the physical volumes that it names. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import check_name, check_tags
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import PvState, VgState, VgWanted

__all__ = ["check_sectors", "check_vg_wish", "vg_fields", "vg_members"]

_ODD_EXTENT_BYTES = 128 * 1024


def check_vg_wish(wanted: VgWanted) -> None:
    check_name(wanted.name, "name")
    check_tags(wanted.tags)
    if wanted.remove_extra and not wanted.pv_paths:
        raise PlanRefused(
            f"remove_extra_devices was given for the volume group {wanted.name} without devices; list the devices that stay"
        )
    extent = wanted.extent_bytes
    if extent is None:
        return
    power_of_two = extent > 0 and extent & (extent - 1) == 0
    if extent < SECTOR_BYTES or not (power_of_two or extent % _ODD_EXTENT_BYTES == 0):
        raise PlanRefused(
            f"extent_size was given as {format_size(extent)}, but LVM takes a power of two or a multiple of 128KiB"
        )


def vg_members(wanted: VgWanted, pvs: t.Sequence[PvState]) -> list[PvState]:
    """The PVs of the wish, each free or in this very VG. Raises PlanRefused."""
    if len(set(wanted.pv_paths)) != len(wanted.pv_paths):
        raise PlanRefused(
            f"devices of the volume group {wanted.name} name the same device twice: {', '.join(wanted.pv_paths)}"
        )
    by_path = {pv.path: pv for pv in pvs}
    lacking = [path for path in wanted.pv_paths if path not in by_path]
    if lacking:
        raise PlanRefused(
            f"the volume group {wanted.name} was asked for on {', '.join(lacking)}, which is no LVM physical volume; "
            "make it one first (lvm_pv)"
        )
    members = [by_path[path] for path in wanted.pv_paths]
    taken = [f"{pv.path} is in {pv.vg_name}" for pv in members if pv.vg_name not in (None, wanted.name)]
    if taken:
        raise PlanRefused(
            f"the volume group {wanted.name} was asked for on physical volumes of another group: {'; '.join(taken)}. "
            "Remove them there first, or name others"
        )
    return members


def check_sectors(name: str, members: t.Sequence[PvState], below: t.Mapping[str, DeviceGeometry]) -> None:
    sizes = {path: below[path].logical_sector_bytes for path in (pv.path for pv in members) if path in below}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{path} {size}" for path, size in sizes.items())
        raise PlanRefused(
            f"the devices of the volume group {name} have logical sectors of unequal size in bytes ({found}); a group "
            "must not mix them, use devices of one kind"
        )


def vg_fields(state: VgState, wanted: VgWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"name": state.name, "state": "present"}
    if wanted.pv_paths:
        fields["devices"] = list(state.pv_paths)
    fields["extent_size_bytes"] = state.extent_bytes
    if wanted.tags is not None:
        fields["tags"] = list(state.tags)
    return fields
