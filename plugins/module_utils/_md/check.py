# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a wish must fulfil before an array is made of it, and what an array that exists cannot become. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import (
    check_chunk,
    check_device_count,
    is_redundant,
    level_name,
    normalise_layout,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    NO_NAMED,
    MdNamed,
    MdState,
    MdWanted,
)

__all__ = [
    "check_creatable",
    "check_devices",
    "check_name",
    "check_policy",
    "check_sectors",
    "check_wish",
    "differences",
    "unequal_warnings",
]

_NAME = re.compile(r"^[A-Za-z0-9_.][A-Za-z0-9_.-]*$")
# The superblock has 32 bytes for "homehost:name"; mdadm drops the homehost when they do not fit.
_NAME_ROOM = 31
_KIB = 1024


def check_name(name: str, homehost: str) -> None:
    """Raises PlanRefused for a name that mdadm refuses, cuts, or takes for a kernel name."""
    if not _NAME.match(name) or re.match(r"^md_?d?\d+$", name):
        raise PlanRefused(
            f"name was given as {name!r}; use letters, digits, dots, hyphens and underscores, and not the kernel's "
            "own form such as md0: the array then becomes /dev/md/NAME and is found by its name"
        )
    if len(f"{homehost}:{name}") > _NAME_ROOM:
        raise PlanRefused(
            f"name was given as {name!r}; with the homehost {homehost!r} it has {len(name) + len(homehost) + 1} "
            f"characters, and an md superblock holds {_NAME_ROOM}"
        )


def check_wish(wanted: MdWanted) -> None:
    """Raises PlanRefused for options that no array can have together, whatever the host looks like."""
    check_name(wanted.name, wanted.homehost or "any")
    check_policy(wanted)
    if wanted.level is None:
        return
    level = level_name(wanted.level)
    check_chunk(level, wanted.chunk_bytes)
    normalise_layout(level, wanted.layout)
    if not is_redundant(level):
        _check_plain(level, wanted)
    if wanted.write_mostly and level != "raid1":
        raise PlanRefused(f"write_mostly was given, but only raid1 reads from one copy by choice, not {level}")
    if wanted.metadata in ("0.90", "1.0") and wanted.data_offset_bytes is not None:
        raise PlanRefused(
            f"data_offset was given with metadata {wanted.metadata}, whose data begins at the start of the member"
        )
    if wanted.size_bytes is not None:
        _check_size(level, wanted)
    if wanted.data_offset_bytes is not None and wanted.data_offset_bytes % (4 * _KIB):
        raise PlanRefused(
            f"data_offset was given as {format_size(wanted.data_offset_bytes)}; it must be a multiple of 4KiB"
        )


def _check_plain(level: str, wanted: MdWanted) -> None:
    """Options that need redundancy."""
    if wanted.bitmap not in (None, "none"):
        raise PlanRefused(
            f"bitmap was given as {wanted.bitmap}, but {level} has no redundancy and so no bitmap; leave it out"
        )
    if wanted.consistency_policy is not None:
        raise PlanRefused(
            f"consistency_policy was given as {wanted.consistency_policy}, but {level} has no redundancy whose "
            "consistency could be kept; leave it out"
        )


def check_policy(wanted: MdWanted) -> None:
    """Raises PlanRefused where consistency policy, bitmap, journal and level do not go together."""
    policy, level = wanted.consistency_policy, wanted.level and level_name(wanted.level)
    if policy is not None and wanted.bitmap == "internal":
        raise PlanRefused(
            f"consistency_policy was given as {policy} and bitmap as internal, but an array has one way only to become "
            "consistent after a crash; leave one of the two out, or give bitmap: none"
        )
    if policy == "ppl" and level not in (None, "raid5"):
        raise PlanRefused(f"consistency_policy was given as ppl, which only raid5 has, not {level}")
    if policy == "ppl" and wanted.metadata == "0.90":
        raise PlanRefused("consistency_policy was given as ppl, which needs metadata 1.0 or newer, not 0.90")
    if "journal" not in (policy, "journal" if wanted.journal else None):
        return
    if level not in (None, "raid4", "raid5", "raid6"):
        raise PlanRefused(f"a journal was asked for, which only raid4, raid5 and raid6 have, not {level}")
    if policy not in (None, "journal") or wanted.bitmap == "internal":
        other = f"consistency_policy {policy}" if policy not in (None, "journal") else "bitmap internal"
        raise PlanRefused(f"journal was given as {wanted.journal} together with {other}; leave one of the two out")
    if wanted.metadata == "0.90":
        raise PlanRefused("a journal was asked for, which needs metadata 1.0 or newer, not 0.90")


def _check_size(level: str, wanted: MdWanted) -> None:
    size = wanted.size_bytes or 0
    if level in ("raid0", "linear"):
        raise PlanRefused(f"size was given, but {level} always uses the whole of each member; leave it out")
    unit = wanted.chunk_bytes or 4 * _KIB
    if size <= 0 or size % unit:
        raise PlanRefused(
            f"size was given as {format_size(size)}; it must be a multiple of {format_size(unit)}, "
            f"such as {format_size(max(unit, size // unit * unit))}"
        )


def check_devices(devices: t.Sequence[DeviceGeometry], asked: t.Sequence[str]) -> None:
    """Raises PlanRefused when one device was named twice, also under two of its names."""
    seen: dict[str, str] = {}
    for device, path in zip(devices, asked):
        if device.path in seen:
            if seen[device.path] == path:
                raise PlanRefused(f"{path} was named as a member twice; name each device once")
            raise PlanRefused(
                f"{seen[device.path]} and {path} were both named as members, but they are one device, {device.path}"
            )
        seen[device.path] = path


def check_creatable(
    wanted: MdWanted, members: t.Sequence[DeviceGeometry], spares: t.Sequence[DeviceGeometry], named: MdNamed = NO_NAMED
) -> None:
    """Raises PlanRefused when an array cannot be made of these devices."""
    if wanted.level is None or not members:
        missing = "level" if wanted.level is None else "devices"
        raise PlanRefused(
            f"the array {wanted.name} does not exist on this host; to make it, {missing} must be given too"
        )
    level = level_name(wanted.level)
    check_device_count(level, len(members), wanted.layout)
    if spares and not is_redundant(level):
        raise PlanRefused(f"spares were given, but {level} has no redundancy and cannot use a spare; leave them out")
    if wanted.consistency_policy == "journal" and named.journal is None:
        raise PlanRefused("consistency_policy was given as journal; name the device that becomes it under journal, too")
    strangers = sorted(set(named.write_mostly or ()) - {device.path for device in members})
    if strangers:
        raise PlanRefused(f"write_mostly names {', '.join(strangers)}, which is not among devices")
    if named.write_mostly and len(named.write_mostly) == len(members):
        raise PlanRefused("write_mostly names every member; one at least must be left to read from")
    devices = [*members, *spares, *named.devices()]
    check_sectors(devices)


def check_sectors(devices: t.Sequence[DeviceGeometry]) -> None:
    """Raises PlanRefused for devices of unequal logical sector sizes."""
    if len({device.logical_sector_bytes for device in devices if not device.assumed}) > 1:
        shown = ", ".join(f"{device.path} {device.logical_sector_bytes}" for device in devices)
        raise PlanRefused(
            f"the members have unequal logical sector sizes in bytes ({shown}); an array needs disks of one sector size"
        )


def unequal_warnings(level: str, members: t.Sequence[DeviceGeometry]) -> tuple[str, ...]:
    """A warning when the members differ so much in size that a tenth or more of the largest stays unused."""
    sizes = [device.size_bytes for device in members if device.size_bytes is not None]
    if level in ("raid0", "linear") or not sizes or min(sizes) * 10 >= max(sizes) * 9:
        return ()
    shown = ", ".join(f"{device.path} {format_size(device.size_bytes)}" for device in members)
    return (f"the members have very unequal sizes ({shown}); only as much as the smallest has is used of each",)


def differences(state: MdState, wanted: MdWanted) -> list[tuple[str, str, str]]:
    """What is asked, can never be changed in place, and differs: name of the property, found, asked."""
    level = level_name(wanted.level) if wanted.level is not None else None
    layout = None
    if level in (None, state.level):
        layout = normalise_layout(state.level, wanted.layout) if state.level else wanted.layout
    pairs: list[tuple[str, t.Any, t.Any]] = [
        ("uuid", state.uuid, wanted.uuid),
        ("name", state.name, wanted.name),
        ("homehost", state.homehost, wanted.homehost),
        ("layout", state.layout, layout),
        ("metadata", state.metadata, wanted.metadata),
        ("data_offset", state.data_offset_bytes, wanted.data_offset_bytes),
    ]
    return [
        (name, format_size(is_) if name == "data_offset" else str(is_), _shown(name, want))
        for name, is_, want in pairs
        if want is not None and is_ not in (None, want)
    ]


def _shown(name: str, value: t.Any) -> str:
    return format_size(value) if name == "data_offset" else str(value)
