# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""From observations to verdicts: paired within block and host, rank tests, Holm per host, equivalence against the margin."""

from __future__ import annotations

import collections
import datetime
import math
import typing as t
from dataclasses import replace

from ansible_collections.plumbline.storage.plugins.plugin_utils._results import ranks
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.confounders import (
    differences_of,
    stack_declaration,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import ResultsError
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.measures import disk_rates, other_metrics
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    Cell,
    Comparison,
    HostSummary,
    InvalidRun,
    Point,
    StackInfo,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import higher_is_better

__all__ = ["compare", "parse_margin", "summarise"]

ALPHA = 0.05
_Observation = dict[str, t.Any]


def parse_margin(margin: t.Any) -> float:
    """The equivalence margin as a fraction, from C(0.03) or C("3 %"); raises ResultsError outside 0 to 0.5."""
    text = str(margin).strip()
    try:
        value = float(text.rstrip("%").strip()) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 0.5:
        raise ResultsError(
            f"equivalence_margin was given as {margin!r}; it must lie between 0 and 50 %, such as 3% or 0.03"
        )
    return value


def summarise(
    run: dict[str, t.Any], observations: t.Iterable[_Observation], lost_hosts: t.Mapping[str, str] | None = None
) -> Summary:
    """The analysis of one run; C(lost_hosts) maps the hosts that went missing to a sentence that says how.

    Raises ResultsError when the design names a baseline that is none of its stacks, or a margin out of range.
    """
    design = run.get("design") or {}
    names = [stack["name"] for stack in run["stacks"]]
    baseline = design.get("baseline") or (names[0] if names else "")
    if baseline not in names:
        raise ResultsError(f"the baseline is given as {baseline!r}, but the stacks are {', '.join(names) or 'none'}")
    margin = parse_margin(design.get("equivalence_margin", 0.03))
    alpha = float(design.get("alpha", ALPHA))
    lost = dict(lost_hosts or {})
    by_host: dict[str, list[_Observation]] = collections.defaultdict(list)
    for observation in observations:
        by_host[observation["host"]].append(observation)
    order = list(dict.fromkeys([*run.get("hosts", []), *sorted(by_host), *sorted(lost)]))
    frame = _Frame(run, names, baseline, margin, alpha)
    return Summary(
        run_id=run["run_id"],
        experiment=run.get("experiment", ""),
        baseline=baseline,
        margin=margin,
        alpha=alpha,
        planned_blocks=int(design.get("blocks") or 0),
        run=run,
        hosts=tuple(_host(frame, host, by_host.get(host, []), lost.get(host)) for host in order),
    )


class _Frame(t.NamedTuple):
    """What is the same for every host."""

    run: dict[str, t.Any]
    stacks: list[str]
    baseline: str
    margin: float
    alpha: float


def _host(frame: _Frame, host: str, observations: list[_Observation], lost: str | None) -> HostSummary:
    observations = sorted(observations, key=lambda o: (o["started_at"], o["block"], o["position"]))
    workloads = [w["name"] for w in frame.run["workloads"]]
    comparisons = (len(frame.stacks) - 1) * len(workloads)
    needed = ranks.minimum_blocks(comparisons, frame.alpha)
    stacks = _stack_infos(frame, observations)
    fingerprints = {info.name: info.fingerprint for info in stacks}
    started = min((_moment(o["started_at"]) for o in observations), default=None)
    drafts = [_workload(frame, name, observations, needed, started) for name in workloads]
    return HostSummary(
        host=host,
        lost=lost,
        blocks=len({o["block"] for o in observations}),
        n_observations=len(observations),
        n_invalid=sum(not o["valid"] for o in observations),
        comparisons=comparisons,
        blocks_needed=needed,
        workloads=tuple(_with_verdicts(frame, drafts, comparisons, fingerprints)),
        stacks=tuple(stacks),
        invalid=tuple(_invalid(o) for o in observations if not o["valid"]),
        first_started_at=observations[0]["started_at"] if observations else None,
        last_ended_at=max((o.get("ended_at") or o["started_at"] for o in observations), default=None),
    )


def _invalid(observation: _Observation) -> InvalidRun:
    return InvalidRun(
        block=observation["block"],
        stack=observation["stack"],
        workload=observation["workload"],
        attempt=observation.get("attempt", 1),
        reason=observation.get("invalid_reason") or "no reason was recorded",
        started_at=observation["started_at"],
    )


def _moment(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)


def _stack_infos(frame: _Frame, observations: list[_Observation]) -> list[StackInfo]:
    infos = []
    for name in frame.stacks:
        mine = [o for o in observations if o["stack"] == name]
        usable = [o for o in mine if o["valid"]] or mine
        builds = [
            float(o["stack_seconds"]["build"]) for o in mine if (o.get("stack_seconds") or {}).get("build") is not None
        ]
        infos.append(
            StackInfo(
                name=name,
                fingerprint=(usable[-1].get("fingerprint") or {}) if usable else {},
                settings_hashes=tuple(sorted({o["settings_hash"] for o in usable if o.get("settings_hash")})),
                disks_hashes=tuple(sorted({o["disks_hash"] for o in usable if o.get("disks_hash")})),
                build_seconds=ranks.median(builds) if builds else None,
            )
        )
    return infos


def _analysed(observations: list[_Observation], metric: str) -> dict[int, _Observation]:
    """The first valid attempt of each block that has the metric as a finite positive number."""
    chosen: dict[int, _Observation] = {}
    for observation in sorted(observations, key=lambda o: o.get("attempt", 1)):
        value = (observation.get("metrics") or {}).get(metric)
        if observation["valid"] and isinstance(value, (int, float)) and math.isfinite(value) and value > 0:
            chosen.setdefault(observation["block"], observation)
    return dict(sorted(chosen.items()))


def _workload(
    frame: _Frame,
    name: str,
    observations: list[_Observation],
    needed: int,
    started: datetime.datetime | None,
) -> WorkloadSummary:
    mine = [o for o in observations if o["workload"] == name]
    declared = next((w.get("primary_metric") for w in frame.run["workloads"] if w["name"] == name), None)
    metric = next((o["primary_metric"] for o in mine if o.get("primary_metric")), None) or declared
    metric = metric or "throughput_bytes_per_second"
    by_stack = {stack: [o for o in mine if o["stack"] == stack] for stack in frame.stacks}
    chosen = {stack: _analysed(runs, metric) for stack, runs in by_stack.items()}
    started = started or datetime.datetime.now(datetime.timezone.utc)
    points = {stack: tuple(_point(o, metric, started) for o in runs.values()) for stack, runs in chosen.items()}
    blocks = {o["block"] for o in mine}
    cells = [
        _cell(frame, stack, by_stack[stack], list(chosen[stack].values()), points, blocks, needed)
        for stack in frame.stacks
    ]
    slope, p = _drift(points)
    return WorkloadSummary(name, metric, higher_is_better(metric), tuple(cells), slope, p)


def _cell(
    frame: _Frame,
    stack: str,
    runs: list[_Observation],
    analysed: list[_Observation],
    points: dict[str, tuple[Point, ...]],
    blocks: set[int],
    needed: int,
) -> Cell:
    """One stack under one workload; the comparison's verdict is given later, over the host's whole family."""
    own = {p.block: p.value for p in points[stack]}
    reference = {p.block: p.value for p in points[frame.baseline]}
    versus = None
    if stack != frame.baseline:
        versus = compare(own, reference, blocks, frame.margin, needed, frame.alpha)
    values = list(own.values())
    return Cell(
        stack=stack,
        n=len(values),
        n_invalid=sum(not o["valid"] for o in runs),
        median=ranks.median(values) if values else None,
        median_interval=ranks.median_interval(values, frame.alpha),
        points=points[stack],
        disks=disk_rates(analysed),
        others=other_metrics(analysed),
        comparison=versus,
    )


def _point(observation: _Observation, metric: str, started: datetime.datetime) -> Point:
    return Point(
        block=observation["block"],
        position=observation["position"],
        value=float(observation["metrics"][metric]),
        started_at=observation["started_at"],
        hours=(_moment(observation["started_at"]) - started).total_seconds() / 3600,
    )


def _drift(points: dict[str, tuple[Point, ...]]) -> tuple[float, float]:
    times, values = [], []
    for series in points.values():
        if series:
            middle = ranks.median([p.value for p in series])
            times += [p.hours for p in series]
            values += [p.value / middle for p in series]
    return ranks.drift_test(times, values)


def compare(
    values: t.Mapping[int, float],
    reference: t.Mapping[int, float],
    blocks: t.Collection[int],
    margin: float,
    needed: int,
    alpha: float = ALPHA,
) -> Comparison:
    """One stack against the baseline, value by block; p values are not yet adjusted and the verdict is not yet given.

    Equivalence is the larger p of two one-sided signed rank tests, against a ratio of C(1 - margin) and C(1 + margin).
    """
    paired = sorted(set(values) & set(reference))
    logs = [math.log(values[b] / reference[b]) for b in paired]
    missing = tuple(sorted(set(blocks) - set(paired)))
    if not logs:
        return Comparison(0, missing, None, None, 1.0, 1.0, 1.0, 1.0, "no_pairs", False, needed)
    estimate, interval = ranks.hodges_lehmann(logs, alpha)
    low, high = math.log1p(-margin), math.log1p(margin)
    p_equivalence = max(
        ranks.signed_rank_p([d - low for d in logs], "greater"), ranks.signed_rank_p([d - high for d in logs], "less")
    )
    return Comparison(
        pairs=len(logs),
        missing_blocks=missing,
        ratio=math.exp(estimate),
        ratio_interval=interval and ranks.Interval(math.exp(interval.low), math.exp(interval.high), interval.level),
        p=ranks.signed_rank_p(logs),
        p_holm=1.0,
        p_equivalence=p_equivalence,
        p_equivalence_holm=1.0,
        kind="inconclusive",
        different=False,
        blocks_needed=max(0, needed - len(logs)),
    )


def _with_verdicts(
    frame: _Frame, drafts: list[WorkloadSummary], family: int, fingerprints: dict[str, dict[str, t.Any]]
) -> t.Iterator[WorkloadSummary]:
    """The drafts with p values adjusted over all of them, verdicts, and what differs besides the declared."""
    open_cells = [c.comparison for w in drafts for c in w.cells if c.comparison]
    adjusted = list(
        zip(
            ranks.holm([c.p for c in open_cells], family),
            ranks.holm([c.p_equivalence for c in open_cells], family),
        )
    )
    declared = {s["name"]: stack_declaration(s) for s in frame.run["stacks"]}
    direct = {w["name"] for w in frame.run["workloads"] if w.get("direct") in (True, "true", "yes", 1)}
    differing = {
        stack: differences_of(
            fingerprints[stack], fingerprints[frame.baseline], declared[stack], declared[frame.baseline]
        )
        for stack in frame.stacks
        if stack != frame.baseline
    }
    for workload in drafts:
        cells = []
        for cell in workload.cells:
            if cell.comparison is None:
                cells.append(cell)
                continue
            p, p_equivalence = adjusted.pop(0)
            judged = _judge(frame.alpha, cell.comparison, workload.higher_is_better, p, p_equivalence)
            # Direct reads and writes pass the page cache by, and readahead with it.
            telling = [d for d in differing[cell.stack] if workload.name not in direct or d.field != "readahead"]
            cells.append(replace(cell, comparison=replace(judged, differences=tuple(telling))))
        yield replace(workload, cells=tuple(cells))


def _judge(alpha: float, raw: Comparison, higher: bool, p: float, p_equivalence: float) -> Comparison:
    different = raw.pairs > 0 and raw.blocks_needed == 0 and p <= alpha
    if raw.ratio is None:
        kind = "no_pairs"
    elif raw.blocks_needed:
        kind = "too_few_blocks"
    elif p_equivalence <= alpha:
        kind = "equivalent"
    elif different:
        kind = "slower" if (raw.ratio < 1) == higher else "faster"
    else:
        kind = "inconclusive"
    return replace(raw, p_holm=p, p_equivalence_holm=p_equivalence, kind=kind, different=different)
