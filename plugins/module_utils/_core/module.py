# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The shared course of a changing module: read, plan, guard, apply, verify. One success exit, one failure exit."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    StepFailed,
    StorageError,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

__all__ = ["CONSENT_ARGUMENT_SPEC", "CleansUp", "Operation", "execute", "run_module", "settle"]

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


def settle(runner: Runner) -> None:
    """Waits until udev has looked at what changed, so that reading again sees it."""
    runner.query(["udevadm", "settle", "--timeout=30"], ok=None)


def execute(operation: Operation, runner: Runner, expendable: t.Sequence[t.Any]) -> dict[str, t.Any]:
    """Reads, plans, asks the guard, and outside check mode applies and verifies. Returns the module's result."""
    with host_lock(enabled=not runner.check_mode):
        guard = Guard(runner, parse_consent(expendable))
        state = operation.read(runner)
        plan = operation.plan(state)
        if plan.changed:
            guard.check(plan)
        result = _base_result(plan, guard)
        if not plan.changed:
            return {**result, **operation.result(state)}
        if runner.check_mode:
            return {**result, **operation.result(plan.predicted)}
        try:
            done = apply_plan(plan, runner, before_step=guard.before_step)
        except StepFailed as error:
            error.cleanup = _clean_up(operation, runner, error.step)
            raise
        return {**result, **operation.result(_verified(operation, runner, done))}


def _clean_up(operation: Operation, runner: Runner, failed: Step) -> list[str]:
    """The first failure is what a person must read, so an error of the cleaning is only told beside it."""
    if not isinstance(operation, CleansUp):
        return []
    try:
        return operation.after_failure(runner, failed)
    except StorageError as error:
        return [f"cleaning up after it failed too: {error.message}"]


def _base_result(plan: Plan, guard: Guard) -> dict[str, t.Any]:
    return {
        "changed": plan.changed,
        "commands": plan.commands(),
        "diff": {"before": dict(plan.before), "after": dict(plan.after)},
        "assumed_parent": plan.assumed_parent,
        "warnings": [*plan.warnings, *guard.warnings],
    }


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
