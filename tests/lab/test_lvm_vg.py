# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_vg in a guest: every option in four steps, each kind of refusal, seen by LVM's own tools."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused

MIB = 1024**2

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


def members(lab: Direct, name: str) -> list[str]:
    return lab.guest.ssh(f"pvs --noheadings -o pv_name -S vg_name={name} --sort pv_name 2>/dev/null").split()


def make_pvs(lab: Direct, disks: t.Sequence[str]) -> None:
    lab.guest.ssh(f"lvm pvcreate -qq {' '.join(disks)}; udevadm settle")


@pytest.mark.parametrize(
    "serials",
    [("WD-WCASJ0000001", "6SJ0000008", "virt-000014"), ("K4G0000010", "K4G0000011", "S4EWNX0R000013")],
)
def test_every_option(lab: Direct, serials: tuple[str, ...]) -> None:
    one, two, three = sorted(lab.disks[serial] for serial in serials)
    make_pvs(lab, (one, two, three))
    link = lab.guest.ssh(f"find -L /dev/disk/by-id -samefile {one} | sort | head -1")
    made = four_steps(lab, "lvm_vg", name="v", devices=[link, two], extent_size="3MiB", tags=["b", "a"])["vg"]
    fields = lab.guest.ssh("vgs --noheadings --nosuffix --units b -o vg_extent_size,vg_tags,vg_extent_count v").split()
    assert fields == [str(3 * MIB), "a,b", str(made["extent_count"])]
    assert members(lab, "v") == [one, two]
    assert not lab.run("lvm_vg", name="v", devices=[two]).changed, "those that are not listed stay"
    four_steps(lab, "lvm_vg", name="v", devices=[three], tags=["c"])
    assert members(lab, "v") == [one, two, three]
    lab.guest.ssh(f"lvm lvcreate -qq -y -Wn -l 20 -n l v {one}")
    refused(lab, "lvm_vg", "20 extents of l", "move_data", name="v", devices=[two], remove_extra_devices=True)
    four_steps(lab, "lvm_vg", name="v", devices=[two, three], remove_extra_devices=True, move_data=True)
    assert members(lab, "v") == [two, three]
    assert lab.guest.ssh(f"pvs --noheadings -o vg_name {one}") == "", "it is a PV of no group"
    four_steps(lab, "lvm_vg", name="v", devices=[one], remove_extra_devices=True, move_data=True)
    assert members(lab, "v") == [one]
    refused(lab, "lvm_vg", "logical volumes: l", name="v", state="absent")
    lab.guest.ssh("lvm lvremove -qq -y v/l")
    four_steps(lab, "lvm_vg", name="v", state="absent")
    assert lab.guest.ssh("vgs --noheadings") == ""
    assert len(lab.guest.ssh("pvs --noheadings -o pv_name").split()) == 3, "the PVs stay"


def test_what_is_refused(lab: Direct) -> None:
    one, two, three = lab.paths(3)
    coarse = lab.disks["K4G0000010"]
    make_pvs(lab, (one, two, coarse))
    lab.guest.ssh(f"lvm vgcreate -qq v {one}; lvm vgcreate -qq w {two}; lvm vgchange -qq --systemid elsewhere -y w")
    for word, options in (
        ("extents of 4MiB, but extent_size 8MiB", {"name": "v", "extent_size": "8MiB"}),
        ("of another group", {"name": "v", "devices": [two]}),
        ("no LVM physical volume", {"name": "v", "devices": [one, three]}),
        ("unequal size", {"name": "v", "devices": [one, coarse]}),
        ("'elsewhere'", {"name": "w", "tags": ["x"]}),
        ("list the devices that stay", {"name": "v", "remove_extra_devices": True}),
        ("power of two", {"name": "n", "devices": [coarse], "extent_size": "3KiB"}),
    ):
        said = lab.run("lvm_vg", **options)
        assert said.failed and word in said.message, said.message
    refused(lab, "lvm_vg", "'elsewhere'", name="w", state="absent")
    lab.guest.ssh("lvm vgexport -qq v")
    refused(lab, "lvm_vg", "exported", name="v", tags=["x"])


def test_two_groups_of_one_name(lab: Direct) -> None:
    one, two = lab.paths(2)
    make_pvs(lab, (one, two))
    lab.guest.ssh(
        f'lvm vgcreate -qq --config devices/filter=\'["a|{one}|","r|.*|"]\' v {one};'
        f'lvm vgcreate -qq --config devices/filter=\'["a|{two}|","r|.*|"]\' v {two}; true'
    )
    refused(lab, "lvm_vg", "2 volume groups with the name v", "vgrename", name="v", tags=["x"])


def test_missing_members(lab: Direct) -> None:
    one, two = lab.disks["WD-WCASJ0000001"], lab.disks["6SJ0000008"]
    make_pvs(lab, (one, two))
    lab.guest.ssh(f"lvm vgcreate -qq v {one} {two}; lvm lvcreate -qq -y -Wn -an -Zn -l 10 -n l v {two}")
    lab.guest.ssh(f"echo 1 > /sys/block/{two[5:]}/device/delete; udevadm settle")
    try:
        said = lab.run("lvm_vg", name="v")
        assert not said.changed and "lacks 1 of its physical volumes" in str(said["warnings"])
        for check in (True, False):
            said = lab.run("lvm_vg", check=check, name="v", tags=["x"])
            assert said.failed and "remove_missing: true" in said.message, said.message
            said = lab.run("lvm_vg", check=check, name="v", remove_missing=True)
            assert said.failed and "need them: l" in said.message, said.message
        lab.guest.ssh("lvm lvremove -qq -y v/l 2>/dev/null")
        assert lab.run("lvm_vg", check=True, name="v", remove_missing=True).changed
        assert lab.run("lvm_vg", name="v", remove_missing=True, tags=["x"]).changed
        assert lab.guest.ssh("vgs --noheadings -o vg_missing_pv_count,pv_count,vg_tags v").split() == ["0", "1", "x"]
        assert not lab.run("lvm_vg", name="v", remove_missing=True, tags=["x"]).changed
    finally:
        lab.guest.ssh("for host in /sys/class/scsi_host/*/scan; do echo '- - -' > $host; done; sleep 3; udevadm settle")
        lab.forget_disks()


def test_chain_in_check_mode(lab: Direct) -> None:
    disk = lab.paths(1)[0]
    for module, options in (
        ("disk_partition", {"disk": disk, "name": "a", "start": "1MiB"}),
        ("lvm_pv", {"device": f"{disk}1"}),
        ("lvm_vg", {"name": "v", "devices": [f"{disk}1"]}),
        ("lvm_pv", {"device": f"{disk}1", "tags": ["x"]}),
    ):
        said = lab.run(module, check=True, **options)
        assert said.changed, said.message
    assert lab.guest.ssh(f"wipefs {disk}; pvs --noheadings") == ""


def test_extents_and_the_stripe(lab: Direct) -> None:
    disks = " ".join(lab.paths(4))
    create = f"mdadm -C /dev/md/t --run --assume-clean -b none -l5 -c 256 -n4 --homehost=any {disks} 2>/dev/null"
    lab.guest.ssh(f"{create}; udevadm settle")
    lab.run("lvm_pv", device="/dev/md/t")
    vg = lab.run("lvm_vg", name="v", devices=["/dev/md/t"])["vg"]
    assert (vg["full_stripe_bytes"], vg["extents_per_full_stripe"]) == (768 * 1024, 3)
