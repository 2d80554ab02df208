# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads all of LVM with one program."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._lvm.label import LABEL_AREA_BYTES, find_label_sector
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.parse import (
    parse_fullreport,
    parse_system_id,
    report_arguments,
    with_own_system_id,
)

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["has_devices_file", "kernel_path", "read_lvm", "with_label_sector"]

_DEVICES_FILE = "/etc/lvm/devices/system.devices"


def kernel_path(path: str) -> str:
    """The kernel's own name of a block device (C(/dev/md127) for C(/dev/md/data)); the path itself where there is none.

    Devices are compared by number: a link that changed its target, or a node of another name, misleads nobody.
    """
    try:
        number = os.stat(path).st_rdev
        link = os.readlink(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    except OSError:
        return path
    return f"/dev/{os.path.basename(link).replace('!', '/')}"


def read_lvm(runner: Runner) -> LvmState:
    """PVs, VGs and LVs of this host, by one process; by a second one only where some VG has a system ID."""
    result = runner.query(["lvm", "fullreport", *report_arguments()], timeout=120)
    state = parse_fullreport(result.stdout, resolve=kernel_path)
    if not any(vg.system_id for vg in state.vgs):
        return state
    return with_own_system_id(state, parse_system_id(runner.query(["lvm", "systemid"]).stdout))


def has_devices_file() -> bool:
    """Whether this host has a list of the devices that LVM looks at (where it is told to use one)."""
    return os.path.exists(_DEVICES_FILE)


def with_label_sector(state: LvmState, path: str) -> LvmState:
    """The state with the sector of the label of one PV, read from its device."""
    try:
        with open(path, "rb", buffering=0) as stream:
            sector = find_label_sector(stream.read(LABEL_AREA_BYTES))
    except OSError:
        return state
    pvs = tuple(pv._replace(label_sector=sector) if pv.path == path else pv for pv in state.pvs)
    return state._replace(pvs=pvs)
