# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Pulls disks out of a running machine. They are back when it is booted again."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import DiskProfile
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import device_id
from ansible_collections.plumbline.storage.plugins.module_utils._lab.vm import LabVm

__all__ = ["guest_disk_names", "present_disks", "pull_disks"]

_EVENT_TIMEOUT_SECONDS = 30.0
# Only SCSI has hot-unplug in QEMU; elsewhere the guest lets go of the device, or of its PCI function.
_GUEST_SWITCH = {
    "sata": "/sys/block/{name}/device/delete",
    "nvme": "/sys/block/{name}/device/device/remove",
    "virtio": "/sys/block/{name}/device/../remove",
}


def guest_disk_names(lsblk_text: str) -> dict[str, list[str]]:
    """Kernel names by serial, from C(lsblk -dn -o NAME,SERIAL); disks without a serial are left out."""
    names: dict[str, list[str]] = {}
    for line in lsblk_text.splitlines():
        words = line.split(None, 1)
        if len(words) == 2:
            names.setdefault(words[1].strip(), []).append(words[0])
    return names


def _numbered(vm: LabVm, serials: t.Sequence[str]) -> dict[str, tuple[int, DiskProfile]]:
    """The asked disks by serial, with their numbers; raises PlanRefused for one that the profile does not have once."""
    record = vm.record
    disks = () if record is None else record.vm.disks
    found: dict[str, tuple[int, DiskProfile]] = {}
    for serial in serials:
        matching = [(number, disk) for number, disk in enumerate(disks, 1) if disk.serial == serial]
        if len(matching) != 1:
            known = ", ".join(disk.serial for disk in disks if disk.serial) or "none"
            count = "no disk" if not matching else f"{len(matching)} disks"
            raise PlanRefused(f"{count} of {vm.name} with the serial {serial!r} can be pulled; its serials: {known}")
        found[serial] = matching[0]
    return found


def _guest_names(vm: LabVm) -> dict[str, list[str]]:
    return guest_disk_names(vm.ssh("lsblk -dn -o NAME,SERIAL").stdout)


def present_disks(vm: LabVm, serials: t.Sequence[str]) -> list[str]:
    """Those of the asked serials that the running machine still has; raises PlanRefused for an unknown one."""
    asked = _numbered(vm, serials)
    if vm.status != "running":
        raise PlanRefused(f"disks can be pulled from a running machine only, but {vm.name} is {vm.status}")
    if not asked:
        return []
    with vm.qmp() as qmp:
        devices = {entry["name"] for entry in qmp.execute("qom-list", path="/machine/peripheral")}
    in_guest = _guest_names(vm)
    return [
        serial
        for serial, (number, disk) in asked.items()
        if (device_id(number) in devices if disk.bus == "scsi" else serial in in_guest)
    ]


def _pull_by_qemu(vm: LabVm, number: int) -> None:
    with vm.qmp() as qmp:
        qmp.execute("device_del", id=device_id(number))
        qmp.wait_event("DEVICE_DELETED", _EVENT_TIMEOUT_SECONDS, device=device_id(number))


def _pull_by_guest(vm: LabVm, disk: DiskProfile, names: t.Sequence[str]) -> None:
    for name in names:
        switch = _GUEST_SWITCH[disk.bus].format(name=name)
        vm.ssh(f'echo 1 > "$(readlink -f {switch.rsplit("/", 1)[0]})/{switch.rsplit("/", 1)[1]}"')
    if disk.serial in _guest_names(vm):
        raise StorageError(f"the disk {disk.serial} of {vm.name} was pulled in the guest but is still there")


def pull_disks(vm: LabVm, serials: t.Sequence[str]) -> list[str]:
    """Pulls the disks of these serials that are still there, and returns those serials."""
    asked, present = _numbered(vm, serials), present_disks(vm, serials)
    for serial in present:
        number, disk = asked[serial]
        if disk.bus == "scsi":
            _pull_by_qemu(vm, number)
        else:
            _pull_by_guest(vm, disk, _guest_names(vm).get(serial, []))
    return present
