# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Snapshots of all disks of one machine, kept inside their qcow2 files."""

from __future__ import annotations

import json
import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import CommandError, PlanRefused

__all__ = ["delete_snapshot", "list_snapshots", "restore_snapshot", "take_snapshot"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")


def _names(path: str, runner: Runner) -> list[str]:
    found = json.loads(runner.query(["qemu-img", "info", "--output=json", path]).stdout)
    return [snapshot["name"] for snapshot in found.get("snapshots", [])]


def list_snapshots(paths: t.Sequence[str], runner: Runner) -> list[str]:
    """Names of the snapshots that every one of these disks has, in the order they were taken."""
    per_disk = [_names(path, runner) for path in paths]
    return [name for name in per_disk[0] if all(name in names for names in per_disk)] if per_disk else []


def _change(option: str, name: str, path: str, runner: Runner) -> None:
    runner.change(["qemu-img", "snapshot", "-q", option, name, path])


def take_snapshot(paths: t.Sequence[str], name: str, runner: Runner) -> None:
    """Takes a snapshot of all disks or, on an error, of none."""
    if not _NAME.match(name):
        raise PlanRefused(f"the snapshot name {name!r} cannot be used; take letters, digits, _, . and -")
    taken: list[str] = []
    try:
        for path in paths:
            # A part of an earlier, interrupted snapshot may be left on some disks.
            if name in _names(path, runner):
                _change("-d", name, path, runner)
            _change("-c", name, path, runner)
            taken.append(path)
    except CommandError:
        for path in taken:
            _change("-d", name, path, runner)
        raise


def restore_snapshot(paths: t.Sequence[str], name: str, runner: Runner) -> None:
    """Puts all disks back; raises PlanRefused when one of them does not have the snapshot, then none is touched."""
    for path in paths:
        if name not in _names(path, runner):
            known = ", ".join(list_snapshots(paths, runner)) or "none"
            raise PlanRefused(f"there is no snapshot {name!r} of {os.path.basename(path)}; snapshots: {known}")
    for path in paths:
        _change("-a", name, path, runner)


def delete_snapshot(paths: t.Sequence[str], name: str, runner: Runner) -> bool:
    """Removes a snapshot from all disks that have it; True if any had."""
    having = [path for path in paths if name in _names(path, runner)]
    for path in having:
        _change("-d", name, path, runner)
    return bool(having)
