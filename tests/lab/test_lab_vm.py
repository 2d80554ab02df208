# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab itself: identities as the guest sees them, a power cut, a snapshot, pulled disks, nothing left behind.

Boots a machine of its own, of the guest named in the variable PLUMBLINE_LAB_GUEST (debian12 or debian13).
"""

from __future__ import annotations

import os
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.accelerator import find_accelerator
from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import guest_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import cache_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import build_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.process import machines_of_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import parse_vm
from ansible_collections.plumbline.storage.plugins.module_utils._lab.pull import pull_disks
from ansible_collections.plumbline.storage.plugins.module_utils._lab.vm import LabVm

GUEST = os.environ.get("PLUMBLINE_LAB_GUEST", "")
PROFILE = {
    "name": "proof",
    "disks": [
        {"bus": "sata", "model": "WDC WD10EACS-00D6B1", "serial": "WD-1", "firmware": "01.01A01", "rotation_rate": 7200,
         "size": "1GiB", "throughput_limit": "20MB/s"},
        {"bus": "scsi", "vendor": "HGST", "model": "HUS726040AL4210", "serial": "K4G1", "firmware": "A7D0", "size": "1GiB",
         "logical_sector": "4KiB", "wwn": "0x5000cca000000001"},
        {"bus": "nvme", "serial": "S4E1", "size": "1GiB"},
        {"bus": "virtio", "serial": "virt-1", "size": "1GiB"},
    ],
}  # fmt: skip

pytestmark = [
    pytest.mark.lab,
    pytest.mark.runs_programs,
    pytest.mark.skipif(not GUEST, reason="PLUMBLINE_LAB_GUEST names no guest"),
]


@pytest.fixture(scope="module")
def vm(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[LabVm]:
    runner = Runner()
    machine = LabVm(str(tmp_path_factory.mktemp("lab")), "proof", runner)
    try:
        machine.create(parse_vm(PROFILE), build_image(guest_image(GUEST), cache_directory(), None, runner))
        _boot(machine)
        yield machine
    finally:
        machine.remove()
        assert machines_of_directory(machine.state_dir) == {}
        assert not Path(machine.directory).exists()


def _boot(machine: LabVm) -> None:
    record = machine.record
    assert record is not None
    image = build_image(guest_image(GUEST), cache_directory(), None, machine.runner)
    machine.start(find_accelerator(image, machine.runner))
    machine.wait_ready(600)


def _name(machine: LabVm, serial: str) -> str:
    return machine.ssh(f"lsblk -dn -o NAME,SERIAL | awk '$2 == \"{serial}\" {{print $1}}'").stdout.strip()


def test_disks_show_the_identities_that_were_asked_for(vm: LabVm) -> None:
    sata, scsi = _name(vm, "WD-1"), _name(vm, "K4G1")
    read = (
        f"python3 -c \"d=open('/sys/block/{sata}/device/vpd_pg89','rb').read()[60:];"
        "f=lambda a,b: ''.join(chr(d[i^1]) for i in range(a,b)).strip();"
        'print(f(20,40),f(46,54),f(54,94),d[434]|d[435]<<8,sep=chr(10))"'
    )
    assert vm.ssh(read).stdout.splitlines() == ["WD-1", "01.01A01", "WDC WD10EACS-00D6B1", "7200"]
    shown = vm.ssh(
        f"cd /sys/block/{scsi}; cat device/vendor device/model device/rev device/wwid queue/logical_block_size"
    )
    assert [line.strip() for line in shown.stdout.splitlines()] == [
        *("HGST", "HUS726040AL4210", "A7D0", "naa.5000cca000000001", "4096"),
    ]
    assert vm.ssh("lsblk -dn -o SERIAL $(findmnt -n -o SOURCE /)").stdout.strip() == "plumb-root"


def test_the_limit_holds(vm: LabVm) -> None:
    begun = time.monotonic()
    vm.ssh(f"dd if=/dev/{_name(vm, 'WD-1')} of=/dev/null bs=1M count=200 iflag=direct")
    assert time.monotonic() - begun > 200 * 1.048576 / 20 * 0.95


def test_what_was_synced_survives_a_power_cut_and_a_snapshot_brings_it_back(vm: LabVm) -> None:
    vm.ssh(
        f"echo first | dd of=/dev/{_name(vm, 'WD-1')} bs=4096 conv=sync,fsync; echo first > /etc/proof; sync /etc/proof"
    )
    with pytest.raises(PlanRefused, match="powered off"):
        vm.take_snapshot("one")
    assert vm.power_cut() is True
    assert (vm.status, vm.power_cut()) == ("power_cut", False)
    vm.take_snapshot("one")
    _boot(vm)
    look = "head -c 5 /dev/{}; echo; cat /etc/proof"
    assert vm.ssh(look.format(_name(vm, "WD-1"))).stdout.split() == ["first", "first"]
    vm.ssh(
        f"echo other | dd of=/dev/{_name(vm, 'WD-1')} bs=4096 conv=sync,fsync; echo other > /etc/proof; sync /etc/proof"
    )
    assert vm.stop(300) is True
    vm.restore_snapshot("one")
    assert vm.snapshots() == ["one"]
    _boot(vm)
    assert vm.ssh(look.format(_name(vm, "WD-1"))).stdout.split() == ["first", "first"]


def test_disks_of_every_bus_are_pulled_and_are_back_after_the_next_boot(vm: LabVm) -> None:
    serials = ["WD-1", "K4G1", "S4E1", "virt-1"]
    assert pull_disks(vm, serials) == serials
    assert [_name(vm, serial) for serial in serials] == [""] * 4
    assert pull_disks(vm, serials) == []
    with pytest.raises(PlanRefused, match="plumb-root"):
        pull_disks(vm, ["plumb-root"])
    vm.power_cut()
    _boot(vm)
    assert all(_name(vm, serial) for serial in serials)


def test_a_boot_that_cannot_succeed_says_so_with_the_console(vm: LabVm) -> None:
    vm.ssh("systemctl mask ssh; sync; e2label $(findmnt -n -o SOURCE /) other; sync")
    vm.power_cut()
    with pytest.raises(StorageError) as failed:
        _boot(vm)
    assert vm.console_log in failed.value.message
    assert "did not boot: its console says" in failed.value.message
