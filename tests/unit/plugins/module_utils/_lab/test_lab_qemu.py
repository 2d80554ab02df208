# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import parse_vm
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import (
    BootFiles,
    disk_files,
    probe_argv,
    vm_argv,
)

UUID = "12345678-1234-1234-1234-123456789abc"
FILES = BootFiles("/images/a,b/vmlinuz", "/images/a,b/initrd.img")


def _argv(disks: list[dict[str, t.Any]], accelerator: str = "tcg") -> list[str]:
    return vm_argv(parse_vm({"name": "lab1", "disks": disks}), FILES, accelerator, UUID, 4022)


def _values(argv: list[str], option: str) -> list[str]:
    return [argv[i + 1] for i, word in enumerate(argv) if word == option]


def _devices(argv: list[str], driver: str) -> list[dict[str, str]]:
    found = [value.split(",") for value in _values(argv, "-device")]
    return [dict(pair.split("=", 1) for pair in words[1:]) for words in found if words[0] == driver]


@pytest.mark.parametrize(
    ("disk", "driver", "shown"),
    [
        (
            {"bus": "sata", "model": "WDC WD10EACS-00D6B1", "serial": "WD-1", "firmware": "01.01A01", "rotation_rate": 7200},
            "ide-hd",
            {
                "model": "WDC WD10EACS-00D6B1", "serial": "WD-1", "ver": "01.01A01", "rotation_rate": "7200",
                "discard_granularity": "0", "physical_block_size": "512", "bus": "ide.0", "id": "disk1", "drive": "drive1",
            },
        ),
        (
            {"bus": "sata", "physical_sector": "4KiB", "wwn": "0x50014ee2ad5d1234"},
            "ide-hd",
            {"physical_block_size": "4096", "wwn": "0x50014ee2ad5d1234", "bus": "ide.0", "id": "disk1", "drive": "drive1"},
        ),
        (
            {"bus": "scsi", "vendor": "HGST", "model": "HUS72", "serial": "K4", "firmware": "A7D0", "logical_sector": "4KiB"},
            "scsi-hd",
            {
                "bus": "scsi0.0", "channel": "0", "scsi-id": "0", "lun": "0", "vendor": "HGST", "product": "HUS72",
                "serial": "K4", "ver": "A7D0", "logical_block_size": "4096", "physical_block_size": "4096",
                "id": "disk1", "drive": "drive1",
            },
        ),
        (
            {"bus": "nvme", "serial": "S4"},
            "nvme",
            {"serial": "S4", "logical_block_size": "512", "physical_block_size": "512", "id": "disk1", "drive": "drive1"},
        ),
        (
            {"bus": "nvme"},
            "nvme",
            {"serial": "nvme1", "logical_block_size": "512", "physical_block_size": "512", "id": "disk1", "drive": "drive1"},
        ),
        (
            {"bus": "virtio", "serial": "v1", "logical_sector": "4KiB"},
            "virtio-blk-pci",
            {"serial": "v1", "logical_block_size": "4096", "physical_block_size": "4096", "id": "disk1", "drive": "drive1"},
        ),
    ],
)  # fmt: skip
def test_a_disk_becomes_a_device_with_its_identity(disk: dict[str, t.Any], driver: str, shown: dict[str, str]) -> None:
    assert _devices(_argv([disk]), driver)[-1] == shown


def test_sata_disks_beyond_six_go_to_further_controllers() -> None:
    argv = _argv([{"bus": "sata"}] * 14)
    buses = [device["bus"] for device in _devices(argv, "ide-hd")]
    assert buses[:7] == ["ide.0", "ide.1", "ide.2", "ide.3", "ide.4", "ide.5", "ahci1.0"]
    assert buses[12:] == ["ahci2.0", "ahci2.1"]
    assert [device["id"] for device in _devices(argv, "ahci")] == ["ahci1", "ahci2"]


@pytest.mark.parametrize(("count", "controllers"), [(0, 0), (6, 0), (7, 1), (12, 1), (13, 2)])
def test_as_many_controllers_as_needed(count: int, controllers: int) -> None:
    assert len(_devices(_argv([{"bus": "sata"}] * count), "ahci")) == controllers


def test_scsi_disks_share_one_controller_and_have_addresses_of_their_own() -> None:
    argv = _argv([{"bus": "scsi"}, {"bus": "sata"}, {"bus": "scsi"}])
    assert len(_devices(argv, "virtio-scsi-pci")) == 1
    assert [device["scsi-id"] for device in _devices(argv, "scsi-hd")] == ["0", "1"]
    assert [device["id"] for device in _devices(argv, "scsi-hd")] == ["disk1", "disk3"]


def test_a_limit_is_put_on_the_drive_in_bytes_per_second() -> None:
    drives = _values(_argv([{"bus": "sata", "throughput_limit": "20MB/s"}, {"bus": "sata"}]), "-drive")
    assert "throttling.bps-total=20000000" in drives[1]
    assert "throttling" not in drives[2]


def test_a_rotating_disk_takes_no_discards_and_another_does() -> None:
    drives = _values(_argv([{"bus": "sata", "rotation_rate": 7200}, {"bus": "sata", "rotation_rate": 1}]), "-drive")
    assert "discard=ignore" in drives[1]
    assert "discard=unmap" in drives[2]


def test_the_root_disk_is_an_overlay_with_its_own_serial_and_no_limit() -> None:
    argv = _argv([])
    assert _values(argv, "-drive") == ["if=none,id=root,format=qcow2,cache=unsafe,discard=unmap,file=root.qcow2"]
    assert _devices(argv, "virtio-blk-pci") == [{"drive": "root", "id": "root", "serial": "plumb-root"}]


def test_the_process_can_be_found_and_reached() -> None:
    argv = _argv([])
    assert _values(argv, "-name") == ["plumbline-lab1"]
    assert _values(argv, "-uuid") == [UUID]
    assert "user,id=net0,hostfwd=tcp:127.0.0.1:4022-:22" in _values(argv, "-netdev")
    assert _values(argv, "-qmp") == ["unix:qmp.sock,server=on,wait=off"]
    assert f"systemd.machine_id={UUID.replace('-', '')}" in _values(argv, "-append")[0]


@pytest.mark.parametrize(("name", "accel", "cpu"), [("kvm", "kvm", "host"), ("tcg", "tcg,thread=multi", "qemu64")])
def test_the_accelerator_decides_the_processor(name: str, accel: str, cpu: str) -> None:
    argv = _argv([], name)
    assert _values(argv, "-accel") == [accel]
    assert _values(argv, "-cpu")[0].split(",")[0] == cpu


def test_every_disk_is_part_of_a_snapshot() -> None:
    vm = parse_vm({"name": "lab1", "disks": [{"bus": "sata"}, {"bus": "nvme"}]})
    assert disk_files(vm) == ("root.qcow2", "disk1.qcow2", "disk2.qcow2")
    assert [
        drive.rsplit("file=", 1)[1] for drive in _values(_argv([{"bus": "sata"}, {"bus": "nvme"}]), "-drive")
    ] == list(disk_files(vm))


def test_the_probe_boots_with_kvm_a_serial_console_and_not_quiet() -> None:
    argv = probe_argv("/k", "/c,d", "/p")
    assert _values(argv, "-accel") == ["kvm"]
    assert _values(argv, "-append") == ["console=ttyS0 earlyprintk=ttyS0"]
    assert _values(argv, "-chardev") == ["file,id=console,path=/c,,d"]
