# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Sizes with units, read the same way everywhere: k, m, g and KiB, MiB, GiB are binary, kB, MB, GB decimal, s is 512 bytes."""

from __future__ import annotations

import re
import typing as t
from decimal import Decimal

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = ["SECTOR_BYTES", "format_size", "parse_optional_size", "parse_size"]

SECTOR_BYTES = 512

_BINARY = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_NUMBER = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$")


def _unit_bytes(unit: str) -> int | None:
    if unit == "s":
        return SECTOR_BYTES
    if unit == "B":
        return 1
    if unit and unit[0].lower() in _BINARY:
        power, rest = _BINARY[unit[0].lower()], unit[1:]
        if rest in ("", "iB", "ib", "i"):
            return int(1024**power)
        if rest == "B":
            return int(1000**power)
    return None


def parse_size(text: t.Any, option: str, whole: bool = True) -> int:
    """Bytes of a size with a unit, such as C(256KiB), C(1.5g) or C(2048s).

    Raises PlanRefused for a bare number (mdadm, LVM, mkfs and sysfs each read it differently), an unknown unit,
    or, unless C(whole) is False, a fraction that is not a whole number of bytes.
    """
    match = _NUMBER.match(str(text))
    if not match:
        raise PlanRefused(
            f"{option} was given as {text!r}, which is not a size; write a number and a unit, such as 256KiB"
        )
    number, unit = match.group(1), match.group(2)
    if not unit:
        raise PlanRefused(
            f"{option} was given as {number} without a unit: mdadm reads it as {number} KiB, LVM as {number} MiB, "
            f"mkfs.xfs as {number} bytes or sectors, sysfs as bytes or KiB; write the unit, such as {number}KiB or {number}MiB"
        )
    factor = _unit_bytes(unit)
    if factor is None:
        raise PlanRefused(
            f"{option} was given as {text!r}, whose unit {unit!r} is not known; use KiB, MiB, GiB, kB, MB, GB or s"
        )
    exact = Decimal(number) * factor
    if whole and exact != int(exact):
        raise PlanRefused(f"{option} was given as {text!r}, which is not a whole number of bytes")
    return int(exact)


def parse_optional_size(text: t.Any, option: str) -> int | None:
    """None when the option was not given, else bytes."""
    return None if text is None else parse_size(text, option)


def format_size(size_bytes: int | None) -> str:
    """A size for people, exact: the largest binary unit that divides it, such as C(768KiB)."""
    if size_bytes is None:
        return "unknown"
    for unit, power in (("TiB", 4), ("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{unit}"
    return f"{size_bytes}B"
