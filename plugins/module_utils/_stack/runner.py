# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The runner of an experiment on a target: one process, detached from the connection, that builds, measures and removes."""

from __future__ import annotations

import json
import os
import signal
import time
import types
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.spool import Spool
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import STATE_DIR
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import write_atomically

__all__ = [
    "LEASE_SECONDS",
    "Owner",
    "Stopped",
    "alive",
    "read_owner",
    "stop_on_signals",
    "stop_runner",
    "wait_for_lapse",
    "write_owner",
]

OWNER_PATH = os.path.join(STATE_DIR, "runner.json")
# A controller looks every few seconds; after so long without a look nobody follows the run any more.
LEASE_SECONDS = 30
_STOP_SECONDS = 90


class Stopped(BaseException):
    """The runner was told to stop; it tidies up and ends. Not an Exception: nothing but the runner may swallow it."""


class Owner(t.NamedTuple):
    """The runner that was started last on this host."""

    pid: int
    started_ticks: int
    run_id: str


def process_start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot (proc(5) field 22); None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


def write_owner(run_id: str) -> None:
    """Makes this process the known runner of the host."""
    pid = os.getpid()
    owner = {"pid": pid, "started_ticks": process_start_ticks(pid), "run_id": run_id}
    write_atomically(OWNER_PATH, json.dumps(owner))


def read_owner() -> Owner | None:
    try:
        with open(OWNER_PATH, encoding="utf-8") as stream:
            data = json.load(stream)
        return Owner(int(data["pid"]), int(data["started_ticks"]), str(data["run_id"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def alive(owner: Owner | None) -> bool:
    """Whether the runner still runs; a process that only got the same number later does not count."""
    return owner is not None and process_start_ticks(owner.pid) == owner.started_ticks


def wait_for_lapse(owner: Owner, limit_seconds: float = LEASE_SECONDS + 15) -> bool:
    """Waits until nobody has followed the run for LEASE_SECONDS or it ended; False when somebody keeps following it."""
    end = time.monotonic() + limit_seconds
    while alive(owner) and Spool(owner.run_id).lease_age_seconds() < LEASE_SECONDS:
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def stop_runner(owner: Owner) -> None:
    """Ends an abandoned runner: asks it to tidy up, and after a while kills it. Raises StorageError when it stays."""
    for number, seconds in ((signal.SIGTERM, _STOP_SECONDS), (signal.SIGKILL, 20)):
        if not alive(owner):
            return
        try:
            os.kill(owner.pid, number)
        except ProcessLookupError:
            return
        end = time.monotonic() + seconds
        while alive(owner) and time.monotonic() < end:
            time.sleep(0.2)
    if alive(owner):
        raise StorageError(
            f"the runner of run {owner.run_id}, process {owner.pid}, does not end even when killed; a disk may hang; look at dmesg"
        )


def stop_on_signals() -> None:
    """SIGTERM and SIGINT end the run by way of its clean-up; SIGHUP of a closing connection is nothing to it."""

    def stop(number: int, frame: types.FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
