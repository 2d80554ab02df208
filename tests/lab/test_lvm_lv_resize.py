# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_lv in a guest: volumes that grow and shrink, with what lies on them."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]
MIB = 1024**2
PATH = "/dev/pl_lv/l-v"


@pytest.fixture()
def group(lab: Direct) -> Direct:
    """The group pl_lv of the first two disks; two more are physical volumes of no group."""
    disks = lab.paths(4)
    lab.guest.ssh(f"pvcreate -q {' '.join(disks)}; vgcreate -q pl_lv {disks[0]} {disks[1]}")
    return lab


def make(lab: Direct, **options: t.Any) -> None:
    said = lab.run("lvm_lv", vg="pl_lv", name="l-v", **options)
    assert said.changed, said.message


def size_of(lab: Direct) -> int:
    return int(lab.guest.ssh(f"blockdev --getsize64 {PATH}"))


def ext4_bytes(lab: Direct) -> int:
    """By the superblock, as dumpe2fs reads it."""
    lines = lab.guest.ssh(f"dumpe2fs -h {PATH} 2>/dev/null").splitlines()
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(values["Block count"]) * int(values["Block size"])


def test_what_somebody_else_began_is_ended_while_mounted(group: Direct) -> None:
    """The volume is larger than its file system: nothing but the file system grows."""
    make(group, size="100MiB")
    group.guest.ssh(f"mkfs.ext4 -qF {PATH}; mkdir -p /mnt/l; mount {PATH} /mnt/l; lvextend -q -L 0.2g pl_lv/l-v")
    assert (size_of(group), ext4_bytes(group)) == (208 * MIB, 100 * MIB)
    assert not group.run("lvm_lv", vg="pl_lv", name="l-v", size="0.2g").changed
    done = four_steps(group, "lvm_lv", vg="pl_lv", name="l-v", size="0.2g", resizefs=True)
    assert [command.split()[0] for command in done["commands"]] == ["resize2fs"]
    assert size_of(group) == ext4_bytes(group) == 208 * MIB
    group.guest.ssh("umount /mnt/l")


def test_what_is_no_file_system_is_neither_grown_nor_cut(group: Direct) -> None:
    make(group, size="40MiB")
    group.guest.ssh(f"mkswap -q {PATH}")
    wish = {"vg": "pl_lv", "name": "l-v"}
    refused(group, "lvm_lv", "swap", "only xfs, ext2, ext3 and ext4", **wish, size="80MiB", resizefs=True)
    refused(group, "lvm_lv", "swap", "cannot be shrunk here", **wish, size="20MiB", shrink=True)
    group.guest.ssh(f"wipefs -qa {PATH}; lvchange -qan pl_lv/l-v")
    refused(group, "lvm_lv", "not active", **wish, size="20MiB", shrink=True)


def test_a_percentage_grows_with_the_group(group: Direct) -> None:
    disks = group.paths(4)
    make(group, extents="100%FREE")
    group.guest.ssh(f"mkfs.ext4 -qF {PATH}; vgextend -q pl_lv {disks[2]}")
    four_steps(group, "lvm_lv", vg="pl_lv", name="l-v", extents="100%FREE", resizefs=True)
    assert group.guest.ssh("vgs --noheadings -o vg_free_count pl_lv") == "0"
    assert size_of(group) == ext4_bytes(group) == 3 * 511 * 4 * MIB


def test_a_striped_volume_needs_as_many_new_devices_as_it_has_stripes(group: Direct) -> None:
    disks = group.paths(4)
    make(group, type="striped", stripes=2, extents="100%FREE")
    group.guest.ssh(f"vgextend -q pl_lv {disks[2]}")
    wish = {"vg": "pl_lv", "name": "l-v"}
    refused(group, "lvm_lv", "grows on 2 devices", "add 1 or more", **wish, extents=1100)
    assert not group.run("lvm_lv", **wish, extents="100%FREE").changed
    group.guest.ssh(f"vgextend -q pl_lv {disks[3]}")
    four_steps(group, "lvm_lv", **wish, extents="100%FREE")
    assert group.guest.ssh("lvs --noheadings --segments -o stripes,seg_size_pe pl_lv/l-v").split() == ["2", "1022"] * 2
