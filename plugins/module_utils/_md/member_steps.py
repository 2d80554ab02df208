# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The commands that add, replace and remove members of a running array, as steps. Pure.

A device that carries a superblock of this very array, no newer than the array, holds nothing but an old copy of its
data; steps on such a device declare no C(writes), since the guard would take it for content of the array.
"""

from __future__ import annotations

import os

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState

__all__ = [
    "add_steps",
    "detach_step",
    "forget_steps",
    "read_write_step",
    "readd_step",
    "remove_step",
    "replace_step",
    "write_mostly_step",
]

# mdadm ends with 1 or 2 where a device is too broken to be written.
_ALSO_BROKEN = (0, 1, 2)


def add_steps(state: MdState, path: str, device: str) -> list[Step]:
    """A new device: old signatures go first, since adding leaves those before the data where they are."""
    return [
        Step(("wipefs", "--all", device), f"wipe signatures from {device}", writes=(device,), retries=2),
        Step(("mdadm", path, "--add", device), f"add {device} to the array {state.label}", writes=(device,), retries=1),
    ]


def readd_step(state: MdState, path: str, device: str) -> Step:
    """A device that was a member: mdadm recovers only what changed where a bitmap tells, else all of it."""
    return Step(("mdadm", path, "--add", device), f"add {device} to the array {state.label} again", retries=2)


def replace_step(state: MdState, path: str, old: str, new: str) -> Step:
    """Copy a member onto a spare while both are in the array; afterwards the kernel marks the old one faulty."""
    return Step(
        ("mdadm", path, "--replace", old, "--with", new),
        f"replace {old} by {new} in the array {state.label}",
        retries=1,
    )


def remove_step(state: MdState, path: str, device: str) -> Step:
    return Step(("mdadm", path, "--remove", device), f"remove {device} from the array {state.label}", retries=2)


def detach_step(state: MdState, path: str) -> Step:
    return Step(
        ("mdadm", path, "--fail", "detached", "--remove", "detached"),
        f"let go of the devices of the array {state.label} that are gone from the host",
        retries=2,
    )


def forget_steps(state: MdState, path: str, device: str) -> list[Step]:
    """Remove a device for good: without its superblock it does not come back after a reboot as a piece of its own."""
    return [
        remove_step(state, path, device),
        Step(
            ("mdadm", "--zero-superblock", device),
            f"wipe the md superblock of {device}, which has left the array {state.label}",
            ok=_ALSO_BROKEN,
            retries=2,
            locks=(device,),
        ),
    ]


def read_write_step(state: MdState, path: str) -> Step:
    """An array that was not written since it started does not rebuild."""
    return Step(("mdadm", "--readwrite", path), f"let the array {state.label} begin to rebuild")


def write_mostly_step(state: MdState, device: str, on: bool) -> Step:
    """mdadm has no command for it on an array that runs."""
    place = f"/sys/block/{os.path.basename(state.kernel_path)}/md/dev-{device[len('/dev/') :].replace('/', '!')}/state"
    word = "writemostly" if on else "-writemostly"
    return Step(("tee", place), f"mark {device} as {'' if on else 'not '}write-mostly", stdin=f"{word}\n")
