# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import typing as t

import pytest

np = pytest.importorskip("numpy")
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import ResultsError
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import Cell, Comparison, Summary
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.statistics import parse_margin, summarise


def _cell(summary: Summary, workload: str, stack: str) -> Cell:
    found = next(w for w in summary.hosts[0].workloads if w.name == workload)
    return next(c for c in found.cells if c.stack == stack)


def _compared(summary: Summary, workload: str, stack: str) -> Comparison:
    comparison = _cell(summary, workload, stack).comparison
    assert comparison is not None
    return comparison


def test_known_effects_get_their_verdicts(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(cv=0.008)
    summary = summarise(run, observations)
    assert _compared(summary, "seq_read", "lvm_on_md").kind == "equivalent"
    loss = _compared(summary, "buffered_read", "lvm_on_md")
    assert (loss.kind, loss.different, loss.pairs) == ("slower", True, 8)
    assert loss.ratio == pytest.approx(0.62, abs=0.01)
    assert loss.ratio_interval is not None
    assert loss.ratio_interval.low < 0.62 < loss.ratio_interval.high
    assert _cell(summary, "seq_read", "md").comparison is None


def test_pairing_takes_the_block_effect_out(simulated: t.Any) -> None:
    """Blocks that differ by far more than the stacks do not hide a small difference, nor an equivalence."""
    rng = np.random.default_rng(11)
    same, slower, equal = simulated.simulate_values(rng, [1, 0.9, 1], 12, cv=0.005, block_cv=0.3)
    summary = summarise(*simulated.bare_run({"w": {"a": same, "b": slower, "c": equal}}))
    assert _compared(summary, "w", "b").kind == "slower"
    assert _compared(summary, "w", "c").kind == "equivalent"


def test_less_is_better_for_times(simulated: t.Any) -> None:
    rng = np.random.default_rng(12)
    base, longer = simulated.simulate_values(rng, [1, 1.2], 10, cv=0.01)
    summary = summarise(*simulated.bare_run({"w": {"a": base, "b": longer}}, metric="latency_p99_seconds"))
    assert _compared(summary, "w", "b").kind == "slower"


def test_a_small_sure_difference_inside_the_margin_is_both(simulated: t.Any) -> None:
    rng = np.random.default_rng(13)
    base, near = simulated.simulate_values(rng, [1, 0.99], 12, cv=0.001)
    found = _compared(summarise(*simulated.bare_run({"w": {"a": base, "b": near}})), "w", "b")
    assert (found.kind, found.different) == ("equivalent", True)


def test_too_few_blocks_say_how_many_more(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=2)
    found = _compared(summarise(run, observations), "buffered_read", "lvm_on_md")
    assert (found.kind, found.blocks_needed, found.different) == ("too_few_blocks", 6, False)


def test_invalid_runs_are_counted_and_their_pairs_are_missing(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=9)
    for o in observations:
        if o["block"] == 3 and o["stack"] == "md" and o["workload"] == "seq_read":
            o.update(valid=False, invalid_reason="somebody else read from sdb")
    summary = summarise(run, observations)
    found = _compared(summary, "seq_read", "lvm_on_md")
    assert (found.pairs, found.missing_blocks) == (8, (3,))
    assert _compared(summary, "buffered_read", "lvm_on_md").missing_blocks == ()
    assert _cell(summary, "seq_read", "md").n_invalid == 1
    assert [i.reason for i in summary.hosts[0].invalid] == ["somebody else read from sdb"]


def test_a_valid_repeat_takes_the_place_of_an_invalid_run(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=8)
    bad = next(o for o in observations if o["block"] == 3 and o["stack"] == "md" and o["workload"] == "seq_read")
    again = {**bad, "attempt": 2, "metrics": {**bad["metrics"], "throughput_bytes_per_second": 1.0}}
    bad.update(valid=False, invalid_reason="busy")
    summary = summarise(run, [*observations, again])
    assert min(p.value for p in _cell(summary, "seq_read", "md").points) == 1.0
    assert _compared(summary, "seq_read", "lvm_on_md").missing_blocks == ()


def test_hosts_are_judged_apart_and_lost_ones_are_kept(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(hosts=("a", "b"), blocks=8)
    for o in observations:
        if o["host"] == "b":
            o["metrics"]["throughput_bytes_per_second"] /= 10
    summary = summarise(run, observations, {"c": "it stopped answering"})
    assert [(h.host, h.lost, h.n_observations) for h in summary.hosts] == [
        ("a", None, 48),
        ("b", None, 48),
        ("c", "it stopped answering", 0),
    ]
    ratios = [
        w.cells[1].comparison.ratio
        for h in summary.hosts[:2]
        for w in h.workloads
        if w.name == "buffered_read" and w.cells[1].comparison
    ]
    assert ratios == pytest.approx([0.62, 0.62], abs=0.02)


def test_zero_and_absent_figures_are_no_values(simulated: t.Any) -> None:
    run, observations = simulated.bare_run({"w": {"a": {1: 1.0, 2: 0.0}, "b": {1: float("nan"), 2: 1.0}}})
    found = _compared(summarise(run, observations), "w", "b")
    assert (found.kind, found.pairs) == ("no_pairs", 0)


@pytest.mark.parametrize(("given", "value"), [("3%", 0.03), ("3 %", 0.03), (0.03, 0.03), ("0.05", 0.05)])
def test_margins(given: t.Any, value: float) -> None:
    assert parse_margin(given) == pytest.approx(value)


@pytest.mark.parametrize("given", ["3", 0, -0.1, "much", "60%"])
def test_margins_out_of_range_are_refused(given: t.Any) -> None:
    with pytest.raises(ResultsError, match="equivalence_margin"):
        parse_margin(given)


def test_an_unknown_baseline_is_refused(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=1)
    with pytest.raises(ResultsError, match="the baseline is given as 'raid', but the stacks are md, lvm_on_md"):
        summarise({**run, "design": {**run["design"], "baseline": "raid"}}, observations)


# The truth of what follows is made by the generator, and seeded: each is a fixed set of simulated experiments.


def _kinds(
    simulated: t.Any, seed: int, count: int, effects: list[float], blocks: int, workloads: int = 1, **noise: t.Any
) -> list[set[str]]:
    rng, found = np.random.default_rng(seed), []
    names = [f"s{place}" for place in range(len(effects))]
    for _ in range(count):
        tables = {
            f"w{w}": dict(zip(names, simulated.simulate_values(rng, effects, blocks, **noise)))
            for w in range(workloads)
        }
        summary = summarise(*simulated.bare_run(tables))
        found.append(
            {
                "different" if c.comparison.different else c.comparison.kind
                for w in summary.hosts[0].workloads
                for c in w.cells
                if c.comparison
            }
        )
    return found


@pytest.mark.parametrize(
    "noise", [{"cv": 0.02}, {"cv": 0.2}, {"cv": 0.05, "heavy_tails": True}, {"cv": 0.03, "drift": 0.3}]
)
def test_tables_without_a_difference_seldom_show_one(simulated: t.Any, noise: dict[str, t.Any]) -> None:
    """At most 5 % by theory; 300 tables of four comparisons allow for chance up to 8 %."""
    found = _kinds(simulated, 101, 300, [1, 1, 1], 10, workloads=2, **noise)
    assert sum("different" in kinds for kinds in found) / len(found) <= 0.08


def test_a_real_difference_is_found(simulated: t.Any) -> None:
    found = _kinds(simulated, 102, 200, [1, 0.95], 12, cv=0.03)
    assert sum("different" in kinds for kinds in found) / len(found) >= 0.9


def test_a_true_equality_is_called_equivalent(simulated: t.Any) -> None:
    rng, claimed = np.random.default_rng(103), 0
    for _ in range(200):
        base, same = simulated.simulate_values(rng, [1, 1], 20, cv=0.02)
        claimed += (
            _compared(summarise(*simulated.bare_run({"w": {"a": base, "b": same}})), "w", "b").kind == "equivalent"
        )
    assert claimed / 200 >= 0.9


def test_a_true_six_percent_is_never_called_equivalent(simulated: t.Any) -> None:
    rng = np.random.default_rng(104)
    for _ in range(200):
        base, off = simulated.simulate_values(rng, [1, 0.94], 20, cv=0.02)
        assert _compared(summarise(*simulated.bare_run({"w": {"a": base, "b": off}})), "w", "b").kind != "equivalent"


def test_at_the_margin_itself_equivalence_is_claimed_at_most_at_its_level(simulated: t.Any) -> None:
    rng, claimed = np.random.default_rng(105), 0
    for _ in range(300):
        base, off = simulated.simulate_values(rng, [1, 0.97], 12, cv=0.02)
        claimed += (
            _compared(summarise(*simulated.bare_run({"w": {"a": base, "b": off}})), "w", "b").kind == "equivalent"
        )
    assert claimed / 300 <= 0.08


def test_intervals_of_the_ratio_cover_the_truth(simulated: t.Any) -> None:
    rng, covered = np.random.default_rng(106), 0
    for _ in range(300):
        base, off = simulated.simulate_values(rng, [1, 0.8], 10, cv=0.05)
        interval = _compared(summarise(*simulated.bare_run({"w": {"a": base, "b": off}})), "w", "b").ratio_interval
        assert interval is not None
        covered += interval.low <= 0.8 <= interval.high
    assert covered / 300 >= 0.92


def test_processor_time_is_set_against_all_bytes_moved_the_ramp_included(simulated: t.Any) -> None:
    """Ten seconds of I/O, eight of them measured, at 100 MB/s: 1 GB was moved in 5 processor seconds."""
    run, observations = simulated.simulate_run(blocks=1)
    for o in observations:
        o["metrics"].update(
            throughput_bytes_per_second=1e8,
            bytes=8e8,
            duration_seconds=8.0,
            cpu_user_seconds=2.0,
            cpu_system_seconds=3.0,
        )
        for member in o["members"]:
            member.update(read_bytes=25e7, read_bytes_per_second=25e6, busy_seconds=9.0)
    cell = _cell(summarise(run, observations), "seq_read", "md")
    assert cell.others["cpu_seconds_per_gigabyte"] == pytest.approx(5.0)
    assert cell.disks[0].busy_fraction == pytest.approx(0.9)
