# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What every Operation on LVM shares: what it reads, and its prediction. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.command import without_devices_file
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.content import LvContent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState

__all__ = ["LvmRead", "Params", "assumption", "keeping_others_seen", "predicting", "sorted_once"]

Params = t.Mapping[str, t.Any]
_MAKERS = (("pvcreate",), ("vgcreate",))


class LvmRead(t.NamedTuple):
    """LVM, and the devices below that the plan needs, by kernel name. C(check_mode): planned parents may be missing.

    C(devices_file): the host has a list of the devices that LVM looks at. C(content): what lies on the LV, where a change of
    size must know it.
    """

    lvm: LvmState
    below: t.Mapping[str, DeviceGeometry]
    check_mode: bool = False
    devices_file: bool = True
    content: LvContent | None = None


def sorted_once(values: t.Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(sorted(set(values)))


def predicting(plan: Plan, state: LvmRead, **changes: t.Any) -> Plan:
    """The plan with the whole of LVM as it will be."""
    return plan._replace(predicted=state._replace(lvm=state.lvm._replace(**changes)))


def assumption(plan: Plan, parent: str) -> Plan:
    """Says which parent is not there yet: check mode takes it as planned."""
    if not plan.assumed_parent or not parent:
        return plan
    sentence = f"{parent} does not exist yet as needed here; it is taken as made by an earlier task of this play"
    return plan._replace(warnings=(*plan.warnings, sentence))


def keeping_others_seen(plan: Plan, state: LvmRead, paths: t.Sequence[str]) -> Plan:
    """The plan, but no command of it begins a list of devices (devices file) that lacks PVs which are seen now.

    Where LVM uses such a list, there is none, and there is no group yet, pvcreate and vgcreate begin one with their own
    devices only, and other PVs would be seen no more.
    """
    others = [pv for pv in state.lvm.pvs if pv.path not in paths]
    if state.devices_file or state.lvm.vgs or not others:
        return plan
    steps = tuple(
        step._replace(argv=without_devices_file(step.argv)) if step.argv[1:2] in _MAKERS else step
        for step in plan.steps
    )
    return plan._replace(steps=steps)
