# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the full test: none is forgotten, and they take turns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import run
from ci import lab_parts

LAB = Path(__file__).resolve().parents[1] / "lab"


def test_every_lab_test_is_in_a_part() -> None:
    named = {name for part in lab_parts.PARTS.values() for name in part.tests}
    assert named == {path.name for path in LAB.glob("test_*.py")}


def test_shares_are_complete() -> None:
    groups: dict[tuple[str, tuple[str, ...], int], set[int]] = {}
    for part in lab_parts.PARTS.values():
        groups.setdefault((part.guest, part.tests, part.share[1]), set()).add(part.share[0])
    assert all(numbers == set(range(1, shares + 1)) for (_guest, _tests, shares), numbers in groups.items())


def test_every_part_is_due_once_in_as_many_hours() -> None:
    due = [lab_parts.part_of_the_hour(now=hour * 3600.0).name for hour in range(len(lab_parts.TURNS))]
    assert sorted(due) == sorted(lab_parts.TURNS)
    assert set(due) <= {part.name for part in lab_parts.SLICES}


@pytest.mark.parametrize(
    ("arguments", "ci", "more"),
    [
        ([], "", 0),
        ([], "true", 1),
        (["--full"], "", 1 + len(lab_parts.SLICES)),
        (["--full"], "true", 1 + len(lab_parts.SLICES)),
    ],
)
def test_stages(monkeypatch: pytest.MonkeyPatch, arguments: list[str], ci: str, more: int) -> None:
    monkeypatch.setenv("CI", ci)
    stages = run.stages_of(arguments)
    assert len(stages) == len(run.TEST) + more
    assert set(stages) <= set(run.STAGES)


def test_named_stages_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert run.stages_of(["md-13", "lint"]) == ["md-13", "lint"]
