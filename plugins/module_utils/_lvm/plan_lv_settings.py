# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What of a logical volume can be set at any time: readahead, tags, allocation, permission, activation. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import lv_family
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import WIPE_RETRIES, lvm_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvState, LvWanted

__all__ = ["activate", "deactivate", "managed_fields", "readahead_words", "set_permission", "setting_steps"]


def setting_steps(state: LvState, after: LvState, name: str) -> list[Step]:
    """The commands that bring the settings of an LV to those of C(after); activation comes last."""
    steps: list[Step] = []
    if after.readahead != state.readahead:
        argv = lvm_argv("lvchange", *readahead_words(after.readahead), name)
        steps.append(Step(argv, f"set the readahead of {name}"))
    if set(after.tags) != set(state.tags):
        words = [word for tag in sorted(set(after.tags) - set(state.tags)) for word in ("--addtag", tag)]
        words += [word for tag in sorted(set(state.tags) - set(after.tags)) for word in ("--deltag", tag)]
        steps.append(
            Step(lvm_argv("lvchange", *words, name), f"set the tags of {name}: {', '.join(after.tags) or 'none'}")
        )
    if after.alloc != state.alloc:
        argv = lvm_argv("lvchange", "--alloc", after.alloc, name)
        steps.append(Step(argv, f"set the allocation policy of {name} to {after.alloc}"))
    if after.read_only != state.read_only:
        steps.append(set_permission(name, after.read_only))
    if after.active != state.active:
        steps.append(activate(name) if after.active else deactivate(name))
    return steps


def readahead_words(readahead: str | int | None) -> tuple[str, ...]:
    """The option of lvcreate and lvchange: LVM's words, or sectors."""
    if readahead is None:
        return ()
    return ("-r", readahead if isinstance(readahead, str) else str(readahead // SECTOR_BYTES))


def set_permission(name: str, read_only: bool) -> Step:
    return Step(
        lvm_argv("lvchange", "-p", "r" if read_only else "rw", name),
        f"make {name} {'read-only' if read_only else 'writable'}",
    )


def activate(name: str) -> Step:
    return Step(lvm_argv("lvchange", "-ay", "-K", name), f"activate {name}")


def deactivate(name: str) -> Step:
    return Step(lvm_argv("lvchange", "-an", name), f"deactivate {name}", retries=WIPE_RETRIES)


def managed_fields(state: LvState, wanted: LvWanted) -> dict[str, t.Any]:
    """The managed fields, for the diff."""
    fields: dict[str, t.Any] = {"vg": state.vg, "name": state.name, "state": "present"}
    fields.update(type=lv_family(state.type), size_bytes=state.size_bytes)
    managed = {
        "stripes": (wanted.stripes, state.stripes),
        "stripe_size_bytes": (wanted.stripe_bytes, state.stripe_bytes),
        "mirrors": (wanted.mirrors, state.mirrors),
        "mirrorlog": (wanted.mirrorlog, state.mirrorlog),
        "region_size_bytes": (wanted.region_bytes, state.region_bytes),
        "readahead": (wanted.readahead, _readahead_shown(state.readahead)),
        "tags": (wanted.tags, list(state.tags)),
        "alloc": (wanted.alloc, state.alloc),
        "read_only": (wanted.read_only, state.read_only),
        "active": (wanted.active, state.active),
        "health": (wanted.repair or None, state.health),
        "devices": (wanted.leave_paths or wanted.pv_paths, sorted({run.pv_path for run in state.runs})),
    }
    fields.update({key: has for key, (want, has) in managed.items() if want is not None})
    return fields


def _readahead_shown(readahead: str | int) -> str:
    return readahead if isinstance(readahead, str) else format_size(readahead)
