# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Plans: ordered steps that turn what is into what is wanted, and how they are carried out."""

from __future__ import annotations

import shlex
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.device_lock import DeviceLocks
from ansible_collections.plumbline.storage.plugins.module_utils._block.wait import wait_for_nodes
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StepFailed, StorageError

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["Plan", "Step", "apply_plan"]


class Step(t.NamedTuple):
    """One command.

    C(writes) are the block devices whose present content the command overwrites: the guard looks at each before
    anything runs. C(removes) are containers (an md device, a VG, an LV) that it takes down; C(stops) such that it takes down
    without losing anything in them, so that only their use matters. C(retries) is for
    commands that udev may disturb for a moment (stop, wipe): they are tried again after settling. C(locks) are devices
    whose disks udev must leave alone meanwhile; consecutive steps that name a disk keep it locked between them. C(awaits) are
    device nodes that an earlier step brings and udev makes a little later: the command waits until they are there.
    C(in_the_way): what it removes was not named by the person; even when that is empty, all disks it lies on must be listed.
    C(table_only): of the disk in C(writes) only the partition table and free room change, and its partitions stay, in use or not.
    """

    argv: tuple[str, ...]
    summary: str
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    ok: tuple[int, ...] = (0,)
    timeout_seconds: float = 600
    stdin: str | None = None
    retries: int = 0
    locks: tuple[str, ...] = ()
    awaits: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    table_only: bool = False
    in_the_way: bool = False

    def shown(self) -> str:
        """The command as a person could type it."""
        text = " ".join(shlex.quote(word) for word in self.argv)
        return text if self.stdin is None else f"{text} <<< {shlex.quote(self.stdin.strip())}"


class Plan(t.NamedTuple):
    """Steps, and the managed fields before and after. C(predicted) is the state after the steps.

    C(pending) are warnings that may no longer be true when the system has ended what it is doing. C(more): further steps
    may be due after these, and are planned when these are done.
    """

    steps: tuple[Step, ...] = ()
    before: t.Mapping[str, t.Any] = {}
    after: t.Mapping[str, t.Any] = {}
    warnings: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    more: bool = False
    predicted: t.Any = None
    assumed_parent: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.steps)

    def commands(self) -> list[str]:
        return [step.shown() for step in self.steps]

    def writes(self) -> tuple[str, ...]:
        """Every device that some step overwrites, each once, in order."""
        return tuple(dict.fromkeys(device for step in self.steps for device in step.writes))

    def removes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.removes))

    def stops(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.stops))


def apply_plan(plan: Plan, runner: Runner, before_step: t.Callable[[Step], None] | None = None) -> list[Step]:
    """Runs the steps in order and returns those done; stops at the first error with StepFailed.

    C(before_step) is called before each step (the guard's last look, the ownership record).
    """
    completed: list[Step] = []
    with DeviceLocks() as locks:
        for step in plan.steps:
            try:
                if before_step is not None:
                    before_step(step)
                locks.hold(step.locks)
                wait_for_nodes(step.awaits)
                _run_step(step, runner)
            except StorageError as error:
                raise StepFailed(completed, step, error) from error
            completed.append(step)
    return completed


def _run_step(step: Step, runner: Runner) -> None:
    for attempt in range(step.retries + 1):
        try:
            runner.change(step.argv, ok=step.ok, timeout=step.timeout_seconds, stdin=step.stdin)
            return
        except StorageError:
            if attempt == step.retries:
                raise
            runner.query(["udevadm", "settle", "--timeout=10"], ok=None)
