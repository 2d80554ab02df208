# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""ATA identity from the IDENTIFY block that the kernel keeps (SCSI page 0x89, SAT). Sends nothing to the disk."""

from __future__ import annotations

import struct
import typing as t

__all__ = ["AtaIdentity", "parse_ata_information_page"]

_IDENTIFY_OFFSET = 60
_IDENTIFY_BYTES = 512
_SOLID_STATE = 1
_RPM_RANGE = range(0x0401, 0xFFFF)


class AtaIdentity(t.NamedTuple):
    """Fields of IDENTIFY DEVICE. C(rotation_rate_rpm) is 0 for a solid-state disk, None when not reported."""

    model: str | None
    serial_number: str | None
    firmware_revision: str | None
    wwn: str | None
    rotation_rate_rpm: int | None


def parse_ata_information_page(page: bytes | None) -> AtaIdentity | None:
    """Reads VPD page 0x89. None when the page is not there, cut short, or holds no IDENTIFY data."""
    if page is None or len(page) < _IDENTIFY_OFFSET + _IDENTIFY_BYTES or page[1] != 0x89:
        return None
    identify = page[_IDENTIFY_OFFSET : _IDENTIFY_OFFSET + _IDENTIFY_BYTES]
    words = struct.unpack("<256H", identify)
    if not any(words):
        return None
    return AtaIdentity(
        model=_text(identify, 27, 20),
        serial_number=_text(identify, 10, 10),
        firmware_revision=_text(identify, 23, 4),
        wwn=_wwn(words),
        rotation_rate_rpm=_rotation(words[217]),
    )


def _text(identify: bytes, first_word: int, words: int) -> str | None:
    """ATA strings hold the two characters of each word swapped."""
    raw = identify[first_word * 2 : (first_word + words) * 2]
    swapped = b"".join(raw[i + 1 : i + 2] + raw[i : i + 1] for i in range(0, len(raw), 2))
    return swapped.decode("ascii", errors="replace").strip(" \t\0") or None


def _wwn(words: tuple[int, ...]) -> str | None:
    supported = words[87] & 0xC000 == 0x4000 and words[87] & 0x0100
    digits = "".join(f"{word:04x}" for word in words[108:112])
    return f"naa.{digits}" if supported and digits.strip("0") else None


def _rotation(word: int) -> int | None:
    if word == _SOLID_STATE:
        return 0
    return word if word in _RPM_RANGE else None
