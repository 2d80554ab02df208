# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a device begins on its full stripe, compared with a walk over its bytes unit by unit."""

from __future__ import annotations

import itertools
import math

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.offset import Beginning, Piece, beginning_of

K = 1024


def walk(place: int, full: int, data_stripes: int, unit: int) -> int | None:
    """The first byte of the device at which a round begins on the grid below; None when none ever does."""
    rounds = math.lcm(unit, full) // unit
    return next((r * unit * data_stripes for r in range(rounds) if (place + r * unit) % full == 0), None)


@pytest.mark.parametrize(
    ("data_stripes", "unit", "full", "place"),
    list(itertools.product((2, 3, 4), (16, 64, 128, 256), (96, 192, 384, 768), (0, 16, 64, 96, 128, 192, 320, 1024))),
)
def test_stripes_over_stripes(data_stripes: int, unit: int, full: int, place: int) -> None:
    below = Stripe(32 * K, full // 32)
    stripe = Stripe(K, data_stripes * math.lcm(unit, full))
    found = beginning_of(stripe, [Piece(0, place * K, below)] * data_stripes, data_stripes, unit * K)
    first = walk(place, full, data_stripes, unit)
    assert found.alike
    assert found.reachable is (first is not None)
    if first is not None:
        assert (found.offset_bytes + first * K) % stripe.full_bytes == 0
    else:
        assert found.offset_bytes


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], Beginning()),
        ([(0, 0)], Beginning()),
        ([(0, 1024)], Beginning(256 * K)),
        # The second segment begins on the device where it lies on the grid below.
        ([(0, 768), (4096, 4096 + 768 * 3)], Beginning()),
        ([(0, 0), (4096, 8192)], Beginning(256 * K, alike=False)),
    ],
)
def test_a_device_that_passes_through(pieces: list[tuple[int, int]], expected: Beginning) -> None:
    below = Stripe(256 * K, 3)
    assert beginning_of(below, [Piece(start * K, place * K, below) for start, place in pieces]) == expected


def test_nothing_to_align_to() -> None:
    assert beginning_of(None, [Piece(0, 5 * K, Stripe(4 * K, 2))]) == Beginning()
