# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a logical volume grows and shrinks, and its file system with it. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    LV_TYPES,
    FreeSpace,
    LvLayout,
    lv_family,
    more_extents,
    resolve_extents,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.content import EXT_KINDS, LvContent, usable_bytes
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvState, LvWanted, PvState, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import free_extents_of

__all__ = ["file_system_bytes_after", "layout_of_state", "size_steps", "wanted_extents"]

# A check of a large file system takes its time.
_FILE_SYSTEM_SECONDS = 6 * 3600.0


def layout_of_state(state: LvState) -> LvLayout | None:
    """The shape of an LV that exists; None for types that are not made here."""
    if lv_family(state.type) not in LV_TYPES:
        return None
    return LvLayout(state.type, state.stripes, state.mirrors, 0 if state.mirrorlog == "core" else None)


def wanted_extents(state: LvState, wanted: LvWanted, vg: VgState, allowed: t.Sequence[PvState]) -> int:
    """Extents after the plan. Raises PlanRefused where the size cannot be reached.

    A percentage means what it would mean at creation, with the volume's own extents free: it is met by what it made
    then, it grows the volume where the group grew, and never shrinks it.
    """
    now = state.extents or 0
    layout = layout_of_state(state)
    if wanted.size is None or (layout is None and wanted.size.is_percent):
        return now
    space = _space_with_own(state, vg, allowed)
    extents = resolve_extents(wanted.size, layout or LvLayout(), vg.extent_bytes, space)
    most = now
    if layout is not None:
        most += more_extents(layout, [free_extents_of(pv) for pv in allowed])
    if wanted.size.is_percent:
        return max(now, min(extents, most))
    if extents > most:
        raise PlanRefused(_too_large(state, vg, allowed, extents, most))
    if extents < now and not wanted.shrink:
        raise PlanRefused(
            f"the logical volume {vg.name}/{state.name} has {now} extents ({format_size(state.size_bytes)}), and {extents} "
            f"({format_size(extents * vg.extent_bytes)}) were asked for; a volume is never shrunk unless shrink: true says so. "
            "Ask for its size or more"
        )
    return extents


def _space_with_own(state: LvState, vg: VgState, allowed: t.Sequence[PvState]) -> FreeSpace:
    own: dict[str, int] = {}
    for run in state.runs:
        own[run.pv_path] = own.get(run.pv_path, 0) + run.extents
    return FreeSpace(
        free_per_pv=tuple(free_extents_of(pv) + own.get(pv.path, 0) for pv in allowed),
        pvs_extents=sum(pv.extent_count or 0 for pv in allowed),
        vg_extents=vg.extent_count or 0,
        vg_free=(vg.free_extents or 0) + sum(own.values()),
    )


def _too_large(state: LvState, vg: VgState, allowed: t.Sequence[PvState], extents: int, most: int) -> str:
    name = f"{vg.name}/{state.name}"
    free = [(pv.path, free_extents_of(pv)) for pv in allowed if free_extents_of(pv)]
    shown = ", ".join(f"{path} {count}" for path, count in free) or "none"
    layout = layout_of_state(state)
    words = (
        f"the logical volume {name} has {state.extents} extents, and {extents} were asked for, but it can have at most {most} "
        f"in the group as it is (free extents: {shown})"
    )
    if layout is not None and len(free) < layout.images:
        return (
            f"{words}: a {state.type} volume grows on {layout.images} devices at the same time, and only {len(free)} have "
            f"free extents; add {layout.images - len(free)} or more devices of this size to the group, or ask for less"
        )
    return f"{words}; ask for less, or add devices to the group"


def size_steps(
    state: LvState, wanted: LvWanted, vg: VgState, extents: int, content: LvContent | None
) -> tuple[list[Step], list[str]]:
    """The commands that bring the LV and, where asked, its file system to so many extents; and warnings.

    The volume grows before its file system, and shrinks after it.
    """
    now = state.extents or 0
    name, size = f"{vg.name}/{state.name}", extents * vg.extent_bytes
    if extents < now:
        return _shrink(state, wanted, content, name, extents, size), []
    steps: list[Step] = []
    if extents > now:
        argv = lvm_argv("lvextend", "-l", str(extents), name, *(wanted.pv_paths or ()))
        steps.append(Step(argv, f"extend {name} from {now} to {extents} extents"))
    if not wanted.resizefs:
        return steps, []
    return [*steps, *_grow_content(state, content, name, size)], []


def file_system_bytes_after(content: LvContent, size: int) -> int:
    """The size of a file system that follows its volume to this size: a tail that it cannot use is left."""
    return min(size, max(content.fs_bytes or 0, usable_bytes(content, size)))


def _grow_content(state: LvState, content: LvContent | None, name: str, size: int) -> list[Step]:
    if content is None:
        raise PlanRefused(
            f"resizefs was asked for, but {name} is not active, so its file system cannot be seen; activate it (active: true) "
            "in a task before, or leave resizefs out"
        )
    if not content.kinds:
        return []
    if content.fs_bytes is None:
        if size == state.size_bytes:
            return []
        raise PlanRefused(
            f"resizefs was asked for, but {name} holds {content.shown}, and only xfs, ext2, ext3 and ext4 are grown here; leave "
            "resizefs out and grow it with its own tools"
        )
    if usable_bytes(content, size) <= content.fs_bytes:
        return []
    if content.kind == "xfs":
        return [_grow_xfs(content, name)]
    summary = f"grow the {content.kind} on {name} to {format_size(size)}"
    resize = Step(("resize2fs", state.path), summary, timeout_seconds=_FILE_SYSTEM_SECONDS)
    return [resize] if content.mounted else [_check(state, content), resize]


def _grow_xfs(content: LvContent, name: str) -> Step:
    if not content.mounted_at:
        where = "only in another mount namespace" if content.mounted_elsewhere else "nowhere"
        raise PlanRefused(
            f"resizefs was asked for, but the xfs on {name} is mounted {where}, and XFS grows only while it is mounted; mount "
            "it and run again, or leave resizefs out. Nothing was changed"
        )
    return Step(("xfs_growfs", content.mounted_at[0]), f"grow the xfs on {name} (mounted on {content.mounted_at[0]})")


def _check(state: LvState, content: LvContent) -> Step:
    """resize2fs wants a check first; 1 says that something was put right."""
    argv = ("e2fsck", "-f", "-p", state.path)
    return Step(argv, f"check the {content.kind} on {state.path}", ok=(0, 1), timeout_seconds=_FILE_SYSTEM_SECONDS)


def _shrink(
    state: LvState, wanted: LvWanted, content: LvContent | None, name: str, extents: int, size: int
) -> list[Step]:
    asked = f"asked to shrink {name} from {format_size(state.size_bytes)} to {format_size(size)}"
    if content is None:
        raise PlanRefused(
            f"{asked}, but it is not active, so what it holds cannot be seen; activate it (active: true) in a task before"
        )
    reduce = lvm_argv("lvreduce", "-y", "-f", "-l", str(extents), name)
    summary = f"shrink {name} from {state.extents} to {extents} extents"
    if not content.kinds:
        # Data without a signature may lie behind the new end: the guard looks, and asks for consent.
        return [Step(reduce, summary, writes=(state.path,))]
    if content.fs_bytes is None:
        raise PlanRefused(f"{asked}, but it holds {content.shown}, which cannot be shrunk here. Nothing was changed")
    if content.fs_bytes <= size:
        return [Step(reduce, summary)]
    _refuse_file_system(wanted, content, asked)
    kib = f"{size // 1024}K"
    fit = Step(
        ("resize2fs", state.path, kib),
        f"shrink the {content.kind} on {name} to {format_size(size)}",
        timeout_seconds=_FILE_SYSTEM_SECONDS,
    )
    return [_check(state, content), fit, Step(reduce, summary)]


def _refuse_file_system(wanted: LvWanted, content: LvContent, asked: str) -> None:
    has = f"but its {content.kind} has {format_size(content.fs_bytes)}"
    if content.kind not in EXT_KINDS:
        raise PlanRefused(
            f"{asked}, {has}, and XFS cannot shrink; copy what it holds to a smaller volume. Nothing was changed"
        )
    if not wanted.resizefs:
        raise PlanRefused(f"{asked}, {has}; resizefs: true shrinks it first. Nothing was changed")
    if content.mounted:
        where = content.mounted_at[0] if content.mounted_at else "in another mount namespace"
        raise PlanRefused(
            f"{asked}, {has} and is mounted ({where}), and {content.kind} shrinks only while it is not; unmount it and run "
            "again. Nothing was changed"
        )
