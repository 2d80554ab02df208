# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Checks the wish for a physical volume, and compares one that exists with it. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import pe_start_bytes
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import check_tags
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import AUTO, PvState, PvWanted
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import placement_request

__all__ = ["check_pv_wish", "compare_pv", "pv_fields"]

_LABEL_SECTORS = 4


def check_pv_wish(wanted: PvWanted) -> None:
    """Raises PlanRefused for numbers that pvcreate does not take."""
    for option, value in (
        ("dataalignment", wanted.alignment),
        ("dataalignmentoffset", wanted.alignment_offset_bytes),
        ("metadatasize", wanted.metadata_bytes),
        ("bootloaderareasize", wanted.bootloader_bytes),
    ):
        if isinstance(value, int) and value % SECTOR_BYTES:
            raise PlanRefused(
                f"{option} was given as {value} bytes, but LVM counts in sectors of 512 bytes; give a multiple"
            )
    if wanted.alignment == 0:
        raise PlanRefused("dataalignment was given as 0; give a size such as 1MiB, or auto")
    if (
        isinstance(wanted.alignment, int)
        and wanted.alignment_offset_bytes is not None
        and wanted.alignment_offset_bytes >= wanted.alignment
    ):
        raise PlanRefused(
            f"dataalignmentoffset was given as {format_size(wanted.alignment_offset_bytes)}, which is not below "
            f"dataalignment, {format_size(wanted.alignment)}; give a smaller offset"
        )
    if wanted.label_sector is not None and not 0 <= wanted.label_sector < _LABEL_SECTORS:
        raise PlanRefused(f"labelsector was given as {wanted.label_sector}, but LVM looks in sectors 0 to 3 only")
    if wanted.metadata_copies == 0 and wanted.metadata_bytes is not None:
        raise PlanRefused(
            f"metadatasize {format_size(wanted.metadata_bytes)} and pvmetadatacopies 0 were both given, but a physical "
            "volume without a metadata area has none of any size; leave one of them out"
        )
    check_tags(wanted.tags)


def compare_pv(state: PvState, wanted: PvWanted, below: DeviceGeometry) -> None:
    """Raises PlanRefused when the PV differs from the wish: none of it can change in place."""
    problem = (
        _uuid_problem(state, wanted)
        or _metadata_problem(state, wanted)
        or _place_problem(state, wanted)
        or _start_problem(state, wanted, below)
    )
    if problem:
        raise DriftFound(
            f"{state.path} is an LVM physical volume{_of_group(state)} already, and {problem}; this cannot change in "
            "place. Leave the option out to take the volume as it is, or remove it (state: absent) and make it anew"
        )


def _of_group(state: PvState) -> str:
    return f" of the group {state.vg_name}" if state.vg_name else ""


def _uuid_problem(state: PvState, wanted: PvWanted) -> str | None:
    if wanted.uuid is None or _plain(wanted.uuid) == _plain(state.uuid or ""):
        return None
    return f"its UUID is {state.uuid}, but {wanted.uuid} was asked for"


def _plain(uuid: str) -> str:
    return uuid.replace("-", "")


def _metadata_problem(state: PvState, wanted: PvWanted) -> str | None:
    if wanted.metadata_bytes is None or state.mda_size_bytes >= wanted.metadata_bytes:
        return None
    return (
        f"its metadata area has {format_size(state.mda_size_bytes)}, but metadatasize of at least "
        f"{format_size(wanted.metadata_bytes)} was asked for"
    )


def _place_problem(state: PvState, wanted: PvWanted) -> str | None:
    if wanted.metadata_copies is not None and state.mda_count != wanted.metadata_copies:
        return f"it has {state.mda_count} metadata areas, but pvmetadatacopies {wanted.metadata_copies} was asked for"
    if wanted.bootloader_bytes is not None and state.ba_size_bytes < wanted.bootloader_bytes:
        return (
            f"its bootloader area has {format_size(state.ba_size_bytes)}, but bootloaderareasize of at least "
            f"{format_size(wanted.bootloader_bytes)} was asked for"
        )
    if wanted.label_sector is not None and state.label_sector not in (None, wanted.label_sector):
        return f"its label is in sector {state.label_sector}, but labelsector {wanted.label_sector} was asked for"
    return None


def _start_problem(state: PvState, wanted: PvWanted, below: DeviceGeometry) -> str | None:
    """Alignment with a metadata size fixes the data start; alone it only says which multiples are right."""
    start = state.pe_start_bytes
    if wanted.alignment == AUTO and wanted.alignment_offset_bytes is None and below.stripe is None:
        return None
    if wanted.alignment is None and wanted.alignment_offset_bytes is None:
        return None
    request = placement_request(wanted, below)
    alignment, offset = request.alignment_bytes or 1, request.alignment_offset_bytes or 0
    if wanted.alignment == AUTO and below.stripe is not None:
        alignment = below.stripe.full_bytes
    if start % alignment != offset % alignment:
        off = f" plus {format_size(offset)}" if offset else ""
        return f"its data begins at {format_size(start)}, but a multiple of {format_size(alignment)}{off} was asked for"
    expected = pe_start_bytes(request)
    if wanted.metadata_bytes is not None and wanted.alignment != AUTO and start != expected:
        return (
            f"its data begins at {format_size(start)}, but dataalignment and metadatasize as asked put it at "
            f"{format_size(expected)}"
        )
    return None


def pv_fields(state: PvState, wanted: PvWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"device": state.path, "state": "present", "pe_start_bytes": state.pe_start_bytes}
    managed = (
        ("metadata_area_bytes", wanted.metadata_bytes, state.mda_size_bytes),
        ("metadata_copies", wanted.metadata_copies, state.mda_count),
        ("bootloader_bytes", wanted.bootloader_bytes, state.ba_size_bytes),
        ("label_sector", wanted.label_sector, state.label_sector),
        ("uuid", wanted.uuid, state.uuid),
        ("allocatable", wanted.allocatable, state.allocatable),
        ("tags", wanted.tags, list(state.tags)),
        ("size_bytes", True if wanted.resize else None, state.size_bytes),
    )
    fields.update({name: has for name, asked, has in managed if asked is not None})
    return fields
