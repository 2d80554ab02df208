# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of lvm_lv as an Operation."""

from __future__ import annotations

import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, VerifyFailed
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import ExtentRequest, parse_extents
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import physical_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    DEFAULT_EXTENT_BYTES,
    UNKNOWN_DEVICE,
    LvmState,
    LvState,
    LvWanted,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation import (
    LvmRead,
    Params,
    assumption,
    predicting,
    sorted_once,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv import plan_lv, plan_lv_absent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read import kernel_path, read_lvm
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.shown import shown_lv

__all__ = ["LvOperation", "lv_operation", "lv_wanted"]

_LONGEST_PAUSE_SECONDS = 5.0
_WHOLE_PERCENT = 100.0


def lv_wanted(params: Params) -> LvWanted:
    """The options of lvm_lv, checked and typed; raises PlanRefused."""
    devices = params.get("devices")
    return LvWanted(
        vg=params["vg"],
        name=params["name"],
        type=params.get("type"),
        size=_size(params),
        stripes=params.get("stripes"),
        stripe_bytes=parse_optional_size(params.get("stripesize"), "stripesize"),
        mirrors=params.get("mirrors"),
        region_bytes=parse_optional_size(params.get("regionsize"), "regionsize"),
        readahead=_readahead(params.get("readahead")),
        pv_paths=None if devices is None else tuple(dict.fromkeys(kernel_path(path) for path in devices)),
        tags=sorted_once(params.get("tags")),
        active=params.get("active"),
        mirrorlog=params.get("mirrorlog"),
        alloc=params.get("alloc"),
        read_only=params.get("read_only"),
        nosync=bool(params.get("nosync")),
        resizefs=bool(params.get("resizefs")),
        shrink=bool(params.get("shrink")),
        repair=bool(params.get("repair")),
        leave_paths=tuple(dict.fromkeys(kernel_path(path) for path in params.get("leave_devices") or ())),
    )


def _size(params: Params) -> ExtentRequest | None:
    size, extents = params.get("size"), params.get("extents")
    if size is not None and extents is not None:
        raise PlanRefused(f"size ({size}) and extents ({extents}) were both given; give one of them")
    if extents is not None:
        return parse_extents(extents)
    if size is None:
        return None
    size_bytes = parse_size(size, "size", whole=False)
    if size_bytes == 0:
        raise PlanRefused("size was given as 0; give a size such as 10GiB, or extents such as 100%FREE")
    return ExtentRequest("bytes", size_bytes)


def _readahead(text: str | None) -> str | int | None:
    """LVM's words, or bytes; C(none) is no readahead, which reads back as 0."""
    if text is None or text == AUTO:
        return text
    return 0 if text == "none" else parse_size(text, "readahead")


class LvOperation:
    """Read, plan and result of one logical volume. C(wait_seconds) None: not waited for."""

    def __init__(self, wanted: LvWanted, present: bool, wait_seconds: int | None = None) -> None:
        self.wanted, self.present, self.wait_seconds = wanted, present, wait_seconds

    def read(self, runner: Runner) -> LvmRead:
        lvm, wanted = read_lvm(runner), self.wanted
        below: dict[str, DeviceGeometry] = {}
        content = None
        if self.present:
            tree = read_tree()
            paths = [pv.path for pv in lvm.pvs_of(wanted.vg) if not pv.missing]
            below = {path: read_device_geometry(path, False, runner, tree) for path in paths}
            found = lvm.lv(wanted.vg, wanted.name)
            if found is not None and found.active and (wanted.resizefs or wanted.shrink):
                # It brings seven modules along, and few runs need them.
                from ansible_collections.plumbline.storage.plugins.module_utils._lvm.read_content import (
                    read_content,
                )

                content = read_content(runner, found.path)
        return LvmRead(lvm, below, runner.check_mode, content=content)

    def plan(self, state: LvmRead) -> Plan:
        """The plan; its prediction is an LvmRead."""
        wanted, lvm = self.wanted, state.lvm
        vg, found = lvm.vg(wanted.vg), _physical(lvm, wanted)
        others = tuple(lv for lv in lvm.lvs if (lv.vg, lv.name) != (wanted.vg, wanted.name))
        if not self.present:
            return predicting(plan_lv_absent(found, vg), state, lvs=others)
        group = vg or _planned_vg(state, wanted)
        lost = found is not None and _others_lost(lvm, found)
        plan = plan_lv(found, wanted, group, lvm.pvs_of(wanted.vg), state.below, state.content, lost)
        plan = predicting(plan, state, lvs=(*others, t.cast("LvState", plan.predicted)))
        return assumption(plan, "" if vg else f"the volume group {wanted.vg}")

    def result(self, state: LvmRead) -> dict[str, t.Any]:
        lv = _physical(state.lvm, self.wanted)
        if lv is None:
            return {"lv": None}
        vg = state.lvm.vg(self.wanted.vg)
        return {"lv": shown_lv(lv, vg, state.lvm.pvs_of(self.wanted.vg), state.below)}

    def will_wait(self) -> bool:
        return self.wait_seconds is not None

    def wait(self, runner: Runner, state: LvmRead) -> LvmRead | None:
        """Until the copies or the parity of the LV are in step; None where there was nothing to wait for."""
        if self.wait_seconds is None or not self.present or not _out_of_step(state.lvm, self.wanted):
            return None
        end, pause = time.monotonic() + self.wait_seconds, 0.5
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise VerifyFailed(_timeout_sentence(state.lvm, self.wanted, self.wait_seconds))
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
            state = state._replace(lvm=read_lvm(runner))
            if not _out_of_step(state.lvm, self.wanted):
                return self.read(runner)


def _out_of_step(lvm: LvmState, wanted: LvWanted) -> bool:
    lv = lvm.lv(wanted.vg, wanted.name)
    # A volume that lacks a device never comes into step by waiting.
    waits = lv is not None and lv.active and lv.health != "partial"
    return waits and lv is not None and lv.sync_percent is not None and lv.sync_percent < _WHOLE_PERCENT


def _timeout_sentence(lvm: LvmState, wanted: LvWanted, seconds: int) -> str:
    lv = lvm.lv(wanted.vg, wanted.name)
    action, percent = (lv.sync_action or "synchronisation", lv.sync_percent) if lv else ("synchronisation", None)
    return (
        f"the {action} of the logical volume {wanted.vg}/{wanted.name} has not ended within the {seconds} s of wait_timeout: "
        f"{percent} % is done. It goes on by itself; run again to wait longer, or give a larger wait_timeout"
    )


def _physical(lvm: LvmState, wanted: LvWanted) -> LvState | None:
    lv = lvm.lv(wanted.vg, wanted.name)
    if lv is None:
        return None
    # What is only planned has been placed on PVs already.
    return lv if lv.uuid is None or lv.runs else physical_lv(lvm, lv)


def _others_lost(lvm: LvmState, lv: LvState) -> bool:
    """Whether other LVs of the group lie on PVs that are missing."""
    own = {run.part or lv.name for run in lv.runs}
    return any(
        area.pv_path == UNKNOWN_DEVICE
        for other in lvm.lvs_of(lv.vg)
        if other.name not in own
        for segment in other.segments
        for area in segment.areas
    )


def _planned_vg(state: LvmRead, wanted: LvWanted) -> VgState:
    """The group in check mode when an earlier task would have made it; else refused."""
    if not state.check_mode:
        known = ", ".join(vg.name for vg in state.lvm.vgs) or "none"
        raise PlanRefused(
            f"the logical volume {wanted.vg}/{wanted.name} was asked for, but there is no volume group {wanted.vg} on "
            f"this host (there is: {known}); make it first (lvm_vg)"
        )
    return VgState(wanted.vg, None, DEFAULT_EXTENT_BYTES, None, None, wanted.pv_paths or (), assumed=True)


def lv_operation(params: Params) -> LvOperation:
    """An Operation from the options of lvm_lv; raises PlanRefused for options that cannot be."""
    wait_seconds = params.get("wait_timeout") if params.get("wait_for_sync") else None
    if wait_seconds is not None and wait_seconds < 1:
        raise PlanRefused(f"wait_timeout was given as {wait_seconds}; give the seconds to wait, at least 1")
    return LvOperation(lv_wanted(params), params["state"] == "present", wait_seconds)
