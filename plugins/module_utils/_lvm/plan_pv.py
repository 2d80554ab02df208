# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a physical volume comes to be, or goes. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import (
    LEAST_METADATA_BYTES,
    PeRequest,
    auto_alignment,
    auto_alignment_offset,
    pe_start_bytes,
    place_pv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import (
    WIPE_RETRIES,
    lvm_argv,
    wipe_argv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import AUTO, PvState, PvWanted

__all__ = ["alignment_warning", "placement_arguments", "placement_request", "plan_pv", "plan_pv_absent", "predict_pv"]


def placement_request(wanted: PvWanted, below: DeviceGeometry) -> PeRequest:
    """What a new PV is asked for: the wish with its defaults, C(auto) in bytes. Nothing is left to detection."""
    automatic = wanted.alignment in (None, AUTO)
    alignment = auto_alignment(below) if automatic else int(t.cast("int", wanted.alignment))
    offset = wanted.alignment_offset_bytes
    if offset is None:
        offset = auto_alignment_offset(below) if automatic else 0
    return PeRequest(wanted.metadata_bytes, alignment, offset)


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
    return tuple(arguments)


def plan_pv(state: PvState | None, wanted: PvWanted, below: DeviceGeometry) -> Plan:
    """The plan that makes the device a PV; for one that is a PV it is empty, or refused where the wish differs."""
    _check(wanted)
    if state is not None:
        _compare(state, wanted, below)
        fields = _fields(state, wanted)
        warning = alignment_warning(state, below)
        return Plan((), fields, fields, (warning,) if warning else (), predicted=state)
    predicted = predict_pv(wanted, below)
    identity = ("--uuid", wanted.uuid, "--norestorefile") if wanted.uuid else ()
    arguments = (*placement_arguments(placement_request(wanted, below)), *identity, wanted.path)
    made = f"make {wanted.path} an LVM physical volume with its data at {format_size(predicted.pe_start_bytes)}"
    steps = (
        Step(wipe_argv(wanted.path), f"wipe old signatures from {wanted.path}", (wanted.path,), retries=WIPE_RETRIES),
        Step(lvm_argv("pvcreate", *arguments), made, (wanted.path,)),
    )
    warning = alignment_warning(predicted, below)
    return Plan(
        steps,
        before={},
        after=_fields(predicted, wanted),
        warnings=(warning,) if warning else (),
        predicted=predicted,
        assumed_parent=below.assumed,
    )


def plan_pv_absent(state: PvState | None, path: str) -> Plan:
    """The plan after which the device is no PV; refused while a VG uses it."""
    if state is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    if state.vg_name is not None:
        raise PlanRefused(
            f"asked to remove the physical volume {path}, but it belongs to the volume group {state.vg_name}; remove "
            "that group first (lvm_vg with state: absent), then run again"
        )
    summary = f"remove the LVM physical volume {state.path}"
    step = Step(lvm_argv("pvremove", state.path), summary, (state.path,), removes=(f"pv:{state.path}",))
    return Plan((step,), before={"state": "present"}, after={"state": "absent"})


def predict_pv(wanted: PvWanted, below: DeviceGeometry) -> PvState:
    """The PV that pvcreate would make."""
    placed = place_pv(placement_request(wanted, below))
    if placed.metadata_bytes < LEAST_METADATA_BYTES:
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
    return PvState(
        path=wanted.path,
        lvm_name=wanted.path,
        uuid=wanted.uuid,
        pe_start_bytes=placed.pe_start_bytes,
        mda_size_bytes=placed.metadata_bytes,
        size_bytes=size,
        device_size_bytes=size,
        assumed=below.assumed,
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


def _check(wanted: PvWanted) -> None:
    """Raises PlanRefused for numbers that pvcreate does not take."""
    for option, value in (
        ("dataalignment", wanted.alignment),
        ("dataalignmentoffset", wanted.alignment_offset_bytes),
        ("metadatasize", wanted.metadata_bytes),
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


def _compare(state: PvState, wanted: PvWanted, below: DeviceGeometry) -> None:
    """Raises PlanRefused when the PV differs from the wish: none of it can change in place."""
    problem = _uuid_problem(state, wanted) or _metadata_problem(state, wanted) or _start_problem(state, wanted, below)
    if problem:
        raise PlanRefused(
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


def _fields(state: PvState, wanted: PvWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"device": state.path, "state": "present"}
    if wanted.metadata_bytes is not None:
        fields["metadata_area_bytes"] = state.mda_size_bytes
    fields["pe_start_bytes"] = state.pe_start_bytes
    if wanted.uuid is not None:
        fields["uuid"] = state.uuid
    return fields


def joined(state: PvState, vg_name: str, extent_bytes: int) -> PvState:
    """The PV once it is in a VG: what is left of it after whole extents is nobody's."""
    count = None
    if state.device_size_bytes is not None:
        count = max(0, (state.device_size_bytes - state.pe_start_bytes) // extent_bytes)
    return dataclasses.replace(
        state,
        vg_name=vg_name,
        extent_count=count,
        allocated_extents=0,
        size_bytes=None if count is None else count * extent_bytes,
        free_ranges=((0, count),) if count else (),
    )
