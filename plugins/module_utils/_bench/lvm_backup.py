# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The little of LVM that neither sysfs nor device-mapper shows, from LVM's own text backup: no program is started."""

from __future__ import annotations

import os
import re
import typing as t

__all__ = ["parse_vg_backup", "read_vg_backup"]

_BACKUP_DIR = "/etc/lvm/backup"
_SECTOR_BYTES = 512


def read_vg_backup(vg_name: str, vg_uuid: str | None, directory: str = _BACKUP_DIR) -> dict[str, t.Any]:
    """Extent size and pe_start of a VG; empty when there is no backup of this very VG."""
    try:
        with open(os.path.join(directory, vg_name), encoding="utf-8", errors="replace") as stream:
            found = parse_vg_backup(stream.read())
    except OSError:
        return {}
    return {key: value for key, value in found.items() if key != "vg_uuid"} if found.get("vg_uuid") == vg_uuid else {}


def parse_vg_backup(text: str) -> dict[str, t.Any]:
    """C(vg_uuid) without hyphens, C(extent_bytes), C(pe_start_bytes): those of all PVs, each once, sorted. Pure."""
    uuid = re.search(r'^\tid = "([^"]+)"', text, re.MULTILINE)
    extent = re.search(r"^\textent_size = (\d+)", text, re.MULTILINE)
    starts = {int(start) * _SECTOR_BYTES for start in re.findall(r"^\t+pe_start = (\d+)", text, re.MULTILINE)}
    return {
        "vg_uuid": uuid.group(1).replace("-", "") if uuid else None,
        "extent_bytes": int(extent.group(1)) * _SECTOR_BYTES if extent else None,
        "pe_start_bytes": sorted(starts),
    }
