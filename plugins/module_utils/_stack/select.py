# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Which disks a stack or an experiment takes. Pure: identities and what they hold go in, disks or a refusal come out."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent, parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity

__all__ = ["choose_disks", "named_disks"]


def named_disks(names: t.Sequence[t.Any], disks: t.Sequence[DiskIdentity]) -> list[DiskIdentity]:
    """The disks that C(names) name, in their order; every name must match exactly one disk of the host."""
    chosen: list[DiskIdentity] = []
    for name in names:
        entry = parse_consent([name])
        found = [disk for disk in disks if entry.covers(disk)]
        twins = [disk.kernel_name for disk in disks if disk.serial_number == name and disk.duplicate_serial]
        if not found and twins:
            raise PlanRefused(
                f"disks names {name!r}, but {' and '.join(twins)} both carry this serial number; name the one you mean by its WWN, or by "
                "{by_path: …, capacity: …, host: …}. Nothing was changed"
            )
        if not found:
            known = ", ".join(f'"{text}"' for disk in disks for text in disk.names()[:1]) or "none that can be named"
            raise PlanRefused(
                f"disks names {name!r}, but this host has no such disk; it has {known}. Nothing was changed"
            )
        if len(found) > 1:
            shown = ", ".join(disk.kernel_name for disk in found)
            raise PlanRefused(
                f"disks names {name!r}, but {len(found)} disks of this host are called so: {shown}; use their WWNs or by_path"
            )
        if found[0] in chosen:
            raise PlanRefused(f"disks names {found[0].shown()} twice; name each disk once")
        chosen.append(found[0])
    return chosen


def choose_disks(
    names: t.Sequence[t.Any] | None,
    count: int,
    at_least: int,
    disks: t.Sequence[DiskIdentity],
    consent: Consent,
    busy: t.Mapping[str, str],
) -> tuple[list[DiskIdentity], list[str]]:
    """The disks to use, in order, and warnings.

    With C(names) exactly these (whether they may be lost is the guard's to say); without, the listed disks that nobody
    uses, by serial number, C(count) of them, or as many as there are down to C(at_least). C(busy) says by kernel name
    why a disk cannot be used. Raises PlanRefused.
    """
    if names:
        return named_disks(names, disks), []
    listed = sorted(
        (disk for disk in disks if consent.covers(disk)), key=lambda disk: (disk.names() or (disk.kernel_name,))[0]
    )
    idle = [disk for disk in listed if disk.kernel_name not in busy]
    warnings = [
        f"{disk.shown()} shares its serial number with another disk, so the number names neither; list it by WWN or by_path"
        for disk in disks
        if disk.duplicate_serial and disk.serial_number in consent.names and not consent.covers(disk)
    ]
    warnings += [
        f"{disk.shown()} is listed as expendable but {busy[disk.kernel_name]}; it is left alone"
        for disk in listed
        if disk.kernel_name in busy
    ]
    if len(idle) < min(count, at_least):
        raise PlanRefused(_too_few(len(idle), min(count, at_least), len(listed), warnings))
    return idle[:count], warnings


def _too_few(idle: int, needed: int, listed: int, warnings: t.Sequence[str]) -> str:
    why = f" ({'; '.join(warnings)})" if warnings else ""
    return (
        f"{needed} disks are needed, but of the disks of this host {listed} are listed in expendable_disks and {idle} of them can be used{why}. "
        "Nothing was changed; list more disks by serial number, or describe stacks for fewer with disk_count"
    )
