# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""fio's argument list and its JSON; the recordings are those of tests/fixtures/fio-<version>."""

from __future__ import annotations

import json
import random
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench import fio
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import (
    Parsed,
    Target,
    Workload,
    parse_workload,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
CASES = [case for version in ("fio-3.33", "fio-3.39") for case in sorted((FIXTURES / version).glob("*.rc"))]
DEVICE = Target("/dev/md127", 1321205760)


def workload(**change: t.Any) -> Workload:
    given = {"name": "seq_read", "tool": "fio", "rw": "read", "runtime": "3s", "ramp": "1s", "direct": True, **change}
    return parse_workload({key: value for key, value in given.items() if value is not None})


def recorded(path: Path) -> tuple[str, str, int]:
    return path.with_suffix(".stdout").read_text(), path.with_suffix(".stderr").read_text(), int(path.read_text())


def versions(case: str) -> list[Path]:
    found = [path for path in CASES if path.stem == case]
    assert found
    return found


def parse(path: Path, load: Workload) -> Parsed:
    return fio.parse(*recorded(path), load, DEVICE)


def test_the_command_is_one_process_with_a_fixed_seed_that_never_makes_a_file() -> None:
    argv = fio.command(workload(iodepth=8), DEVICE)
    for word in (
        "--filename=/dev/md127",
        "--thread",
        "--allow_file_create=0",
        "--allow_mounted_write=0",
        "--randrepeat=1",
        "--direct=1",
        "--iodepth=8",
        "--time_based",
        "--runtime=3s",
        "--ramp_time=1s",
        "--output-format=json",
        f"--size={1321205760 // 1048576 * 1048576}",
    ):
        assert word in argv
    assert "--end_fsync=1" not in argv


def test_a_size_limits_the_run_and_a_write_ends_on_the_disk() -> None:
    argv = fio.command(workload(runtime=None, ramp=None, size="100MiB", rw="write", offset="1MiB"), DEVICE)
    assert "--size=104857600" in argv
    assert "--offset=1048576" in argv
    assert "--end_fsync=1" in argv
    assert not [word for word in argv if word.startswith(("--time_based", "--runtime", "--ramp_time"))]


def test_a_colon_in_a_name_does_not_split_it() -> None:
    assert fio.escape_filename("/dev/disk/by-id/md-name-any:x") == "/dev/disk/by-id/md-name-any\\:x"


@pytest.mark.parametrize("path", versions("read_direct"), ids=lambda path: path.parent.name)
def test_a_good_run(path: Path) -> None:
    parsed = parse(path, workload())
    side = json.loads(recorded(path)[0])["jobs"][0]["read"]
    assert parsed.problem is None
    assert parsed.tool_version == path.parent.name.replace("fio-", "")
    assert parsed.metrics["throughput_bytes_per_second"] == side["bw_bytes"] > 10_000_000
    assert parsed.metrics["bytes"] == side["io_bytes"]
    assert parsed.metrics["latency_p99_seconds"] == side["lat_ns"]["percentile"]["99.000000"] / 1e9
    assert parsed.metrics["latency_mean_seconds"] < parsed.metrics["latency_max_seconds"]
    assert parsed.io_seconds == parsed.metrics["duration_seconds"] + 1


@pytest.mark.parametrize("path", versions("randrw"), ids=lambda path: path.parent.name)
def test_a_mixed_run_names_both_sides(path: Path) -> None:
    metrics = parse(path, workload(rw="randrw", runtime="2s")).metrics
    both = metrics["read_throughput_bytes_per_second"] + metrics["write_throughput_bytes_per_second"]
    assert metrics["throughput_bytes_per_second"] == both
    assert {"read_latency_p99_seconds", "write_latency_p99_seconds"} <= set(metrics)
    assert "latency_p99_seconds" not in metrics


def test_a_run_of_a_given_size_has_no_runtime_to_keep() -> None:
    for path in versions("size_limited"):
        parsed = parse(path, workload(runtime=None, ramp=None, size="100MiB"))
        assert (parsed.problem, parsed.metrics["bytes"]) == (None, 104857600)
        assert parsed.io_seconds == parsed.metrics["duration_seconds"]


def test_jobs_are_summed_grouped_or_not() -> None:
    for path in versions("two_jobs_ungrouped"):
        jobs = json.loads(recorded(path)[0])["jobs"]
        assert len(jobs) == 2
        total = sum(job["read"]["io_bytes"] for job in jobs)
        assert parse(path, workload(rw="randread", runtime="2s")).metrics["bytes"] == total
    for path in versions("two_jobs"):
        assert "latency_p99_seconds" in parse(path, workload(rw="randread", runtime="2s")).metrics


def test_a_note_before_the_json_is_a_message() -> None:
    for path in versions("noise_before_json"):
        assert not recorded(path)[0].startswith("{")
        parsed = parse(path, workload(runtime=None, ramp=None, size="50MiB"))
        assert parsed.problem is None
        assert any(message.startswith("note: both iodepth") for message in parsed.messages)


def test_without_latency_percentiles_there_are_none() -> None:
    for path in versions("old_percentiles"):
        metrics = parse(path, workload(runtime=None, ramp=None, size="50MiB")).metrics
        assert "latency_p99_seconds" not in metrics
        assert "latency_mean_seconds" in metrics


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("typo_path", "exit code 1: fio: file creation disallowed"),
        ("misaligned", "Invalid argument"),
        ("terminated", "terminating on signal 15"),
    ],
)
def test_what_must_not_be_analysed(case: str, said: str) -> None:
    for path in versions(case):
        problem = parse(path, workload()).problem
        assert problem is not None
        assert said in problem


@pytest.mark.parametrize("case", ["killed", "bad_option"])
def test_no_json_is_a_parse_error_with_the_exit_code(case: str) -> None:
    for path in versions(case):
        with pytest.raises(ParseError, match="exit code"):
            parse(path, workload())


def test_a_run_that_was_too_short_is_invalid() -> None:
    for path in versions("read_direct"):
        assert "where 30 s were asked for" in (parse(path, workload(runtime="30s")).problem or "")


def test_zero_requests_with_exit_code_zero_are_invalid() -> None:
    for path in versions("typo_path"):
        stdout, stderr, _ = recorded(path)
        assert "moved nothing" in (fio.parse(stdout, stderr, 0, workload(), DEVICE).problem or "")


def test_mutated_output_gives_figures_or_a_parse_error_and_nothing_else() -> None:
    chance = random.Random(20080229)
    originals = [recorded(path)[0] for path in CASES if recorded(path)[0]]
    junk = ["null", "[]", "{}", '"x"', "-1", "1e999", "NaN", "true", "1" * 400, "[" * 50, ",", "}", "\n{\n", "\n}\n"]
    refused = 0
    for _ in range(3000):
        text = chance.choice(originals)
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(text) + 1)
            kind = chance.randrange(4)
            if kind == 0:
                text = text[:place]
            elif kind == 1:
                text = text[:place] + text[place + chance.randint(1, 300) :]
            elif kind == 2:
                text = text[:place] + chance.choice(junk) + text[place:]
            else:
                begin, end = text.find(": ", place), text.find("\n", text.find(": ", place))
                text = text[: begin + 2] + chance.choice(junk) + "," + text[end:] if begin > 0 else text
        try:
            parsed = fio.parse(text, "", chance.choice([0, 1, None]), workload(), DEVICE)
        except ParseError:
            refused += 1
        else:
            assert parsed.metrics["bytes"] >= 0
    assert 0 < refused < 3000
