# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a logical volume goes. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import LV_TYPES, lv_family
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import WIPE_RETRIES, lvm_argv, wipe_argv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvState, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_check import check_usable
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_settings import activate

__all__ = ["plan_lv_absent", "stranger"]

# LVM's words for what an LV is to others, and what would go wrong.
_ROLES = {
    "snapshot": "it is a snapshot of another volume",
    "origin": "it has snapshots, which would go with it",
    "pool": "it is a pool, and other volumes live in it",
    "cache": "it is cached, or a cache of another volume",
}


def plan_lv_absent(state: LvState | None, vg: VgState | None) -> Plan:
    """The plan after which the LV is gone. Its signatures are wiped first: else the next LV there would show them."""
    if state is None or vg is None:
        return Plan(before={"state": "absent"}, after={"state": "absent"})
    name = f"{vg.name}/{state.name}"
    check_usable(vg, f"remove the logical volume {name}")
    why = stranger(state)
    if why:
        raise PlanRefused(
            f"asked to remove the logical volume {name}, but {why}, which this module does not handle; remove it with lvremove. "
            "Nothing was changed"
        )
    steps = [] if state.active else [activate(name)]
    steps += [
        Step(wipe_argv(state.path), f"wipe signatures from {state.path}", (state.path,), retries=WIPE_RETRIES),
        Step(
            lvm_argv("lvremove", "-y", name),
            f"remove the logical volume {name}",
            removes=(f"lv:{name}",),
            retries=WIPE_RETRIES,
        ),
    ]
    return Plan(tuple(steps), before={"state": "present"}, after={"state": "absent"})


def stranger(state: LvState) -> str | None:
    """Why an LV is not one that this module makes, in words; None when it is."""
    if state.hidden:
        return "it is a hidden part of another volume"
    for role, words in _ROLES.items():
        if any(role in has for has in state.roles):
            return words
    return None if lv_family(state.type) in LV_TYPES else f"its type is {state.type}"
