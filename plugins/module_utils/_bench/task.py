# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One call of the benchmark module: options to target and workloads, checks before anything runs, and the run."""

from __future__ import annotations

import dataclasses
import errno
import os
import secrets
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench import dd, fio
from ansible_collections.plumbline.storage.plugins.module_utils._bench.detach import detach
from ansible_collections.plumbline.storage.plugins.module_utils._bench.fingerprint import read_fingerprint
from ansible_collections.plumbline.storage.plugins.module_utils._bench.isolate import BENCH_FILE, MOUNT_DIR
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Target, Workload, parse_workloads
from ansible_collections.plumbline.storage.plugins.module_utils._bench.observation import ObservationContext
from ansible_collections.plumbline.storage.plugins.module_utils._bench.prepare import TestFile
from ansible_collections.plumbline.storage.plugins.module_utils._bench.session import needed_programs, run_workloads
from ansible_collections.plumbline.storage.plugins.module_utils._bench.spool import Spool
from ansible_collections.plumbline.storage.plugins.module_utils._bench.target import (
    RunTarget,
    check_workloads,
    device_of,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size

__all__ = ["BenchTask", "make_task"]


@dataclasses.dataclass(frozen=True)
class BenchTask:
    """What one call is to do. C(spooled) keeps the observations on the host until they are collected."""

    target: RunTarget
    workloads: tuple[Workload, ...]
    context: ObservationContext
    spooled: bool
    expendable: tuple[t.Any, ...]

    @property
    def changes(self) -> bool:
        """Reading devices changes nothing; a file system gets a test file, a write workload overwrites."""
        return any(workload.writes or workload.on_filesystem for workload in self.workloads)

    def check(self, runner: Runner) -> list[dict[str, t.Any]]:
        """What would run, in order. Raises PlanRefused, MissingTool; starts no program that changes anything."""
        check_workloads(self.workloads, self.target)
        tree = read_tree()
        planned = []
        for workload in self.workloads:
            path = device_of(workload, self.target)
            node = tree.node_of(path)
            if node is None:
                raise PlanRefused(f"workload {workload.name} runs on {path}, which is not a block device of this host")
            if workload.on_filesystem or workload.writes:
                _check_unused(path, workload)
            planned.append(_planned(workload, Target(node.path, node.size_bytes)))
        for program in needed_programs(self.workloads):
            runner.path_of(program)
        self._check_file(runner)
        written = [device_of(load, self.target) for load in self.workloads if load.writes and not load.on_filesystem]
        if written:
            guard = Guard(runner, parse_consent(self.expendable))
            guard.check_disks(list(dict.fromkeys(written)), purpose="write to")
        return planned

    def _check_file(self, runner: Runner) -> None:
        """The file system must be XFS and have room for the test file."""
        if any(workload.on_filesystem for workload in self.workloads):
            device = t.cast("str", self.target.filesystem_device)
            TestFile.plan(self.workloads, self.target, device, read_fingerprint(runner, device))

    def run(self, runner: Runner) -> list[dict[str, t.Any]]:
        """Runs in the foreground and returns the observations."""
        spool = Spool(self.context.run_id) if self.spooled else None
        if spool is not None:
            spool.create()
        emit = (lambda observation: None) if spool is None else spool.append
        status = (lambda status: None) if spool is None else spool.write_status
        with host_lock("storage_benchmark"):
            return run_workloads(runner, self.target, self.workloads, self.context, emit=emit, status=status)

    def start_detached(self, runner: Runner) -> dict[str, t.Any]:
        """Runs in the background, observations to the spool; returns where to look."""
        spool = Spool(self.context.run_id)
        spool.create()
        spool.write_status({"phase": "starting", "total": len(self.workloads), "done": 0})
        return spool.job(detach(lambda: self._background(runner, spool), spool.log_path))

    def _background(self, runner: Runner, spool: Spool) -> None:
        counts = {"done": 0, "total": len(self.workloads)}

        def emit(observation: dict[str, t.Any]) -> None:
            spool.append(observation)
            counts["done"] += observation["attempt"] == 1

        def status(now: dict[str, t.Any]) -> None:
            spool.write_status({**now, **counts})

        try:
            with host_lock("storage_benchmark"):
                run_workloads(runner, self.target, self.workloads, self.context, emit=emit, status=status)
            spool.write_status({"phase": "finished", **counts})
        except StorageError as error:
            spool.write_status({"phase": "failed", "error": error.message, **counts})
        except BaseException as error:
            spool.write_status(
                {"phase": "failed", "error": f"internal error: {error!r}; see {spool.log_path}", **counts}
            )
            raise


def make_task(params: t.Mapping[str, t.Any]) -> BenchTask:
    """A task from the module's options; raises PlanRefused for what cannot be right whatever the host looks like."""
    device, filesystem = params.get("device"), params.get("filesystem")
    top = device or filesystem
    if not top:
        raise PlanRefused(
            "neither device nor filesystem was given; name the block device to measure, or the one with XFS"
        )
    run_id = params.get("run_id") or f"{time.strftime('%Y%m%d', time.gmtime())}-{secrets.token_hex(2)}"
    Spool(run_id)
    return BenchTask(
        target=RunTarget(
            top_device=top,
            filesystem_device=filesystem,
            layers={str(name): str(path) for name, path in (params.get("layers") or {}).items()},
            file_bytes=parse_optional_size(params.get("file_size"), "file_size"),
            keep_file=bool(params.get("keep_file")),
        ),
        workloads=tuple(parse_workloads(params.get("workloads") or [])),
        context=ObservationContext(
            run_id=run_id,
            experiment=params.get("experiment") or "ad_hoc",
            host=params.get("host") or os.uname().nodename,
            stack=params.get("stack") or os.path.basename(top),
            block=params.get("block") or 1,
            position=params.get("position") or 1,
            factors=params.get("factors") or {},
            max_attempts=params.get("max_attempts") or 1,
        ),
        spooled=bool(params.get("spool")),
        expendable=tuple(params.get("expendable_disks") or ()),
    )


def _check_unused(path: str, workload: Workload) -> None:
    """An exclusive open decides whether a device is mounted anywhere or held by another layer."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise PlanRefused(
                f"workload {workload.name} needs {path} for itself, but it is mounted or part of another device; "
                "unmount it first, or name the device on top"
            ) from None
        raise PlanRefused(
            f"workload {workload.name} runs on {path}, which cannot be opened: {error.strerror}"
        ) from None


def _planned(workload: Workload, device: Target) -> dict[str, t.Any]:
    subject = device
    if workload.on_filesystem:
        subject = Target(os.path.join(MOUNT_DIR, BENCH_FILE), workload.size_bytes or device.size_bytes)
    tool = fio if workload.tool == "fio" else dd
    return {
        "workload": workload.name,
        "device": device.path,
        "command": tool.command(workload, subject),
        "expected_seconds": workload.expected_seconds(),
    }
