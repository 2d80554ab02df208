# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The answer in plain English: per host, per stack, and over all hosts in one sentence."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.confounders import Difference
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    Comparison,
    HostSummary,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.ranks import Interval
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import (
    format_percent,
    join_words,
    metric_of,
    sentence,
    stack_title,
    workload_title,
)

__all__ = ["difference_lines", "format_p", "headline", "host_answer", "stack_answer", "verdict"]

_RATES = ("throughput_bytes_per_second", "iops")


def format_p(p: float) -> str:
    """Such as C(p 0.004) or C(p < 0.001)."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}" if p < 0.1 else f"p {p:.2f}"


def percent_margin(margin: float) -> str:
    return f"{format_percent(margin)} %"


def verdict(comparison: Comparison | None, margin: float) -> str:
    """The verdict of one cell as it stands in the table."""
    if comparison is None:
        return "baseline"
    if comparison.kind == "no_pairs":
        return "no verdict: no block has a valid run of both stacks"
    if comparison.kind == "too_few_blocks":
        more = comparison.blocks_needed
        return f"too few blocks ({more} more)"
    if comparison.kind == "equivalent":
        shown = f" ({comparison.ratio:.3f})" if comparison.different else ""
        return f"equivalent within {percent_margin(margin)}{shown}"
    if comparison.kind == "inconclusive":
        return "inconclusive"
    return f"{comparison.kind}, {format_p(comparison.p_holm)}"


def _percents(comparison: Comparison) -> tuple[str, str]:
    """The size of a difference and its interval, such as C(38 %) and C( [35 ... 41]); the word goes between."""
    ratio = comparison.ratio or 1.0
    return f"{format_percent(1 - ratio)} %", _bracket(comparison.ratio_interval, ratio)


def _bracket(interval: Interval | None, ratio: float) -> str:
    if interval is None:
        return ""
    sign = -1 if ratio < 1 else 1
    ends = sorted((sign * (interval.low - 1), sign * (interval.high - 1)))
    digits = 0 if abs(1 - ratio) >= 0.0995 and ends[1] - ends[0] >= 0.01 else 1
    return f" [{ends[0] * 100:.{digits}f} ... {ends[1] * 100:.{digits}f}]"


def _effect(workload: WorkloadSummary, comparison: Comparison, subject: str) -> str:
    """Such as C(buffered reads through it are 38 % slower [35 ... 41])."""
    size, bracket = _percents(comparison)
    if workload.metric in _RATES:
        return f"{subject} are {size} {comparison.kind}{bracket}"
    noun = metric_of(workload.metric).noun
    return f"the {noun} of {subject} is {size} {'lower' if (comparison.ratio or 1) < 1 else 'higher'}{bracket}"


def stack_answer(summary: Summary, host: HostSummary, stack: str) -> str:
    """What one stack costs on one host, in one to a few sentences."""
    title, run = stack_title(summary.run, stack), summary.run
    found: dict[str, list[tuple[WorkloadSummary, Comparison]]] = {}
    for workload in host.workloads:
        comparison = next(c.comparison for c in workload.cells if c.stack == stack)
        if comparison is not None:
            found.setdefault(comparison.kind, []).append((workload, comparison))
    said: list[str] = []

    def through() -> str:
        return "it" if said else title

    def names(kind: str) -> str:
        return join_words([workload_title(run, w.name) for w, _c in found[kind]])

    if "equivalent" in found:
        within = f"equivalent within {percent_margin(summary.margin)}"
        said.append(f"{title} costs nothing measurable in {names('equivalent')} ({within})")
    for workload, comparison in found.get("slower", []) + found.get("faster", []):
        said.append(_effect(workload, comparison, f"{workload_title(run, workload.name)} through {through()}"))
    if "inconclusive" in found:
        ratios = join_words([_ratio_text(c) for _w, c in found["inconclusive"]])
        what = f"{names('inconclusive')} through {through()}"
        said.append(f"for {what} neither a difference nor equivalence is shown (ratio {ratios})")
    if "too_few_blocks" in found:
        more = max(c.blocks_needed for _w, c in found["too_few_blocks"])
        blocks = "block" if more == 1 else "blocks"
        said.append(
            f"too few blocks for a verdict on {names('too_few_blocks')} through {through()}: {more} more {blocks} would do"
        )
    if "no_pairs" in found:
        said.append(f"no verdict on {names('no_pairs')} through {through()}: no block has a valid run of both stacks")
    return " ".join(sentence(text) + "." for text in said)


def _ratio_text(comparison: Comparison) -> str:
    interval = comparison.ratio_interval
    return f"{comparison.ratio:.3f}" + (f" [{interval.low:.3f} ... {interval.high:.3f}]" if interval else "")


def host_answer(summary: Summary, host: HostSummary) -> list[str]:
    """The answer for one host, one entry per stack that was compared."""
    return [stack_answer(summary, host, stack) for stack in summary.stack_names() if stack != summary.baseline]


def difference_lines(summary: Summary, host: HostSummary, most: int = 3) -> list[str]:
    """What differs besides the layers, one line per stack, with a cure where there is one."""
    lines = []
    stacks = [stack for stack in summary.stack_names() if stack != summary.baseline]
    for stack in stacks:
        found = stack_differences(host, stack)
        if not found:
            continue
        name = f" ({stack})" if len(stacks) > 1 else ""
        rest = f"; and {len(found) - most} more, see the report" if len(found) > most else ""
        cure = next((f". Cure: {d.cure}" for d in found if d.cure), "")
        lines.append(f"What differs besides the layer{name}: {'; '.join(d.text() for d in found[:most])}{rest}{cure}")
    return lines


def stack_differences(host: HostSummary, stack: str) -> list[Difference]:
    """Every undeclared difference of a stack to the baseline that counts for at least one workload."""
    seen: dict[str, Difference] = {}
    for workload in host.workloads:
        for cell in workload.cells:
            if cell.stack == stack and cell.comparison:
                seen.update({d.text(): d for d in cell.comparison.differences})
    return sorted(seen.values(), key=lambda d: d.cure is None)


def headline(summary: Summary) -> str:
    """The whole run in one sentence, for somebody who reads no further."""
    measured = [host for host in summary.hosts if host.n_observations > host.n_invalid]
    if not measured:
        return "Nothing was measured: no host of this run has a valid observation."
    comparisons = [c.comparison for h in measured for w in h.workloads for c in w.cells if c.comparison]
    if not comparisons:
        return (
            f"Only {stack_title(summary.run, summary.baseline)} was measured, so there is nothing to compare it with."
        )
    if all(c.kind in ("too_few_blocks", "no_pairs") for c in comparisons):
        more = max((c.blocks_needed for c in comparisons), default=0)
        return f"No verdict yet: {more} more {'block' if more == 1 else 'blocks'} would be needed for one."
    clauses = []
    for stack in summary.stack_names():
        if stack != summary.baseline:
            parts = _grouped(summary, measured, stack)
            clauses.append(f"{stack_title(summary.run, stack)} {join_words(parts, 'and')}")
    where = f" on {len(measured)} hosts" if len(measured) > 1 else ""
    if where and _unanimous(summary, measured):
        where = " on both hosts" if len(measured) == 2 else f" on all {len(measured)} hosts"
    lead = f"Compared with {stack_title(summary.run, summary.baseline)}"
    return f"{lead}{where}, {'; '.join(clauses)}."


def _comparisons(hosts: list[HostSummary], stack: str, workload: str) -> list[tuple[str, WorkloadSummary, Comparison]]:
    return [
        (host.host, w, cell.comparison)
        for host in hosts
        for w in host.workloads
        if w.name == workload
        for cell in w.cells
        if cell.stack == stack and cell.comparison
    ]


def _unanimous(summary: Summary, hosts: list[HostSummary]) -> bool:
    stacks = [s for s in summary.stack_names() if s != summary.baseline]
    loads = [w["name"] for w in summary.run["workloads"]]
    return all(len({c.kind for _h, _w, c in _comparisons(hosts, s, w)}) == 1 for s in stacks for w in loads)


def _grouped(summary: Summary, hosts: list[HostSummary], stack: str) -> list[str]:
    """What a stack does, one part per verdict; workloads of one verdict and one size of effect share a part."""
    parts: dict[str, list[str]] = {}
    for load in summary.run["workloads"]:
        rows = _comparisons(hosts, stack, load["name"])
        kinds: dict[str, list[tuple[str, WorkloadSummary, Comparison]]] = {}
        for row in rows:
            kinds.setdefault(row[2].kind, []).append(row)
        for kind, same in kinds.items():
            where = "" if len(kinds) == 1 else f" on {_hosts_text([host for host, _w, _c in same])}"
            parts.setdefault(f"{_kind_text(kind, same)}|{where}", []).append(workload_title(summary.run, load["name"]))
    return [f"{key.split('|')[0]} {join_words(names)}{key.split('|')[1]}" for key, names in parts.items()]


def _hosts_text(names: list[str]) -> str:
    return join_words(names) if len(names) <= 3 else f"{len(names)} hosts"


def _kind_text(kind: str, rows: list[tuple[str, WorkloadSummary, Comparison]]) -> str:
    if kind == "equivalent":
        return "costs nothing measurable in"
    if kind in ("slower", "faster"):
        if len(rows) == 1:
            size, bracket = _percents(rows[0][2])
            return f"is {size} {kind}{bracket} in"
        sizes = sorted(abs(1 - (c.ratio or 1)) for _h, _w, c in rows)
        low, high = format_percent(sizes[0]), format_percent(sizes[-1])
        return f"is {low} % {kind} in" if low == high else f"is {low} to {high} % {kind} in"
    if kind == "inconclusive":
        return "shows neither a difference nor equivalence in"
    return "has too few blocks for a verdict on"
