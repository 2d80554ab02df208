# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The order of an experiment, and the ids of its observations: both follow from the seed and the names alone."""

from __future__ import annotations

import random

from ansible_collections.plumbline.storage.plugins.module_utils._bench.observation import (
    ObservationContext,
    observation_id,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Experiment, Unit

__all__ = ["first_observation_id", "order_units", "remaining_units"]


def first_observation_id(run_id: str, host: str, block: int, stack: str, workload: str) -> str:
    """The id of the first attempt at one cell of the design."""
    context = ObservationContext(run_id=run_id, experiment="", host=host, stack=stack, block=block)
    return observation_id(context, workload, attempt=1)


def order_units(experiment: Experiment, host: str) -> list[Unit]:
    """Every block runs every stack once in shuffled order, each with its workloads in shuffled order.

    The generator is seeded with text, whose sequence is the same in every Python from 3.2 on.
    """
    units: list[Unit] = []
    for block in range(1, experiment.design.blocks + 1):
        generator = random.Random(f"{experiment.design.seed}/{host}/{block}")
        stacks = [stack.name for stack in experiment.stacks]
        generator.shuffle(stacks)
        position = 1
        for stack in stacks:
            workloads = [str(load["name"]) for load in experiment.workloads]
            generator.shuffle(workloads)
            units.append(Unit(block, position, stack, tuple(workloads)))
            position += len(workloads)
    return units


def remaining_units(units: list[Unit], done: frozenset[str], run_id: str, host: str) -> list[Unit]:
    """The units with only those workloads whose first attempt is not in C(done); empty units are left out."""
    rest: list[Unit] = []
    for unit in units:
        names = [
            name
            for name in unit.workloads
            if first_observation_id(run_id, host, unit.block, unit.stack, name) not in done
        ]
        if names:
            rest.append(Unit(unit.block, unit.position + len(unit.workloads) - len(names), unit.stack, tuple(names)))
    return rest
