# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Consent by identity, per disk: which disks may lose their content. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity, normalise_wwn

__all__ = ["Consent", "MappingEntry", "parse_consent"]

_MAPPING_KEYS = ("by_path", "capacity", "host")
_KERNEL_NAME = re.compile(
    r"(sd|hd|vd|xvd)[a-z]{1,3}\d*|nvme\d+(n\d+(p\d+)?)?|mmcblk\d+(p\d+)?|md\d+(p\d+)?|dm-\d+|loop\d+(p\d+)?|"
    r"(nbd|rbd|drbd|zram|ram|sr|bcache|pmem)\d+"
)


class MappingEntry(t.NamedTuple):
    """A disk without a serial number of its own, named by its place, exact capacity and host."""

    by_path: str
    capacity_bytes: int
    host: str

    def matches(self, disk: DiskIdentity) -> bool:
        hosts = (disk.host, disk.host.split(".", 1)[0])
        return self.by_path in disk.by_path and self.capacity_bytes == disk.capacity_bytes and self.host in hosts

    def shown(self) -> str:
        return f"{{by_path: {self.by_path}, capacity: {self.capacity_bytes}B, host: {self.host}}}"


class Consent(t.NamedTuple):
    """What a person listed as expendable on this host."""

    names: tuple[str, ...] = ()
    mappings: tuple[MappingEntry, ...] = ()

    @property
    def given(self) -> bool:
        """True when anything at all is listed."""
        return bool(self.names or self.mappings)

    def covers(self, disk: DiskIdentity) -> bool:
        """True when this disk may be lost whole."""
        if disk.device_kind == "unknown":
            return False
        if any(_name_matches(name, disk) for name in self.names):
            return True
        return disk.device_kind != "loop" and any(entry.matches(disk) for entry in self.mappings)

    def unmatched(self, disks: t.Iterable[DiskIdentity]) -> tuple[str, ...]:
        """Entries that name none of these disks. On one host of many this is normal; nowhere, it is a slip."""
        present = list(disks)
        texts = [name for name in self.names if not any(_name_matches(name, disk) for disk in present)]
        places = [entry.shown() for entry in self.mappings if not any(entry.matches(disk) for disk in present)]
        return (*texts, *places)


def _name_matches(entry: str, disk: DiskIdentity) -> bool:
    digits = normalise_wwn(entry)
    return any(entry == name or (digits is not None and digits == normalise_wwn(name)) for name in disk.names())


def parse_consent(entries: t.Sequence[t.Any] | None) -> Consent:
    """Checks the entries of C(expendable_disks). Raises PlanRefused for anything that could mean another disk."""
    if isinstance(entries, (str, bytes)):
        raise PlanRefused(f"expendable_disks must be a list of serial numbers or WWNs, but is the text {entries!r}")
    names: list[str] = []
    mappings: list[MappingEntry] = []
    for entry in entries or ():
        if isinstance(entry, t.Mapping):
            mappings.append(_parse_mapping(entry))
        else:
            names.append(_parse_name(entry))
    return Consent(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(mappings)))


def _parse_name(entry: t.Any) -> str:
    if not isinstance(entry, str):
        raise PlanRefused(
            f"expendable_disks has the entry {entry!r}, which YAML did not read as text (it reads 00012345 as another "
            f'number); put it in quotes, such as "00012345", exactly as the disk shows it'
        )
    name = entry.strip()
    if not name:
        raise PlanRefused("expendable_disks has an empty entry; list serial numbers or WWNs in quotes")
    if name.startswith("/") or _KERNEL_NAME.fullmatch(name):
        raise PlanRefused(
            f"expendable_disks has the entry {name!r}, which is the name of a device and not of a disk: it may be another "
            "disk after the next boot; list the disk's serial number or WWN in quotes"
        )
    return name


def _parse_mapping(entry: t.Mapping[t.Any, t.Any]) -> MappingEntry:
    missing = [key for key in _MAPPING_KEYS if not entry.get(key)]
    unknown = sorted(str(key) for key in entry if key not in _MAPPING_KEYS)
    if missing or unknown:
        what = f"lacks {', '.join(missing)}" if missing else f"has the unknown key {', '.join(unknown)}"
        raise PlanRefused(
            f"expendable_disks has the entry {dict(entry)!r}, which {what}; a disk without a serial number of its own is "
            'named by all of by_path, capacity and host, such as {by_path: "pci-0000:00:1f.2-ata-1", '
            'capacity: "1000204886016B", host: "db7"}'
        )
    place = str(entry["by_path"]).strip()
    place = place[len("/dev/disk/by-path/") :] if place.startswith("/dev/disk/by-path/") else place
    capacity_bytes = parse_size(entry["capacity"], "capacity in expendable_disks")
    return MappingEntry(place, capacity_bytes, str(entry["host"]).strip())
