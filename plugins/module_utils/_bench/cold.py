# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Cold at every layer: page cache, inodes, and the cache of each block device of the stack; and the proof of it."""

from __future__ import annotations

import fcntl
import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size

__all__ = ["cold_problem", "make_cold"]

_BLKFLSBUF = 0x1261
_DROP_CACHES = "/proc/sys/vm/drop_caches"


def make_cold(device_paths: t.Iterable[str]) -> None:
    """Writes back, then drops page cache, dentries and inodes, then the cache of each device, top layer first.

    Flushing one device empties its own cache only, so every layer is named. Raises StorageError when one refuses.
    """
    try:
        os.sync()
        with open(_DROP_CACHES, "w", encoding="ascii") as stream:
            stream.write("3\n")
        for path in device_paths:
            _flush(path)
    except OSError as error:
        raise StorageError(f"the caches could not be emptied before a cold run: {error}; run as root") from error


def _flush(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, _BLKFLSBUF, 0)
    finally:
        os.close(descriptor)


def cold_problem(workload: Workload, tool_bytes: float, member_read_bytes: int) -> str | None:
    """Why a run that had to be cold was not: the disks read less than the tool. None when it was, or need not be."""
    if not workload.cold or workload.writes or member_read_bytes >= tool_bytes:
        return None
    return (
        f"the run was to be cold, but the disks read only {format_size(member_read_bytes)} "
        f"of the {format_size(int(tool_bytes))} that the tool read: the rest came from a cache; "
        "give a size larger than what is read in the run"
    )
