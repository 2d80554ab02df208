# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import collections

from ansible_collections.plumbline.storage.plugins.module_utils._stack.order import (
    first_observation_id,
    order_units,
    remaining_units,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import parse_experiment

EXPERIMENT = parse_experiment(
    {
        "name": "e",
        "stacks": [{"name": name, "layers": []} for name in ("a", "b", "c")],
        "workloads": [{"name": "v"}, {"name": "w"}],
        "design": {"blocks": 20, "seed": 7},
    },
    4,
)


def test_every_block_has_every_cell_once() -> None:
    units = order_units(EXPERIMENT, "h")
    cells = collections.Counter((unit.block, unit.stack, load) for unit in units for load in unit.workloads)
    assert len(cells) == 20 * 3 * 2
    assert set(cells.values()) == {1}
    assert [unit.position for unit in units[:3]] == [1, 3, 5]


def test_order_follows_from_seed_and_host_alone() -> None:
    assert order_units(EXPERIMENT, "h") == order_units(EXPERIMENT, "h")
    assert order_units(EXPERIMENT, "h") != order_units(EXPERIMENT, "other")
    first = collections.Counter(unit.stack for unit in order_units(EXPERIMENT, "h") if unit.position == 1)
    assert len(first) == 3, "every stack comes first in some block"


def test_what_is_done_is_not_repeated_and_positions_stay() -> None:
    units = order_units(EXPERIMENT, "h")
    first = units[0]
    done = frozenset(
        [first_observation_id("r", "h", first.block, first.stack, first.workloads[0])]
        + [first_observation_id("r", "h", units[1].block, units[1].stack, load) for load in units[1].workloads]
    )
    rest = remaining_units(units, done, "r", "h")
    assert len(rest) == len(units) - 1
    assert rest[0].workloads == first.workloads[1:]
    assert rest[0].position == 2
    assert rest[1] == units[2]


def test_ids_differ_in_every_part() -> None:
    cells = [
        ("r", "h", 1, "s", "w"),
        ("q", "h", 1, "s", "w"),
        ("r", "i", 1, "s", "w"),
        ("r", "h", 2, "s", "w"),
        ("r", "h", 1, "t", "w"),
        ("r", "h", 1, "s", "v"),
    ]
    ids = {first_observation_id(*cell) for cell in cells}
    assert len(ids) == 6
    assert all(len(text) == 32 for text in ids)
