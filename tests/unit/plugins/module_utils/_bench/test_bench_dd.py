# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dd's argument list and its figures; the recordings are those of tests/fixtures/dd-9.1."""

from __future__ import annotations

import random
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench import dd
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Target, Workload, parse_workload
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
CASES = [case for version in ("dd-9.1", "dd-9.7") for case in sorted((FIXTURES / version).glob("*.rc"))]
DEVICE = Target("/dev/md127", 1321205760)


def workload(**change: t.Any) -> Workload:
    return parse_workload({"name": "x", "tool": "dd", "size": "100MiB", **change})


def recorded(path: Path) -> tuple[str, int]:
    return path.with_suffix(".stderr").read_text(), int(path.read_text())


def versions(case: str) -> list[Path]:
    found = [path for path in CASES if path.stem == case]
    assert found
    return found


def test_the_command_reads_whole_blocks_within_the_target() -> None:
    assert dd.command(workload(cold=True), DEVICE) == ["dd", "bs=1048576", "count=100", "if=/dev/md127", "of=/dev/null"]
    direct = dd.command(workload(direct=True, offset="1MiB"), DEVICE)
    assert direct[3:] == ["if=/dev/md127", "of=/dev/null", "skip=1048576", "iflag=direct,skip_bytes"]
    small = Target("/dev/x", 5 * 1024**2 + 512)
    assert "count=5" in dd.command(workload(), small)
    assert "count=4" in dd.command(workload(offset="1MiB"), small)


def test_a_write_never_truncates_or_creates_and_ends_on_the_disk() -> None:
    argv = dd.command(workload(access="write", direct=True, offset="2MiB"), DEVICE)
    assert argv[3:] == [
        "if=/dev/zero",
        "of=/dev/md127",
        "seek=2097152",
        "oflag=direct,seek_bytes",
        "conv=notrunc,nocreat,fsync",
    ]


@pytest.mark.parametrize("path", versions("read"), ids=lambda path: path.parent.name)
def test_a_good_run(path: Path) -> None:
    stderr, rc = recorded(path)
    parsed = dd.parse("", stderr, rc, workload(), DEVICE)
    seconds = float(stderr.split("copied, ")[1].split(" s,")[0])
    assert parsed.problem is None
    assert parsed.metrics["bytes"] == 104857600
    assert parsed.metrics["duration_seconds"] == parsed.io_seconds == seconds
    assert parsed.metrics["throughput_bytes_per_second"] == pytest.approx(104857600 / seconds)
    assert parsed.metrics["iops"] == pytest.approx(100 / seconds)


@pytest.mark.parametrize("path", versions("progress"), ids=lambda path: path.parent.name)
def test_progress_lines_do_not_count(path: Path) -> None:
    stderr, rc = recorded(path)
    assert dd.parse("", stderr, rc, workload(size="150MiB"), DEVICE).metrics["bytes"] == 157286400


@pytest.mark.parametrize(
    ("case", "size", "said"),
    [
        ("past_end", "5000MiB", "dd moved 62914560 bytes where 1321205760"),
        ("full", "5MiB", "No space left on device"),
        ("nothing", "1MiB", "dd moved 0 bytes"),
    ],
)
def test_what_must_not_be_analysed(case: str, size: str, said: str) -> None:
    for path in versions(case):
        stderr, rc = recorded(path)
        problem = dd.parse("", stderr, rc, workload(size=size), DEVICE).problem
        assert problem is not None
        assert said.replace("1321205760", str(1321205760 // 1048576 * 1048576)) in problem


def test_a_small_run_has_no_bracket() -> None:
    for path in versions("small"):
        stderr, rc = recorded(path)
        assert dd.parse("", stderr, rc, workload(bs="512B", size="512B"), DEVICE).metrics["bytes"] == 512


def test_a_missing_device_is_a_parse_error_that_quotes_it() -> None:
    for path in versions("missing"):
        with pytest.raises(ParseError, match=r"exit code 1.*No such file"):
            dd.parse("", *recorded(path), workload(), DEVICE)


@pytest.mark.parametrize("language", ["ko", "de"])
def test_another_language_is_refused_not_misread(language: str) -> None:
    stderr = (FIXTURES / "dd-9.1" / f"language_{language}.stderr").read_text()
    with pytest.raises(ParseError):
        dd.parse("", stderr, 0, workload(size="3MiB"), DEVICE)


@pytest.mark.parametrize(
    "line",
    [
        "3145728 bytes (3.1 MB) copied, 0.0119887 seconds, 262 MB/s",  # hand-made: the form of old coreutils
        "3145728 bytes (3.1 MB, 3.0 MiB) copied, 2.3996e-05 s, 131 GB/s",  # hand-made: a very short time
    ],
)
def test_other_forms_of_the_line(line: str) -> None:
    assert dd.parse("", line + "\n", 0, workload(size="3MiB"), DEVICE).problem is None


def test_a_german_decimal_comma_in_english_words_is_refused() -> None:
    line = "3145728 bytes (3,1 MB, 3,0 MiB) copied, 0,0119887 s, 262 MB/s"  # hand-made: LC_NUMERIC=de, LC_MESSAGES=C
    with pytest.raises(ParseError):
        dd.parse("", line, 0, workload(size="3MiB"), DEVICE)


def test_mutated_output_gives_figures_or_a_parse_error_and_nothing_else() -> None:
    chance = random.Random(20080229)
    originals = [recorded(path)[0] for path in CASES]
    refused = 0
    for _ in range(4000):
        text = list(chance.choice(originals))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(text) + 1)
            kind = chance.randrange(4)
            if kind == 0:
                del text[place : place + chance.randint(1, 20)]
            elif kind == 1:
                text.insert(place, chance.choice("0123456789.,e+-() \n\r\0sé"))
            elif kind == 2:
                del text[place:]
            else:
                text[place : place + 1] = str(10 ** chance.randint(0, 400))
        try:
            parsed = dd.parse("", "".join(text), chance.choice([0, 1, None]), workload(), DEVICE)
        except ParseError:
            refused += 1
        else:
            assert parsed.metrics["bytes"] >= 0
    assert 0 < refused < 4000
