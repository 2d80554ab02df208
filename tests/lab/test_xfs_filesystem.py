# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""xfs_filesystem in a guest: every option made and checked by xfs_info and blkid; what changes in place, what is refused."""

from __future__ import annotations

import re
import typing as t

import pytest
from direct import Direct, four_steps, refused

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

UUID = "2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11"
OTHER_UUID = "5b1d2dd2-0000-4a4a-9c1f-3f8a3b0d7c11"
MOUNT = "/mnt/plumbline-xfs"
# name: place in TEST_DISKS, options, and what xfs_info must then say
CASES: dict[str, tuple[int, dict[str, t.Any], dict[str, int]]] = {
    "names_sata": (0, {"label": "data", "uuid": UUID}, {"meta-data.sectsz": 512, "data.sunit": 0}),
    "old_format_sata": (
        2, {"crc": False, "log_size": "128MiB"}, {"meta-data.crc": 0, "meta-data.finobt": 0, "log.blocks": 32768}),
    "stripe_scsi": (
        4, {"su": "64KiB", "sw": 3, "agcount": 6, "log_su": "32KiB"},
        {"data.sunit": 16, "data.swidth": 48, "meta-data.agcount": 6, "log.sunit": 8}),
    "stripe_in_sectors_scsi_4k": (
        6, {"sunit": "256s", "swidth": "768s", "block_size": "4KiB", "sector_size": "8s", "agsize": "192MiB",
            "log_size": "96MiB"},
        {"data.sunit": 32, "data.swidth": 96, "meta-data.agsize": 49152, "meta-data.sectsz": 4096, "log.blocks": 24576,
         "log.sunit": 1}),  # mkfs.xfs takes one block, not the stripe, where sectors are large
    "features_off_nvme": (
        8, {"geometry": "none", "block_size": "1KiB", "reflink": False, "rmapbt": False, "bigtime": False,
            "inobtcount": False, "nrext64": False},
        {"data.bsize": 1024, "meta-data.reflink": 0, "meta-data.rmapbt": 0, "meta-data.bigtime": 0,
         "meta-data.inobtcount": 0, "meta-data.nrext64": 0}),
    "features_on_nvme_4k": (
        9, {"crc": True, "finobt": True, "inobtcount": True, "reflink": True, "rmapbt": True, "bigtime": True,
            "sparse": True, "nrext64": True, "inode_size": "1KiB"},
        {"meta-data.crc": 1, "meta-data.finobt": 1, "meta-data.inobtcount": 1, "meta-data.reflink": 1,
         "meta-data.rmapbt": 1, "meta-data.bigtime": 1, "meta-data.sparse": 1, "meta-data.nrext64": 1,
         "meta-data.isize": 1024}),
    "indexes_off_virtio": (
        10, {"finobt": False, "inobtcount": False, "sparse": False, "sector_size": "4KiB"},
        {"meta-data.finobt": 0, "meta-data.sparse": 0, "meta-data.inobtcount": 0, "meta-data.sectsz": 4096}),
}  # fmt: skip


def info(lab: Direct, target: str) -> dict[str, int]:
    """The numbers of xfs_info by section and name."""
    fields: dict[str, int] = {}
    section = ""
    for line in lab.guest.ssh(f"xfs_info {target}").splitlines():
        section = (line.split("=")[0].split() or [section])[0]
        for name, value in re.findall(r"([a-z0-9-]+)=(\d+)", line.partition("=")[2]):
            fields.setdefault(f"{section}.{name}", int(value))
    return fields


def tag(lab: Direct, device: str, name: str) -> str:
    """Label or UUID as blkid finds it on the device."""
    return lab.guest.ssh(f"blkid -p -s {name} -o value {device}", check=False)


def volume(lab: Direct, place: int, size: str) -> str:
    """A volume made by LVM's own tools."""
    disk = lab.paths()[place]
    lab.guest.ssh(f"pvcreate -q {disk} && vgcreate -q t_xfs {disk} && lvcreate -qy -Wn -L {size} -n data t_xfs")
    return "/dev/t_xfs/data"


@pytest.mark.parametrize("name", CASES)
def test_made_and_removed(lab: Direct, name: str) -> None:
    place, options, numbers = CASES[name]
    device = lab.paths()[place]
    promised = lab.run("xfs_filesystem", check=True, device=device, **options)["filesystem"]
    made = four_steps(lab, "xfs_filesystem", device=device, **options)["filesystem"]
    unknown = {"uuid"} if "uuid" not in options else set()
    assert {key: made[key] for key in made if key not in unknown} == {
        key: promised[key] for key in made if key not in unknown
    }
    seen = info(lab, device)
    assert {key: seen[key] for key in numbers} == numbers
    for option, word in (("label", "LABEL"), ("uuid", "UUID")):
        assert tag(lab, device, word) == made[option]
        assert option not in options or made[option] == options[option]
    gone = four_steps(lab, "xfs_filesystem", device=device, state="absent")
    assert gone["filesystem"] is None
    assert lab.guest.ssh(f"wipefs {device}") == ""


def test_stripe_of_an_array_is_derived_compared_and_never_remade(lab: Direct) -> None:
    paths = lab.paths()
    lab.guest.ssh(
        f"mdadm --create /dev/md/t_xfs --run --assume-clean --bitmap=none -q -l5 -c64 -n4 --homehost=any --name=t_xfs "
        f"{paths[0]} {paths[4]} {paths[8]} {paths[10]}; udevadm settle"
    )
    device = "/dev/md/t_xfs"
    four_steps(lab, "xfs_filesystem", device=device)
    seen = info(lab, device)
    assert (seen["data.sunit"], seen["data.swidth"]) == (16, 48)
    for mounted in (False, True):
        if mounted:
            lab.guest.ssh(f"mkdir -p {MOUNT}; mount {device} {MOUNT}; echo kept > {MOUNT}/file")
        again = lab.run("xfs_filesystem", device=device, geometry="auto")
        assert not again.failed, again.message
        assert not again.changed
        assert again["filesystem"]["mounted_at"] == ([MOUNT] if mounted else [])
        refused(lab, "xfs_filesystem", "su 64KiB, sw 3", "asked as none", device=device, geometry="none")
        refused(lab, "xfs_filesystem", "su 128KiB, sw 3", "is su 64KiB, sw 3", device=device, su="128KiB", sw=3)
        refused(lab, "xfs_filesystem", "block_size", "1KiB", "4KiB", device=device, block_size="1KiB")
        refused(lab, "xfs_filesystem", "reflink", "false", "true", device=device, reflink=False)
        refused(lab, "xfs_filesystem", "uuid", "change_uuid", device=device, uuid=OTHER_UUID)
    refused(lab, "xfs_filesystem", "mounted at", device=device, state="absent")
    refused(lab, "xfs_filesystem", "mounted at", device=device, uuid=OTHER_UUID, change_uuid=True)
    assert lab.guest.ssh(f"cat {MOUNT}/file; umount {MOUNT}") == "kept"


@pytest.mark.parametrize(("stripesize", "su", "sw"), [("64k", 65536, 4), ("128k", 65536, 4), ("32k", 32768, 8)])
def test_stripes_of_a_volume_over_two_arrays(lab: Direct, stripesize: str, su: int, sw: int) -> None:
    """Two data disks of 64 KiB below each of two stripes; mkfs.xfs itself sees the volume's stripes only."""
    paths = lab.paths()
    for name, members in (("t_a", paths[0:3]), ("t_b", [paths[3], *paths[4:6]])):
        lab.guest.ssh(
            f"mdadm --create /dev/md/{name} --run --assume-clean --bitmap=none -q -l5 -c64 -n3 --homehost=any --name={name} "
            f"{' '.join(members)}; udevadm settle; pvcreate -q /dev/md/{name}"
        )
    lab.guest.ssh(f"vgcreate -q t_xfs /dev/md/t_a /dev/md/t_b; lvcreate -qy -Wn -L2g -i2 -I{stripesize} -n data t_xfs")
    device = "/dev/t_xfs/data"
    made = four_steps(lab, "xfs_filesystem", device=device, geometry="auto")["filesystem"]
    assert (made["sunit_bytes"], made["sw"]) == (su, sw)
    seen = info(lab, device)
    assert (seen["data.sunit"] * 4096, seen["data.swidth"] * 4096) == (su, su * sw)


def test_label_and_uuid_change_in_place(lab: Direct) -> None:
    device = lab.paths()[4]
    assert not lab.run("xfs_filesystem", device=device, label="one").failed
    four_steps(lab, "xfs_filesystem", device=device, label="two", uuid=UUID, change_uuid=True)
    assert (tag(lab, device, "LABEL"), tag(lab, device, "UUID")) == ("two", UUID)
    lab.guest.ssh(f"mkdir -p {MOUNT}; mount {device} {MOUNT}")
    four_steps(lab, "xfs_filesystem", device=device, label="three")
    assert tag(lab, device, "LABEL") == "three"
    assert lab.guest.ssh(f"readlink -f /dev/disk/by-label/three; lsblk -no LABEL {device}").split() == [device, "three"]
    four_steps(lab, "xfs_filesystem", device=device, label="")
    assert tag(lab, device, "LABEL") == ""
    # What is not given is not touched.
    assert not lab.run("xfs_filesystem", device=device).changed
    lab.guest.ssh(f"touch {MOUNT}/a; xfs_io -x -c 'shutdown -f' {MOUNT}; umount {MOUNT}")
    refused(lab, "xfs_filesystem", "mount it and unmount it once", device=device, label="four")
    refused(lab, "xfs_filesystem", "mount it", device=device, uuid=OTHER_UUID, change_uuid=True)
    lab.guest.ssh(f"mount {device} {MOUNT}; umount {MOUNT}; xfs_repair -n {device}")
    four_steps(lab, "xfs_filesystem", device=device, label="four")


def test_grows_while_mounted_and_leaves_a_short_tail(lab: Direct) -> None:
    device = volume(lab, 5, "400m")
    made = lab.run("xfs_filesystem", device=device, grow=True, agcount=4)
    assert not made.failed, made.message
    assert not made.result.get("warnings")
    assert not lab.run("xfs_filesystem", device=device, grow=True).changed
    lab.guest.ssh("lvextend -q -L 804m t_xfs/data")
    refused(lab, "xfs_filesystem", "grows only while it is mounted", device=device, grow=True)
    assert not lab.run("xfs_filesystem", device=device).changed
    lab.guest.ssh(f"mkdir -p {MOUNT}; mount {device} {MOUNT}; echo kept > {MOUNT}/file")
    # 804 MiB are eight groups of 100 MiB and a tail of 4 MiB.
    grown = four_steps(lab, "xfs_filesystem", device=device, grow=True, agcount=4)
    assert grown["filesystem"]["size_bytes"] == 800 * 1024**2
    assert info(lab, MOUNT)["data.blocks"] == 800 * 256
    assert lab.guest.ssh(f"cat {MOUNT}/file") == "kept"
    # The superblock in its place is the new one only after a while, or when the file system was quiet once.
    lab.guest.ssh(f"lvextend -q -L 840m t_xfs/data; xfs_freeze -f {MOUNT}; xfs_freeze -u {MOUNT}")
    four_steps(lab, "xfs_filesystem", device=device, grow=True)
    assert info(lab, MOUNT)["data.blocks"] == 840 * 256
    lab.guest.ssh(f"umount {MOUNT}; xfs_repair -n {device}")
    assert not lab.run("xfs_filesystem", device=device, grow=True).changed
    lab.guest.ssh("lvreduce -qfy -L 836m t_xfs/data || lvreduce -qfy --fs ignore -L 836m t_xfs/data")
    refused(lab, "xfs_filesystem", "XFS cannot shrink", device=device, grow=True)


def test_log_on_a_device_of_its_own(lab: Direct) -> None:
    device, log, other = (lab.paths()[place] for place in (8, 4, 5))
    wanted = {"device": device, "log_device": log, "log_size": "64MiB"}
    made = four_steps(lab, "xfs_filesystem", **wanted)["filesystem"]
    assert (made["log_external"], made["log_bytes"]) == (True, 64 * 1024**2)
    assert lab.guest.ssh(f"blkid -p -s TYPE -o value {log}") == "xfs_external_log"
    refused(lab, "xfs_filesystem", "give log_device", device=device, label="data")
    four_steps(lab, "xfs_filesystem", label="data", **wanted)
    assert tag(lab, device, "LABEL") == "data"
    lab.guest.ssh(f"mkdir -p {MOUNT}; mount -o logdev={log} {device} {MOUNT}")
    assert lab.run("xfs_filesystem", **wanted)["filesystem"]["log_device"] == log
    refused(lab, "xfs_filesystem", f"asked as {other} and is {log}", device=device, log_device=other)
    lab.guest.ssh(f"umount {MOUNT}")
    four_steps(lab, "xfs_filesystem", state="absent", device=device, log_device=log)
    assert lab.guest.ssh(f"wipefs {device}; wipefs {log}") == ""
    inside = lab.run("xfs_filesystem", device=device)
    assert not inside.failed, inside.message
    refused(lab, "xfs_filesystem", "the log is internal", device=device, log_device=log)


def test_what_cannot_be_made_is_told_before_the_content_goes(lab: Direct) -> None:
    device, four_k = lab.paths()[0], lab.paths()[6]
    lab.guest.ssh(f"mkfs.ext4 -qF {device}; udevadm settle")
    refused(lab, "xfs_filesystem", "too small", device=device, agcount=5000)
    refused(lab, "xfs_filesystem", "without CRC", device=device, crc=False, reflink=True)
    refused(lab, "xfs_filesystem", "64MB", device=device, log_size="32MiB")
    refused(lab, "xfs_filesystem", "stripe unit", device=device, su="64KiB", sw=3, agsize="100000KiB")
    refused(lab, "xfs_filesystem", "512B", "4KiB", device=four_k, sector_size="512B")
    refused(lab, "xfs_filesystem", "without a unit", device=device, su="64", sw=3)
    refused(lab, "xfs_filesystem", "sunit and swidth", device=device, sunit="128s")
    knows = lab.guest.ssh("mkfs.xfs 2>&1 | grep -c parent=", check=False) != "0"
    if knows:
        made = four_steps(lab, "xfs_filesystem", device=device, parent=True, exchange=True)
        assert {"parent", "exchange"} <= set(made["filesystem"]["features"])
    else:
        refused(lab, "xfs_filesystem", "does not know parent=1", "version", device=device, parent=True)
        refused(lab, "xfs_filesystem", "does not know exchange=1", device=device, exchange=True)
    assert tag(lab, device, "TYPE") == ("xfs" if knows else "ext4")


def test_content_and_use_are_kept(lab: Direct) -> None:
    device = lab.paths()[1]
    lab.guest.ssh(f"mkfs.ext4 -qF {device}; udevadm settle")
    refused(lab, "xfs_filesystem", "ext4", device=device, expendable_disks=[])
    assert not lab.run("xfs_filesystem", device=device, state="absent").changed
    lab.guest.ssh(f"mkdir -p {MOUNT}; mount {device} {MOUNT}")
    refused(lab, "xfs_filesystem", "mounted", device=device)
    lab.guest.ssh(f"umount {MOUNT}")
    four_steps(lab, "xfs_filesystem", device=device)
    refused(lab, "xfs_filesystem", "xfs", device=device, state="absent", expendable_disks=[])
    lab.guest.ssh(
        f"unshare -m --propagation private sh -c 'mount {device} {MOUNT}; echo $$ > /run/xfs-held; exec sleep 600' "
        "> /dev/null 2>&1 & while [ ! -s /run/xfs-held ]; do sleep 0.1; done"
    )
    try:
        refused(lab, "xfs_filesystem", "another mount namespace", device=device, state="absent")
        refused(lab, "xfs_filesystem", "another mount namespace", device=device, label="x")
    finally:
        lab.guest.ssh("kill $(cat /run/xfs-held); rm /run/xfs-held; udevadm settle")
    four_steps(lab, "xfs_filesystem", device=device, state="absent")


def test_small_devices(lab: Direct) -> None:
    device = volume(lab, 7, "296m")
    refused(lab, "xfs_filesystem", "296MiB", "300MiB", device=device)
    lab.guest.ssh("lvextend -q -L 1020m t_xfs/data")
    made = four_steps(lab, "xfs_filesystem", device=device, su="64KiB", sw=2)["filesystem"]
    assert (made["sunit_bytes"], made["sw"]) == (65536, 2)


def test_planned_devices_in_check_mode(lab: Direct) -> None:
    for path in ("/dev/md/t_none", "/dev/t_none/data"):
        said = lab.run("xfs_filesystem", check=True, device=path, label="x", log_device="/dev/md/t_log")
        assert not said.failed, said.message
        assert said.changed
        assert said["assumed_parent"]
    there = lab.run("xfs_filesystem", check=True, device=lab.paths()[3], log_device="/dev/md/t_log")
    assert not there.failed, there.message
    assert lab.run("xfs_filesystem", device=lab.paths()[3], log_device="/dev/md/t_log").failed
    assert lab.run("xfs_filesystem", check=True, device="/dev/sdzz").failed
    assert lab.run("xfs_filesystem", device="/dev/md/t_none").failed
