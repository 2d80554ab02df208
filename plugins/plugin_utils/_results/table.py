# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The text a person sees in the terminal at the end of a run. Pure."""

from __future__ import annotations

import re
import textwrap
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.answer import (
    difference_lines,
    host_answer,
    verdict,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.describe import (
    VIRTUAL_REMARK,
    disks_text,
    has_virtual_disks,
    region_text,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    Cell,
    HostSummary,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.ranks import Interval
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import (
    Metric,
    format_value,
    metric_of,
    stack_title,
)

__all__ = ["cell_texts", "count_text", "host_line", "host_text", "terminal_text", "workload_metric"]

_WIDTH = 118
_WHOLE = re.compile(r"\[[^\]]*\]|Cure: .*$")


def count_text(count: int, noun: str) -> str:
    """Such as C(1 block) or C(8 blocks)."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def host_line(host: HostSummary) -> str:
    """Host, disks, region, blocks, observations and invalid ones."""
    parts = [host.host, disks_text(host), region_text(host), count_text(host.blocks, "block")]
    parts += [count_text(host.n_observations, "observation"), f"{host.n_invalid} invalid"]
    return ", ".join(part for part in parts if part)


def workload_metric(workload: WorkloadSummary) -> Metric:
    """How this workload's metric is shown."""
    return metric_of(workload.metric, next((cell.median for cell in workload.cells if cell.median is not None), None))


def _interval_text(middle: str, interval: Interval | None, show: t.Callable[[float], str]) -> str:
    return f"{middle} [{show(interval.low)} ... {show(interval.high)}]" if interval else middle


def cell_texts(cell: Cell, metric: Metric, margin: float) -> tuple[str, str, str]:
    """Value with interval, ratio with interval, and verdict of one cell."""
    value = _interval_text(format_value(cell.median, metric), cell.median_interval, lambda v: format_value(v, metric))
    comparison = cell.comparison
    if comparison is None:
        return value, "baseline", ""
    ratio = "-"
    if comparison.ratio is not None:
        ratio = _interval_text(f"{comparison.ratio:.3f}", comparison.ratio_interval, "{:.3f}".format)
    said = verdict(comparison, margin)
    if comparison.missing_blocks and comparison.kind != "no_pairs":
        said += f", {count_text(len(comparison.missing_blocks), 'pair')} missing"
    return value, ratio, said + (" *" if comparison.differences else "")


def _table(summary: Summary, host: HostSummary) -> list[str]:
    rows: list[tuple[str, str, str, str]] = []
    for workload in host.workloads:
        metric = workload_metric(workload)
        unit = metric.unit if workload.metric == "throughput_bytes_per_second" else f"{metric.noun} {metric.unit}"
        rows.append(("stack", f"{workload.name} {unit}".strip(), f"vs {summary.baseline}", "verdict"))
        rows += [(cell.stack, *cell_texts(cell, metric, summary.margin)) for cell in workload.cells]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])).rstrip() for row in rows]


def _wrapped(text: str) -> list[str]:
    """Lines of the terminal's width; an interval or a command to copy is never broken."""
    whole = _WHOLE.sub(lambda found: found.group(0).replace(" ", "\0"), text)
    lines = textwrap.wrap(
        whole, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\0", " ") for line in lines]


def host_text(summary: Summary, host: HostSummary) -> str:
    """One host: line, answer, what else differs, table, remarks."""
    if not host.n_observations:
        return f"{host.host}, no observation: {host.lost or 'nothing was measured on it'}"
    lines = [host_line(host)]
    lines += [f"  Lost: {host.lost}"] if host.lost else []
    lines += ["", *_wrapped(f"Compared with {stack_title(summary.run, summary.baseline)}:")]
    for answer in host_answer(summary, host):
        lines += _wrapped(answer)
    differing = difference_lines(summary, host)
    for line in differing:
        lines += _wrapped(line)
    lines += ["", *(f"  {row}" for row in _table(summary, host))]
    lines += ["  * has settings that differ, named above"] if differing else []
    lines += [f"  {VIRTUAL_REMARK}"] if has_virtual_disks(host) else []
    return "\n".join(lines)


def terminal_text(summary: Summary, report: str, database: str, again: str) -> str:
    """All hosts, then where the report and the data are, and how to go on."""
    hosts = [host_text(summary, host) for host in summary.hosts]
    ends = [f"Report: {report}    Data: {database} (run {summary.run_id})", f"Again:  {again}"]
    return "\n\n".join([*hosts, "\n".join(ends)])
