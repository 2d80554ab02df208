# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where the label of a physical volume lies; LVM's report does not tell. Pure."""

from __future__ import annotations

import struct

__all__ = ["LABEL_AREA_BYTES", "find_label_sector"]

_SECTOR_BYTES = 512
LABEL_AREA_BYTES = 4 * _SECTOR_BYTES
# The label holds this mark, then the number of the sector that it was written to.
_MARK, _TYPE = b"LABELONE", b"LVM2 001"


def find_label_sector(area: bytes) -> int | None:
    """The sector of the LVM label in the first sectors of a device; None where there is none."""
    for sector in range(len(area) // _SECTOR_BYTES):
        label = area[sector * _SECTOR_BYTES : (sector + 1) * _SECTOR_BYTES]
        if label.startswith(_MARK) and label[24:32] == _TYPE and struct.unpack_from("<Q", label, 8) == (sector,):
            return sector
    return None
