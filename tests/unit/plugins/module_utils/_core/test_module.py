# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of a changing module: plans that follow one another, waiting, notes of what was begun."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core import module as module_under_test
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    StepFailed,
    StorageError,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import execute
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step


class Scripted(Runner):
    """Runs nothing; a step counts the state up by one, when its number is the state."""

    def __init__(self, operation: Counter, check_mode: bool = False) -> None:
        super().__init__(check_mode)
        self.operation = operation

    def query(self, argv: t.Any, *_args: t.Any, **_more: t.Any) -> CommandResult:
        return CommandResult(tuple(argv), 0, "", "")

    def change(self, argv: t.Any, *_args: t.Any, **_more: t.Any) -> CommandResult:
        if argv[0] == "fail":
            raise StorageError("no")
        self.operation.value = int(argv[1])
        return CommandResult(tuple(argv), 0, "", "")


class Counter:
    """From its value to the goal, one plan a step; a plan that is not more ends with what it says itself."""

    def __init__(self, goal: int, more: bool = False, waits: int = 0, program: str = "set") -> None:
        self.value, self.goal, self.more, self.waits, self.program = 0, goal, more, waits, program
        self.calls: list[str] = []

    def read(self, runner: Runner) -> int:
        return self.value

    def plan(self, state: int) -> Plan:
        if state >= self.goal:
            return Plan(warnings=("done",), pending=("as it ends",), predicted=state)
        step = Step((self.program, str(state + 1)), f"set {state + 1}")
        return Plan(
            (step,),
            {"value": state},
            {"value": state + 1},
            pending=(f"at {state}",),
            more=self.more,
            predicted=state + 1,
        )

    def result(self, state: int) -> dict[str, t.Any]:
        return {"value": state}

    def owned(self, state: int) -> list[str]:
        return ["md:ours"]

    def begin(self, plan: Plan) -> None:
        self.calls.append(f"begin {plan.steps[0].argv[1]}")

    def end(self, plan: Plan) -> None:
        self.calls.append(f"end {plan.steps[0].argv[1]}")

    def will_wait(self) -> bool:
        return self.waits > 0

    def wait(self, runner: Runner, state: int) -> int | None:
        if self.waits == 0:
            return None
        self.waits -= 1
        self.goal += 1
        return state


@pytest.fixture(autouse=True)
def no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_under_test, "host_lock", lambda enabled: contextlib.nullcontext())


def test_a_plan_with_more_is_followed_by_the_next() -> None:
    counter = Counter(3, more=True)
    result = execute(counter, Scripted(counter), [])
    assert result["value"] == 3
    assert result["changed"]
    assert result["commands"] == ["set 1", "set 2", "set 3"]
    assert result["diff"] == {"before": {"value": 0}, "after": {"value": 3}}
    # Only the last word on what may pass counts.
    assert result["warnings"] == ["done", "as it ends"]
    assert counter.calls == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]


def test_a_remainder_is_a_failure_otherwise() -> None:
    counter = Counter(2)
    with pytest.raises(VerifyFailed, match="still to do: set 2"):
        execute(counter, Scripted(counter), [])


def test_a_plan_that_changes_nothing_does_not_go_on_for_ever() -> None:
    counter = Counter(2, more=True)
    runner = Scripted(counter)
    runner.change = runner.query  # type: ignore[method-assign]
    with pytest.raises(VerifyFailed, match="shows no change"):
        execute(counter, runner, [])


def test_after_waiting_what_became_due_is_done() -> None:
    counter = Counter(1, waits=2)
    result = execute(counter, Scripted(counter), [])
    assert result["commands"] == ["set 1", "set 2", "set 3"]
    assert result["value"] == 3


@pytest.mark.parametrize(("waits", "seen"), [(1, 3), (0, 1)])
def test_check_mode_foresees_what_comes_after_waiting(waits: int, seen: int) -> None:
    counter = Counter(3, more=True, waits=waits)
    result = execute(counter, Scripted(counter, check_mode=True), [])
    assert (result["value"], len(result["commands"]), counter.value) == (seen, seen, 0)
    assert result["diff"] == {"before": {"value": 0}, "after": {"value": seen}}


def test_check_mode_neither_notes_nor_waits() -> None:
    counter = Counter(1, waits=1)
    result = execute(counter, Scripted(counter, check_mode=True), [])
    assert (result["changed"], result["value"], counter.value) == (True, 1, 0)
    assert counter.calls == []


def test_what_failed_stays_noted() -> None:
    counter = Counter(1, program="fail")
    with pytest.raises(StepFailed):
        execute(counter, Scripted(counter), [])
    assert counter.calls == ["begin 1"]
