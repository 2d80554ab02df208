# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides what changes in place on a physical volume: its size, its tags, whether it takes new extents. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import PvState, PvWanted, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_check import pv_fields
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import alignment_warning, extents_on

__all__ = ["change_pv"]


def change_pv(state: PvState, wanted: PvWanted, below: DeviceGeometry, vg: VgState | None) -> Plan:
    """The plan for a PV that is there and as asked in all that cannot change. C(vg) is the group it is in."""
    resized, resizing = _resized(state, wanted, vg)
    tagged = state.vg_name is not None and wanted.tags is not None and set(wanted.tags) != set(state.tags)
    opened = state.vg_name is not None and wanted.allocatable not in (None, state.allocatable)
    steps = (
        *resizing,
        *(_tag_steps(state, wanted.tags or ()) if tagged else ()),
        *(_allocation_steps(state, bool(wanted.allocatable)) if opened else ()),
    )
    if steps:
        _check_group(state, vg)
    after = resized._replace(
        tags=tuple(wanted.tags or ()) if tagged else state.tags,
        allocatable=bool(wanted.allocatable) if opened else state.allocatable,
    )
    notes = (alignment_warning(state, below), None if resizing else _shrunken(state, vg))
    return Plan(
        steps,
        pv_fields(state, wanted),
        pv_fields(after, wanted),
        warnings=tuple(note for note in notes if note),
        predicted=after,
    )


def _check_group(state: PvState, vg: VgState | None) -> None:
    if vg is None:
        return
    why = vg.unusable()
    if why:
        raise PlanRefused(
            f"asked to change the physical volume {state.path}, but its volume group {vg.name} {why}. Nothing was changed"
        )
    if vg.missing_pv_count:
        raise PlanRefused(
            f"asked to change the physical volume {state.path}, but its volume group {vg.name} lacks "
            f"{vg.missing_pv_count} of its physical volumes; bring them back, or forget them (lvm_vg with "
            "remove_missing: true), then run again"
        )


def _needed_bytes(state: PvState, vg: VgState | None) -> int:
    """The least size of device that holds the PV as its metadata has it."""
    if vg is None or state.extent_count is None:
        return state.size_bytes or 0
    return state.pe_start_bytes + state.extent_count * vg.extent_bytes


def _shrunken(state: PvState, vg: VgState | None) -> str | None:
    needed, device = _needed_bytes(state, vg), state.device_size_bytes
    if device is None or device >= needed:
        return None
    return (
        f"the physical volume {state.path} needs {format_size(needed)}, but its device has only {format_size(device)}: "
        "the device was made smaller. Make it as large as it was, or give resize: true where nothing lies at its end"
    )


def _resized(state: PvState, wanted: PvWanted, vg: VgState | None) -> tuple[PvState, tuple[Step, ...]]:
    """The PV as large as its device, and the step to it: none where no extent is won."""
    device = state.device_size_bytes
    if not wanted.resize or device is None:
        return state, ()
    step = Step(lvm_argv("pvresize", state.path), f"make the physical volume {state.path} as large as its device")
    if vg is None:
        same = state.size_bytes == device
        return (state, ()) if same else (state._replace(size_bytes=device), (step,))
    count = extents_on(state, vg.extent_bytes)
    if count is None or count == state.extent_count:
        return state, ()
    last = _last_used(state)
    if count < last:
        raise PlanRefused(
            f"asked to make the physical volume {state.path} as large as its device, which has {format_size(device)} and "
            f"room for {count} extents, but logical volumes use extents up to number {last - 1}; make the device as large "
            "as it was, or move these extents away first (pvmove)"
        )
    free = _free_up_to(state, count)
    after = state._replace(extent_count=count, size_bytes=count * vg.extent_bytes, free_ranges=free)
    return after, (step,)


def _last_used(state: PvState) -> int:
    """How many extents there are up to the last that an LV uses."""
    total = state.extent_count or 0
    at_end = [start for start, extents in state.free_ranges if start + extents == total]
    return at_end[0] if at_end else total


def _free_up_to(state: PvState, count: int) -> tuple[tuple[int, int], ...]:
    last = _last_used(state)
    before = tuple(run for run in state.free_ranges if run[0] < last)
    return (*before, (last, count - last)) if count > last else before


def _tag_steps(state: PvState, tags: tuple[str, ...]) -> tuple[Step, ...]:
    words = [word for tag in sorted(set(tags) - set(state.tags)) for word in ("--addtag", tag)]
    words += [word for tag in sorted(set(state.tags) - set(tags)) for word in ("--deltag", tag)]
    shown = ", ".join(sorted(tags)) or "none"
    return (Step(lvm_argv("pvchange", *words, state.path), f"set the tags of {state.path}: {shown}"),)


def _allocation_steps(state: PvState, allocatable: bool) -> tuple[Step, ...]:
    summary = f"let logical volumes take {'' if allocatable else 'no more '}extents of {state.path}"
    return (Step(lvm_argv("pvchange", "-x", "y" if allocatable else "n", state.path), summary),)
