# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Counters of the kernel before and after a run, and what happened between."""

from __future__ import annotations

import dataclasses
import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES

__all__ = [
    "CpuCounters",
    "DiskCounters",
    "Sample",
    "cpu_metrics",
    "member_figures",
    "parse_cpu",
    "parse_diskstats",
    "read_sample",
]


@dataclasses.dataclass(frozen=True)
class DiskCounters:
    """What a block device did since boot (Documentation/admin-guide/iostats)."""

    read_requests: int
    read_bytes: int
    write_requests: int
    written_bytes: int
    busy_seconds: float

    def minus(self, earlier: DiskCounters) -> DiskCounters:
        return DiskCounters(
            self.read_requests - earlier.read_requests,
            self.read_bytes - earlier.read_bytes,
            self.write_requests - earlier.write_requests,
            self.written_bytes - earlier.written_bytes,
            self.busy_seconds - earlier.busy_seconds,
        )


@dataclasses.dataclass(frozen=True)
class CpuCounters:
    """Seconds of all CPUs together since boot. C(idle_seconds) includes waiting for I/O."""

    user_seconds: float
    system_seconds: float
    idle_seconds: float
    total_seconds: float


@dataclasses.dataclass(frozen=True)
class Sample:
    """One moment. C(at) is monotonic, in seconds."""

    at: float
    disks: t.Mapping[str, DiskCounters]
    cpu: CpuCounters


def parse_diskstats(text: str, names: t.Collection[str]) -> dict[str, DiskCounters]:
    """Counters by kernel name from /proc/diskstats; StorageError when a device is gone, ParseError for a cut line."""
    found: dict[str, DiskCounters] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or words[2] not in names:
            continue
        try:
            found[words[2]] = DiskCounters(
                int(words[3]),
                int(words[5]) * SECTOR_BYTES,
                int(words[7]),
                int(words[9]) * SECTOR_BYTES,
                int(words[12]) / 1000,
            )
        except (IndexError, ValueError):
            raise ParseError(f"the counters of {words[2]} in /proc/diskstats", line) from None
    missing = sorted(set(names) - set(found))
    if missing:
        raise StorageError(f"{', '.join(missing)} is gone: the kernel no longer counts its I/O in /proc/diskstats")
    return found


def parse_cpu(text: str, ticks_per_second: int) -> CpuCounters:
    """The first line of /proc/stat; interrupts and stolen time count as system time."""
    words = text.split("\n", 1)[0].split()
    try:
        user, nice, system, idle, iowait, irq, softirq, steal = (int(word) / ticks_per_second for word in words[1:9])
    except ValueError:
        raise ParseError("the CPU times in /proc/stat", text) from None
    busy = system + irq + softirq + steal
    return CpuCounters(user + nice, busy, idle + iowait, user + nice + busy + idle + iowait)


def read_sample(names: t.Collection[str]) -> Sample:
    """Counters of the named block devices and of the CPUs, now."""
    with open("/proc/diskstats", encoding="ascii", errors="replace") as stream:
        disks = parse_diskstats(stream.read(), names)
    with open("/proc/stat", encoding="ascii", errors="replace") as stream:
        cpu = parse_cpu(stream.readline(), os.sysconf("SC_CLK_TCK"))
    return Sample(time.monotonic(), disks, cpu)


def cpu_metrics(before: Sample, after: Sample) -> dict[str, float]:
    """CPU seconds of the whole system between two samples, kernel threads of md, dm and XFS included."""
    total = after.cpu.total_seconds - before.cpu.total_seconds
    idle = after.cpu.idle_seconds - before.cpu.idle_seconds
    metrics = {
        "cpu_user_seconds": round(after.cpu.user_seconds - before.cpu.user_seconds, 3),
        "cpu_system_seconds": round(after.cpu.system_seconds - before.cpu.system_seconds, 3),
    }
    if total > 0:
        metrics["cpu_busy_fraction"] = round(min(1.0, max(0.0, 1 - idle / total)), 4)
    return metrics


def member_figures(
    before: Sample, after: Sample, names: t.Sequence[str], serials: t.Mapping[str, str | None], io_seconds: float
) -> list[dict[str, t.Any]]:
    """One entry per disk, in the order of C(names); rates are over C(io_seconds), the time that the tool moved data."""
    entries: list[dict[str, t.Any]] = []
    for name in names:
        delta = after.disks[name].minus(before.disks[name])
        rate = delta.read_bytes / io_seconds if io_seconds > 0 else None
        entries.append(
            {
                "kernel_name": name,
                "serial_number": serials.get(name),
                "read_bytes": delta.read_bytes,
                "written_bytes": delta.written_bytes,
                "read_requests": delta.read_requests,
                "write_requests": delta.write_requests,
                "busy_seconds": round(delta.busy_seconds, 3),
                "read_bytes_per_second": None if rate is None else round(rate, 1),
                "written_bytes_per_second": None if rate is None else round(delta.written_bytes / io_seconds, 1),
            }
        )
    return entries
