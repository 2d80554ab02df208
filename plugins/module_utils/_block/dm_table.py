# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Device-mapper tables as `dmsetup table` prints them: where a mapped device lies, and its stripes. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import Stripe

__all__ = ["DmArea", "DmSegment", "parse_dm_table"]

_SECTOR_BYTES = 512


class DmArea(t.NamedTuple):
    """One piece of a device below, by device number ("8:0"); C(offset_bytes) is where the piece starts on it."""

    devno: str
    offset_bytes: int


class DmSegment(t.NamedTuple):
    """One line of a table. C(stripe) is None where the target only passes through or is not known here; C(data_stripes) are
    the areas of one round that hold unlike data."""

    start_bytes: int
    size_bytes: int
    target: str
    stripe: Stripe | None = None
    areas: tuple[DmArea, ...] = ()
    data_stripes: int = 1


def parse_dm_table(text: str) -> tuple[DmSegment, ...]:
    """The segments of one device's table, in order; raises ParseError for a line that is not one."""
    return tuple(_segment(line) for line in text.splitlines() if line.strip())


def _segment(line: str) -> DmSegment:
    words = line.split()
    try:
        start, size, target, rest = int(words[0]) * _SECTOR_BYTES, int(words[1]) * _SECTOR_BYTES, words[2], words[3:]
        if target in ("linear", "delay"):
            return DmSegment(start, size, target, None, (_area(rest[0], rest[1]),))
        if target == "crypt":
            return DmSegment(start, size, target, None, (_area(rest[3], rest[4]),))
        if target == "striped":
            pairs = zip(rest[2::2], rest[3::2])
            areas = tuple(_area(device, offset) for device, offset in pairs)
            stripe = Stripe(int(rest[1]) * _SECTOR_BYTES, int(rest[0]))
            return DmSegment(start, size, target, stripe, areas, data_stripes=len(areas))
        if target == "raid":
            return _raid(DmSegment(start, size, target), rest)
        if target == "mirror":
            # C(mirror <log type> <#arguments> ... <#devices> <device> <offset> ...)
            pairs = zip(rest[3 + int(rest[1]) :: 2], rest[4 + int(rest[1]) :: 2])
            legs = tuple(_area(device, offset) for device, offset in pairs if ":" in device)
            return DmSegment(start, size, target, None, legs)
    except (IndexError, ValueError) as error:
        raise ParseError("a line of a device-mapper table", line) from error
    return DmSegment(start, size, target)


def _area(device: str, offset: str) -> DmArea:
    return DmArea(device, int(offset) * _SECTOR_BYTES)


def _raid(segment: DmSegment, rest: list[str]) -> DmSegment:
    """C(raid <type> <#params> <chunk> ... <#devices> <meta> <data> ...): chunk in sectors, 0 without stripes; C(-) is missing."""
    kind, count, chunk = rest[0], int(rest[1]), int(rest[2])
    options, devices = rest[3 : 2 + count], int(rest[2 + count])
    areas = tuple(DmArea(device, 0) for device in rest[4 + count :: 2] if device != "-")
    parity = 2 if kind.startswith("raid6") else 1 if kind.startswith(("raid4", "raid5")) else 0
    if not chunk or kind == "raid1" or devices - parity < 2:
        return segment._replace(areas=areas)
    copies = int(_option(options, "raid10_copies", "2")) if kind.startswith("raid10") else 1
    stripe = Stripe(chunk * _SECTOR_BYTES, devices - parity)
    return segment._replace(stripe=stripe, areas=areas, data_stripes=(devices - parity) // copies)


def _option(options: list[str], name: str, default: str) -> str:
    return options[options.index(name) + 1] if name in options else default
