# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the test run counts."""

from __future__ import annotations

import sys
import typing as t
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from ci import script
from ci.outcome import Outcome, capture, counts_of, one
from ci.pythons import find_python
from ci.sanity import _failed


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["12 passed, 0 failed"], Outcome(12)),
        (["1 passed, 0 failed", "noise", "x: 3 passed, 1 failed, 2 skipped", "end"], Outcome(3, 1, 2)),
        (["12 passed"], None),
        (["14 passed in 0.51s"], Outcome(14)),
        (["== 2 failed, 3 passed, 1 skipped, 1 warning, 1 error in 61.20s (0:01:01) =="], Outcome(3, 3, 1)),
        (["0 passed, 1 failed", "2 errors in 3.00s"], Outcome(0, 2)),
        (["we had 1 passed, 0 failed"], None),
        ([], None),
    ],
)
def test_counts(lines: list[str], expected: Outcome | None) -> None:
    assert counts_of(lines) == expected


def test_sums_and_names() -> None:
    total = one("ruff", True) + one("mypy", False) + Outcome(skipped=1, notes=("skipped: x",))
    assert (total.passed, total.failed, total.skipped) == (1, 1, 1)
    assert total.notes == ("failed: mypy", "skipped: x")


def test_failed_sanity_tests_are_named() -> None:
    lines = [
        "ERROR: Found 1 pylint issue(s)",
        "FATAL: The 2 sanity test(s) listed below (out of 24) failed. See error output above for details.",
        "pylint",
        "yamllint",
    ]
    assert _failed(lines) == ["pylint", "yamllint"]
    assert _failed(["pylint"]) == []


@pytest.mark.runs_programs
def test_output_is_captured_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = capture([sys.executable, "-c", "print('one'); print('two'); raise SystemExit(3)"], 60)
    assert (code, lines) == (3, ["one", "two"])
    assert "two" in capsys.readouterr().out


@pytest.mark.runs_programs
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo '4 passed, 0 failed'", (4, 0)),
        ("echo '4 passed, 0 failed'; exit 1", (4, 1)),
        ("echo '4 passed, 2 failed'; exit 1", (4, 2)),
        ("true", (1, 0)),
        ("exit 9", (0, 1)),
    ],
)
def test_stage_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: tuple[int, int]) -> None:
    (tmp_path / "tests" / "ci").mkdir(parents=True)
    (tmp_path / "tests" / "ci" / "thing.sh").write_text(text, encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    outcome = script.script("thing", 60)
    assert (outcome.passed, outcome.failed) == expected
    assert script.script("missing", 60).failed == 1


@pytest.mark.runs_programs
def test_this_python_is_found() -> None:
    found: t.Any = find_python(f"{sys.version_info[0]}.{sys.version_info[1]}")
    assert found.exists()
