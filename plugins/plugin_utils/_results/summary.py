# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The analysis as plain data, for C(summary.json) and for other programs; docs/summary.md describes the fields."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.answer import headline, host_answer, verdict
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.describe import (
    disks_text,
    has_virtual_disks,
    region_text,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    Cell,
    Comparison,
    HostSummary,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.ranks import Interval
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import stack_title, workload_title

__all__ = ["SUMMARY_SCHEMA_VERSION", "summary_data"]

SUMMARY_SCHEMA_VERSION = 1


def summary_data(summary: Summary, written_at: str) -> dict[str, t.Any]:
    """The content of summary.json: numbers in base units, ratios to the baseline, null for what is not known."""
    run = summary.run
    return {
        "schema_version": SUMMARY_SCHEMA_VERSION,
        "run_id": summary.run_id,
        "experiment": summary.experiment,
        "written_at": written_at,
        "started_at": run.get("started_at"),
        "command": run.get("command"),
        "answer": headline(summary),
        "design": {
            "baseline": summary.baseline,
            "equivalence_margin": summary.margin,
            "alpha": summary.alpha,
            "blocks": summary.planned_blocks,
            "seed": (run.get("design") or {}).get("seed"),
        },
        "stacks": [{"name": s["name"], "title": stack_title(run, s["name"])} for s in run["stacks"]],
        "workloads": [{"name": w["name"], "title": workload_title(run, w["name"])} for w in run["workloads"]],
        "hosts": [_host(summary, host) for host in summary.hosts],
    }


def _host(summary: Summary, host: HostSummary) -> dict[str, t.Any]:
    return {
        "host": host.host,
        "lost": host.lost,
        "disks": disks_text(host) or None,
        "region": region_text(host) or None,
        "virtual_disks": has_virtual_disks(host),
        "blocks": host.blocks,
        "observations": host.n_observations,
        "invalid": host.n_invalid,
        "comparisons": host.comparisons,
        "blocks_for_a_verdict": host.blocks_needed,
        "first_started_at": host.first_started_at,
        "last_ended_at": host.last_ended_at,
        "answers": host_answer(summary, host) if host.n_observations else [],
        "workloads": [_workload(summary, workload) for workload in host.workloads],
        "stacks": [
            {
                "name": stack.name,
                "settings_hashes": list(stack.settings_hashes),
                "disks_hashes": list(stack.disks_hashes),
                "build_seconds": stack.build_seconds,
            }
            for stack in host.stacks
        ],
        "invalid_runs": [dataclasses.asdict(run) for run in host.invalid],
    }


def _workload(summary: Summary, workload: WorkloadSummary) -> dict[str, t.Any]:
    return {
        "name": workload.name,
        "metric": workload.metric,
        "higher_is_better": workload.higher_is_better,
        "drift_per_hour": workload.drift_per_hour,
        "drift_p": workload.drift_p,
        "stacks": [_cell(summary, cell) for cell in workload.cells],
    }


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _cell(summary: Summary, cell: Cell) -> dict[str, t.Any]:
    return {
        "name": cell.stack,
        "n": cell.n,
        "invalid": cell.n_invalid,
        "median": cell.median,
        "median_interval": _interval(cell.median_interval),
        "values": [
            {"block": p.block, "position": p.position, "started_at": p.started_at, "value": p.value}
            for p in cell.points
        ],
        "other_metrics": cell.others,
        "disks": [dataclasses.asdict(rate) for rate in cell.disks],
        "verdict": verdict(cell.comparison, summary.margin),
        "comparison": _comparison(cell.comparison),
    }


def _comparison(comparison: Comparison | None) -> dict[str, t.Any] | None:
    if comparison is None:
        return None
    return {
        "kind": comparison.kind,
        "pairs": comparison.pairs,
        "missing_blocks": list(comparison.missing_blocks),
        "ratio": comparison.ratio,
        "ratio_interval": _interval(comparison.ratio_interval),
        "p": comparison.p,
        "p_holm": comparison.p_holm,
        "p_equivalence": comparison.p_equivalence,
        "p_equivalence_holm": comparison.p_equivalence_holm,
        "different": comparison.different,
        "more_blocks_needed": comparison.blocks_needed,
        "differences": [dataclasses.asdict(difference) for difference in comparison.differences],
    }
