# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What virtual machines and disks a lab profile asks for; what a bus cannot do is refused by name."""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size, parse_size

__all__ = ["BUSES", "DiskProfile", "VmProfile", "check_name", "parse_profile", "parse_vm"]


@dataclasses.dataclass(frozen=True)
class BusLimits:
    """What QEMU can show on one bus; None means that the property cannot be given there."""

    model_length: int | None
    serial_length: int
    firmware_length: int | None
    vendor_length: int | None = None
    rotation_rate: bool = False
    wwn: bool = False
    logical_sectors: tuple[int, ...] = (512, 4096)
    physical_sector: bool = True
    why: str = ""


BUSES: dict[str, BusLimits] = {
    "sata": BusLimits(40, 20, 8, rotation_rate=True, wwn=True, logical_sectors=(512,), why="QEMU's ide-hd"),
    "scsi": BusLimits(16, 36, 4, vendor_length=8, rotation_rate=True, wwn=True, why="QEMU's scsi-hd"),
    # Linux disregards the EUI-64 that QEMU can give a namespace, as many of QEMU's were wrong.
    "nvme": BusLimits(None, 20, None, physical_sector=False, why="QEMU's nvme"),
    "virtio": BusLimits(None, 20, None, why="QEMU's virtio-blk"),
}

_DISK_KEYS = (
    *("bus", "model", "vendor", "serial", "firmware", "rotation_rate", "size", "logical_sector"),
    *("physical_sector", "throughput_limit", "wwn", "expendable"),
)
_VM_KEYS = ("name", "cpus", "memory", "disks", "duplicate_serials", "host_vars")
# Each of these takes a slot of its own on the machine's only PCI bus.
_PCI_DISKS_MAX = 20
_DEFAULT_DISK_BYTES = 3 * 1024**3
_DEFAULT_MEMORY_BYTES = 2 * 1024**3
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}\Z")
# No comma, quote or space at the ends: the text goes through QEMU's option parser and a padded identity field.
_IDENTITY = re.compile(r"[A-Za-z0-9_.:/+()-](?:[A-Za-z0-9_.:/+() -]*[A-Za-z0-9_.:/+()-])?\Z")
_WWN = re.compile(r"(?:naa\.|eui\.|0x)?([0-9a-fA-F]{16})\Z")


@dataclasses.dataclass(frozen=True)
class DiskProfile:
    """One data disk of a virtual machine. Sizes in bytes, limit in bytes per second; None: as QEMU shows it."""

    bus: str
    size_bytes: int
    serial: str | None = None
    model: str | None = None
    vendor: str | None = None
    firmware: str | None = None
    rotation_rate: int | None = None
    logical_sector_bytes: int = 512
    physical_sector_bytes: int | None = None
    throughput_limit_bytes: int | None = None
    wwn: int | None = None
    expendable: bool = False


@dataclasses.dataclass(frozen=True)
class VmProfile:
    """One virtual machine of a lab."""

    name: str
    cpus: int
    memory_bytes: int
    disks: tuple[DiskProfile, ...]
    host_vars: dict[str, t.Any] = dataclasses.field(default_factory=dict)


def _unknown(found: t.Iterable[str], known: t.Sequence[str], where: str) -> None:
    extra = sorted(str(key) for key in set(found) - set(known))
    if extra:
        raise PlanRefused(
            f"{where} asks for {', '.join(extra)}, which the lab does not know; it knows {', '.join(known)}"
        )


def _text(value: t.Any, key: str, length: int | None, where: str, why: str) -> str | None:
    """A checked identity text; None stays None."""
    if value is None:
        return None
    if length is None:
        raise PlanRefused(
            f"{where} asks for {key} {value!r}, but {why} cannot show a {key}; leave it out or use another bus"
        )
    if not isinstance(value, str):
        raise PlanRefused(f"{where} gives {key} as the number {value!r}; put it in quotes, YAML may have changed it")
    if not _IDENTITY.match(value):
        raise PlanRefused(
            f"{where} gives {key} {value!r}; only letters, digits, inner blanks and _.:/+()- can be shown"
        )
    if len(value) > length:
        raise PlanRefused(f"{where} gives {key} {value!r} of {len(value)} characters; {why} shows at most {length}")
    return value


def _wwn(value: t.Any, where: str) -> int | None:
    if value is None:
        return None
    match = _WWN.match(value) if isinstance(value, str) else None
    if not match:
        raise PlanRefused(
            f"{where} gives wwn {value!r}; write 16 hexadecimal digits in quotes, such as '0x50014ee2ad5d1234'"
        )
    return int(match.group(1), 16)


def _rotation_rate(value: t.Any, limits: BusLimits, where: str) -> int | None:
    if value is None:
        return None
    if not limits.rotation_rate:
        raise PlanRefused(
            f"{where} asks for a rotation_rate, but {limits.why} cannot show one; leave it out or use another bus"
        )
    if isinstance(value, bool) or not isinstance(value, int) or not (value in (0, 1) or 1025 <= value <= 65534):
        raise PlanRefused(
            f"{where} gives rotation_rate {value!r}; it is 1 for an SSD or 1025 to 65534 rounds per minute"
        )
    return value


def _sectors(raw: t.Mapping[str, t.Any], limits: BusLimits, where: str) -> tuple[int, int | None]:
    """Logical and physical sector size in bytes; the physical one None when it was not given."""
    logical = _sector_bytes(raw.get("logical_sector", "512B"), "logical_sector", where)
    if logical not in limits.logical_sectors:
        allowed = " or ".join(str(size) for size in limits.logical_sectors)
        raise PlanRefused(f"{where} asks for a logical_sector of {logical} bytes; {limits.why} has only {allowed}")
    if raw.get("physical_sector") is None:
        return logical, None
    physical = _sector_bytes(raw["physical_sector"], "physical_sector", where)
    if not limits.physical_sector and physical != logical:
        raise PlanRefused(
            f"{where} asks for a physical_sector of {physical} bytes, but {limits.why} shows the logical one only"
        )
    if physical < logical:
        raise PlanRefused(
            f"{where} asks for a physical_sector of {physical} bytes, less than its logical one of {logical}"
        )
    return logical, physical


def _sector_bytes(value: t.Any, key: str, where: str) -> int:
    # 512 and 4096 without a unit have one reading only, in bytes.
    size = value if value in (512, 4096) and not isinstance(value, bool) else parse_size(value, f"{key} of {where}")
    if size < 512 or size > 65536 or size & (size - 1):
        raise PlanRefused(f"{where} gives {key} {value!r}; it is a power of two from 512B to 64KiB")
    return int(size)


def _limit(value: t.Any, where: str) -> int | None:
    if value is None:
        return None
    text = str(value)
    if not text.endswith("/s"):
        raise PlanRefused(f"{where} gives throughput_limit {value!r}; write a size per second, such as 20MB/s")
    rate = parse_size(text[:-2], f"throughput_limit of {where}")
    if rate < 1024:
        raise PlanRefused(f"{where} gives throughput_limit {value!r}; it must be at least 1KiB/s")
    return rate


def _expendable(raw: t.Mapping[str, t.Any], serial: str | None, wwn: int | None, where: str) -> bool:
    named = serial is not None or wwn is not None
    value = raw.get("expendable", named)
    if not isinstance(value, bool):
        raise PlanRefused(f"{where} gives expendable {value!r}; it is true or false")
    if value and not named:
        raise PlanRefused(f"{where} is marked expendable but has no serial and no wwn to list it by; give it one")
    return value


def _disk(raw: t.Any, where: str) -> DiskProfile:
    if not isinstance(raw, dict):
        raise PlanRefused(f"{where} is {raw!r}; it must be a mapping with at least a bus")
    _unknown(raw, _DISK_KEYS, where)
    bus = raw.get("bus")
    if bus not in BUSES:
        raise PlanRefused(f"{where} gives bus {bus!r}; the lab has {', '.join(BUSES)}")
    limits = BUSES[bus]
    where = f"{where} ({bus})"
    size = parse_size(raw["size"], f"size of {where}") if "size" in raw else _DEFAULT_DISK_BYTES
    logical, physical = _sectors(raw, limits, where)
    if size < 1024**2 or size % max(logical, physical or 0):
        raise PlanRefused(f"{where} asks for a size of {format_size(size)}; it must be whole sectors and at least 1MiB")
    serial = _text(raw.get("serial"), "serial", limits.serial_length, where, limits.why)
    wwn = _wwn(raw.get("wwn"), where)
    if wwn is not None and not limits.wwn:
        raise PlanRefused(f"{where} asks for a wwn, but {limits.why} cannot show one; leave it out or use another bus")
    return DiskProfile(
        bus=bus,
        size_bytes=size,
        serial=serial,
        model=_text(raw.get("model"), "model", limits.model_length, where, limits.why),
        vendor=_text(raw.get("vendor"), "vendor", limits.vendor_length, where, limits.why),
        firmware=_text(raw.get("firmware"), "firmware", limits.firmware_length, where, limits.why),
        rotation_rate=_rotation_rate(raw.get("rotation_rate"), limits, where),
        logical_sector_bytes=logical,
        physical_sector_bytes=physical,
        throughput_limit_bytes=_limit(raw.get("throughput_limit"), where),
        wwn=wwn,
        expendable=_expendable(raw, serial, wwn, where),
    )


def _count(value: t.Any, key: str, most: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise PlanRefused(f"{where} gives {key} {value!r}; it is a whole number from 1 to {most}")
    return value


def _check_disks(disks: t.Sequence[DiskProfile], duplicates_allowed: bool, where: str) -> None:
    on_pci = sum(disk.bus in ("nvme", "virtio") for disk in disks)
    if on_pci > _PCI_DISKS_MAX:
        raise PlanRefused(
            f"{where} asks for {on_pci} NVMe and virtio disks; the machine has slots for {_PCI_DISKS_MAX}"
        )
    serials = [disk.serial for disk in disks if disk.serial is not None]
    twice = sorted({serial for serial in serials if serials.count(serial) > 1})
    if twice and not duplicates_allowed:
        raise PlanRefused(
            f"{where} gives the serial {', '.join(twice)} to more than one disk; if that is meant set duplicate_serials"
        )


def check_name(name: t.Any, where: str) -> str:
    """The name of a machine, which is also that of a directory; raises PlanRefused for any that is not plain."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise PlanRefused(f"{where} has the name {name!r}; use up to 31 small letters, digits and -, a letter first")
    return name


def parse_vm(raw: t.Any, where: str = "a virtual machine") -> VmProfile:
    """One checked virtual machine of a profile; raises PlanRefused naming the machine, the disk and the key."""
    if not isinstance(raw, dict):
        raise PlanRefused(f"{where} is {raw!r}; it must be a mapping with a name and disks")
    _unknown(raw, _VM_KEYS, where)
    name = check_name(raw.get("name"), where)
    memory = parse_size(raw["memory"], f"memory of {name}") if "memory" in raw else _DEFAULT_MEMORY_BYTES
    if memory < 512 * 1024**2 or memory % 1024**2:
        raise PlanRefused(f"{name} asks for {format_size(memory)} of memory; it needs whole MiB and at least 512MiB")
    listed = raw.get("disks", [])
    if not isinstance(listed, list):
        raise PlanRefused(f"the disks of {name} are {listed!r}; they must be a list")
    disks = tuple(_disk(disk, f"disk {number} of {name}") for number, disk in enumerate(listed, 1))
    _check_disks(disks, bool(raw.get("duplicate_serials", False)), name)
    host_vars = raw.get("host_vars", {})
    if not isinstance(host_vars, dict):
        raise PlanRefused(f"the host_vars of {name} are {host_vars!r}; they must be a mapping")
    return VmProfile(name, _count(raw.get("cpus", 2), "cpus", 64, name), memory, disks, dict(host_vars))


def parse_profile(raw: t.Any) -> tuple[VmProfile, ...]:
    """The checked virtual machines of a whole profile, C({vms: [...]}) or the list alone; raises PlanRefused."""
    vms = raw.get("vms") if isinstance(raw, dict) else raw
    if not isinstance(vms, list) or not vms:
        raise PlanRefused("a lab profile is a mapping with a list `vms` of at least one virtual machine")
    if isinstance(raw, dict):
        _unknown(raw, ("vms",), "the lab profile")
    parsed = tuple(parse_vm(vm, f"virtual machine {number}") for number, vm in enumerate(vms, 1))
    names = [vm.name for vm in parsed]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanRefused(f"the lab profile has more than one virtual machine named {', '.join(twice)}")
    return parsed
