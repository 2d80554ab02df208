# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import CommandError, StepFailed
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._stack import build
from ansible_collections.plumbline.storage.plugins.module_utils._stack.build import StackBuilder


class FakeRunner:
    """Changes nothing; commands named C(bad) fail."""

    check_mode = False

    def change(self, argv: t.Sequence[str], **_unused: t.Any) -> None:
        if argv[0] == "bad":
            raise CommandError(argv, 1, "", "broken")

    def query(self, *_unused: t.Any, **_unused_too: t.Any) -> None:
        pass


def steps(*names: str) -> Plan:
    return Plan(tuple(Step((name,), f"step {name}") for name in names))


@pytest.fixture()
def builder() -> StackBuilder:
    return StackBuilder(t.cast("Runner", FakeRunner()), parse_consent([]))


def take_back(monkeypatch: pytest.MonkeyPatch, answer: t.Callable[[], list[str]]) -> None:
    monkeypatch.setattr(build, "take_back_failed_create", lambda _runner, _step: answer())


def test_a_failure_tells_all_that_was_done_since_the_start(
    builder: StackBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_back(monkeypatch, lambda: ["cleaned up: stop it"])
    builder._run(steps("one", "two"))
    with pytest.raises(StepFailed, match="Done before it: step one; step two; step three") as failed:
        builder._run(steps("three", "bad", "never"))
    assert failed.value.details()["completed_steps"] == ["step one", "step two", "step three"]
    assert failed.value.details()["failed_step"] == "step bad"
    assert failed.value.details()["cleanup"] == ["cleaned up: stop it"]


def test_a_clean_up_that_fails_does_not_hide_the_first_failure(
    builder: StackBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> list[str]:
        raise CommandError(["mdadm"], 1, "", "busy")

    take_back(monkeypatch, fails)
    with pytest.raises(StepFailed, match="step bad: `bad` failed") as failed:
        builder._run(steps("bad"))
    assert failed.value.cleanup == ["could not clean up: `mdadm` failed (exit code 1): busy"]


def test_what_was_done_to_another_stack_is_not_told(builder: StackBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    take_back(monkeypatch, list)
    builder._run(steps("one"))
    builder._forget_applied()
    with pytest.raises(StepFailed, match="Done before it: nothing"):
        builder._run(steps("bad"))
