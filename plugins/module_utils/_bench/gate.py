# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Is this a moment to measure? Facts before and after a run, and the judgement over them."""

from __future__ import annotations

import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.sample import DiskCounters, read_sample
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size

__all__ = ["gate_problem", "members_problem", "read_gate", "wait_until_quiet"]

_QUIET_WINDOW_SECONDS = 0.3
# md writes a superblock some 0.2 s after the last write, XFS a log record: both far below this.
_QUIET_BYTES = 256 * 1024
_CALM_ACTIONS = ("idle", "frozen")
_SLACK_BYTES = 32 * 1024**2
_WRITE_SLACK_BYTES = 4 * 1024**2


def read_gate(md_names: t.Sequence[str], sys_root: str = "/sys", proc_root: str = "/proc") -> dict[str, t.Any]:
    """C(sync_action) and C(degraded) by array, and the load; reads files only."""
    return {
        "sync_action": {name: _attribute(sys_root, name, "sync_action") for name in md_names},
        "degraded": {name: _number(_attribute(sys_root, name, "degraded")) for name in md_names},
        "load_average_1min": _load(proc_root),
    }


def _attribute(sys_root: str, name: str, attribute: str) -> str | None:
    """An md attribute; None where the level has none (raid0, linear)."""
    try:
        with open(os.path.join(sys_root, "block", name, "md", attribute), encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _load(proc_root: str) -> float | None:
    try:
        with open(os.path.join(proc_root, "loadavg"), encoding="ascii") as stream:
            return float(stream.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def wait_until_quiet(names: t.Sequence[str], limit_seconds: float = 10.0) -> dict[str, t.Any]:
    """Watches the disks for short windows until nobody uses them or the limit is over; what the last window saw."""
    begin = time.monotonic()
    before = read_sample(names)
    while True:
        time.sleep(_QUIET_WINDOW_SECONDS)
        after = read_sample(names)
        moved = sum(_moved(after.disks[name].minus(before.disks[name])) for name in names)
        waited = after.at - begin
        if moved <= _QUIET_BYTES or waited >= limit_seconds:
            return {
                "other_io_bytes": moved,
                "other_io_window_seconds": round(after.at - before.at, 3),
                "waited_seconds": round(waited, 3),
            }
        before = after


def _moved(delta: DiskCounters) -> int:
    return delta.read_bytes + delta.written_bytes


def gate_problem(facts: t.Mapping[str, t.Any], moment: str) -> str | None:
    """Why the run must not be analysed, as a sentence; None when the gate is open. C(moment) is before or after."""
    for name, action in facts["sync_action"].items():
        if action is not None and action not in _CALM_ACTIONS:
            return f"{moment} the run the array {name} was busy with {action}; wait for it to end"
    for name, missing in facts["degraded"].items():
        if missing:
            return f"{moment} the run the array {name} lacked {missing} of its disks"
    moved = facts.get("other_io_bytes", 0)
    if moved > _QUIET_BYTES:
        return (
            f"{moment} the run somebody else used the disks: {format_size(moved)} within "
            f"{facts['other_io_window_seconds']} s, still after {facts['waited_seconds']} s of waiting"
        )
    return None


def members_problem(
    workload: Workload, tool_bytes: float, rate: float, read_bytes: int, written_bytes: int
) -> str | None:
    """Why the disks' own counters speak against a sequential direct read: they moved far more than it can explain."""
    if not (workload.reads_sequentially and workload.direct):
        return None
    explained = (tool_bytes + rate * workload.ramp_seconds) * 1.1 + _SLACK_BYTES
    if read_bytes > explained:
        return (
            f"the disks read {format_size(read_bytes)} while the tool read {format_size(int(tool_bytes))}: "
            "somebody else used them"
        )
    if written_bytes > _WRITE_SLACK_BYTES:
        return (
            f"the disks were written to ({format_size(written_bytes)}) during a run that only read: "
            "somebody else used them"
        )
    return None
