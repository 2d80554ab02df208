# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""SCSI identity from the pages that the kernel keeps. Sends nothing to the disk."""

from __future__ import annotations

__all__ = ["parse_designators", "parse_rotation_rate", "parse_unit_serial"]

_ASSOCIATION_LUN = 0
_TYPE_EUI64, _TYPE_NAA, _TYPE_NAME = 2, 3, 8


def parse_unit_serial(page: bytes | None) -> str | None:
    """The unit serial number of VPD page 0x80; some devices fill it with blanks on the left."""
    if page is None or len(page) < 5 or page[1] != 0x80:
        return None
    length = int.from_bytes(page[2:4], "big")
    return page[4 : 4 + length].decode("ascii", errors="replace").strip(" \t\0") or None


def parse_designators(page: bytes | None) -> str | None:
    """The best world-wide name of the logical unit in VPD page 0x83: C(naa.…), else C(eui.…); None when it has none."""
    if page is None or len(page) < 4 or page[1] != 0x83:
        return None
    found: dict[str, str] = {}
    end = min(len(page), 4 + int.from_bytes(page[2:4], "big"))
    at = 4
    while at + 4 <= end:
        kind, association, length = page[at + 1] & 0x0F, page[at + 1] >> 4 & 0x03, page[at + 3]
        value = page[at + 4 : at + 4 + length]
        if association == _ASSOCIATION_LUN and len(value) == length:
            name = _designator(kind, value)
            if name is not None:
                # A long NAA (16 bytes) names the LUN, a short one may name the array behind it.
                prefix = name.split(".", 1)[0]
                found[prefix] = max(found.get(prefix, ""), name, key=len)
        at += 4 + length
    return found.get("naa") or found.get("eui")


def _designator(kind: int, value: bytes) -> str | None:
    if kind == _TYPE_NAA and len(value) in (8, 16):
        return "naa." + value.hex()
    if kind == _TYPE_EUI64 and len(value) in (8, 12, 16):
        return "eui." + value.hex()
    if kind == _TYPE_NAME:
        text = value.decode("ascii", errors="replace").strip(" \t\0").lower()
        return text if text.startswith(("naa.", "eui.")) else None
    return None


def parse_rotation_rate(page: bytes | None) -> int | None:
    """Turns per minute of VPD page 0xB1; 0 for solid state, None when not reported."""
    if page is None or len(page) < 6 or page[1] != 0xB1:
        return None
    rate = int.from_bytes(page[4:6], "big")
    if rate == 1:
        return 0
    return rate if 0x0401 <= rate <= 0xFFFE else None
