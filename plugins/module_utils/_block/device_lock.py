# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Keeps udev away from disks for a while: the lock on whole disks that systemd's udev respects.

After an array is stopped, udev looks at its members again, and may assemble them before their superblocks are wiped.
"""

from __future__ import annotations

import fcntl
import os
import time
import types
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import devno_of_path, read_text

__all__ = ["DeviceLocks", "whole_disk"]

_WAIT_SECONDS = 5.0


def whole_disk(path: str, sysfs_root: str = "/sys") -> str | None:
    """Device node of the disk that a partition lies on; of any other device its own node. None: no such device."""
    devno = devno_of_path(path)
    directory = os.path.realpath(os.path.join(sysfs_root, "dev/block", devno or "none"))
    if devno is None or not os.path.isdir(directory):
        return None
    if os.path.exists(os.path.join(directory, "partition")):
        directory = os.path.dirname(directory)
    name = os.path.basename(directory).replace("!", "/")
    return f"/dev/{name}" if read_text(os.path.join(directory, "dev")) else None


class DeviceLocks:
    """Holds the locks of some disks; leaving the context releases all."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def __enter__(self) -> DeviceLocks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.hold(())

    def hold(self, paths: t.Sequence[str]) -> None:
        """Locks the disks under these devices and releases all others; one that others keep locked is passed over."""
        wanted = {disk for disk in map(whole_disk, paths) if disk is not None}
        for disk in [one for one in self._held if one not in wanted]:
            os.close(self._held.pop(disk))
        for disk in sorted(wanted - set(self._held)):
            descriptor = _locked(disk)
            if descriptor is not None:
                self._held[disk] = descriptor


def _locked(disk: str) -> int | None:
    try:
        descriptor = os.open(disk, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    end = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError:
            if time.monotonic() >= end:
                os.close(descriptor)
                return None
            time.sleep(0.05)
