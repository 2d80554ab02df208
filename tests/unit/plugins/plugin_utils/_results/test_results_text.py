# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re
import typing as t

import pytest

pytest.importorskip("numpy")
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.answer import format_p, headline, host_answer
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.statistics import summarise
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.table import terminal_text
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import (
    format_bytes,
    format_percent,
    format_value,
    join_words,
    metric_of,
    workload_title,
)


def _summary(simulated: t.Any, lost: dict[str, str] | None = None, **options: t.Any) -> t.Any:
    return summarise(*simulated.simulate_run(**options), lost)


def test_the_answer_names_cost_and_no_cost(simulated: t.Any) -> None:
    summary = _summary(simulated, cv=0.005)
    first, second = host_answer(summary, summary.hosts[0])
    assert first.startswith(
        "LVM on md costs nothing measurable in direct reads (equivalent within 3 %). Buffered reads through it are 38 % slower ["
    )
    assert second.startswith("Direct reads through striped LVM are 2.")


def test_the_headline_is_one_sentence(simulated: t.Any) -> None:
    said = headline(_summary(simulated, cv=0.005))
    assert said.startswith(
        "Compared with XFS on md RAID5, LVM on md costs nothing measurable in direct reads and is 38 % slower ["
    )
    assert re.findall(r"\.\s+[A-Z]", said) == []
    assert said.endswith(".")


def test_the_headline_of_several_hosts_gives_the_range(simulated: t.Any) -> None:
    said = headline(
        _summary(simulated, cv=0.003, hosts=("a", "b", "c"), effects={"lvm_on_md": {"buffered_read": 0.62}})
    )
    assert said.startswith(
        "Compared with XFS on md RAID5 on all 3 hosts, LVM on md costs nothing measurable in direct reads and is 38 % slower in buffered reads; "
    )


def test_the_headline_names_hosts_that_disagree(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(cv=0.003, hosts=("a", "b"), effects={"lvm_on_md": {"seq_read": 1.0}})
    for o in observations:
        if o["host"] == "b" and o["stack"] == "lvm_on_md" and o["workload"] == "seq_read":
            o["metrics"]["throughput_bytes_per_second"] *= 0.8
    said = headline(summarise(run, observations))
    assert "on 2 hosts, LVM on md costs nothing measurable in direct reads on a" in said
    assert "slower" in said


def test_a_run_without_valid_observations_says_so(simulated: t.Any) -> None:
    run, _observations = simulated.simulate_run(blocks=1)
    assert headline(summarise(run, [])) == "Nothing was measured: no host of this run has a valid observation."


def test_two_blocks_give_no_verdict_but_a_number(simulated: t.Any) -> None:
    assert headline(_summary(simulated, blocks=2)) == "No verdict yet: 6 more blocks would be needed for one."


def test_the_text_at_the_end(simulated: t.Any) -> None:
    summary = _summary(simulated, {"lab7": "it was unreachable"}, cv=0.005)
    lines = terminal_text(
        summary, "results/report.html", "results/plumbline.db", "ansible-playbook x -e resume=1"
    ).splitlines()
    assert (
        lines[0]
        == "lab1, 4 x WDC WD10EACS-00ZJB0 (SATA, 1 TB), first 10 GiB of each, 8 blocks, 48 observations, 0 invalid"
    )
    assert lines[2] == "  Compared with XFS on md RAID5:"
    assert any(
        line.startswith("  What differs besides the layer (lvm_on_md): readahead, 128 KiB on the LV, 1.5 MiB on md.")
        for line in lines
    )
    assert any("Cure: lvchange --readahead 3072 vg/lv" in line for line in lines)
    heads = [line.split() for line in lines if line.startswith("  stack ")]
    assert [head[1:3] for head in heads] == [["seq_read", "MB/s"], ["buffered_read", "MB/s"]]
    assert any(line.startswith("  md ") and line.endswith("baseline") for line in lines)
    marked = [line for line in lines if line.endswith(" *")]
    assert len(marked) == 1
    assert "slower, p 0.0" in marked[0]
    assert "  Virtual disks: no seek, no rotation; RAID5 reads look better than on real disks." in lines
    assert "lab7, no observation: it was unreachable" in lines
    assert lines[-2] == "Report: results/report.html    Data: results/plumbline.db (run 20261130-a1f3)"
    assert lines[-1] == "Again:  ansible-playbook x -e resume=1"
    assert max(len(line) for line in lines) <= 120


def test_real_disks_are_not_called_virtual(simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=1)
    for o in observations:
        o["fingerprint"]["host"]["cpu_model"] = "AMD EPYC 7302 16-Core Processor"
    assert "Virtual disks" not in terminal_text(summarise(run, observations), "r", "d", "a")


@pytest.mark.parametrize(
    ("p", "text"), [(0.0004, "p < 0.001"), (0.0042, "p 0.004"), (0.0313, "p 0.031"), (0.456, "p 0.46")]
)
def test_p_values(p: float, text: str) -> None:
    assert format_p(p) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.38, "38"), (0.0994, "9.9"), (0.0996, "10"), (0.03, "3"), (-0.024, "2.4")]
)
def test_percents(fraction: float, text: str) -> None:
    assert format_percent(fraction) == text


@pytest.mark.parametrize(
    ("size", "text"), [(131072, "128 KiB"), (1572864, "1.5 MiB"), (10 * 1024**3, "10 GiB"), (512, "512 B")]
)
def test_sizes(size: int, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (81.94e6, "throughput_bytes_per_second", "81.9 MB/s"),
        (3104e6, "throughput_bytes_per_second", "3,104 MB/s"),
        (1.234e6, "throughput_bytes_per_second", "1.23 MB/s"),
        (0.0123, "latency_p99_seconds", "12.3 ms"),
        (0.000123, "latency_p99_seconds", "123.0 µs"),
        (12.0, "duration_seconds", "12.0 s"),
    ],
)
def test_values_with_their_unit(value: float, metric: str, text: str) -> None:
    shown = metric_of(metric, value)
    assert f"{format_value(value, shown)} {shown.unit}" == text


def test_words_are_joined() -> None:
    assert [join_words(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_workloads_in_words_are_told_apart() -> None:
    loads = [
        {"name": "seq", "tool": "fio", "rw": "read", "direct": True},
        {"name": "seq_4k", "tool": "fio", "rw": "read", "direct": True},
        {"name": "dd", "tool": "dd", "access": "write"},
        {"name": "odd", "tool": "bonnie++"},
        {"name": "named", "title": "reads of big files"},
    ]
    said = [workload_title({"workloads": loads}, w["name"]) for w in loads]
    assert said == ["direct reads (seq)", "direct reads (seq_4k)", "buffered writes", "odd", "reads of big files"]
