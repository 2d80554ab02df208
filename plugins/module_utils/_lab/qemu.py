# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""QEMU's arguments for one virtual machine. Pure: paths come in, an argument list goes out."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import ROOT_LABEL
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import DiskProfile, VmProfile

__all__ = [
    "QEMU",
    "ROOT_SERIAL",
    "SEED_NAME",
    "Accelerator",
    "BootFiles",
    "device_id",
    "disk_file",
    "disk_files",
    "kernel_command_line",
    "probe_argv",
    "vm_argv",
]

QEMU = "qemu-system-x86_64"
ROOT_SERIAL = "plumb-root"
SEED_NAME = "opt/org.plumbline.storage"

_AHCI_PORTS = 6
# TCG's default processor lacks CRC32 and SSSE3, which XFS and RAID6 use; it has SVM, for which the guest loads KVM.
_TCG_CPU = "qemu64,-svm,+ssse3,+sse4.1,+sse4.2,+popcnt"


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """How the guest's processor is run: C(kvm) or C(tcg), and the sentence that says why."""

    name: str
    reason: str


@dataclasses.dataclass(frozen=True)
class BootFiles:
    """The files of one machine. Those without a slash are relative to the machine's directory, where QEMU starts."""

    kernel: str
    initrd: str
    root: str = "root.qcow2"
    console: str = "console.log"
    pid: str = "pid"
    qmp: str = "qmp.sock"
    host_key: str = "ssh_host_ed25519_key"
    authorized_keys: str = "authorized_keys"


def _value(text: str) -> str:
    """A value inside a QEMU option: a comma is doubled."""
    return text.replace(",", ",,")


def disk_file(number: int) -> str:
    """File name of a data disk in the machine's directory; numbers start at 1."""
    return f"disk{number}.qcow2"


def disk_files(vm: VmProfile) -> tuple[str, ...]:
    """File names of all disks that a snapshot covers, the root disk first."""
    return ("root.qcow2", *(disk_file(number) for number in range(1, len(vm.disks) + 1)))


def device_id(number: int) -> str:
    """The name by which QMP knows a data disk; numbers start at 1."""
    return f"disk{number}"


def _drive_argv(disk: DiskProfile, number: int) -> list[str]:
    # cache=unsafe keeps what was written when only QEMU is killed, and spares the host its own flushes.
    discard = "ignore" if _rotating(disk) else "unmap"
    options = f"if=none,id=drive{number},format=qcow2,cache=unsafe,discard={discard},file={disk_file(number)}"
    if disk.throughput_limit_bytes is not None:
        options += f",throttling.bps-total={disk.throughput_limit_bytes}"
    return ["-drive", options]


def _rotating(disk: DiskProfile) -> bool:
    return disk.rotation_rate is not None and disk.rotation_rate > 1


def _identity(disk: DiskProfile) -> dict[str, t.Any]:
    """Properties that decide how a disk shows itself, by QEMU's names."""
    values: dict[str, t.Any] = {"serial": disk.serial}
    if disk.bus in ("sata", "scsi"):
        values["model" if disk.bus == "sata" else "product"] = disk.model
        values["ver"] = disk.firmware
        values["rotation_rate"] = disk.rotation_rate
        values["wwn"] = None if disk.wwn is None else f"0x{disk.wwn:016x}"
    if disk.bus == "scsi":
        values["vendor"] = disk.vendor
    if disk.bus in ("sata", "scsi") and _rotating(disk):
        values["discard_granularity"] = 0
    if disk.bus != "sata":
        values["logical_block_size"] = disk.logical_sector_bytes
    values["physical_block_size"] = disk.physical_sector_bytes or disk.logical_sector_bytes
    return values


def _device(driver: str, **values: t.Any) -> list[str]:
    given = [f"{key}={_value(str(value))}" for key, value in values.items() if value is not None]
    return ["-device", ",".join([driver, *given])]


def _sata_bus(place: int) -> str:
    """Bus name of the n-th SATA disk, from 0: six on the board, the others on added controllers."""
    if place < _AHCI_PORTS:
        return f"ide.{place}"
    return f"ahci{place // _AHCI_PORTS}.{place % _AHCI_PORTS}"


def _controllers_argv(disks: t.Sequence[DiskProfile]) -> list[str]:
    sata = sum(disk.bus == "sata" for disk in disks)
    argv: list[str] = []
    for number in range(1, (sata + _AHCI_PORTS - 1) // _AHCI_PORTS):
        argv += ["-device", f"ahci,id=ahci{number}"]
    if any(disk.bus == "scsi" for disk in disks):
        argv += ["-device", "virtio-scsi-pci,id=scsi0"]
    return argv


def _disks_argv(disks: t.Sequence[DiskProfile]) -> list[str]:
    argv = _controllers_argv(disks)
    places = {"sata": 0, "scsi": 0}
    for number, disk in enumerate(disks, 1):
        argv += _drive_argv(disk, number)
        common: dict[str, t.Any] = {"drive": f"drive{number}", "id": device_id(number)}
        if disk.bus == "nvme":
            # A controller without a serial is not a valid one for QEMU.
            serial = {"serial": disk.serial or f"nvme{number}"}
            argv += _device("nvme", **common, **{**_identity(disk), **serial})
        elif disk.bus == "virtio":
            argv += _device("virtio-blk-pci", **common, **_identity(disk))
        elif disk.bus == "sata":
            argv += _device("ide-hd", bus=_sata_bus(places["sata"]), **common, **_identity(disk))
            places["sata"] += 1
        else:
            place = {"bus": "scsi0.0", "channel": 0, "scsi-id": places["scsi"], "lun": 0}
            argv += _device("scsi-hd", **place, **common, **_identity(disk))
            places["scsi"] += 1
    return argv


def kernel_command_line(machine_id: str) -> str:
    """Kernel arguments of a guest; C(machine_id) is 32 hexadecimal digits, unlike for each machine."""
    return (
        f"root=LABEL={ROOT_LABEL} rw rootflags=noatime console=ttyS0 net.ifnames=0 8250.nr_uarts=1 fsck.mode=skip "
        f"systemd.machine_id={machine_id} systemd.condition-first-boot=no systemd.show_status=1 loglevel=5 TERM=dumb "
        "systemd.ssh_auto=no mitigations=off nokaslr nowatchdog audit=0 lsm=yama random.trust_cpu=on"
    )


def _accelerator_argv(accelerator: str) -> list[str]:
    if accelerator == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", _TCG_CPU]


def vm_argv(vm: VmProfile, files: BootFiles, accelerator: str, uuid: str, port: int) -> list[str]:
    """QEMU's whole argument list, to be started in the machine's directory; it goes to the background by itself.

    C(uuid) marks the process as this machine's, C(port) on 127.0.0.1 leads to the guest's ssh.
    """
    machine_id = uuid.replace("-", "")
    return [
        *(QEMU, "-M", "q35", "-nodefaults", "-display", "none", "-daemonize", "-pidfile", files.pid),
        *("-name", f"plumbline-{vm.name}", "-uuid", uuid),
        *_accelerator_argv(accelerator),
        *("-smp", str(vm.cpus), "-m", f"{vm.memory_bytes // 1024**2}M"),
        *("-chardev", f"file,id=console,append=on,path={files.console}", "-serial", "chardev:console"),
        *("-qmp", f"unix:{files.qmp},server=on,wait=off"),
        *("-kernel", files.kernel, "-initrd", files.initrd, "-append", kernel_command_line(machine_id)),
        *("-fw_cfg", f"name={SEED_NAME}/hostname,string={vm.name}"),
        *("-fw_cfg", f"name={SEED_NAME}/host_key,file={files.host_key}"),
        *("-fw_cfg", f"name={SEED_NAME}/authorized_keys,file={files.authorized_keys}"),
        *("-netdev", f"user,id=net0,hostfwd=tcp:127.0.0.1:{port}-:22", "-device", "virtio-net-pci,netdev=net0"),
        *("-object", "rng-random,id=rng0,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng0"),
        *("-drive", f"if=none,id=root,format=qcow2,cache=unsafe,discard=unmap,file={files.root}"),
        *("-device", f"virtio-blk-pci,drive=root,id=root,serial={ROOT_SERIAL}"),
        *_disks_argv(vm.disks),
    ]


def probe_argv(kernel: str, console: str, pid_file: str) -> list[str]:
    """QEMU's arguments for finding out whether KVM boots this kernel up to its first line on the console."""
    return [
        *(QEMU, "-M", "q35", "-nodefaults", "-display", "none", "-daemonize", "-pidfile", pid_file, "-no-reboot"),
        *_accelerator_argv("kvm"),
        *(
            "-smp",
            "2",
            "-m",
            "512M",
            "-chardev",
            f"file,id=console,path={_value(console)}",
            "-serial",
            "chardev:console",
        ),
        *("-kernel", kernel, "-append", "console=ttyS0 earlyprintk=ttyS0"),
    ]
