# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_lv in a guest: volumes with parity whose disk was pulled, where there is room to rebuild and where there is none."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]
PATH = "/dev/pl_lv/l-v"


@pytest.fixture()
def group(lab: Direct) -> t.Iterator[Direct]:
    """The group pl_lv of three SATA disks and a SCSI disk, which may be pulled: it is brought back and wiped."""
    disks = disks_of(lab)
    lab.guest.ssh(f"pvcreate -q {' '.join(disks)}; vgcreate -q pl_lv {' '.join(disks)}")
    yield lab
    lab.guest.ssh("for host in /sys/class/scsi_host/host*; do echo '- - -' > $host/scan; done; sleep 2; udevadm settle")
    lab.__dict__.pop("disks", None)


def disks_of(lab: Direct) -> list[str]:
    return [*lab.paths(3), lab.disks["6SJ0000008"]]


def pull(lab: Direct, path: str) -> None:
    """Takes a SCSI disk away, as if pulled."""
    lab.guest.ssh(f"echo 1 > /sys/block/{path[len('/dev/') :]}/device/delete; sleep 1; udevadm settle")


def make(lab: Direct, **options: t.Any) -> str:
    """The volume with random data; returns their checksum."""
    said = lab.run("lvm_lv", vg="pl_lv", name="l-v", wait_for_sync=True, **options)
    assert said.changed, said.message
    lab.guest.ssh(f"dd if=/dev/urandom of={PATH} bs=1M count=16 oflag=direct conv=fsync status=none")
    return checksum(lab)


def checksum(lab: Direct) -> str:
    """Read from the disks, not from memory."""
    return lab.guest.ssh(f"dd if={PATH} bs=1M count=16 iflag=direct status=none | md5sum")


def places(lab: Direct) -> set[str]:
    """The devices on which any part of the volume lies, as LVM says."""
    text = lab.guest.ssh("lvs -a --noheadings -o devices pl_lv")
    return {word.split("(")[0] for line in text.split() for word in line.split(",") if word.startswith("/dev/")}


def health(lab: Direct) -> list[str]:
    return lab.guest.ssh("lvs --noheadings -o lv_health_status,raid_sync_action,copy_percent pl_lv/l-v").split()


def test_an_image_of_parity_is_rebuilt_elsewhere(group: Direct) -> None:
    sata, scsi = disks_of(group)[:-1], disks_of(group)[-1]
    data = make(group, type="raid5", stripes=2, size="40MiB", devices=[*sata[:2], scsi])
    wish = {"vg": "pl_lv", "name": "l-v"}
    assert not group.run("lvm_lv", **wish, repair=True).changed
    pull(group, scsi)
    # The kernel learns of the loss with the next write.
    group.guest.ssh(f"dd if={PATH} of={PATH} bs=1M count=16 oflag=direct conv=notrunc,fsync status=none; sleep 2")
    done = four_steps(group, "lvm_lv", **wish, repair=True, wait_for_sync=True)
    assert done["lv"]["health"] == ""
    assert health(group) == ["idle", "100.00"]
    assert places(group) == set(sata)
    assert group.guest.ssh("vgs --noheadings -o vg_missing_pv_count,pv_count pl_lv").split() == ["0", "3"]
    assert checksum(group) == data


def test_without_room_nothing_is_rebuilt(group: Direct) -> None:
    data = make(group, type="raid10", stripes=2, size="40MiB")
    pull(group, disks_of(group)[-1])
    wish = {"vg": "pl_lv", "name": "l-v"}
    refused(group, "lvm_lv", "add a device to the group", **wish, repair=True)
    seen = group.run("lvm_lv", **wish)
    assert not seen.changed and not seen.failed, seen.message
    assert seen["lv"]["health"] == "partial"
    assert "is degraded" in str(seen["warnings"])
    assert checksum(group) == data


def test_what_lay_on_a_pulled_disk_only_is_lost(group: Direct) -> None:
    scsi = disks_of(group)[-1]
    make(group, type="linear", size="40MiB", devices=[scsi])
    pull(group, scsi)
    wish = {"vg": "pl_lv", "name": "l-v"}
    refused(group, "lvm_lv", "holds everything once", **wish, repair=True)
    seen = group.run("lvm_lv", **wish)
    assert seen["lv"]["health"] == "partial"
    assert "missing" in str(seen["warnings"])
