# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where byte 0 of a mapped device lies on the grid of its full stripe: one arithmetic for LVs and device-mapper tables. Pure.

A device of k data stripes of size S writes S bytes to each device below, then the next S; after r rounds it has written k * r * S
bytes, and r * S to each. Its full stripes begin where the place on each device below is a multiple of their full stripe F.
"""

from __future__ import annotations

import math
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import Stripe

__all__ = ["Beginning", "Piece", "beginning_of"]


class Piece(t.NamedTuple):
    """One area of a segment. C(start_bytes): where the segment begins on the mapped device; C(place_bytes): where the area
    begins on the device below, counted from a full stripe of that device, whose stripe is C(below)."""

    start_bytes: int
    place_bytes: int
    below: Stripe


class Beginning(t.NamedTuple):
    """Where byte 0 lies behind a full stripe, in bytes of the mapped device; 0 is aligned.

    C(alike) is False where its pieces lie differently, so that no one distance holds for all of it. C(reachable) is False where
    the stripe size never reaches the grid below: then no full stripe of it is one of the device below.
    """

    offset_bytes: int = 0
    alike: bool = True
    reachable: bool = True


def beginning_of(
    stripe: Stripe | None, pieces: t.Iterable[Piece], data_stripes: int = 1, stripe_bytes: int = 0
) -> Beginning:
    """Where a device of so many data stripes begins, whose full stripe over all that lies below is C(stripe)."""
    found = [_behind(piece, data_stripes, stripe_bytes) for piece in pieces]
    if stripe is None or not found:
        return Beginning()
    offsets = {offset % stripe.full_bytes for offset, _unused in found}
    return Beginning(max(offsets), len(offsets) == 1, all(reachable for _unused, reachable in found))


def _behind(piece: Piece, data_stripes: int, stripe_bytes: int) -> tuple[int, bool]:
    full = piece.below.full_bytes
    behind = (piece.place_bytes - piece.start_bytes // data_stripes) % full
    if data_stripes == 1 or not stripe_bytes:
        return behind, True
    common = math.gcd(stripe_bytes, full)
    if behind % common:
        return behind * data_stripes, False
    # The least number of rounds that is as far behind the grid below.
    cycle = full // common
    rounds = behind // common * pow(stripe_bytes // common, -1, cycle) % cycle if cycle > 1 else 0
    return rounds * stripe_bytes * data_stripes, True
