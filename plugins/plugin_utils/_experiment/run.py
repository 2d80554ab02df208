# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This file is private to the collection.

"""A run as the controller plans it: its id, its description, and the command that repeats it. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.yaml_words import restore_on
from ansible_collections.plumbline.storage.plugins.module_utils._stack.order import first_observation_id
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import parse_experiment

__all__ = ["check_resume", "disk_count_of", "is_run_id", "new_run", "planned_ids", "results_location"]

_RUN_ID = re.compile(r"^\d{8}-[0-9a-f]{4}$")


def is_run_id(text: str) -> bool:
    return bool(_RUN_ID.match(text))


def results_location(results_dir: str, results_url: str | None) -> str:
    """Where the database is: the URL when given, else the file in the results directory."""
    return results_url or f"{results_dir}/plumbline.db"


def disk_count_of(description: t.Mapping[str, t.Any]) -> int:
    """How many disks a stack of the description stands on: C(disk_count), or the length of C(disks)."""
    count = description.get("disk_count")
    if count is None and isinstance(description.get("disks"), (list, tuple)):
        count = len(description["disks"])
    try:
        number = int(4 if count is None else count)
    except (TypeError, ValueError):
        raise PlanRefused(f"disk_count was given as {count!r}; write a whole number") from None
    if number < 1:
        raise PlanRefused(f"disk_count is {number}; at least one disk is needed")
    return number


def new_run(
    run_id: str, description: t.Mapping[str, t.Any], hosts: t.Sequence[str], started_at: str, command: str
) -> dict[str, t.Any]:
    """The run as stored. Raises PlanRefused when the description cannot be meant."""
    description = restore_on(description)
    experiment = parse_experiment(description, disk_count_of(description))
    return {
        "run_id": run_id,
        "experiment": experiment.name,
        "hosts": list(hosts),
        "description": dict(description),
        "stacks": [{**stack, "title": stack.get("title", stack["name"])} for stack in description["stacks"]],
        "workloads": [dict(load) for load in experiment.workloads],
        "design": {
            "blocks": experiment.design.blocks,
            "seed": experiment.design.seed,
            "baseline": experiment.design.baseline,
            "equivalence_margin": experiment.design.equivalence_margin,
        },
        "started_at": started_at,
        "command": command,
    }


def check_resume(run: t.Mapping[str, t.Any], hosts: t.Sequence[str]) -> None:
    """Raises PlanRefused when a stored run cannot go on with these hosts."""
    strangers = sorted(set(hosts) - set(run["hosts"]))
    if strangers:
        raise PlanRefused(
            f"run {run['run_id']} was started for {', '.join(run['hosts'])}, but the inventory also has {', '.join(strangers)}; "
            f"limit the play to the hosts of the run, such as --limit {','.join(run['hosts'])}"
        )


def planned_ids(run: t.Mapping[str, t.Any], host: str) -> set[str]:
    """Ids of the observations that a complete host has, repeats of invalid ones not counted."""
    return {
        first_observation_id(run["run_id"], host, block, stack["name"], workload["name"])
        for block in range(1, int(run["design"]["blocks"]) + 1)
        for stack in run["stacks"]
        for workload in run["workloads"]
    }
