# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The shared course of a changing module: read, plan, guard, apply, verify. One success exit, one failure exit."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent, parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    StepFailed,
    StorageError,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard

__all__ = [
    "CONSENT_ARGUMENT_SPEC",
    "CleansUp",
    "NotesWork",
    "Operation",
    "Waits",
    "execute",
    "run_module",
    "settle",
]

CONSENT_ARGUMENT_SPEC: dict[str, t.Any] = {
    "expendable_disks": {"type": "list", "elements": "raw", "default": []},
}


class Operation(t.Protocol):
    """What one changing module decides. C(read) may be called again after applying."""

    def read(self, runner: Runner) -> t.Any:
        """The present state: queries only."""

    def plan(self, state: t.Any) -> Plan:
        """Pure. May raise PlanRefused."""

    def result(self, state: t.Any) -> dict[str, t.Any]:
        """The object as returned to the person, from a read or predicted state."""


@t.runtime_checkable
class CleansUp(t.Protocol):
    """An Operation that takes back what a failed step left behind."""

    def after_failure(self, runner: Runner, failed: Step) -> list[str]:
        """Removes leavings of the failed step and tells in sentences what was done; nothing to do: an empty list."""


@t.runtime_checkable
class NotesWork(t.Protocol):
    """An Operation that notes what it begins, so that the next run can finish what a killed one left."""

    def owned(self, state: t.Any) -> t.Sequence[str]:
        """Containers that are leavings of our own half-done work, as the guard names them."""

    def begin(self, plan: Plan) -> None:
        """Called before the first step."""

    def end(self, plan: Plan) -> None:
        """Called after the last step."""


@t.runtime_checkable
class Waits(t.Protocol):
    """An Operation that lets the system finish what was begun (a resync), after which more may be due."""

    def will_wait(self) -> bool:
        """Whether the person asked for waiting."""

    def wait(self, runner: Runner, state: t.Any) -> t.Any:
        """Waits, and returns the state read again; None when there was nothing to wait for. Raises VerifyFailed when its
        time is over."""


def settle(runner: Runner) -> None:
    """Waits until udev has looked at what changed, so that reading again sees it."""
    runner.query(["udevadm", "settle", "--timeout=30"], ok=None)


def execute(operation: Operation, runner: Runner, expendable: t.Sequence[t.Any]) -> dict[str, t.Any]:
    """Reads, plans, asks the guard, and outside check mode applies and verifies. Returns the module's result."""
    with host_lock(enabled=not runner.check_mode):
        course = _Course(operation, runner, parse_consent(expendable))
        state = operation.read(runner)
        if isinstance(operation, NotesWork):
            course.owned = operation.owned(state)
        state = course.follow(state, operation.plan(state))
        if isinstance(operation, Waits) and not runner.check_mode:
            state = course.wait(operation, state)
        return {**course.result(), **operation.result(state)}


class _Course:
    """The plans of one run: usually one, more where something had to be waited for in between."""

    def __init__(self, operation: Operation, runner: Runner, consent: Consent) -> None:
        self.operation, self.runner, self.consent = operation, runner, consent
        self.owned: t.Sequence[str] = ()
        self.plans: list[Plan] = []
        self._guard: Guard | None = None

    @property
    def guard(self) -> Guard:
        """Loaded with the first change: most runs change nothing, and on a slow target its code takes half a second to load."""
        if self._guard is None:
            from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard

            self._guard = Guard(self.runner, self.consent, self.owned)
        return self._guard

    def follow(self, state: t.Any, plan: Plan) -> t.Any:
        """Carries out one plan; returns the state after it, in check mode the predicted one."""
        if plan.changed:
            self.guard.check(plan)
        self.plans.append(plan)
        if not plan.changed:
            return state
        if self.runner.check_mode:
            return self._foresee(plan)
        done = self._apply(plan)
        return self._next(plan) if plan.more else _verified(self.operation, self.runner, done)

    def _next(self, plan: Plan) -> t.Any:
        settle(self.runner)
        state = self.operation.read(self.runner)
        rest = self.operation.plan(state)
        if rest.steps and rest.steps == plan.steps:
            raise VerifyFailed(
                f"{rest.steps[-1].summary}: this ran without an error, but reading again shows no change"
            )
        return self.follow(state, rest)

    def _foresee(self, plan: Plan) -> t.Any:
        """The state that a run would end with, which goes on after waiting."""
        operation = self.operation
        if plan.more and isinstance(operation, Waits) and operation.will_wait():
            return self.follow(plan.predicted, operation.plan(plan.predicted))
        return plan.predicted

    def _apply(self, plan: Plan) -> list[Step]:
        if isinstance(self.operation, NotesWork):
            self.operation.begin(plan)
        try:
            done = apply_plan(plan, self.runner, before_step=self.guard.before_step)
        except StepFailed as error:
            error.cleanup = _clean_up(self.operation, self.runner, error.step)
            raise
        if isinstance(self.operation, NotesWork):
            self.operation.end(plan)
        return done

    def wait(self, operation: Waits, state: t.Any) -> t.Any:
        while True:
            waited = operation.wait(self.runner, state)
            if waited is None:
                return state
            plan = self.operation.plan(waited)
            state = self.follow(waited, plan)
            if not plan.changed:
                return state

    def result(self) -> dict[str, t.Any]:
        """What the plans did together."""
        before: dict[str, t.Any] = {}
        after: dict[str, t.Any] = {}
        for plan in self.plans:
            before = {**plan.before, **before}
            after = {**after, **plan.after}
        first = self.plans[0]
        warnings = [*(text for plan in self.plans for text in plan.warnings), *self.plans[-1].pending]
        warnings += self._guard.warnings if self._guard is not None else []
        return {
            "changed": any(plan.changed for plan in self.plans),
            "commands": [command for plan in self.plans for command in plan.commands()],
            "diff": {"before": before, "after": after},
            "assumed_parent": first.assumed_parent,
            "warnings": list(dict.fromkeys(warnings)),
        }


def _clean_up(operation: Operation, runner: Runner, failed: Step) -> list[str]:
    """The first failure is what a person must read, so an error of the cleaning is only told beside it."""
    if not isinstance(operation, CleansUp):
        return []
    try:
        return operation.after_failure(runner, failed)
    except StorageError as error:
        return [f"cleaning up after it failed too: {error.message}"]


def _verified(operation: Operation, runner: Runner, done: t.Sequence[Step]) -> t.Any:
    settle(runner)
    state = operation.read(runner)
    rest = operation.plan(state)
    if rest.changed:
        left = "; ".join(step.summary for step in rest.steps)
        raise VerifyFailed(
            f"{len(done)} steps ran without an error, but reading again shows that this is still to do: {left}"
        )
    return state


def run_module(module: AnsibleModule, make_operation: t.Callable[[t.Mapping[str, t.Any]], Operation]) -> t.NoReturn:
    """Runs C(execute) for an Ansible module; errors of this collection become its failure."""
    runner = Runner(check_mode=module.check_mode)
    try:
        result = execute(make_operation(module.params), runner, module.params.get("expendable_disks") or [])
    except StorageError as error:
        module.fail_json(msg=error.message, changed=isinstance(error, (StepFailed, VerifyFailed)), **error.details())
    for text in result.pop("warnings"):
        module.warn(text)
    module.exit_json(**result)
