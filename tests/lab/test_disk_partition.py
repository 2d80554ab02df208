# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""disk_partition in a guest: every option in four steps, each kind of refusal, seen by sfdisk and the kernel."""

from __future__ import annotations

import json
import typing as t

import pytest
from direct import Direct, four_steps, refused

KIB, MIB = 1024, 1024**2
LVM = "E6D6D379-F507-44C2-A23C-238F2A3DF928"
UUID = "2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11"

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


def table(lab: Direct, disk: str) -> dict[str, t.Any]:
    return t.cast("dict[str, t.Any]", json.loads(lab.guest.ssh(f"sfdisk -J {disk}"))["partitiontable"])


def kernel(lab: Direct, disk: str) -> list[list[str]]:
    """Start (sectors) and size (bytes) of the partitions by their places, as the kernel has them."""
    lines = lab.guest.ssh(f"lsblk -bnro TYPE,START,SIZE {disk}").splitlines()
    return sorted((line.split()[1:] for line in lines if line.startswith("part")), key=lambda words: int(words[0]))


@pytest.mark.parametrize("serial", ["WD-WCASJ0000001", "K4G0000010", "S4EWNX0R000013", "virt-000014"])
def test_every_option(lab: Direct, serial: str) -> None:
    disk = lab.disks[serial]
    where = {"disk": disk, "name": "region a", "start": "2MiB", "size": "300MiB"}
    made = four_steps(lab, "disk_partition", **where, uuid=UUID, type="lvm", alignment="2MiB")["partition"]
    found = table(lab, disk)
    sector = found["sectorsize"]
    (part,) = found["partitions"]
    assert (part["start"] * sector, part["size"] * sector) == (2 * MIB, 300 * MIB)
    assert (part["name"], part["type"], part["uuid"].lower()) == ("region a", LVM, UUID)
    assert made["path"] == part["node"]
    sectors = kernel(lab, disk)[0]
    assert int(sectors[1]) == 300 * MIB
    four_steps(lab, "disk_partition", disk=disk, name="region b", uuid=UUID, type="raid")
    four_steps(lab, "disk_partition", disk=disk, name="region b", size="400MiB", resize=True)
    assert kernel(lab, disk)[0][1] == str(400 * MIB)
    four_steps(lab, "disk_partition", disk=disk, name="last", start="1GiB")
    four_steps(lab, "disk_partition", disk=disk, name="region b", resize=True)
    assert kernel(lab, disk)[0][1] == str(1022 * MIB)
    four_steps(lab, "disk_partition", disk=disk, name="region b", state="absent")
    assert [part["name"] for part in table(lab, disk)["partitions"]] == ["last"]
    four_steps(lab, "disk_partition", disk=disk, name="last", state="absent")
    assert lab.guest.ssh(f"wipefs {disk}") == "", "the table that was made goes with its last partition"


def used_beside(lab: Direct, disk: str) -> None:
    """A table of somebody else, its only partition mounted."""
    lab.guest.ssh(
        f"printf 'label: gpt\\nstart=1MiB,size=400MiB,name=\"home\"\\n' | sfdisk -q {disk}; udevadm settle;"
        f"p=$(lsblk -nro PATH,TYPE {disk} | awk '$2 == \"part\" {{print $1}}'); mkfs.ext4 -qF $p;"
        "mkdir -p /mnt/home; mount $p /mnt/home; dd if=/dev/urandom of=/mnt/home/data bs=1M count=20 status=none; sync"
    )


@pytest.mark.parametrize("serial", ["WD-WCASJ0000002", "K4G0000011"])
def test_beside_a_partition_in_use(lab: Direct, serial: str) -> None:
    disk = lab.disks[serial]
    used_beside(lab, disk)
    data = lab.guest.ssh("sha256sum /mnt/home/data")
    before = table(lab, disk)
    more = {"disk": disk, "name": "more", "start": "1GiB", "size": "100MiB"}
    refused(lab, "disk_partition", "partition table (gpt)", serial, **more, expendable_disks=[])
    four_steps(lab, "disk_partition", **more)
    assert len(kernel(lab, disk)) == 2, "the kernel knows of it"
    assert table(lab, disk)["partitions"][0] == before["partitions"][0]
    four_steps(lab, "disk_partition", disk=disk, name="home", size="500MiB", resize=True)
    assert kernel(lab, disk)[0][1] == str(500 * MIB)
    refused(lab, "disk_partition", "mounted", disk=disk, name="home", state="absent")
    refused(lab, "disk_partition", "mounted", disk=disk, name="new", start="1MiB", replace_table=True)
    four_steps(lab, "disk_partition", disk=disk, name="more", state="absent")
    assert len(kernel(lab, disk)) == 1
    assert lab.guest.ssh("echo 3 > /proc/sys/vm/drop_caches; sha256sum /mnt/home/data") == data
    lab.guest.ssh("umount /mnt/home")
    four_steps(lab, "disk_partition", disk=disk, name="home", state="absent")
    assert table(lab, disk)["id"] == before["id"], "the table of somebody else stays"


@pytest.mark.parametrize("serial", ["Z1N0000005", "S4EWNX0R000013"])
def test_on_a_disk_that_has_become_larger(lab: Direct, serial: str) -> None:
    disk = lab.disks[serial]
    lab.guest.ssh(
        f"echo '0 2097152 linear {disk} 0' | dmsetup create small; printf 'label: gpt\\nstart=1MiB,size=400MiB,name=\"data\"\\n' |"
        f" sfdisk -q /dev/mapper/small; udevadm settle; dmsetup remove -f --retry small; blockdev --rereadpt {disk}; udevadm settle"
    )
    before = table(lab, disk)
    refused(lab, "disk_partition", "size", disk=disk, name="data", size="1500MiB")
    four_steps(lab, "disk_partition", disk=disk, name="data", size="1500MiB", resize=True)
    assert kernel(lab, disk)[0][1] == str(1500 * MIB)
    four_steps(lab, "disk_partition", disk=disk, name="data", resize=True)
    assert kernel(lab, disk)[0][1] == str(2046 * MIB)
    after = table(lab, disk)
    assert (after["id"], after["partitions"][0]["uuid"]) == (before["id"], before["partitions"][0]["uuid"])
    assert "not on the end" not in lab.guest.ssh(f"sfdisk -l {disk} 2>&1")


def test_use_of_the_whole_disk_is_no_neighbour(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    lab.guest.ssh(f"printf 'label: gpt\\n' | sfdisk -q {disk}; udevadm settle")
    wish = {"disk": disk, "name": "a", "start": "1MiB", "size": "100MiB"}
    refused(lab, "disk_partition", "partition table (gpt)", **wish, expendable_disks=[])
    lab.guest.ssh(f"echo '0 8192 linear {disk} 2048000' | dmsetup create held")
    refused(lab, "disk_partition", "held", **wish)
    lab.guest.ssh("dmsetup remove held")
    four_steps(lab, "disk_partition", **wish)


def test_what_is_refused(lab: Direct) -> None:
    disk, coarse = lab.paths(1)[0], lab.disks["K4G0000010"]
    lab.run("disk_partition", disk=disk, name="a", start="1MiB", size="100MiB")
    for word, options in (
        ("start 1MiB", {"name": "a", "start": "2MiB"}),
        ("resize: true", {"name": "a", "size": "200MiB"}),
        ("size 100MiB", {"name": "a", "size": "50MiB", "resize": True}),
        ("partition 1", {"name": "b", "start": "50MiB", "size": "10MiB"}),
        ("room only up to", {"name": "b", "start": "200MiB", "size": "3GiB"}),
        ("multiple of the alignment", {"name": "b", "start": "200.5MiB", "size": "10MiB"}),
        ("no such block device", {"name": "b", "disk": "/dev/sdzz"}),
        ("physical sector", {"name": "b", "disk": coarse, "start": "1049088B", "alignment": "512B"}),
        ("give start", {"name": "b"}),
    ):
        said = lab.run("disk_partition", check=True, **{"disk": disk, **options})
        assert said.failed and word in said.message, said.message


def test_tables_of_another_kind_stay(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    lab.guest.ssh(f"printf 'label: dos\\nstart=1MiB,size=100MiB\\n' | sfdisk -q {disk}; udevadm settle")
    wish = {"disk": disk, "name": "a", "start": "1MiB", "size": "200MiB"}
    refused(lab, "disk_partition", "dos", "replace_table", **wish)
    refused(lab, "disk_partition", "partition table (dos)", **wish, replace_table=True, expendable_disks=[])
    four_steps(lab, "disk_partition", **wish, replace_table=True)
    assert table(lab, disk)["label"] == "gpt"


def test_old_content_of_a_disk_needs_consent(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    lab.guest.ssh(f"mkfs.ext4 -qF {disk} 2>/dev/null; udevadm settle")
    wish = {"disk": disk, "name": "a", "start": "1MiB", "size": "100MiB"}
    refused(lab, "disk_partition", "ext4", **wish, expendable_disks=[])
    four_steps(lab, "disk_partition", **wish)
    assert "ext4" not in lab.guest.ssh(f"wipefs {disk}; wipefs {disk}1")


def test_start_off_the_stripe_of_an_array_is_told(lab: Direct) -> None:
    disks = " ".join(lab.paths(4))
    lab.guest.ssh(
        f"mdadm -C /dev/md/t --run --assume-clean -b none -l5 -c 256 -n4 --homehost=any {disks} 2>/dev/null; udevadm settle"
    )
    said = lab.run("disk_partition", check=True, disk="/dev/md/t", name="a", start="1MiB")
    assert "256KiB behind a multiple of the full stripe below (768KiB)" in str(said["warnings"]), said.result
    fits = lab.run("disk_partition", check=True, disk="/dev/md/t", name="a", start="1536KiB", alignment="768KiB")
    assert fits.changed and not fits.result.get("warnings"), fits.result
