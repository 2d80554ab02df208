# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""An experiment on one host: regions once, then every stack of every block is built, measured and removed."""

from __future__ import annotations

import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.session import (
    ObservationContext,
    RunTarget,
    run_workloads,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.spool import Spool
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._stack.build import StackBuilder, fresh_uuid
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import Built
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Experiment, StackDescription, Unit
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import new_record, stack_id
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import StackRecord, write_record
from ansible_collections.plumbline.storage.plugins.module_utils._stack.runner import (
    Stopped,
    stop_on_signals,
    write_owner,
)

__all__ = ["ExperimentJob", "region_record", "run_experiment", "stack_record"]


class ExperimentJob(t.NamedTuple):
    """What one host has to do. C(usable_bytes) is the size of every stack's top device."""

    run_id: str
    host: str
    experiment: Experiment
    units: tuple[Unit, ...]
    workloads: t.Mapping[str, Workload]
    disks: tuple[DiskIdentity, ...]
    usable_bytes: int
    consent: Consent
    done_before: int = 0

    @property
    def total(self) -> int:
        return self.done_before + sum(len(unit.workloads) for unit in self.units)


def region_record(job: ExperimentJob, partitions: t.Sequence[str]) -> StackRecord:
    """The record of the regions, which outlive the stacks on them."""
    bare = StackDescription("regions", "regions", (), {})
    return new_record(
        stack_id(job.experiment.name, "regions"),
        bare,
        job.disks,
        job.experiment.region,
        partitions,
        fresh_uuid,
        run_id=job.run_id,
    )


def stack_record(job: ExperimentJob, stack: StackDescription, partitions: t.Sequence[str]) -> StackRecord:
    """The record of one stack on regions that are there."""
    return new_record(
        stack_id(job.experiment.name, stack.name),
        stack,
        job.disks,
        job.experiment.region,
        partitions,
        fresh_uuid,
        keeps_regions=True,
        run_id=job.run_id,
    )


def run_experiment(job: ExperimentJob, spool: Spool) -> None:
    """The whole run, in the foreground of its process. The status tells its end; nothing is raised.

    Told to stop, it removes what it built and ends with the phase C(stopped).
    """
    stop_on_signals()
    write_owner(job.run_id)
    run = _Run(job, spool)
    try:
        with host_lock(f"run {job.run_id} of experiment {job.experiment.name}"):
            run.carry_out()
        run.report("finished")
    except Stopped:
        run.report("stopped", error="it was told to stop.")
    except StorageError as error:
        run.report("failed", error=f"{error.message}.")
    except BaseException as error:
        run.report("failed", error=f"an error of the program: {error!r}; see {spool.log_path}.")
        raise


class _Run:
    """State of a running experiment: the builder, and what the status says."""

    def __init__(self, job: ExperimentJob, spool: Spool) -> None:
        self.job, self.spool = job, spool
        self.builder = StackBuilder(Runner(), job.consent, job.disks)
        self.begun_at = time.time()
        self.counts = {"done": 0, "invalid": 0}
        self.last: dict[str, t.Any] = {}

    def report(self, phase: str, **more: t.Any) -> None:
        """Writes the status for whoever follows the run."""
        status = {
            "phase": phase,
            "blocks": self.job.experiment.design.blocks,
            "done": self.job.done_before + self.counts["done"],
            "done_here": self.counts["done"],
            "invalid": self.counts["invalid"],
            "total": self.job.total,
            "begun_at": self.begun_at,
            "warnings": self.builder.warnings,
            **self.last,
            **more,
        }
        self.spool.write_status(status)

    def carry_out(self) -> None:
        self.report("preparing disks")
        record = region_record(self.job, [fresh_uuid() for _unused in self.job.disks])
        try:
            regions, _unused = self.builder.ensure_regions(record)
            for unit in self.job.units:
                self._unit(unit, record, regions)
        finally:
            self.report("removing regions")
            self.builder.remove(record)

    def _unit(self, unit: Unit, ground: StackRecord, regions: t.Sequence[DeviceGeometry]) -> None:
        stack = next(each for each in self.job.experiment.stacks if each.name == unit.stack)
        record = stack_record(self.job, stack, ground.partitions)
        where = {"block": unit.block, "stack": unit.stack, "workload": None}
        self.report("building", **where)
        started = time.monotonic()
        try:
            write_record(record)
            built, _unused = self.builder.build(stack, record, regions, self.job.usable_bytes)
            self._measure(unit, stack, built, time.monotonic() - started)
        finally:
            self.report("removing", **where)
            removing = time.monotonic()
            self.builder.remove(record)
            self.last["removed_in_seconds"] = round(time.monotonic() - removing, 3)

    def _measure(self, unit: Unit, stack: StackDescription, built: Built, build_seconds: float) -> None:
        top = built.top or built.filesystem
        if top is None:
            raise StorageError(f"stack {stack.name} has no device to measure; give it a layer")
        seconds = {"build": round(build_seconds, 3)}
        if "removed_in_seconds" in self.last:
            seconds["remove_before"] = self.last["removed_in_seconds"]
        context = ObservationContext(
            run_id=self.job.run_id,
            experiment=self.job.experiment.name,
            host=self.job.host,
            stack=stack.name,
            block=unit.block,
            position=unit.position,
            stack_seconds=seconds,
        )
        target = RunTarget(top_device=top, filesystem_device=built.filesystem, layers=built.devices)
        workloads = [self.job.workloads[name] for name in unit.workloads]
        run_workloads(self.builder.runner, target, workloads, context, emit=self._keep, status=self._show)

    def _keep(self, observation: dict[str, t.Any]) -> None:
        self.spool.append(observation)
        if observation["attempt"] == 1:
            self.counts["done"] += 1
        self.counts["invalid"] += not observation["valid"]
        metric = observation["primary_metric"]
        self.last.update(
            last_metric=metric,
            last_value=observation["metrics"].get(metric),
            last_done_at=time.time(),
        )

    def _show(self, status: dict[str, t.Any]) -> None:
        self.report(status.pop("phase"), **status)
