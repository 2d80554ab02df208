# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where the areas of a physical volume lie, and how many extents its device has room for. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import (
    DEFAULT_ALIGNMENT_BYTES,
    LEAST_METADATA_BYTES,
    PeRequest,
    auto_alignment,
    auto_alignment_offset,
    place_pv,
    round_up,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import AUTO, PvState, PvWanted

__all__ = [
    "alignment_warning",
    "extents_on",
    "joined",
    "placement_arguments",
    "placement_request",
    "predict_pv",
]

_LABEL_BYTES = 4096


def placement_request(wanted: PvWanted, below: DeviceGeometry) -> PeRequest:
    """What a new PV is asked for: the wish with its defaults, C(auto) in bytes. Nothing is left to detection."""
    automatic = wanted.alignment in (None, AUTO)
    alignment = auto_alignment(below) if automatic else int(t.cast("int", wanted.alignment))
    offset = wanted.alignment_offset_bytes
    if offset is None:
        offset = auto_alignment_offset(below) if automatic else 0
    copies = 1 if wanted.metadata_copies is None else wanted.metadata_copies
    return PeRequest(wanted.metadata_bytes, alignment, offset, wanted.bootloader_bytes or 0, copies)


def placement_arguments(request: PeRequest) -> tuple[str, ...]:
    """The same as options of pvcreate and vgcreate. Detection of an offset is off: it is given."""
    arguments = [
        "--config",
        "devices/data_alignment_offset_detection=0",
        "--dataalignment",
        f"{request.alignment_bytes}b",
    ]
    if request.alignment_offset_bytes:
        arguments += ["--dataalignmentoffset", f"{request.alignment_offset_bytes}b"]
    if request.metadata_bytes is not None:
        arguments += ["--metadatasize", f"{request.metadata_bytes}b"]
    if request.metadata_copies != 1:
        arguments += ["--pvmetadatacopies", str(request.metadata_copies)]
    if request.bootloader_bytes:
        arguments += ["--bootloaderareasize", f"{request.bootloader_bytes}b"]
    return tuple(arguments)


def predict_pv(wanted: PvWanted, below: DeviceGeometry) -> PvState:
    """The PV that pvcreate would make."""
    request = placement_request(wanted, below)
    placed = place_pv(request)
    if request.metadata_copies and placed.metadata_bytes < LEAST_METADATA_BYTES:
        raise PlanRefused(
            f"metadatasize and dataalignment as asked give {wanted.path} a metadata area of "
            f"{format_size(placed.metadata_bytes)}, but LVM needs {format_size(LEAST_METADATA_BYTES)}; ask for more"
        )
    size = below.size_bytes
    if size is not None and size <= placed.pe_start_bytes:
        raise PlanRefused(
            f"{wanted.path} has {format_size(size)}, but the data of the physical volume would begin at "
            f"{format_size(placed.pe_start_bytes)}; ask for a smaller alignment or metadata size, or use a larger "
            "device"
        )
    boot = placed.pe_start_bytes - placed.bootloader_start_bytes if request.bootloader_bytes else 0
    return PvState(
        path=wanted.path,
        lvm_name=wanted.path,
        uuid=wanted.uuid,
        pe_start_bytes=placed.pe_start_bytes,
        mda_size_bytes=placed.metadata_bytes,
        size_bytes=size,
        device_size_bytes=size,
        mda_count=request.metadata_copies,
        ba_start_bytes=placed.bootloader_start_bytes,
        ba_size_bytes=boot,
        assumed=below.assumed,
        label_sector=1 if wanted.label_sector is None else wanted.label_sector,
    )


def alignment_warning(state: PvState, below: DeviceGeometry) -> str | None:
    """A sentence when the data of the PV begins off the full stripe below; None when it does not, as far as known."""
    if below.stripe is None:
        return None
    off = (below.offset_bytes + state.pe_start_bytes) % below.stripe.full_bytes
    if off == 0:
        return None
    return (
        f"the data of the physical volume {state.path} begins at {format_size(state.pe_start_bytes)}, "
        f"{format_size(off)} behind a full stripe ({format_size(below.stripe.full_bytes)}) of what lies below: "
        "writes of full stripes through it will read first"
    )


def extents_on(state: PvState, extent_bytes: int) -> int | None:
    """Whole extents that the device of a PV has room for; None where its size is not known."""
    if state.device_size_bytes is None:
        return None
    room = state.device_size_bytes - _tail_bytes(state) - state.pe_start_bytes
    return max(0, room // extent_bytes)


def _tail_bytes(state: PvState) -> int:
    """What a second metadata area takes at the end of the device. LVM tells the smaller of the two areas only."""
    if state.mda_count < 2:
        return 0
    first = (state.ba_start_bytes or state.pe_start_bytes) - _LABEL_BYTES
    if state.mda_size_bytes < first:
        return state.mda_size_bytes
    return round_up(state.mda_size_bytes, DEFAULT_ALIGNMENT_BYTES)


def joined(state: PvState, vg_name: str, extent_bytes: int) -> PvState:
    """The PV once it is in a VG: what is left of it after whole extents is nobody's."""
    count = extents_on(state, extent_bytes)
    return state._replace(
        vg_name=vg_name,
        extent_count=count,
        allocated_extents=0,
        size_bytes=None if count is None else count * extent_bytes,
        free_ranges=((0, count),) if count else (),
    )
