# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A permanent mount as a systemd mount unit: what is wanted, and what is there."""

from __future__ import annotations

import typing as t

__all__ = ["UNITS_DIR", "MountState", "MountWanted"]

UNITS_DIR = "/etc/systemd/system"


class MountWanted(t.NamedTuple):
    """An XFS by its UUID on a directory. C(owner) is the id of the stack that it belongs to."""

    path: str
    filesystem_uuid: str
    options: str
    owner: str

    @property
    def source(self) -> str:
        """The link that udev makes for the file system."""
        return f"/dev/disk/by-uuid/{self.filesystem_uuid}"


class MountState(t.NamedTuple):
    """One mount point. C(unit_text) is None without a unit file; C(device) is the kernel's name of what is mounted there.

    C(users) are processes that would keep it from being unmounted, in words; C(in_fstab) whether /etc/fstab claims it; C(torn) that
    a killed run left an unfinished unit file.
    """

    path: str
    unit_text: str | None = None
    enabled: bool = False
    device: str | None = None
    is_directory: bool = False
    exists: bool = False
    empty: bool = True
    in_fstab: bool = False
    users: tuple[str, ...] = ()
    torn: bool = False
