# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters, gates, and the judgement over them."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.cold import cold_problem
from ansible_collections.plumbline.storage.plugins.module_utils._bench.gate import (
    gate_problem,
    members_problem,
    read_gate,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload, parse_workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.sample import (
    Sample,
    cpu_metrics,
    member_figures,
    parse_cpu,
    parse_diskstats,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, StorageError

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures" / "proc-6.1"
MIB = 1024**2
CALM = {"sync_action": {"md0": "idle"}, "degraded": {"md0": 0}, "other_io_bytes": 0, "other_io_window_seconds": 0.3}


def load(**change: t.Any) -> Workload:
    return parse_workload({"name": "x", "tool": "fio", "runtime": "5s", "direct": True, **change})


def test_recorded_diskstats() -> None:
    found = parse_diskstats((FIXTURES / "diskstats").read_text(), {"sda", "md127"})
    assert found["sda"].read_requests == 15404
    assert found["sda"].read_bytes == 3432241 * 512
    assert found["sda"].written_bytes == 1556233 * 512
    assert found["sda"].busy_seconds == 136.876


def test_a_disk_that_is_gone_and_a_line_that_is_cut() -> None:
    text = (FIXTURES / "diskstats").read_text()
    with pytest.raises(StorageError, match="sdq is gone"):
        parse_diskstats(text, {"sda", "sdq"})
    with pytest.raises(ParseError, match="sda"):
        parse_diskstats("   8       0 sda 15404 9770", {"sda"})
    with pytest.raises(ParseError, match="sda"):
        parse_diskstats("8 0 sda " + "x " * 17, {"sda"})


def test_recorded_cpu_times() -> None:
    cpu = parse_cpu((FIXTURES / "stat").read_text(), 100)
    assert (cpu.user_seconds, cpu.idle_seconds) == (204.10, 769.06 + 20.93)
    assert cpu.system_seconds == pytest.approx(255.25 + 50.42)
    with pytest.raises(ParseError):
        parse_cpu("cpu  1 2", 100)


def sample(at: float, sectors: int, user: int, idle: int) -> Sample:
    line = f"8 0 sda 10 0 {sectors} 0 5 0 {sectors // 2} 0 0 1500 0\n"
    return Sample(at, parse_diskstats(line, {"sda"}), parse_cpu(f"cpu {user} 0 100 {idle} 0 0 0 0 0 0", 100))


def test_rates_are_over_the_time_that_the_tool_moved_data() -> None:
    entry = member_figures(sample(0, 0, 0, 0), sample(9, 4096, 0, 0), ["sda"], {"sda": "S1"}, 2.0)[0]
    assert (entry["serial_number"], entry["read_bytes"], entry["read_bytes_per_second"]) == ("S1", 2 * MIB, MIB)
    assert entry["written_bytes"] == MIB
    assert member_figures(sample(0, 0, 0, 0), sample(9, 1, 0, 0), ["sda"], {}, 0.0)[0]["read_bytes_per_second"] is None


def test_cpu_metrics_are_of_the_whole_system() -> None:
    metrics = cpu_metrics(sample(0, 0, 100, 1000), sample(1, 0, 150, 1150))
    assert metrics == {"cpu_user_seconds": 0.5, "cpu_system_seconds": 0.0, "cpu_busy_fraction": 0.25}
    assert "cpu_busy_fraction" not in cpu_metrics(sample(0, 0, 1, 1), sample(1, 0, 1, 1))


def test_a_gate_reads_what_is_there(tmp_path: Path) -> None:
    md = tmp_path / "block/md0/md"
    md.mkdir(parents=True)
    (md / "sync_action").write_text("idle\n")
    (md / "degraded").write_text("1\n")
    (tmp_path / "loadavg").write_text("0.59 1.17 0.88 1/78 948\n")
    facts = read_gate(["md0", "md9"], str(tmp_path), str(tmp_path))
    assert facts["sync_action"] == {"md0": "idle", "md9": None}
    assert facts["degraded"] == {"md0": 1, "md9": None}
    assert facts["load_average_1min"] == 0.59


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"sync_action": {"md0": None}, "degraded": {"md0": None}}, None),
        ({"sync_action": {"md0": "resync"}}, "md0 was busy with resync"),
        ({"sync_action": {"md0": "check"}}, "busy with check"),
        ({"degraded": {"md0": 1}}, "lacked 1 of its disks"),
        ({"other_io_bytes": 5 * MIB, "waited_seconds": 10.2}, "5MiB within 0.3 s"),
    ],
)
def test_gates_open_or_say_why_not(change: dict[str, t.Any], said: str | None) -> None:
    problem = gate_problem({**CALM, **change}, "before")
    assert (problem is None) if said is None else (problem is not None and said in problem and "before" in problem)


def test_cold_is_proved_by_the_disks() -> None:
    cold = load(cold=True)
    assert cold_problem(cold, 100 * MIB, 100 * MIB) is None
    assert "100MiB" in (cold_problem(cold, 100 * MIB, 99 * MIB) or "")
    assert cold_problem(load(), 100 * MIB, 0) is None
    assert cold_problem(load(cold=True, rw="write"), 100 * MIB, 0) is None


def test_disks_that_moved_more_than_the_tool_asked_for() -> None:
    direct = load(ramp="1s")
    assert members_problem(direct, 800 * MIB, 100 * MIB, 990 * MIB, MIB) is None
    assert "somebody else" in (members_problem(direct, 800 * MIB, 100 * MIB, 1100 * MIB, 0) or "")
    assert "written" in (members_problem(direct, 800 * MIB, 100 * MIB, 800 * MIB, 30 * MIB) or "")
    assert members_problem(load(direct=False), 1, 1, 10**12, 10**12) is None
    assert members_problem(load(rw="write"), 1, 1, 10**12, 10**12) is None
