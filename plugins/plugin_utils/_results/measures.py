# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What is described but not tested: processor time, rates of the single disks. Pure; medians over the runs of a cell."""

from __future__ import annotations

import collections
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results import ranks
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import DiskRate

__all__ = ["disk_rates", "other_metrics"]

_Observation = dict[str, t.Any]
_OTHER_METRICS = (
    "cpu_user_seconds",
    "cpu_system_seconds",
    "cpu_busy_fraction",
    "duration_seconds",
    "prepare_seconds",
    "iops",
    "throughput_bytes_per_second",
    "latency_mean_seconds",
    "latency_p50_seconds",
    "latency_p99_seconds",
)


def _median_of(values: t.Iterable[t.Any]) -> float | None:
    numbers = [float(v) for v in values if isinstance(v, (int, float))]
    return ranks.median(numbers) if numbers else None


def other_metrics(runs: list[_Observation]) -> dict[str, float]:
    """Medians of the descriptive metrics, and processor seconds per 10^9 bytes moved."""
    found = {name: _median_of((o["metrics"] or {}).get(name) for o in runs) for name in _OTHER_METRICS}
    costs = []
    for run in runs:
        metrics = run["metrics"]
        spent = [metrics[n] for n in ("cpu_user_seconds", "cpu_system_seconds") if metrics.get(n) is not None]
        moved = _bytes_moved(run)
        if spent and moved:
            costs.append(sum(spent) / moved * 1e9)
    found["cpu_seconds_per_gigabyte"] = _median_of(costs)
    return {name: value for name, value in found.items() if value is not None}


def _io_seconds(run: _Observation) -> float | None:
    """How long data were moved, a ramp before the measurement included: the disks' rates are over this time."""
    for member in run.get("members") or []:
        for way in ("read", "written"):
            moved, rate = member.get(f"{way}_bytes"), member.get(f"{way}_bytes_per_second")
            if moved and rate:
                return float(moved / rate)
    seconds = (run["metrics"] or {}).get("duration_seconds")
    return float(seconds) if seconds else None


def _bytes_moved(run: _Observation) -> float | None:
    """Bytes that the processor's time was spent on: those of the measurement and of the ramp before it."""
    metrics, seconds = run["metrics"], _io_seconds(run)
    if metrics.get("throughput_bytes_per_second") and seconds:
        return float(metrics["throughput_bytes_per_second"] * seconds)
    return float(metrics["bytes"]) if metrics.get("bytes") else None


def disk_rates(runs: list[_Observation]) -> tuple[DiskRate, ...]:
    """Medians over runs per disk, in the order of serial numbers."""
    seen: dict[str, list[tuple[dict[str, t.Any], float | None]]] = collections.defaultdict(list)
    for run in runs:
        for member in run.get("members") or []:
            name = member.get("serial_number") or member.get("kernel_name") or "?"
            seen[str(name)].append((member, _io_seconds(run)))
    return tuple(
        DiskRate(
            disk=name,
            read_bytes_per_second=_median_of(_member_rate(m, "read", d) for m, d in rows),
            write_bytes_per_second=_median_of(_member_rate(m, "written", d) for m, d in rows),
            busy_fraction=_median_of(m["busy_seconds"] / d for m, d in rows if d and m.get("busy_seconds") is not None),
        )
        for name, rows in sorted(seen.items())
    )


def _member_rate(member: dict[str, t.Any], way: str, duration: float | None) -> float | None:
    given = member.get(f"{way}_bytes_per_second")
    if given is not None:
        return float(given)
    moved = member.get(f"{way}_bytes")
    return moved / duration if moved is not None and duration else None
