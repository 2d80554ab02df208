# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What the analysis of a run says, as data: one tree per run, of hosts, workloads and cells (a stack under a workload)."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.confounders import Difference
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.ranks import Interval

__all__ = [
    "Cell",
    "Comparison",
    "DiskRate",
    "HostSummary",
    "InvalidRun",
    "Point",
    "StackInfo",
    "Summary",
    "WorkloadSummary",
]


@dataclasses.dataclass(frozen=True)
class Point:
    """One valid observation: the primary metric's value, where in the run it was taken and when."""

    block: int
    position: int
    value: float
    started_at: str
    hours: float


@dataclasses.dataclass(frozen=True)
class DiskRate:
    """Median rates of one disk under one stack and workload; bytes per second, busy as a fraction of the run."""

    disk: str
    read_bytes_per_second: float | None
    write_bytes_per_second: float | None
    busy_fraction: float | None


@dataclasses.dataclass(frozen=True)
class InvalidRun:
    """An observation that is kept and shown, but not analysed."""

    block: int
    stack: str
    workload: str
    attempt: int
    reason: str
    started_at: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A stack against the baseline, paired within blocks. Ratios are value over baseline value.

    The p values with C(_holm) are adjusted over the host's family; C(kind) is one of C(equivalent), C(slower), C(faster),
    C(inconclusive), C(too_few_blocks) and C(no_pairs).
    """

    pairs: int
    missing_blocks: tuple[int, ...]
    ratio: float | None
    ratio_interval: Interval | None
    p: float
    p_holm: float
    p_equivalence: float
    p_equivalence_holm: float
    kind: str
    different: bool
    blocks_needed: int
    differences: tuple[Difference, ...] = ()


@dataclasses.dataclass(frozen=True)
class Cell:
    """One stack under one workload on one host; C(comparison) is None for the baseline."""

    stack: str
    n: int
    n_invalid: int
    median: float | None
    median_interval: Interval | None
    points: tuple[Point, ...]
    disks: tuple[DiskRate, ...]
    others: dict[str, float]
    comparison: Comparison | None


@dataclasses.dataclass(frozen=True)
class WorkloadSummary:
    """One workload on one host; drift is a fraction of the median per hour, with the p value of Kendall's trend test."""

    name: str
    metric: str
    higher_is_better: bool
    cells: tuple[Cell, ...]
    drift_per_hour: float = 0.0
    drift_p: float = 1.0


@dataclasses.dataclass(frozen=True)
class StackInfo:
    """A stack as it stood on a host: its fingerprint, and how many different settings were seen across its builds."""

    name: str
    fingerprint: dict[str, t.Any]
    settings_hashes: tuple[str, ...]
    disks_hashes: tuple[str, ...]
    build_seconds: float | None


@dataclasses.dataclass(frozen=True)
class HostSummary:
    """One host of a run. C(lost) is None, or a sentence that says how the host went missing."""

    host: str
    lost: str | None
    blocks: int
    n_observations: int
    n_invalid: int
    comparisons: int
    blocks_needed: int
    workloads: tuple[WorkloadSummary, ...]
    stacks: tuple[StackInfo, ...]
    invalid: tuple[InvalidRun, ...]
    first_started_at: str | None = None
    last_ended_at: str | None = None


@dataclasses.dataclass(frozen=True)
class Summary:
    """A whole run; C(run) is the record it was stored with."""

    run_id: str
    experiment: str
    baseline: str
    margin: float
    alpha: float
    planned_blocks: int
    run: dict[str, t.Any]
    hosts: tuple[HostSummary, ...]

    def stack_names(self) -> list[str]:
        return [stack["name"] for stack in self.run["stacks"]]
