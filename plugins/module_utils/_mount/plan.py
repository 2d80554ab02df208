# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What to do about a permanent mount. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.udev import look_again_step
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import UNITS_DIR, MountState, MountWanted
from ansible_collections.plumbline.storage.plugins.module_utils._mount.unit import (
    is_own_text,
    part_path,
    unit_name,
    unit_path,
    unit_text,
)

__all__ = ["plan_mount", "plan_unmount"]

_RELOAD = Step(("systemctl", "daemon-reload"), "let systemd read its units again")


def plan_mount(state: MountState, wanted: MountWanted, device: str | None) -> Plan:
    """Writes, enables and starts the unit where it is missing or differs.

    C(device) is the kernel's name of the file system's device, None while it is only planned. Raises PlanRefused where
    somebody else has the place.
    """
    _refuse_strangers(state, wanted, device)
    name, text = unit_name(wanted.path), unit_text(wanted)
    before = {"mount": wanted.path if state.device else None, "unit": _shown(state.unit_text)}
    after = {"mount": wanted.path, "unit": text}
    steps: list[Step] = []
    if state.unit_text != text:
        part = part_path(wanted.path)
        steps += [
            Step(("tee", part), f"write the unit {name}", stdin=text),
            Step(("sync", part), f"put the unit {name} on the disk"),
            Step(("mv", part, unit_path(wanted.path)), f"put the unit {name} in its place"),
            _RELOAD,
        ]
    if not state.enabled:
        steps.append(Step(("systemctl", "enable", name), f"mount {wanted.path} at every boot"))
    if state.device is None:
        if device is not None:
            # udev looks at nothing that is closed while it handles the device: the new file system can stay unseen for ever.
            steps.append(look_again_step(device, "the file system"))
        steps.append(Step(("systemctl", "start", name), f"mount {wanted.path}", awaits=(wanted.source,)))
    elif state.unit_text != text:
        steps.append(Step(("systemctl", "reload", name), f"mount {wanted.path} anew with the options {wanted.options}"))
    return Plan(tuple(steps), before=before, after=after)


def _shown(text: str | None) -> str | None:
    return None if text is None else text.strip("\0")


def _refuse_strangers(state: MountState, wanted: MountWanted, device: str | None) -> None:
    path = wanted.path
    if state.unit_text is not None and not is_own_text(state.unit_text, wanted.owner):
        raise PlanRefused(
            f"a mount on {path} was asked for {wanted.owner}, but {unit_path(path)} exists and is not of this stack; remove it, "
            "or mount elsewhere"
        )
    if state.in_fstab:
        raise PlanRefused(
            f"a mount on {path} was asked for {wanted.owner}, but /etc/fstab names {path} too; remove one of them"
        )
    if state.device is not None and state.device != device:
        raise PlanRefused(
            f"a mount on {path} was asked for {wanted.owner}, but {state.device} is mounted there; mount elsewhere"
        )
    if state.exists and not state.is_directory:
        raise PlanRefused(
            f"a mount on {path} was asked for {wanted.owner}, but {path} is no directory; mount elsewhere"
        )
    if state.device is None and not state.empty:
        raise PlanRefused(
            f"a mount on {path} was asked for {wanted.owner}, but that directory holds files, which would be hidden; empty it, or mount "
            "elsewhere"
        )


def plan_unmount(state: MountState, owner: str) -> Plan:
    """Stops and removes the unit of this stack. Raises PlanRefused when the mount is in use or not ours."""
    name = unit_name(state.path)
    if state.unit_text is None and not state.torn:
        return Plan()
    if state.unit_text is not None and not is_own_text(state.unit_text, owner):
        raise PlanRefused(
            f"asked to unmount {state.path} of {owner}, but {unit_path(state.path)} is not of this stack; look at it and decide"
        )
    if state.users:
        raise PlanRefused(
            f"asked to unmount {state.path} of {owner}, but it is in use by {', '.join(state.users)}. Nothing was changed; end that first"
        )
    steps: list[Step] = []
    if state.device is not None:
        steps.append(Step(("systemctl", "stop", name), f"unmount {state.path}"))
    if state.enabled:
        steps.append(Step(("systemctl", "disable", name), f"no longer mount {state.path} at boot"))
    steps += [
        Step(("rm", "-f", part_path(state.path), unit_path(state.path)), f"remove the unit {name}"),
        # A unit that came back after a power cut would make every boot wait for a file system that is gone.
        Step(("sync", UNITS_DIR), f"have the unit {name} gone for good"),
        _RELOAD,
    ]
    fields: dict[str, t.Any] = {"mount": state.path, "unit": _shown(state.unit_text)}
    return Plan(tuple(steps), before=fields, after={"mount": None, "unit": None})
