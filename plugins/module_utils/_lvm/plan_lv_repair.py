# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a degraded logical volume becomes whole, and how one leaves a device that is still there. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import lv_family
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    UNKNOWN_DEVICE,
    LvState,
    LvWanted,
    PvState,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import check_synced, free_extents_of

__all__ = ["Repair", "degraded_sentence", "leave_steps", "repair_steps"]

# Types whose images can be made anew one by one.
_REDUNDANT = ("raid1", "raid4", "raid5", "raid6", "raid10", "mirror")
_MOVE_SECONDS = 24 * 3600.0


class Repair(t.NamedTuple):
    """Steps of a repair, and the group after them."""

    steps: tuple[Step, ...]
    vg: VgState


def degraded_sentence(state: LvState, vg: VgState) -> str | None:
    """What is wrong with a redundant LV, for a warning; None when it is well."""
    if not state.health:
        return None
    lost = [run for run in state.runs if run.pv_path == UNKNOWN_DEVICE]
    name = f"{vg.name}/{state.name}"
    if lost:
        parts = ", ".join(sorted({run.part or state.name for run in lost}))
        return (
            f"the logical volume {name} is degraded ({state.health}): {parts} lay on a device that is missing; repair: true "
            "rebuilds it on a free device of the group"
        )
    return f"the logical volume {name} is not well, LVM says: {state.health}; repair: true puts it right where it can"


def repair_steps(state: LvState, wanted: LvWanted, vg: VgState, pvs: t.Sequence[PvState], others_lost: bool) -> Repair:
    """Rebuilds what lay on missing PVs, and takes those out of the group when no other LV needs them.

    C(others_lost): other LVs of the group lie on missing PVs too. Raises PlanRefused where it cannot be done.
    """
    name = f"{vg.name}/{state.name}"
    steps: list[Step] = []
    lost = [run for run in state.runs if run.pv_path == UNKNOWN_DEVICE]
    if lost:
        steps.append(_rebuild(state, wanted, vg, pvs))
    elif state.health == "refresh needed":
        steps.append(Step(lvm_argv("lvchange", "--refresh", name), f"take the returned device back into {name}"))
    elif state.health.startswith("mismatches"):
        steps.append(
            Step(lvm_argv("lvchange", "--syncaction", "repair", name), f"make the copies of {name} agree again")
        )
    if vg.missing_pv_count and not others_lost:
        steps.append(Step(lvm_argv("vgreduce", "--removemissing", vg.name), f"take missing devices out of {vg.name}"))
        vg = vg._replace(missing_pv_count=0)
    return Repair(tuple(steps), vg)


def _rebuild(state: LvState, wanted: LvWanted, vg: VgState, pvs: t.Sequence[PvState]) -> Step:
    name = f"{vg.name}/{state.name}"
    if lv_family(state.type) not in _REDUNDANT:
        raise PlanRefused(
            f"asked to repair the logical volume {name}, but its type is {state.type}, which holds everything once: what lay on "
            "the missing device is lost. Bring the device back, or remove the volume and restore it from a backup"
        )
    if not state.active:
        raise PlanRefused(f"asked to repair the logical volume {name}, but it is not active; give active: true first")
    images = _lost_images(state)
    needed = max(images.values())
    candidates = _candidates(state, wanted, pvs)
    fit = [pv for pv in candidates if free_extents_of(pv) >= needed]
    if len(fit) < len(images) and state.type != "mirror":
        free = ", ".join(f"{pv.path} {free_extents_of(pv)}" for pv in candidates) or "none"
        raise PlanRefused(
            f"asked to repair the logical volume {name}, which needs {len(images)} device(s) with {needed} free extents that hold "
            f"no other part of it, but there is: {free}; add a device to the group with lvm_vg and run again"
        )
    argv = lvm_argv("lvconvert", "-y", "--repair", name, *(wanted.pv_paths or ()))
    return Step(argv, f"rebuild {', '.join(sorted(images))} of {name} on a free device")


def _lost_images(state: LvState) -> dict[str, int]:
    """Extents that each lost image needs, with its metadata; the name of an image is that of its data."""
    images: dict[str, int] = {}
    for run in state.runs:
        if run.pv_path == UNKNOWN_DEVICE:
            image = (run.part or state.name).replace("_rmeta_", "_rimage_")
            images[image] = images.get(image, 0) + run.extents
    return images


def _candidates(state: LvState, wanted: LvWanted, pvs: t.Sequence[PvState]) -> list[PvState]:
    """PVs that may take an image: allowed, and without another image."""
    used = {run.pv_path for run in state.runs}
    return [
        pv
        for pv in pvs
        if pv.path not in used and pv.path not in wanted.leave_paths and free_extents_of(pv)
        and (wanted.pv_paths is None or pv.path in wanted.pv_paths)
    ]  # fmt: skip


def leave_steps(state: LvState, wanted: LvWanted, vg: VgState, pvs: t.Sequence[PvState]) -> list[Step]:
    """Moves the LV off devices that are still there: an image is replaced, anything else is moved extent by extent."""
    name = f"{vg.name}/{state.name}"
    steps: list[Step] = []
    for path in wanted.leave_paths:
        needed = sum(run.extents for run in state.runs if run.pv_path == path)
        if not needed:
            continue
        image = lv_family(state.type) in _REDUNDANT and state.type != "mirror"
        targets = [] if image else [pv for pv in _others(wanted, pvs) if free_extents_of(pv)]
        if image:
            check_synced(state, vg, f"replace {path} in")
            targets = [pv for pv in _candidates(state, wanted, pvs) if free_extents_of(pv) >= needed]
        if not targets or (not image and sum(free_extents_of(pv) for pv in targets) < needed):
            raise PlanRefused(
                f"asked to move the logical volume {name} off {path}, where it has {needed} extents, but no other device of the "
                f"group {'without a part of it ' if image else ''}has that much free; add a device to the group, or make room"
            )
        places = [pv.path for pv in targets] if wanted.pv_paths is not None or len(wanted.leave_paths) > 1 else []
        argv = (
            lvm_argv("lvconvert", "-y", "--replace", path, name, *places)
            if image
            else lvm_argv("pvmove", "-n", name, path, *places)
        )
        steps.append(Step(argv, f"move {name} off {path}", timeout_seconds=_MOVE_SECONDS))
    return steps


def _others(wanted: LvWanted, pvs: t.Sequence[PvState]) -> list[PvState]:
    allowed = [pv for pv in pvs if wanted.pv_paths is None or pv.path in wanted.pv_paths]
    return [pv for pv in allowed if pv.path not in wanted.leave_paths]
