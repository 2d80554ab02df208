# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Begins an experiment on this host: tidies up after earlier runs, chooses disks, plans every stack, then detaches the run."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.detach import detach
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload, parse_workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.session import needed_programs
from ansible_collections.plumbline.storage.plugins.module_utils._bench.spool import Spool, left_spools
from ansible_collections.plumbline.storage.plugins.module_utils._bench.target import RunTarget, check_workloads
from ansible_collections.plumbline.storage.plugins.module_utils._block.describe import describe_disks, render_disks_seen
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent, parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks
from ansible_collections.plumbline.storage.plugins.module_utils._stack.build import StackBuilder, fresh_uuid
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import Built, compose_layers
from ansible_collections.plumbline.storage.plugins.module_utils._stack.experiment import (
    ExperimentJob,
    region_record,
    run_experiment,
    stack_record,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Experiment, Unit
from ansible_collections.plumbline.storage.plugins.module_utils._stack.order import order_units, remaining_units
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import parse_experiment
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import read_records
from ansible_collections.plumbline.storage.plugins.module_utils._stack.runner import (
    alive,
    read_owner,
    stop_runner,
    wait_for_lapse,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.select import choose_disks
from ansible_collections.plumbline.storage.plugins.module_utils._stack.size import common_usable_bytes

__all__ = ["DisksWanted", "start_experiment"]

_AT_LEAST_DISKS = 3
_LAYER_PROGRAMS = {"md": "mdadm", "pv": "lvm", "vg": "lvm", "lv": "lvm", "xfs": "mkfs.xfs"}


class DisksWanted(StorageError):
    """No disk of the host is listed, or too few; carries the list of what it has."""

    def __init__(self, message: str, seen: str) -> None:
        super().__init__(message)
        self.seen = seen

    def details(self) -> dict[str, t.Any]:
        return {"disks_seen": self.seen}


def start_experiment(params: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """The module's result. Outside check mode the run is under way when this returns. Raises StorageError."""
    if os.geteuid() != 0:
        raise PlanRefused(
            "an experiment needs root on the host, but this is another user; set ansible_become: true for it"
        )
    runner = Runner(check_mode)
    consent = parse_consent(params["expendable_disks"])
    if not check_mode:
        _take_over()
    warnings: list[str] = []
    with host_lock("the start of an experiment", enabled=not check_mode):
        if not check_mode:
            warnings += _remove_left_stacks(runner, consent)
        job, more = _prepare(params, runner, consent)
        warnings += more
        plans = plan_stacks(job, runner)
    result = {
        "changed": not check_mode,
        "warnings": list(dict.fromkeys(warnings)),
        "disks": [disk.record() for disk in job.disks],
        "usable_bytes": job.usable_bytes,
        "order": [{"block": unit.block, "stack": unit.stack, "workloads": list(unit.workloads)} for unit in job.units],
        "commands": {name: built.plan.commands() for name, built in plans.items()},
    }
    if check_mode:
        return result
    spool = Spool(job.run_id)
    left = [path for path in left_spools() if path != spool.path]
    spool.create()
    pid = detach(lambda: run_experiment(job, spool), spool.log_path)
    return {**result, "job": spool.job(pid), "left_spools": left}


def _take_over() -> None:
    """Ends a runner that nobody follows any more; one that is followed keeps the host."""
    owner = read_owner()
    if owner is None or not alive(owner):
        return
    if not wait_for_lapse(owner):
        raise PlanRefused(
            f"run {owner.run_id} is under way on this host (process {owner.pid}) and somebody follows it. Nothing was changed; wait for "
            "its end, or end the play that follows it, and run again"
        )
    stop_runner(owner)


def _remove_left_stacks(runner: Runner, consent: Consent) -> list[str]:
    """Takes down what killed runs left; a stack that somebody built to keep is no run's. Returns sentences on what was done."""
    said = []
    for record in (each for each in read_records() if each.run_id is not None):
        builder = StackBuilder(runner, consent)
        builder.remove(record)
        said += [f"removed what an earlier run left behind: {record.id}", *builder.warnings]
    return said


def _prepare(params: t.Mapping[str, t.Any], runner: Runner, consent: Consent) -> tuple[ExperimentJob, list[str]]:
    """Checks the whole wish against this host. Raises PlanRefused, or DisksWanted, before anything is changed."""
    description = params["description"] or {}
    host = params["host"] or os.uname().nodename
    tree = read_tree()
    disks = read_disks(tree)
    described = describe_disks(runner, tree, disks)
    if not any(consent.covers(disk) for disk in disks):
        seen = render_disks_seen(host, described)
        raise DisksWanted(seen.splitlines()[0], seen)
    named = description.get("disks") or None
    count = int(description.get("disk_count") or (len(named) if named else 4))
    at_least = int(description.get("at_least") or min(count, _AT_LEAST_DISKS))
    busy = {entry["kernel_name"]: entry["content"] for entry in described if not entry["usable"]}
    chosen_names = None if description.get("choose_idle_of") else named
    try:
        chosen, warnings = choose_disks(chosen_names, count, at_least, disks, consent, busy)
    except PlanRefused as refusal:
        raise DisksWanted(refusal.message, render_disks_seen(host, described)) from None
    warnings += _left_alone(disks, described, consent)
    _same_sectors(chosen)
    experiment = parse_experiment(description, len(chosen))
    workloads = {str(load["name"]): parse_workload(load) for load in experiment.workloads}
    _check_programs(runner, experiment, list(workloads.values()))
    Guard(runner, consent).check_disks([disk.device_path for disk in chosen], purpose="run an experiment on")
    usable = common_usable_bytes(
        experiment.stacks, [experiment.region.size_bytes] * len(chosen), experiment.usable_bytes
    )
    run_id = params["run_id"] or "unnamed"
    everything = order_units(experiment, host)
    units = remaining_units(everything, frozenset(params["done"]), run_id, host)
    job = ExperimentJob(
        run_id,
        host,
        experiment,
        tuple(units),
        workloads,
        tuple(chosen),
        usable,
        consent,
        done_before=_count(everything) - _count(units),
    )
    return job, warnings


def _left_alone(
    disks: t.Sequence[DiskIdentity], described: t.Sequence[t.Mapping[str, t.Any]], consent: Consent
) -> list[str]:
    """A sentence for each disk that could be used but is not listed, so that nobody wonders."""
    content = {str(entry["kernel_name"]): str(entry["content"]) for entry in described if entry["usable"]}
    return [
        f"{disk.shown()} is not listed in expendable_disks ({content[disk.kernel_name]}); it is left alone"
        for disk in disks
        if disk.kernel_name in content and not consent.covers(disk)
    ]


def _count(units: t.Sequence[Unit]) -> int:
    return sum(len(unit.workloads) for unit in units)


def _same_sectors(disks: t.Sequence[DiskIdentity]) -> None:
    sizes = {disk.logical_sector_size_bytes for disk in disks}
    if len(sizes) > 1:
        shown = ", ".join(f"{disk.shown()} {disk.logical_sector_size_bytes}" for disk in disks)
        raise PlanRefused(
            f"the chosen disks have unequal logical sector sizes ({shown} bytes), and no layer can be made over both. Nothing was changed; "
            "name disks of one kind under disks"
        )


def _check_programs(runner: Runner, experiment: Experiment, workloads: t.Sequence[Workload]) -> None:
    """Raises MissingTool, naming the package, before anything is changed."""
    kinds = {layer.kind for stack in experiment.stacks for layer in stack.layers}
    for program in [
        "sfdisk",
        "wipefs",
        "udevadm",
        *(_LAYER_PROGRAMS[kind] for kind in sorted(kinds)),
        *needed_programs(workloads),
    ]:
        runner.path_of(program)


def plan_stacks(job: ExperimentJob, runner: Runner) -> dict[str, Built]:
    """Plans every stack on regions that are not there yet; what cannot be built is refused here, not in block 5."""
    builder = StackBuilder(runner, job.consent, job.disks)
    ground = region_record(job, [fresh_uuid() for _unused in job.disks])
    _unused, regions = builder.plan_ground(ground)
    plans = {}
    for stack in job.experiment.stacks:
        record = stack_record(job, stack, ground.partitions)
        world = builder.read_layers(record, stack, regions)
        built = compose_layers(stack, record, regions, world, job.usable_bytes)
        top = built.top or built.filesystem
        if top is None:
            raise PlanRefused(f"stack {stack.name} has no layer, so there is no device to measure; give it one")
        check_workloads(list(job.workloads.values()), RunTarget(top, built.filesystem, built.devices))
        plans[stack.name] = built
    return plans
