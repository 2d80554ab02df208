# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""How large the top of a stack can be, and one size that fits all stacks of an experiment. Pure; bytes."""

from __future__ import annotations

import math
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import (
    DEFAULT_CHUNK_BYTES,
    capacity_disks,
    has_chunk,
    md_stripe,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import DEFAULT_EXTENT_BYTES
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Layer, StackDescription

__all__ = ["MINIMUM_USABLE_BYTES", "common_usable_bytes", "top_capacity_bytes"]

# mkfs.xfs takes stripe geometry only from 1 GiB up, so smaller stacks would not be alike.
MINIMUM_USABLE_BYTES = 1024**3
_PARITY_LEGS = {"raid4": 1, "raid5": 1, "raid6": 2}
_COPIES = ("raid1", "mirror", "raid10")


def md_reserve_bytes(member_bytes: int) -> int:
    """Room that mdadm keeps in front of the data: 1 MiB and up to a thousandth of the member, 128 MiB at most; bounded above."""
    return min(member_bytes // 512, 130 * 1024**2) + 4 * 1024**2


def top_capacity_bytes(stack: StackDescription, region_bytes: t.Sequence[int]) -> int:
    """A size that the uppermost block device of the stack surely has, over regions of these sizes."""
    known = {f"disk:{index}": [size] for index, size in enumerate(region_bytes)}
    for layer in stack.layers:
        if layer.kind != "xfs":
            below = [size for name in layer.on for size in known[name]]
            known[layer.name] = _layer_capacity(layer, below, _full_stripe_guess(stack))
    tops = [layer for layer in stack.layers if layer.kind != "xfs"]
    return sum(known[tops[-1].name]) if tops else min(region_bytes)


def _layer_capacity(layer: Layer, below: list[int], full_stripe: int) -> list[int]:
    if layer.kind == "md":
        return [_md_capacity(layer, below)]
    if layer.kind == "pv":
        head = full_stripe + 2 * 1024**2
        return [size - head for size in below]
    if layer.kind == "vg":
        extent = extent_bytes_of(layer)
        # Two extents of every PV are left for raid metadata and rounding.
        return [max(0, size // extent - 2) * extent for size in below]
    return [_lv_capacity(layer, below)]


def _md_capacity(layer: Layer, below: list[int]) -> int:
    level, smallest = layer.options["level"], min(below)
    if str(level) == "linear":
        return sum(size - md_reserve_bytes(size) for size in below)
    unit = chunk_bytes_of(layer) if has_chunk(level) else 4096
    member = (smallest - md_reserve_bytes(smallest)) // unit * unit
    return int(member * capacity_disks(level, len(below), layer.options.get("layout")))


def _lv_capacity(layer: Layer, below: list[int]) -> int:
    kind = str(layer.options.get("type") or "linear")
    if kind == "linear":
        return sum(below)
    if kind in ("raid1", "mirror"):
        return min(below)
    legs = _PARITY_LEGS.get(kind, 0)
    copies = int(layer.options.get("mirrors") or 1) + 1 if kind == "raid10" else 1
    stripes = int(layer.options.get("stripes") or max(1, (len(below) - legs) // copies))
    return min(below) * stripes


def chunk_bytes_of(layer: Layer) -> int:
    chunk = layer.options.get("chunk")
    return DEFAULT_CHUNK_BYTES if chunk is None else parse_size(chunk, "chunk")


def extent_bytes_of(layer: Layer) -> int:
    size = layer.options.get("extent_size")
    return DEFAULT_EXTENT_BYTES if size is None else parse_size(size, "extent_size")


def _grain_bytes(stack: StackDescription) -> int:
    """Sizes of the top device should be multiples of this: every full stripe and extent of the stack."""
    grain = 1024**2
    for layer in stack.layers:
        if layer.kind == "md":
            stripe = _md_full_stripe(layer)
            grain = math.lcm(grain, stripe) if stripe else grain
        elif layer.kind == "vg":
            grain = math.lcm(grain, extent_bytes_of(layer))
        elif layer.kind == "lv" and layer.options.get("stripesize") is not None:
            grain = math.lcm(grain, parse_size(layer.options["stripesize"], "stripesize"))
    return grain


def _md_full_stripe(layer: Layer) -> int:
    level = layer.options["level"]
    stripe = (
        md_stripe(level, len(layer.on), chunk_bytes_of(layer), layer.options.get("layout"))
        if has_chunk(level)
        else None
    )
    return stripe.full_bytes if stripe else 0


def _full_stripe_guess(stack: StackDescription) -> int:
    return max([_md_full_stripe(layer) for layer in stack.layers if layer.kind == "md"], default=0)


def common_usable_bytes(stacks: t.Sequence[StackDescription], region_bytes: t.Sequence[int], asked: int | None) -> int:
    """The size that every stack gets, so that file systems are alike. Raises PlanRefused when it does not fit.

    Not asked for, it is the largest that fits all, on the full stripes and extents of all where these are not too coarse.
    """
    fits = {stack.name: top_capacity_bytes(stack, region_bytes) for stack in stacks}
    name, least = min(fits.items(), key=lambda item: item[1])
    if asked is not None:
        if asked > least:
            raise PlanRefused(
                f"usable_size is {format_size(asked)}, but stack {name} offers about {format_size(least // 1024**2 * 1024**2)} over regions of "
                f"{format_size(min(region_bytes))}; make the region larger or usable_size smaller"
            )
        return asked
    grain = math.lcm(*[_grain_bytes(stack) for stack in stacks])
    usable = least // grain * grain if grain <= least // 8 else least // DEFAULT_EXTENT_BYTES * DEFAULT_EXTENT_BYTES
    if usable < MINIMUM_USABLE_BYTES:
        raise PlanRefused(
            f"stack {name} would be {format_size(max(0, usable))} over regions of {format_size(min(region_bytes))}; every stack needs at least "
            "1GiB, since mkfs.xfs takes stripe geometry only from there on; make the region larger"
        )
    return usable
