# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Steps that have udev look at a device, which makes the links in /dev/disk. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step

__all__ = ["look_again_step"]


def look_again_step(device: str, what: str) -> Step:
    """For a change that udev does not notice by itself. C(what) says for what it looks, such as C(the label)."""
    argv = ("udevadm", "trigger", "--action=change", "--settle", device)
    return Step(argv, f"let udev look for {what} on {device}", ok=(0, 1))
