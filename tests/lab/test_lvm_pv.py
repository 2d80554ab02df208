# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_pv in a guest: every option in four steps, each kind of refusal, seen by LVM's own tools."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused

KIB, MIB = 1024, 1024**2

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


def seen(lab: Direct, device: str, fields: str) -> list[str]:
    """Fields of a PV as C(pvs) reports them, in bytes."""
    return lab.guest.ssh(f"pvs --noheadings --nosuffix --units b -o {fields} {device}").split()


# SATA, SCSI with sectors of 4096 bytes, NVMe, virtio.
KINDS = ("WD-WCASJ0000001", "K4G0000010", "S4EWNX0R000012", "virt-000014")

# metadatasize, dataalignment, dataalignmentoffset, bootloaderareasize, expected start; KiB.
PE_STARTS = [
    (None, None, None, None, 1024),
    (100, None, None, None, 1024),
    (2044, None, None, None, 2048),
    (2048, None, None, None, 3072),
    (2048, 128, None, None, 2176),
    (2048, 128, 2, None, 2178),
    (256, 128, None, None, 384),
    (188, 64, None, None, 192),
    (192, 64, None, None, 256),
    (None, 768, None, None, 1536),
    (1, 64, None, None, 64),
    (32, 4, None, None, 36),
    (None, None, None, 256, 2048),
    (188, 64, None, 256, 448),
    (None, 256, None, 300, 1536),
]


def asked(metadata: int | None, alignment: int | None, offset: int | None, boot: int | None) -> dict[str, t.Any]:
    sizes = {
        "metadatasize": metadata,
        "dataalignment": alignment,
        "dataalignmentoffset": offset,
        "bootloaderareasize": boot,
    }
    return {option: f"{size}KiB" for option, size in sizes.items() if size is not None}


def test_data_begins_where_lvm_puts_it(lab: Direct) -> None:
    disks = lab.paths()
    for number, (*sizes, expected) in enumerate(PE_STARTS):
        disk = disks[number % len(disks)]
        lab.guest.ssh(f"lvm pvremove -qq {disk} 2>/dev/null; wipefs -qa {disk}; udevadm settle")
        made = lab.run("lvm_pv", device=disk, **asked(*sizes))
        assert made.changed, made.message
        keys = ("pe_start_bytes", "metadata_area_bytes", "bootloader_start_bytes", "bootloader_bytes")
        found = seen(lab, disk, "pe_start,pv_mda_size,pv_ba_start,pv_ba_size")
        assert found == [str(made["pv"][key]) for key in keys], sizes
        assert made["diff"]["after"]["pe_start_bytes"] == int(found[0]), "as it was planned"
        assert found[0] == str(expected * KIB), sizes


@pytest.mark.parametrize("serial", KINDS)
def test_every_area_is_managed(lab: Direct, serial: str) -> None:
    disk = lab.disks[serial]
    options: dict[str, t.Any] = {
        "metadatasize": "188KiB",
        "dataalignment": "64KiB",
        "dataalignmentoffset": "0B" if "K4G" in serial else "4KiB",
        "bootloaderareasize": "100KiB",
        "pvmetadatacopies": 2,
        "labelsector": 3,
        "uuid": "pLumbl-0000-1111-2222-3333-4444-abcdef",
    }
    link = lab.guest.ssh(f"find -L /dev/disk/by-id -samefile {disk} | sort | head -1")
    four_steps(lab, "lvm_pv", device=link, **options)
    fields = seen(lab, disk, "pv_uuid,pv_mda_count,pv_ba_size")
    assert fields[:2] == [options["uuid"], "2"] and int(fields[2]) >= 100 * KIB
    label = lab.guest.ssh(f"dd if={disk} bs=512 skip=3 count=1 status=none | head -c 8")
    assert label == "LABELONE"
    assert not lab.run("lvm_pv", device=disk).changed, "the disk's own name means the same PV"
    for option, other, word in (
        ("pvmetadatacopies", 1, "2 metadata areas"),
        ("labelsector", 1, "sector 3"),
        ("bootloaderareasize", "1MiB", "bootloader area"),
        ("metadatasize", "1MiB", "metadata area"),
        ("uuid", "pLumbl-0000-1111-2222-3333-4444-fedcba", "UUID"),
        ("dataalignment", "96KiB", "multiple of 96KiB"),
    ):
        said = lab.run("lvm_pv", check=True, device=disk, **{option: other})
        assert said.failed and word in said.message, said.message
    four_steps(lab, "lvm_pv", device=disk, state="absent")
    assert lab.guest.ssh(f"wipefs {disk}") == ""


def test_what_cannot_be_made(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    refused(lab, "lvm_pv", "without a unit", device=disk, dataalignment="768")
    for word, options in (
        ("no such block device", {"device": "/dev/sdzz"}),
        ("LVM needs 32KiB", {"metadatasize": "27KiB", "dataalignment": "4KiB"}),
        ("would begin at", {"metadatasize": "3GiB"}),
        ("without a metadata area", {"metadatasize": "1MiB", "pvmetadatacopies": 0}),
    ):
        said = lab.run("lvm_pv", check=True, **{"device": disk, **options})
        assert said.failed and word in said.message, said.message
    said = lab.run("lvm_pv", device=disk, tags=["x"])
    assert said.failed and "volume group" in said.message, said.message


def test_old_content_needs_consent(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    lab.guest.ssh(f"mkfs.ext4 -qF {disk}; udevadm settle")
    refused(lab, "lvm_pv", "ext4", lab.serials[0], device=disk, expendable_disks=[])
    four_steps(lab, "lvm_pv", device=disk)
    assert "ext4" not in lab.guest.ssh(f"wipefs {disk}")


def test_pv_without_metadata(lab: Direct) -> None:
    one, two = lab.paths(2)
    four_steps(lab, "lvm_pv", device=one, pvmetadatacopies=0)
    assert seen(lab, one, "pv_mda_count,pv_mda_size,pe_start") == ["0", "0", str(MIB)]
    lab.run("lvm_pv", device=two)
    assert lab.run("lvm_vg", name="v", devices=[one, two]).changed
    refused(lab, "lvm_pv", "no metadata area", device=two, state="absent", move_data=True)
    refused(lab, "lvm_pv", "belongs to the volume group v", "move_data", device=two, state="absent")


def test_array_puts_the_data_on_its_stripe(lab: Direct) -> None:
    disks = " ".join(lab.paths(4))
    create = f"mdadm --create /dev/md/pl_t --run --assume-clean --bitmap=none -l5 -c 256 -n 4 --homehost=any {disks}"
    lab.guest.ssh(f"{create} 2>/dev/null; udevadm settle")
    array = "/dev/md/pl_t"
    made = four_steps(lab, "lvm_pv", device=array, dataalignment="auto")
    kernel = lab.guest.ssh(f"readlink -f {array}")
    assert seen(lab, kernel, "pe_start") == [str(1536 * KIB)]
    assert made["pv"]["device"] == kernel
    lab.run("lvm_pv", device=array, state="absent")
    said = lab.run("lvm_pv", device=array, dataalignment="1MiB")
    assert "256KiB behind a full stripe (768KiB)" in str(said["warnings"]), said.result
    assert "behind a full stripe" in str(lab.run("lvm_pv", device=array)["warnings"])
    refused(lab, "lvm_pv", "begins at 1MiB", "768KiB", device=array, dataalignment="auto")


def test_tags_and_allocation(lab: Direct) -> None:
    one, two = lab.paths(2)
    for disk in (one, two):
        lab.run("lvm_pv", device=disk)
    planned = lab.run("lvm_pv", check=True, device=one, tags=["x"])
    assert planned["assumed_parent"] and "volume group" in str(planned["warnings"])
    lab.run("lvm_vg", name="v", devices=[one, two])
    four_steps(lab, "lvm_pv", device=one, tags=["b", "a"], allocatable=False)
    assert seen(lab, one, "pv_tags,pv_attr")[0] == "a,b"
    assert lab.guest.ssh(f"pvs --noheadings -o pv_allocatable {one}") == ""
    four_steps(lab, "lvm_pv", device=one, tags=["a", "c"], allocatable=True)
    assert seen(lab, one, "pv_tags,pv_allocatable") == ["a,c", "allocatable"]
    four_steps(lab, "lvm_pv", device=one, tags=[])
    assert lab.guest.ssh(f"pvs --noheadings -o pv_tags {one}") == ""


def cut_partition(lab: Direct, disk: str, mib: int) -> str:
    """A first partition of so many MiB, made or changed with the kernel told."""
    head = "" if lab.guest.ssh(f"lsblk -nro TYPE {disk}").endswith("part") else f"echo 'label: gpt' | sfdisk -q {disk};"
    sfdisk = "-N1" if not head else "-a"
    lab.guest.ssh(
        f"{head} echo 'start=1MiB, size={mib}MiB' | sfdisk -q --no-reread --force {sfdisk} {disk} 2>&1;"
        f"partx -u {disk}; udevadm settle"
    )
    return lab.guest.ssh(f"lsblk -nro PATH,TYPE {disk} | awk '$2 == \"part\" {{print $1}}'")


@pytest.mark.parametrize("copies", [1, 2])
def test_resize(lab: Direct, copies: int) -> None:
    disk = lab.paths(1)[0]
    part = cut_partition(lab, disk, 500)
    lab.run("lvm_pv", device=part, pvmetadatacopies=copies)
    assert not lab.run("lvm_pv", device=part, resize=True).changed
    cut_partition(lab, disk, 602)
    four_steps(lab, "lvm_pv", device=part, resize=True)
    assert seen(lab, part, "pv_size") == [str(602 * MIB)]
    lab.run("lvm_vg", name="v", devices=[part])
    assert not lab.run("lvm_pv", device=part, resize=True).changed
    cut_partition(lab, disk, 603)
    assert not lab.run("lvm_pv", device=part, resize=True).changed, "less than an extent is nothing"
    cut_partition(lab, disk, 800)
    assert not lab.run("lvm_pv", device=part).changed
    four_steps(lab, "lvm_pv", device=part, resize=True)
    expected = (800 - 1 - (copies - 1)) // 4
    assert seen(lab, part, "pv_pe_count") == [str(expected)]
    cut_partition(lab, disk, 700)
    said = lab.run("lvm_pv", device=part)
    assert "has only 700MiB" in str(said["warnings"]), said.result
    if copies == 1:
        four_steps(lab, "lvm_pv", device=part, resize=True)
        assert seen(lab, part, "pv_pe_count") == ["174"]


def test_shrunken_device_with_data_at_its_end(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    part = cut_partition(lab, disk, 500)
    lab.run("lvm_pv", device=part)
    lab.run("lvm_vg", name="v", devices=[part])
    lab.guest.ssh("lvm lvcreate -qq -y -Wn -an -Zn -l 100%FREE -n l v")
    cut_partition(lab, disk, 400)
    refused(lab, "lvm_pv", "400MiB", "up to number 123", device=part, resize=True)


def test_data_moves_off_before_removal(lab: Direct) -> None:
    one, two, three = lab.paths(3)
    for disk in (one, two):
        lab.run("lvm_pv", device=disk)
    lab.run("lvm_vg", name="v", devices=[one, two])
    lab.guest.ssh(
        f"lvm lvcreate -qq -y -Wn -L 100m -n l v {one}; mkfs.ext4 -q /dev/v/l; mkdir -p /mnt/l; mount /dev/v/l /mnt/l;"
        f"dd if=/dev/urandom of=/mnt/l/data bs=1M count=32 status=none; sync; lvm lvcreate -qq -y -Wn -l 100%PVS -n full v {two}"
    )
    before = lab.guest.ssh("sha256sum /mnt/l/data")
    refused(lab, "lvm_pv", "25 extents in use", "move_data", device=one, state="absent")
    refused(lab, "lvm_pv", "only 0 free extents", device=one, state="absent", move_data=True)
    lab.guest.ssh("lvm lvremove -qq -y v/full")
    four_steps(lab, "lvm_pv", device=one, state="absent", move_data=True)
    assert lab.guest.ssh("echo 3 > /proc/sys/vm/drop_caches; sha256sum /mnt/l/data") == before
    assert lab.guest.ssh("pvs --noheadings -o pv_name,vg_name").split() == [two, "v"]
    assert lab.guest.ssh(f"wipefs {one}") == ""
    refused(lab, "lvm_pv", "no other physical volume", device=two, state="absent", move_data=True)
    lab.run("lvm_pv", device=one)
    lab.run("lvm_pv", device=three)
    lab.run("lvm_vg", name="v", devices=[one, three])
    lab.guest.ssh(f"lvm lvcreate -qq -y -Wn --type raid1 -m1 -L 20m -n r v {one} {three}")
    lab.guest.ssh(f"lvm pvchange -qq -x n {two}")
    refused(lab, "lvm_pv", "no other part of r", device=one, state="absent", move_data=True)
    lab.guest.ssh(f"lvm pvchange -qq -x y {two}")
    four_steps(lab, "lvm_pv", device=one, state="absent", move_data=True)
    assert one not in lab.guest.ssh("lvs -a --noheadings -o devices v")
    lab.guest.ssh("umount /mnt/l")


def test_a_move_that_was_cut_off_is_finished(lab: Direct) -> None:
    one, two = lab.paths(2)
    for disk in (one, two):
        lab.run("lvm_pv", device=disk)
    lab.run("lvm_vg", name="v", devices=[one, two])
    lab.guest.ssh(f"lvm lvcreate -qq -y -Wn -L 1200m -n l v {one}; lvm pvmove -qq -b {one}; true")
    said = lab.run("lvm_pv", device=one, state="absent", move_data=True)
    assert said.changed, said.message
    assert lab.guest.ssh("pvs --noheadings -o pv_name").split() == [two]
    assert lab.guest.ssh("lvs -a --noheadings -o lv_name v").split() == ["l"]


DEVICES_FILE = "/etc/lvm/devices/system.devices"


@pytest.fixture()
def listing(lab: Direct) -> t.Iterator[Direct]:
    """LVM told to keep a list of its devices, as it does by default on other distributions."""
    lab.guest.ssh(
        "cp /etc/lvm/lvmlocal.conf /run/lvmlocal.conf; rm -rf /etc/lvm/devices;"
        "printf 'devices {\\n use_devicesfile=1\\n}\\n' >> /etc/lvm/lvmlocal.conf"
    )
    yield lab
    lab.guest.ssh("cp /run/lvmlocal.conf /etc/lvm/lvmlocal.conf; rm -rf /etc/lvm/devices")


def test_a_list_of_devices_gets_what_is_made(listing: Direct) -> None:
    one, two = listing.paths(2)
    for disk in (one, two):
        four_steps(listing, "lvm_pv", device=disk)
    listed = listing.guest.ssh(f"cat {DEVICES_FILE}")
    assert f"DEVNAME={one}" in listed and f"DEVNAME={two}" in listed
    four_steps(listing, "lvm_vg", name="v", devices=[one, two])
    assert listing.guest.ssh("vgs --noheadings -o vg_name,pv_count").split() == ["v", "2"]
    four_steps(listing, "lvm_vg", name="v", state="absent")
    four_steps(listing, "lvm_pv", device=two, state="absent")


def test_a_list_of_devices_never_hides_what_was_there(listing: Direct) -> None:
    one, two, three = listing.paths(3)
    listing.guest.ssh(f"lvm pvcreate -qq --config devices/use_devicesfile=0 {one}")
    four_steps(listing, "lvm_pv", device=two)
    assert sorted(listing.guest.ssh("pvs --noheadings -o pv_name").split()) == sorted([one, two]), (
        "a PV of no group stays seen"
    )
    four_steps(listing, "lvm_vg", name="v", devices=[two])
    assert sorted(listing.guest.ssh("pvs --noheadings -o pv_name").split()) == sorted([one, two])
    listing.guest.ssh(f"lvm vgcreate -qq --config devices/use_devicesfile=0 old {one}")
    four_steps(listing, "lvm_pv", device=three)
    four_steps(listing, "lvm_vg", name="w", devices=[three])
    assert listing.guest.ssh("vgs --noheadings -o vg_name").split() == ["old", "v", "w"]
    four_steps(listing, "lvm_vg", name="old", tags=["seen"])
