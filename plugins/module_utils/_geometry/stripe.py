# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Stripe arithmetic of md levels and striped LVs, and of one over the other. Pure; sizes in bytes."""

from __future__ import annotations

import math
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe

if t.TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "DEFAULT_CHUNK_BYTES",
    "LEVELS",
    "capacity_disks",
    "check_chunk",
    "check_device_count",
    "compose_stripe",
    "has_chunk",
    "is_redundant",
    "level_name",
    "lv_stripe",
    "lv_stripe_units",
    "md_stripe",
    "normalise_layout",
    "raid10_copies",
    "stripe_disks",
]

LEVELS = ("linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10")
DEFAULT_CHUNK_BYTES = 512 * 1024
_CHUNKED = ("raid0", "raid4", "raid5", "raid6", "raid10")
_PARITY = {"raid4": 1, "raid5": 1, "raid6": 2}
_MINIMUM = {"linear": 1, "raid0": 2, "raid1": 2, "raid4": 3, "raid5": 3, "raid6": 4, "raid10": 2}
_RAID10_LAYOUT = re.compile(r"^([nfo])(\d+)$")
_RAID10_WORDS = {"near": "n2", "far": "f2", "offset": "o2"}
_SHORT = {"ls": "left-symmetric", "rs": "right-symmetric", "la": "left-asymmetric", "ra": "right-asymmetric"}
_RAID5_LAYOUTS = (*_SHORT.values(), "parity-first", "parity-last")
_RAID6_LAYOUTS = (
    *_RAID5_LAYOUTS,
    "ddf-zero-restart",
    "ddf-N-restart",
    "ddf-N-continue",
    *(f"{name}-6" for name in _SHORT.values()),
    "parity-first-6",
)


def level_name(level: str | int) -> str:
    """The kernel's word for a level given as C(5), C("5") or C("raid5"); raises PlanRefused for an unknown one."""
    text = str(level).strip().lower()
    name = f"raid{text}" if text.isdigit() else text
    if name not in LEVELS:
        raise PlanRefused(f"level was given as {level!r}, which is not a level of md; use one of {', '.join(LEVELS)}")
    return name


def has_chunk(level: str | int) -> bool:
    """Whether arrays of this level are cut into chunks."""
    return level_name(level) in _CHUNKED


def is_redundant(level: str | int) -> bool:
    """Whether arrays of this level survive the loss of a member."""
    return level_name(level) not in ("raid0", "linear")


def raid10_copies(layout: str | None) -> tuple[str, int]:
    """Kind (C(n), C(f), C(o)) and number of copies of a raid10 layout such as C(n2); None is mdadm's default n2."""
    match = _RAID10_LAYOUT.match(_RAID10_WORDS.get(layout or "n2", layout or "n2"))
    if not match or not 1 <= int(match.group(2)) <= 255:
        raise PlanRefused(
            f"layout was given as {layout!r}, which raid10 does not have; "
            "use n, f or o and the number of copies, such as n2"
        )
    return match.group(1), int(match.group(2))


def normalise_layout(level: str | int, layout: str | None) -> str | None:
    """The layout in full spelling, None when none was given; raises PlanRefused when the level does not have it."""
    name = level_name(level)
    if layout is None:
        return None
    if name == "raid10":
        kind, copies = raid10_copies(layout)
        return f"{kind}{copies}"
    known = {"raid5": _RAID5_LAYOUTS, "raid6": _RAID6_LAYOUTS}.get(name)
    if known is None:
        raise PlanRefused(f"layout was given as {layout!r}, but {name} has no choice of layouts; leave it out")
    full = _SHORT.get(layout, layout)
    if full not in known:
        raise PlanRefused(f"layout was given as {layout!r}, which {name} does not have; use one of {', '.join(known)}")
    return full


def capacity_disks(level: str | int, raid_devices: int, layout: str | None = None) -> Fraction:
    """How many members' worth of data the array holds; a fraction where raid10 copies do not divide the members."""
    from fractions import Fraction

    name = level_name(level)
    if name == "raid1":
        return Fraction(1)
    if name == "raid10":
        return Fraction(raid_devices, raid10_copies(layout)[1])
    return Fraction(raid_devices - _PARITY.get(name, 0))


def stripe_disks(level: str | int, raid_devices: int, layout: str | None = None) -> int:
    """How many chunks one full stripe of data has; 0 where the level has no stripe."""
    name = level_name(level)
    if name not in _CHUNKED:
        return 0
    if name != "raid10":
        return raid_devices - _PARITY.get(name, 0)
    kind, copies = raid10_copies(layout)
    # Copies of a near layout lie beside each other; only where they divide the members does each row repeat.
    return raid_devices // copies if kind == "n" and raid_devices % copies == 0 else raid_devices


def md_stripe(level: str | int, raid_devices: int, chunk_bytes: int | None, layout: str | None = None) -> Stripe | None:
    """The full stripe of an md array on plain disks; None where the level has none or the chunk is not known."""
    disks = stripe_disks(level, raid_devices, layout)
    return Stripe(chunk_bytes, disks) if disks > 0 and chunk_bytes else None


def lv_stripe_units(segment_type: str, stripes: int, mirrors: int = 0) -> int:
    """How many units of stripesize one round of an LV has, as the kernel counts: raid10 all images, else data."""
    if segment_type in ("linear", "mirror", "raid1"):
        return 1
    return stripes * (mirrors + 1) if segment_type.startswith("raid10") else stripes


def lv_stripe(
    stripes: int, stripe_size_bytes: int | None, below: t.Sequence[DeviceGeometry]
) -> tuple[Stripe | None, tuple[str, ...]]:
    """The full stripe of an LV of so many data stripes over the devices below (its PVs), and warnings.

    One stripe is a linear LV, which has what lies below it.
    """
    own = Stripe(stripe_size_bytes, stripes) if stripes > 1 and stripe_size_bytes else None
    return compose_stripe(own, below)


def compose_stripe(own: Stripe | None, below: t.Sequence[DeviceGeometry]) -> tuple[Stripe | None, tuple[str, ...]]:
    """The stripe of a layer with stripe C(own) (None: it only passes through) over the devices below, and warnings.

    Over arrays of chunk c and d stripe disks, a layer of k stripes of size S repeats after k * lcm(S, c*d).
    """
    found = [device.stripe for device in below]
    inner = found[0] if found else None
    if any(stripe != inner for stripe in found):
        return own, (_unlike_sentence(below),)
    if inner is None or own is None:
        return inner if own is None else own, ()
    full = own.width_units * _lcm(own.unit_bytes, inner.full_bytes)
    small, large = sorted((own.unit_bytes, inner.unit_bytes))
    if large % small == 0:
        return Stripe(small, full // small), ()
    unit = math.gcd(small, large)
    return Stripe(unit, full // unit), (
        f"a stripe size of {format_size(own.unit_bytes)} over a chunk of {format_size(inner.unit_bytes)}: neither "
        f"divides the other, so pieces straddle chunks; {format_size(unit)} is taken as the stripe unit",
    )


def _lcm(one: int, other: int) -> int:
    return one * other // math.gcd(one, other)


def _unlike_sentence(below: t.Sequence[DeviceGeometry]) -> str:
    parts = [
        f"{device.path} {format_size(device.stripe.unit_bytes)} x {device.stripe.width_units}"
        if device.stripe
        else f"{device.path} none"
        for device in below
    ]
    return f"the devices below have unlike stripes ({', '.join(parts)}), so nothing above can line up with all of them"


def check_chunk(level: str | int, chunk_bytes: int | None, page_bytes: int = 4096) -> None:
    """Raises PlanRefused when arrays of the level cannot have this chunk; None is the default and always possible."""
    name = level_name(level)
    if chunk_bytes is None:
        return
    asked = f"chunk was given as {format_size(chunk_bytes)}"
    if name not in _CHUNKED:
        raise PlanRefused(f"{asked}, but {name} has no chunk; leave it out")
    if name == "raid0":
        if chunk_bytes < 4096 or chunk_bytes % 4096:
            raise PlanRefused(f"{asked}, but raid0 can only have a multiple of 4KiB")
        return
    if chunk_bytes < page_bytes or chunk_bytes & (chunk_bytes - 1):
        raise PlanRefused(
            f"{asked}, but {name} can only have a power of two of at least {format_size(page_bytes)}, "
            f"such as {format_size(_near_power(chunk_bytes, page_bytes))}"
        )


def _near_power(chunk_bytes: int, page_bytes: int) -> int:
    return max(page_bytes, 1 << max(chunk_bytes, 1).bit_length() - 1)


def check_device_count(level: str | int, raid_devices: int, layout: str | None = None) -> None:
    """Raises PlanRefused when the level cannot be made of so few members."""
    name = level_name(level)
    needed, why = _MINIMUM[name], ""
    if name == "raid10":
        copies = raid10_copies(layout)[1]
        needed, why = max(needed, copies), f" with layout {layout or 'n2'}"
    if raid_devices < needed:
        raise PlanRefused(
            f"{name}{why} was asked for on {raid_devices} device{'s' * (raid_devices != 1)}, "
            f"but it needs at least {needed}"
        )
