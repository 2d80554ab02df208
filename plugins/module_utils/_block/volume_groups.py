# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Which physical volumes make up which volume group, active or not: one call of LVM."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import PhysicalVolume
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import parse_physical_volumes

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["local_system_id", "read_physical_volumes"]

_COLUMNS = "pv_name,pv_uuid,pv_missing,vg_name,vg_uuid,lv_count,vg_missing_pv_count,vg_lock_type,vg_systemid"
# A devices file or a filter hides volumes from LVM; the guard must see what is there.
_SEE_ALL = 'devices { use_devicesfile=0 filter=["a|.*|"] global_filter=["a|.*|"] }'


def read_physical_volumes(runner: Runner) -> list[PhysicalVolume]:
    """Every physical volume of the host, also of foreign and shared groups. Raises CommandError when LVM fails."""
    argv = ["lvm", "pvs", "--foreign", "--shared", "--reportformat", "json", "--config", _SEE_ALL, "-o", _COLUMNS]
    return parse_physical_volumes(runner.query(argv, ok=(0, 5)).stdout)


def local_system_id(runner: Runner) -> str | None:
    """The system ID of this host as LVM knows it, None when it has none."""
    text = runner.query(["lvm", "systemid"], ok=None).stdout
    return text.partition("system ID:")[2].strip() or None
