# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Commands that change an entry of a partition table, and tell the kernel. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step

__all__ = ["UDEV_RETRIES", "forget_kernel_step", "reread_step", "set_step", "tell_kernel_step"]

UDEV_RETRIES = 3


def set_step(disk: str, number: int, option: str, value: str) -> Step:
    argv = ("sfdisk", "--quiet", "--lock=yes", "--no-reread", option, disk, str(number), value)
    return Step(argv, f"set {option[7:]} of partition {number} of {disk} to {value}", retries=UDEV_RETRIES)


def tell_kernel_step(disk: str, number: int) -> Step:
    """The kernel takes a whole table only while nothing of the disk is in use; one partition it takes always."""
    argv = ("partx", "--update", "--nr", f"{number}:{number}", disk)
    return Step(argv, f"make the kernel see partition {number} of {disk} as the table has it", retries=UDEV_RETRIES)


def forget_kernel_step(disk: str, number: int) -> Step:
    """It has exit code 1 where the kernel does not show the partition any more."""
    argv = ("partx", "--delete", "--nr", f"{number}:{number}", disk)
    return Step(argv, f"make the kernel forget partition {number} of {disk}", ok=(0, 1), retries=UDEV_RETRIES)


def reread_step(disk: str) -> Step:
    return Step(("blockdev", "--rereadpt", disk), f"make the kernel read the table of {disk}", retries=UDEV_RETRIES)
