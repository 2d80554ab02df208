# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a layer must know of the device it stands on, real or only planned."""

from __future__ import annotations

import typing as t

__all__ = ["DeviceGeometry", "Stripe"]


class Stripe(t.NamedTuple):
    """How a device spreads its bytes: C(unit_bytes) on one disk (su), then the next, C(width_units) of them (sw)."""

    unit_bytes: int
    width_units: int

    @property
    def full_bytes(self) -> int:
        return self.unit_bytes * self.width_units


class DeviceGeometry(t.NamedTuple):
    """A block device as the layer above sees it.

    C(stripe) is the full stripe derived by composition (None: nothing to align to). C(offset_bytes) is where byte 0 of
    the device lies on the grid of that stripe (0: aligned). C(assumed) marks a device that exists only in the
    plan; its C(size_bytes) may then be None.
    """

    path: str
    size_bytes: int | None
    logical_sector_bytes: int = 512
    physical_sector_bytes: int = 512
    stripe: Stripe | None = None
    offset_bytes: int = 0
    assumed: bool = False
