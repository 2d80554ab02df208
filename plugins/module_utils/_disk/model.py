# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a disk is: identity, firmware and medium, as far as it can be known without asking the disk itself."""

from __future__ import annotations

import re
import typing as t

__all__ = ["DiskIdentity", "is_dummy_serial", "normalise_wwn"]

# What emulators, bridges and drivers hand out when the real serial number is not there.
_DUMMY = re.compile(
    r"(?:QM000\d\d|drive-(?:scsi|sata|ide|virtio)[\w-]*|0123456789(?:ABCDEF)?|1234567890?|0*|f+|n/?a|none|unknown|yes|serial|"
    r"volume\d*|to be filled.*|default string|\?+|\*+|-+|(?P<one>.)(?P=one)+)",
    re.IGNORECASE,
)


def is_dummy_serial(serial: str | None, model: str | None = None) -> bool:
    """True for a serial number that identifies nothing: absent, a placeholder, all zeros, or the model's name."""
    if serial is None or _DUMMY.fullmatch(serial.strip()):
        return True
    return model is not None and serial.strip() == model.strip()


def normalise_wwn(text: str | None) -> str | None:
    """One form for C(naa.5…), C(0x5…), C(wwn-0x5…), C(eui.…), C(uuid.…): the bare digits in lower case; None for no WWN."""
    lowered = (text or "").strip().lower()
    match = re.fullmatch(r"(?:wwn-0x|naa\.|eui\.|0x|nvme-eui\.)([0-9a-f]{16}|[0-9a-f]{32})", lowered)
    if match:
        return match.group(1) if match.group(1).strip("0") else None
    match = re.fullmatch(r"(?:nvme-)?uuid\.([0-9a-f-]{36})", lowered)
    return match.group(1).replace("-", "") if match else None


class DiskIdentity(t.NamedTuple):
    """One disk at the bottom of the block tree. None: not known. Sizes in bytes.

    C(device_kind) is physical_disk, virtual_disk, lun, raid_volume, loop, or unknown (never usable).
    C(duplicate_serial) and C(duplicate_wwn) tell that another disk of the host shows the same.
    """

    kernel_name: str
    device_path: str
    devno: str = ""
    device_kind: str = "physical_disk"
    transport: str = "unknown"
    vendor: str | None = None
    model: str | None = None
    model_complete: bool = False
    serial_number: str | None = None
    wwn: str | None = None
    firmware_revision: str | None = None
    firmware_source: str | None = None
    firmware_complete: bool = False
    capacity_bytes: int = 0
    logical_sector_size_bytes: int = 512
    physical_sector_size_bytes: int = 512
    media_type: str = "unknown"
    rotation_rate_rpm: int | None = None
    identity_confidence: str = "low"
    identity_conflicts: tuple[str, ...] = ()
    duplicate_serial: bool = False
    duplicate_wwn: bool = False
    by_path: tuple[str, ...] = ()
    host: str = ""
    loop_backing_file: str | None = None
    namespace_id: int | None = None
    subsystem_nqn: str | None = None
    scsi_address: str | None = None
    controller_pci_address: str | None = None
    queue_depth: int | None = None
    nr_requests: int | None = None
    io_scheduler: str | None = None

    @property
    def path_id(self) -> str | None:
        """Name under /dev/disk/by-path, or None."""
        return self.by_path[0] if self.by_path else None

    def has_own_serial(self) -> bool:
        """False for a serial number that is absent, a placeholder, or seen on another disk of this host."""
        return not is_dummy_serial(self.serial_number, self.model) and not self.duplicate_serial

    def names(self) -> tuple[str, ...]:
        """Every text by which this disk may be listed as expendable, the best first. Empty: only by a mapping."""
        if self.device_kind == "unknown":
            return ()
        if self.device_kind == "loop":
            backing = self.loop_backing_file
            return (f"loop:{backing}",) if backing and not backing.endswith("(deleted)") else ()
        names: list[str] = []
        if self.has_own_serial():
            # The serial of an NVMe controller alone would name every namespace behind it.
            serial = str(self.serial_number).strip()
            names.append(f"{serial}/n{self.namespace_id or 1}" if self.transport == "nvme" else serial)
        if self.wwn is not None and normalise_wwn(self.wwn) is not None:
            names.append(self.wwn)
        return tuple(names)

    def shown(self) -> str:
        """For sentences: C(sdb (WDC WD10EACS-00ZJB0, serial WD-WCASJ0000002))."""
        known = [text for text in (self.model, f"serial {self.serial_number}" if self.serial_number else None) if text]
        return f"{self.kernel_name} ({', '.join(known)})" if known else self.kernel_name

    def record(self) -> dict[str, t.Any]:
        """As a module returns it."""
        values = self._asdict()
        values.pop("devno")
        return {
            **values,
            "path_id": self.path_id,
            "by_path": list(self.by_path),
            "expendable_names": list(self.names()),
            "identity_conflicts": list(self.identity_conflicts),
        }
