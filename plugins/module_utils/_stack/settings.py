# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Queue, md and readahead settings of the layers of a stack: which differ, and the steps that set them. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import StackDescription

__all__ = ["Setting", "active_word", "setting_file", "settings_plan", "wanted_settings"]

_MD = ("stripe_cache_size", "group_thread_cnt")


class Setting(t.NamedTuple):
    """One setting of one device. C(value) is text as sysfs takes it; readahead is in KiB there."""

    device: str
    name: str
    value: str


def wanted_settings(stack: StackDescription, devices: t.Mapping[str, str], disks: t.Sequence[str]) -> list[Setting]:
    """The settings of a stack, by device. Raises PlanRefused for a layer that is no block device of its own."""
    found: list[Setting] = []
    for layer, settings in stack.settings.items():
        if layer != "disks" and layer not in devices:
            raise PlanRefused(
                f"stack {stack.name} has settings for the layer {layer}, which is no block device; name an md or lv layer, or disks"
            )
        for device in disks if layer == "disks" else [devices[layer]]:
            for name, value in settings.items():
                found.append(Setting(device, name, str(int(value) // 1024) if name == "readahead" else str(value)))
    return found


def setting_file(kernel_name: str, name: str) -> str:
    """Where sysfs shows a setting of a device."""
    if name in _MD:
        return f"/sys/block/{kernel_name}/md/{name}"
    return f"/sys/block/{kernel_name}/queue/{'read_ahead_kb' if name == 'readahead' else name}"


def active_word(text: str) -> str:
    """The value that counts: the scheduler file shows all and brackets the one in use."""
    match = re.search(r"\[([^\]]+)\]", text)
    return match.group(1) if match else text.strip()


def settings_plan(differing: t.Sequence[tuple[str, Setting, str]]) -> Plan:
    """Sets what differs: kernel name of the device, setting, present value."""
    return Plan(
        tuple(_setting_step(name, setting) for name, setting, _found in differing),
        before={f"{setting.name} of {setting.device}": found for _name, setting, found in differing},
        after={f"{setting.name} of {setting.device}": setting.value for _name, setting, _found in differing},
    )


def _setting_step(kernel_name: str, setting: Setting) -> Step:
    """The step that sets it; LVM and blockdev count readahead in sectors."""
    if setting.name == "readahead":
        sectors = int(setting.value) * 1024 // SECTOR_BYTES
        return Step(
            ("blockdev", "--setra", str(sectors), f"/dev/{kernel_name}"),
            f"set the readahead of {setting.device} to {setting.value} KiB",
        )
    path = setting_file(kernel_name, setting.name)
    return Step(("tee", path), f"set {setting.name} of {setting.device} to {setting.value}", stdin=f"{setting.value}\n")
