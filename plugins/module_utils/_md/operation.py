# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of md_array as an Operation."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import level_name, normalise_layout
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import check_wish
from ansible_collections.plumbline.storage.plugins.module_utils._md.cleanup import cleanup_steps, created_uuid
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdReading,
    MdState,
    MdWanted,
    format_md_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import (
    array_fields,
    geometry_of,
    plan_md,
    plan_md_absent,
    plan_md_assembled,
    plan_md_stopped,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_state import is_half_made
from ansible_collections.plumbline.storage.plugins.module_utils._md.read import read_arrays, read_superblocks
from ansible_collections.plumbline.storage.plugins.module_utils._md.read_wish import read_md, with_superblocks
from ansible_collections.plumbline.storage.plugins.module_utils._md.record import begin_work, end_work
from ansible_collections.plumbline.storage.plugins.module_utils._md.wait import wait_until_idle

__all__ = ["MdOperation", "md_operation", "read_md", "take_back_failed_create", "wanted_from_params"]


def wanted_from_params(params: t.Mapping[str, t.Any]) -> MdWanted:
    """The options, checked and typed; raises PlanRefused."""
    level = level_name(params["level"]) if params.get("level") is not None else None
    layout, size = params.get("layout"), params.get("size")
    size_max = str(size).strip().lower() == "max"
    wanted = MdWanted(
        name=params["name"],
        level=level,
        members=tuple(params.get("devices") or ()),
        spares=_optional_tuple(params.get("spares")),
        journal=params.get("journal"),
        write_mostly=_optional_tuple(params.get("write_mostly")),
        remove_extra_members=bool(params.get("remove_extra_members")),
        reshape=bool(params.get("reshape")),
        backup_file=params.get("backup_file"),
        run_degraded=bool(params.get("run_degraded")),
        chunk_bytes=parse_optional_size(params.get("chunk"), "chunk"),
        layout=normalise_layout(level, layout) if level else layout,
        metadata=params.get("metadata"),
        bitmap=params.get("bitmap"),
        size_bytes=None if size_max else parse_optional_size(size, "size"),
        size_max=size_max,
        data_offset_bytes=parse_optional_size(params.get("data_offset"), "data_offset"),
        homehost=params.get("homehost"),
        uuid=format_md_uuid(params["uuid"]) if params.get("uuid") else None,
        assume_clean=bool(params.get("assume_clean")),
        readahead_bytes=_readahead(params),
        consistency_policy=params.get("consistency_policy"),
        config=params.get("config"),
        update_initramfs=bool(params.get("update_initramfs")),
    )
    check_wish(wanted)
    return wanted


def _optional_tuple(values: t.Sequence[str] | None) -> tuple[str, ...] | None:
    """Not given is not managed; an empty list is a wish for none."""
    return None if values is None else tuple(values)


def _readahead(params: t.Mapping[str, t.Any]) -> int | None:
    readahead = parse_optional_size(params.get("readahead"), "readahead")
    if readahead is not None and readahead % SECTOR_BYTES:
        raise PlanRefused(f"readahead was given as {params['readahead']}; it must be a multiple of 512 bytes")
    return readahead


def take_back_failed_create(runner: Runner, failed: Step) -> list[str]:
    """After a failed step: when it was a create that gave a UUID, stops and wipes what it left on its devices.

    Returns what was done, as sentences; nothing to do: an empty list.
    """
    if created_uuid(failed) is None:
        return []
    runner.query(["udevadm", "settle", "--timeout=10"], ok=None)
    arrays = [with_superblocks(runner, array) for array in read_arrays(runner)]
    steps = cleanup_steps(failed, arrays, read_superblocks(runner, failed.writes))
    return [f"cleaned up: {step.summary}" for step in apply_plan(Plan(steps), runner)]


class MdOperation:
    """Read, plan and result of one array. C(wait_seconds) None: resyncs are not waited for."""

    def __init__(self, wanted: MdWanted, state: str, wait_seconds: int | None = None) -> None:
        self.wanted, self.state, self.wait_seconds = wanted, state, wait_seconds
        self._fresh_uuid = format_md_uuid(os.urandom(16).hex())
        self._reading: MdReading | None = None

    def read(self, runner: Runner) -> MdReading:
        self._reading = read_md(runner, self.wanted, runner.check_mode, missing_ok=self.state == "absent")
        return self._reading

    def plan(self, state: MdReading) -> Plan:
        """The plan; its prediction is an MdReading."""
        plan = self._plan(state)
        predicted = state.as_predicted(None if self.state == "absent" else plan.predicted or state.array)
        return plan._replace(predicted=predicted)

    def _plan(self, state: MdReading) -> Plan:
        array, wanted = state.array, self.wanted
        if self.state == "absent":
            return plan_md_absent(array, wanted, state.devices(), state.pieces, state.config)
        if self.state == "stopped":
            return plan_md_stopped(array, wanted, state.pieces)
        if self.state == "assembled":
            return plan_md_assembled(array, wanted, state.members, named=state.named, pieces=state.pieces)
        if state.personality_problem:
            raise PlanRefused(state.personality_problem)
        if array is None or self._half_made(state):
            wanted = wanted._replace(uuid=wanted.uuid or self._fresh_uuid)
        return plan_md(
            array,
            wanted,
            state.members,
            state.spares,
            named=state.named,
            others=state.others,
            pieces=state.pieces,
            begun=state.begun,
            config=state.config,
        )

    def _half_made(self, state: MdReading) -> bool:
        listed = {device.path for device in (*state.devices(), *state.named.devices())}
        return is_half_made(state.array, state.begun, listed)

    def result(self, state: MdReading) -> dict[str, t.Any]:
        if state.array is None:
            return {"array": None}
        return {"array": {**array_fields(state.array), **_stripe_fields(state.array, state.members)}}

    # --- a run that was killed ----------------------------------------------------------------------------------

    def owned(self, state: MdReading) -> list[str]:
        """What an earlier run left half made or half removed is ours."""
        array = state.array
        if array is None or array.uuid is None or array.active:
            return []
        unfinished = state.begun == "remove" and self.state == "absent"
        ours = unfinished or (self.state in ("present", "absent") and self._half_made(state))
        names = [f"md:{array.uuid}", *([f"md:{array.kernel_path}"] if array.kernel_name else [])]
        return names if ours else []

    def begin(self, plan: Plan) -> None:
        for step in plan.steps:
            uuid = created_uuid(step)
            if uuid is not None:
                begin_work(uuid, self.wanted.name, "create")
        array = self._reading.array if self._reading is not None else None
        if self.state == "absent" and array is not None and array.uuid:
            begin_work(array.uuid, self.wanted.name, "remove")

    def end(self, plan: Plan) -> None:
        for step in plan.steps:
            uuid = created_uuid(step)
            if uuid is not None:
                end_work(uuid)
        array = self._reading.array if self._reading is not None else None
        if array is not None and array.uuid and self.state in ("present", "absent"):
            end_work(array.uuid)

    def after_failure(self, runner: Runner, failed: Step) -> list[str]:
        return take_back_failed_create(runner, failed)

    # --- waiting -------------------------------------------------------------------------------------------------

    def will_wait(self) -> bool:
        return self.wait_seconds is not None

    def wait(self, runner: Runner, state: MdReading) -> MdReading | None:
        """Until the kernel has ended what it does to the array; None where there was nothing."""
        array = state.array
        if array is not None and array.active and array.uuid and state.begun == "create":
            end_work(array.uuid)  # it was made; only the note of it was left
        if self.wait_seconds is None or self.state not in ("present", "assembled") or array is None:
            return None
        if not wait_until_idle(runner, array, self.wait_seconds):
            return None
        return self.read(runner)


def _stripe_fields(array: MdState, members: t.Sequence[DeviceGeometry]) -> dict[str, t.Any]:
    stripe = geometry_of(array, members).stripe if array.level else None
    return {
        "stripe_unit_bytes": stripe.unit_bytes if stripe else None,
        "stripe_width_units": stripe.width_units if stripe else None,
        "full_stripe_bytes": stripe.full_bytes if stripe else None,
    }


def md_operation(params: t.Mapping[str, t.Any]) -> MdOperation:
    """An Operation from the options of md_array; raises PlanRefused for options that cannot be."""
    wait_seconds = params.get("wait_timeout") if params.get("wait_for_sync") else None
    if wait_seconds is not None and wait_seconds < 1:
        raise PlanRefused(f"wait_timeout was given as {wait_seconds}; give the seconds to wait, at least 1")
    return MdOperation(wanted_from_params(params), params["state"], wait_seconds)
