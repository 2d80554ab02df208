# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Argument lists of LVM commands, and the words its messages share."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = ["WIPE_RETRIES", "check_name", "check_tags", "lvm_argv", "wipe_argv", "without_devices_file"]

# udev may have the device open for a moment after something was made or stopped.
WIPE_RETRIES = 3
_NAME = re.compile(r"[A-Za-z0-9_+.][A-Za-z0-9_+.-]*")
_TAG = re.compile(r"[A-Za-z0-9_+./=!:&#][A-Za-z0-9_+.\-/=!:&#]*")


def lvm_argv(command: str, *arguments: str) -> tuple[str, ...]:
    """One LVM command. Without C(-y) in the arguments a question finds no answer, and the command gives up."""
    return ("lvm", command, *arguments)


def wipe_argv(path: str) -> tuple[str, ...]:
    return ("wipefs", "-a", path)


def check_name(name: str, option: str) -> None:
    """Raises PlanRefused for a name that LVM does not take."""
    if not _NAME.fullmatch(name) or name in (".", "..") or len(name) > 100:
        raise PlanRefused(
            f"{option} was given as {name!r}, which LVM does not take as a name; use up to 100 letters, digits and + _ "
            ". -, without a hyphen at the start"
        )


def check_tags(tags: t.Sequence[str] | None) -> None:
    """Raises PlanRefused for a tag that LVM does not take."""
    for tag in tags or ():
        if not _TAG.fullmatch(tag):
            raise PlanRefused(
                f"the tag {tag!r} is not one that LVM takes; use letters, digits and _ + . - / = ! : & #, without a "
                "hyphen at the start"
            )


def without_devices_file(argv: t.Sequence[str]) -> tuple[str, ...]:
    """The LVM command, with its list of devices left out of account: all devices are seen, and no list is begun."""
    words = list(argv)
    setting = "devices/use_devicesfile=0"
    if "--config" in words:
        at = words.index("--config") + 1
        words[at] = f"{words[at]} {setting}"
        return tuple(words)
    return (*words[:2], "--config", setting, *words[2:])
