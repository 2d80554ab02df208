# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Runs workloads in the order given on one stack; one observation each."""

from __future__ import annotations

import contextlib
import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench import dd, fio
from ansible_collections.plumbline.storage.plugins.module_utils._bench.cold import cold_problem, make_cold
from ansible_collections.plumbline.storage.plugins.module_utils._bench.fingerprint import read_fingerprint
from ansible_collections.plumbline.storage.plugins.module_utils._bench.gate import (
    gate_problem,
    members_problem,
    read_gate,
    wait_until_quiet,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.host import dd_version
from ansible_collections.plumbline.storage.plugins.module_utils._bench.isolate import MOUNT_DIR, READY, in_private_mount
from ansible_collections.plumbline.storage.plugins.module_utils._bench.limit import HungDevice, within
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Parsed, Target, Workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.observation import (
    Measured,
    ObservationContext,
    build_observation,
    moment,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.prepare import TestFile
from ansible_collections.plumbline.storage.plugins.module_utils._bench.sample import (
    Sample,
    cpu_metrics,
    member_figures,
    read_sample,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.target import (
    RunTarget,
    check_workloads,
    device_of,
    time_limit_seconds,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import MeasuredRun, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError

__all__ = ["ObservationContext", "RunTarget", "needed_programs", "run_workloads"]

_SYSTEM_SECONDS = 120.0
Observation = dict[str, t.Any]


def needed_programs(workloads: t.Sequence[Workload]) -> list[str]:
    """Programs that these workloads start, each once."""
    names = [workload.tool for workload in workloads]
    if any(workload.on_filesystem for workload in workloads):
        names += ["unshare", "mount", "fallocate"]
    return list(dict.fromkeys(names))


def run_workloads(
    runner: Runner,
    target: RunTarget,
    workloads: t.Sequence[Workload],
    context: ObservationContext,
    *,
    emit: t.Callable[[Observation], None] = lambda observation: None,
    status: t.Callable[[dict[str, t.Any]], None] = lambda status: None,
    stop: t.Callable[[], bool] = lambda: False,
) -> list[Observation]:
    """Runs each workload once in the order given and returns the observations; an invalid one is repeated at the end.

    C(emit) gets each observation as soon as it is complete, C(status) a mapping with phase, stack, workload, block,
    started_at and expected_seconds before each step, C(stop) is asked between and during runs. Raises PlanRefused
    before anything runs, and HungDevice (after emitting the invalid observation) when a run does not end.
    """
    check_workloads(workloads, target)
    for program in needed_programs(workloads):
        runner.path_of(program)
    session = _Session(runner, target, workloads, context, status=status, stop=stop)
    planned = [(workload, context.position + index) for index, workload in enumerate(workloads)]
    done: list[Observation] = []
    with contextlib.ExitStack() as held:
        session.hold_open(held)
        held.callback(session.end)
        for attempt in range(1, context.max_attempts + 1):
            again = []
            for workload, position in planned:
                observation = None if stop() else session.observe(workload, position, attempt)
                if observation is None:
                    return done
                emit(observation)
                done.append(observation)
                if session.hung is not None:
                    raise session.hung
                if not observation["valid"]:
                    again.append((workload, position))
            planned = again
    return done


class _Session:
    """What the runs on one stack share: the tree, the fingerprint, the disks below, the test file."""

    def __init__(
        self,
        runner: Runner,
        target: RunTarget,
        workloads: t.Sequence[Workload],
        context: ObservationContext,
        *,
        status: t.Callable[[dict[str, t.Any]], None],
        stop: t.Callable[[], bool],
    ) -> None:
        self.runner, self.target, self.workloads, self.context = runner, target, workloads, context
        self._status, self._stop = status, stop
        self.hung: HungDevice | None = None
        self.tree: BlockTree = read_tree()
        self._fingerprints: dict[str, dict[str, t.Any]] = {}
        self._file: TestFile | None = None

    def hold_open(self, held: contextlib.ExitStack) -> None:
        """The page cache of a device goes with its last close: a buffered run that is not to be cold keeps it open."""
        for workload in self.workloads:
            if not workload.cold and not workload.direct and not workload.on_filesystem:
                held.callback(os.close, os.open(device_of(workload, self.target), os.O_RDONLY | os.O_CLOEXEC))

    def end(self) -> None:
        if self._file is not None and not self.target.keep_file and self.hung is None:
            self._file.remove(self.runner)

    def observe(self, workload: Workload, position: int, attempt: int) -> Observation | None:
        """One run; None when it was told to stop. Whatever breaks makes it invalid, with the sentence as reason."""
        measured = Measured(
            started_at=time.time(), parser_version=(fio if workload.tool == "fio" else dd).PARSER_VERSION
        )
        fingerprint: dict[str, t.Any] = {}
        try:
            fingerprint = self._fingerprint(device_of(workload, self.target))
            if not self._run(workload, measured, fingerprint):
                return None
        except PlanRefused:
            raise
        except HungDevice as error:
            self.hung = error
            measured.invalid(error.message)
        except (StorageError, OSError) as error:
            measured.invalid(str(error))
        measured.ended_at = time.time()
        return build_observation(
            self.context, workload, position=position, attempt=attempt, measured=measured, fingerprint=fingerprint
        )

    def _fingerprint(self, device: str) -> dict[str, t.Any]:
        if device not in self._fingerprints:
            self._fingerprints[device] = read_fingerprint(self.runner, device, self.tree)
        return self._fingerprints[device]

    def _run(self, workload: Workload, measured: Measured, fingerprint: t.Mapping[str, t.Any]) -> bool:
        """Gates, cold caches, the tool between two samples, and the judgement. False when it was told to stop."""
        node = t.cast("BlockNode", self.tree.node_of(device_of(workload, self.target)))
        disks = [disk.kernel_name for disk in self.tree.disks_under(node)]
        arrays = [each.kernel_name for each in (node, *self.tree.everything_under(node)) if each.kind == "md"]
        subject = self._subject(workload, node, measured, fingerprint)
        measured.gate_before = {**read_gate(arrays), **wait_until_quiet(disks)}
        measured.invalid(gate_problem(measured.gate_before, "before"))
        argv = (fio if workload.tool == "fio" else dd).command(workload, subject)
        measured.command = argv
        if measured.problem is not None:
            return True
        self._report("measuring", workload, workload.expected_seconds())
        samples: list[Sample] = []

        def before() -> None:
            if workload.cold:
                within(_SYSTEM_SECONDS, "emptying the caches", lambda: make_cold(self._cached_paths(node)))
            samples.append(read_sample(disks))

        run = self._measure(workload, subject, argv, before)
        if run.stopped_why is not None and self._stop():
            return False
        measured.stdout, measured.stderr, measured.exit_code = run.stdout, run.stderr, run.rc
        if run.stopped_why is not None:
            raise HungDevice(
                f"{workload.tool} on {subject.path}: {run.stopped_why}; a device hangs or the time limit is too short"
            )
        before_run = samples[0] if samples else None
        self._judge(workload, subject, measured, run=run, before=before_run, disks=disks, fingerprint=fingerprint)
        measured.gate_after = read_gate(arrays)
        measured.invalid(gate_problem(measured.gate_after, "after"))
        return True

    def _subject(
        self, workload: Workload, node: BlockNode, measured: Measured, fingerprint: t.Mapping[str, t.Any]
    ) -> Target:
        """What the tool opens; a test file is written first, once for all workloads of this session."""
        if not workload.on_filesystem:
            return Target(node.path, node.size_bytes)
        if self._file is None:
            self._file = TestFile.plan(self.workloads, self.target, node.path, fingerprint)
        if not self._file.written:
            self._report("preparing", workload, None)
            measured.metrics["prepare_seconds"] = round(self._file.write(self.runner), 3)
        return self._file.target()

    def _measure(
        self, workload: Workload, subject: Target, argv: t.Sequence[str], before: t.Callable[[], None]
    ) -> MeasuredRun:
        limit = time_limit_seconds(workload, subject.size_bytes)
        if not workload.on_filesystem:
            before()
            return self.runner.measure(argv, limit, stop=self._stop)
        os.makedirs(MOUNT_DIR, mode=0o700, exist_ok=True)
        device = device_of(workload, self.target)
        command = in_private_mount(device, [self.runner.path_of(argv[0]), *argv[1:]], read_only=not workload.writes)
        return self.runner.measure(command, limit + _SYSTEM_SECONDS, READY, before, self._stop)

    def _cached_paths(self, node: BlockNode) -> list[str]:
        below = self.tree.everything_under(node)
        return [node.path, *(each.path for each in below)]

    def _judge(
        self,
        workload: Workload,
        subject: Target,
        measured: Measured,
        *,
        run: MeasuredRun,
        before: Sample | None,
        disks: t.Sequence[str],
        fingerprint: t.Mapping[str, t.Any],
    ) -> None:
        """Figures of the tool, the system and the disks, and every reason against them."""
        if before is None:
            raise StorageError(
                f"the file system on {device_of(workload, self.target)} could not be mounted (exit code {run.rc}): "
                f"{run.stderr.strip() or 'nothing was printed'}"
            )
        after = read_sample(disks)
        tool = fio if workload.tool == "fio" else dd
        parsed: Parsed = tool.parse(run.stdout, run.stderr, run.rc, workload, subject)
        measured.tool_version = parsed.tool_version or (dd_version(self.runner) if workload.tool == "dd" else None)
        measured.metrics.update({key: round(value, 9) for key, value in parsed.metrics.items()})
        measured.metrics.update(cpu_metrics(before, after))
        measured.metrics["tool_user_seconds"] = round(run.user_seconds, 3)
        measured.metrics["tool_system_seconds"] = round(run.system_seconds, 3)
        measured.metrics["wall_seconds"] = round(run.ended_at - run.ready_at, 3)
        measured.members = member_figures(before, after, disks, _serials(fingerprint), parsed.io_seconds)
        measured.invalid(parsed.problem)
        read = sum(member["read_bytes"] for member in measured.members)
        written = sum(member["written_bytes"] for member in measured.members)
        moved, rate = (parsed.metrics.get(key, 0.0) for key in ("bytes", "throughput_bytes_per_second"))
        measured.invalid(cold_problem(workload, moved, read))
        measured.invalid(members_problem(workload, moved, rate, read, written))

    def _report(self, phase: str, workload: Workload, expected_seconds: float | None) -> None:
        self._status(
            {
                "phase": phase,
                "stack": self.context.stack,
                "workload": workload.name,
                "block": self.context.block,
                "started_at": moment(time.time()),
                "expected_seconds": expected_seconds,
            }
        )


def _serials(fingerprint: t.Mapping[str, t.Any]) -> dict[str, str | None]:
    """Serial numbers of the disks by kernel name."""
    layers = [layer for layer in fingerprint.get("layers") or () if layer.get("disk")]
    return {os.path.basename(layer["path"]): layer["disk"].get("serial_number") for layer in layers}
