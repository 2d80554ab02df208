# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Waits until the kernel has ended a resync, a recovery or a reshape of an array."""

from __future__ import annotations

import time

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import VerifyFailed
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState
from ansible_collections.plumbline.storage.plugins.module_utils._md.read import read_sync

__all__ = ["needs_work", "timeout_sentence", "wait_until_idle"]

_LONGEST_PAUSE_SECONDS = 5.0
# Between the end of one action and the beginning of the next the kernel is idle for a moment.
_QUIET_READS = 3


def needs_work(state: MdState) -> bool:
    """Whether the kernel is at work on the array, or has a spare with which to begin."""
    idle_spare = any(member.role in ("spare", "rebuilding", "replacement") for member in state.members)
    return state.busy or (bool(state.missing_slots) and idle_spare) or _rebuilds(state)


def _rebuilds(state: MdState) -> bool:
    return any(member.role in ("rebuilding", "replacement") for member in state.members)


def wait_until_idle(runner: Runner, state: MdState, seconds: int) -> bool:
    """True when there was something to wait for, and it has ended. Raises VerifyFailed when the time is over."""
    end, waited, quiet, pause = time.monotonic() + seconds, False, 0, 0.2
    now: MdState | None = state
    while now is not None:
        if not needs_work(now):
            quiet += 1
            if not waited or quiet >= _QUIET_READS:
                return waited
        elif not waited and now.array_state == "read-auto":
            # Nothing begins before the first write.
            runner.change(["mdadm", "--readwrite", now.kernel_path], ok=None)
        if needs_work(now):
            waited, quiet = True, 0
            if time.monotonic() >= end:
                raise VerifyFailed(timeout_sentence(now, seconds))
        time.sleep(min(pause, _LONGEST_PAUSE_SECONDS, max(0.05, end - time.monotonic())))
        pause = 0.2 if quiet else pause * 1.5
        now = read_sync(now)
    return waited


def timeout_sentence(state: MdState, seconds: int) -> str:
    """What was waited for, how far it is, and what to do."""
    action = "reshape" if state.reshaping else state.sync_action or "resync"
    percent = f"{state.sync_percent:g} %" if state.sync_percent is not None else "an unknown part"
    speed = state.sync_speed_bytes_per_second
    rate = f" at {speed // 1024**2} MiB/s" if speed else ""
    return (
        f"the {action} of the array {state.label} has not ended within the {seconds} s of wait_timeout: {percent} is done"
        f"{rate}. It goes on by itself; run again to wait longer, or give a larger wait_timeout"
    )
