# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The report: one HTML page with its charts inside, no script, nothing fetched. Text from outside is escaped by Jinja2."""

from __future__ import annotations

import pathlib
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results import charts
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.answer import (
    difference_lines,
    format_p,
    headline,
    host_answer,
    stack_differences,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.describe import (
    VIRTUAL_REMARK,
    drawn_layers,
    has_virtual_disks,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.evidence import evidence_of
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    HostSummary,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.table import (
    cell_texts,
    host_line,
    workload_metric,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import (
    format_percent,
    format_value,
    join_words,
    metric_of,
    sentence,
    stack_title,
    workload_title,
)

__all__ = ["collection_version", "render_report"]

_TEMPLATES = pathlib.Path(__file__).parent / "templates"
# With more workloads than this the first page shows only the most telling ones.
_FIRST_PAGE_CHARTS = 4
# Hosts beyond these have their tables, stacks and evidence but no charts of their own, so that the page stays small.
_HOSTS_WITH_CHARTS = 8
_SYMBOLS = {
    "equivalent": "=",
    "slower": "▼",
    "faster": "▲",
    "inconclusive": "?",
    "too_few_blocks": "…",
    "no_pairs": "–",
}
_CPU_ROWS = (
    ("cpu_seconds_per_gigabyte", "CPU seconds per GB", lambda v: f"{v:.2f}"),
    ("cpu_busy_fraction", "CPU busy", lambda v: f"{format_percent(v)} %"),
    ("iops", "IOPS", lambda v: f"{v:,.0f}"),
    (
        "latency_p99_seconds",
        "latency p99",
        lambda v: f"{format_value(v, metric_of('latency_seconds', v))} {metric_of('latency_seconds', v).unit}",
    ),
    ("duration_seconds", "run", lambda v: f"{v:.1f} s"),
)


def collection_version() -> str:
    """Version of the collection, from its own metadata; C(unknown) where there is none."""
    root = pathlib.Path(__file__).resolve().parents[3]
    for name, pattern in (
        ("galaxy.yml", r"^version:\s*[\"']?([\w.+-]+)"),
        ("MANIFEST.json", r'"version":\s*"([^"]+)"'),
    ):
        try:
            found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        except OSError:
            continue
        if found:
            return found.group(1)
    return "unknown"


def render_report(
    summary: Summary, observations: t.Sequence[dict[str, t.Any]], again_command: str, database: str, written_at: str
) -> str:
    """The page as text. C(observations) are those of the run; C(again_command) goes on with it or repeats it."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_host: dict[str, list[dict[str, t.Any]]] = {}
    for observation in observations:
        by_host.setdefault(observation["host"], []).append(observation)
    measured = [host for host in summary.hosts if host.n_observations]
    return environment.get_template("report.html.j2").render(
        summary=summary,
        title=str(summary.run.get("title") or summary.experiment.replace("_", " ") or "storage comparison"),
        headline=headline(summary),
        first_charts=_first_charts(summary, measured),
        legend=_legend(summary),
        cautions=_cautions(summary, measured),
        hosts=[
            _host(summary, host, by_host.get(host.host, []), place < _HOSTS_WITH_CHARTS, len(measured) > 1)
            for place, host in enumerate(measured)
        ],
        unmeasured=[host for host in summary.hosts if not host.n_observations],
        margin=format_percent(summary.margin),
        baseline_title=stack_title(summary.run, summary.baseline),
        most_points=charts.MOST_POINTS,
        n_observations=sum(host.n_observations for host in measured),
        n_invalid=sum(host.n_invalid for host in measured),
        stacks=[(stack["name"], stack_title(summary.run, stack["name"])) for stack in summary.run["stacks"]],
        workloads=[
            (w["name"], sentence(workload_title(summary.run, w["name"])), _workload_text(w))
            for w in summary.run["workloads"]
        ],
        again=again_command,
        database=database,
        version=collection_version(),
        written_at=written_at,
    )


def _workload_text(workload: dict[str, t.Any]) -> str:
    parts = [
        f"{key} {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in workload.items()
        if key not in ("name", "title")
    ]
    return ", ".join(parts)


def _picture(svg: str) -> t.Any:
    """Our own drawing, which Jinja2 must not escape; its texts were escaped when it was drawn."""
    from markupsafe import Markup

    return Markup(svg)


def _legend(summary: Summary) -> list[dict[str, t.Any]]:
    return [
        {"series": place % charts.SERIES, "shape": charts.shape_of(place), "title": stack_title(summary.run, name)}
        for place, name in enumerate(summary.stack_names())
    ]


def _first_charts(summary: Summary, measured: list[HostSummary]) -> list[dict[str, t.Any]]:
    """The manager's picture: all runs of the only host, or the ratio of every host."""
    if not measured:
        return []
    names = [w["name"] for w in summary.run["workloads"]]
    if len(names) > _FIRST_PAGE_CHARTS:
        names = sorted(names, key=lambda name: -_most_telling(measured, name))[:_FIRST_PAGE_CHARTS]
    found = []
    for name in names:
        title = sentence(workload_title(summary.run, name))
        workload = next(w for w in measured[0].workloads if w.name == name)
        if len(measured) == 1:
            svg = charts.strip_chart(summary, workload, f"{title}: every run of each stack, with medians and intervals")
        else:
            svg = charts.hosts_chart(summary, name, f"{title}: ratio to the baseline on every host")
        if svg:
            found.append({"title": title, "svg": _picture(svg)})
    return found


def _most_telling(hosts: list[HostSummary], name: str) -> float:
    ratios = [c.comparison.ratio for h in hosts for w in h.workloads if w.name == name for c in w.cells if c.comparison]
    return max((abs(1 - ratio) for ratio in ratios if ratio), default=0.0)


def _cautions(summary: Summary, measured: list[HostSummary]) -> list[str]:
    """What somebody who reads only the first page must know."""
    found = []
    if any(has_virtual_disks(host) for host in measured):
        found.append(VIRTUAL_REMARK)
    lost = [host.host for host in summary.hosts if host.lost]
    if lost:
        found.append(f"{join_words(lost) if len(lost) < 6 else f'{len(lost)} hosts'} did not finish; see below.")
    if any(c.comparison and c.comparison.differences for h in measured for w in h.workloads for c in w.cells):
        found.append(
            "Some stacks differ in settings that were not varied on purpose (marked *); the difference may be theirs."
        )
    return found


def _host(
    summary: Summary, host: HostSummary, observations: list[dict[str, t.Any]], draw: bool, several: bool
) -> dict[str, t.Any]:
    return {
        "name": host.host,
        "drawn": draw,
        "line": host_line(host),
        "lost": host.lost,
        "answers": host_answer(summary, host),
        "differences": _differences(summary, host),
        "difference_lines": difference_lines(summary, host),
        "comparable": _comparable(host),
        "workloads": [_workload(summary, host, workload, draw, several) for workload in host.workloads],
        "stacks": [_stack(summary, stack) for stack in host.stacks if stack.fingerprint.get("layers")],
        "invalid": host.invalid,
        "missing": _missing(host),
        "evidence": evidence_of(observations),
        "times": (host.first_started_at, host.last_ended_at),
        "needed": host.blocks_needed,
        "comparisons": host.comparisons,
    }


def _stack(summary: Summary, stack: t.Any) -> dict[str, t.Any]:
    place = summary.stack_names().index(stack.name)
    return {
        "name": stack.name,
        "title": stack_title(summary.run, stack.name),
        "series": place % charts.SERIES,
        "layers": drawn_layers(stack),
        "build": f"{stack.build_seconds:.0f} s" if stack.build_seconds is not None else None,
        "changed": len(stack.settings_hashes) > 1,
    }


def _differences(summary: Summary, host: HostSummary) -> list[dict[str, t.Any]]:
    return [
        {"stack": stack_title(summary.run, stack), "difference": difference}
        for stack in summary.stack_names()
        for difference in stack_differences(host, stack)
    ]


def _comparable(host: HostSummary) -> bool:
    """True when the settings of every stack are known, so that "no difference" can be said."""
    return all(stack.fingerprint.get("layers") for stack in host.stacks)


def _missing(host: HostSummary) -> list[str]:
    return [
        f"{cell.stack}, {workload.name}: block {', '.join(map(str, cell.comparison.missing_blocks))}"
        for workload in host.workloads
        for cell in workload.cells
        if cell.comparison and cell.comparison.missing_blocks
    ]


def _workload(
    summary: Summary, host: HostSummary, workload: WorkloadSummary, draw: bool, several: bool
) -> dict[str, t.Any]:
    title, metric = sentence(workload_title(summary.run, workload.name)), workload_metric(workload)
    rows = []
    for place, cell in enumerate(workload.cells):
        value, ratio, said = cell_texts(cell, metric, summary.margin)
        kind = cell.comparison.kind if cell.comparison else "baseline"
        rows.append(
            {
                "stack": stack_title(summary.run, cell.stack),
                "series": place % charts.SERIES,
                "n": f"{cell.n}{f' + {cell.n_invalid} invalid' if cell.n_invalid else ''}",
                "value": value,
                "ratio": ratio,
                "verdict": said or "baseline",
                "kind": kind,
                "symbol": _SYMBOLS.get(kind, ""),
            }
        )
    where = f" on {host.host}"
    strip = (
        charts.strip_chart(summary, workload, f"{title}{where}: every run of each stack") if draw and several else ""
    )
    return {
        "name": workload.name,
        "title": title,
        "metric": f"{metric.noun}, {metric.unit}" if metric.unit else metric.noun,
        "rows": rows,
        "strip": _picture(strip),
        "drift": _picture(charts.drift_chart(summary, workload, f"{title}{where}: runs by time") if draw else ""),
        "drift_text": _drift_text(workload),
        "disks": _picture(charts.disk_chart(summary, workload, f"{title}{where}: rate of each disk") if draw else ""),
        "cpu": _cpu(summary, workload),
    }


def _drift_text(workload: WorkloadSummary) -> str:
    if workload.drift_p > 0.01:
        return f"No drift over time is shown ({format_p(workload.drift_p)})."
    sign = "up" if workload.drift_per_hour > 0 else "down"
    slope = f"{format_percent(workload.drift_per_hour)} % per hour ({format_p(workload.drift_p)})"
    return f"The figures go {sign} by {slope}; pairs within blocks cancel it."


def _cpu(summary: Summary, workload: WorkloadSummary) -> dict[str, t.Any]:
    """The descriptive table: one row per stack, only columns that somebody has."""
    columns = [
        row for row in _CPU_ROWS if row[0] != workload.metric and any(row[0] in c.others for c in workload.cells)
    ]
    return {
        "heads": [head for _name, head, _show in columns],
        "rows": [
            (
                stack_title(summary.run, cell.stack),
                [show(cell.others[name]) if name in cell.others else "-" for name, _head, show in columns],
            )
            for cell in workload.cells
            if cell.others
        ],
    }
