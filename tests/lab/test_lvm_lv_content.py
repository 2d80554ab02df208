# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_lv and what lies on a volume: file systems that follow its size, removal, disks that die. In a guest."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused
from lvm_probe import GROUP, columns, make_group, remove_volumes

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

MIB = 1024**2
# 4096-byte sectors and a name with hyphens, which device-mapper writes double.
WIDE = "pl-wide"


@pytest.fixture(scope="module")
def group(direct: Direct) -> t.Iterator[Direct]:
    """A group of disks of 512-byte sectors, and one of 4096-byte sectors."""
    direct.clean()
    make_group(direct, ("WD-WCASJ0000001", "WD-WCASJ0000002", "6SJ0000008", "6SJ0000009"))
    make_group(direct, ("K4G0000010", "K4G0000011"), WIDE, "8m")
    yield direct
    direct.clean()


@pytest.fixture()
def vg(group: Direct) -> t.Iterator[Direct]:
    yield group
    for name in (GROUP, WIDE):
        remove_volumes(group, name)


def test_a_mounted_xfs_grows_with_its_volume(vg: Direct) -> None:
    vg.guest.ssh(f"lvcreate -qy -L 512m -n l-1 {WIDE} && mkfs.xfs -q /dev/{WIDE}/l-1 && mkdir -p /mnt/pl")
    wish: dict[str, t.Any] = {"vg": WIDE, "name": "l-1", "size": "1GiB", "resizefs": True}
    refused(vg, "lvm_lv", "XFS grows only while it is mounted", **wish)
    vg.guest.ssh(f"mount /dev/{WIDE}/l-1 /mnt/pl && echo kept > /mnt/pl/file && sync")
    four_steps(vg, "lvm_lv", **wish)
    assert int(vg.guest.ssh("stat -f -c %b /mnt/pl")) * 4096 > 900 * MIB
    assert vg.guest.ssh("cat /mnt/pl/file") == "kept"
    # A file system that was left behind by an earlier growth.
    vg.guest.ssh(f"lvextend -q -L 1200m {WIDE}/l-1")
    four_steps(vg, "lvm_lv", vg=WIDE, name="l-1", resizefs=True)
    assert int(vg.guest.ssh("stat -f -c %b /mnt/pl")) * 4096 > 1100 * MIB
    refused(vg, "lvm_lv", "XFS cannot shrink", vg=WIDE, name="l-1", size="600MiB", shrink=True, resizefs=True)
    refused(vg, "lvm_lv", "mounted on /mnt/pl", vg=WIDE, name="l-1", state="absent")
    vg.guest.ssh("umount /mnt/pl")
    said = vg.run("lvm_lv", vg=WIDE, name="l-1", state="absent", expendable_disks=[])
    assert said.failed and "xfs" in said.message
    four_steps(vg, "lvm_lv", vg=WIDE, name="l-1", state="absent")
    assert vg.guest.ssh(f"lvs --noheadings {WIDE}") == ""
    # What was on the old volume does not come back with a new one in its place.
    vg.guest.ssh(f"lvcreate -qy -Wn -Zn -L 512m -n l-1 {WIDE}")
    assert vg.guest.ssh(f"wipefs /dev/{WIDE}/l-1") == ""


def test_an_ext4_grows_and_shrinks_with_its_volume(vg: Direct) -> None:
    vg.guest.ssh(f"lvcreate -qy -L 300m -n l {GROUP} && mkfs.ext4 -q /dev/{GROUP}/l && mkdir -p /mnt/pl")
    vg.guest.ssh(f"mount /dev/{GROUP}/l /mnt/pl && echo kept > /mnt/pl/file && umount /mnt/pl")
    wish: dict[str, t.Any] = {"vg": GROUP, "name": "l", "resizefs": True}
    four_steps(vg, "lvm_lv", size="500MiB", **wish)
    count = vg.guest.ssh(
        f"dumpe2fs -h /dev/{GROUP}/l 2>/dev/null | awk '/^Block count/ {{print $3}} /^Block size/ {{print $3}}'"
    )
    blocks, block = (int(word) for word in count.split())
    assert 500 * MIB - blocks * block < 8 * MIB
    refused(vg, "lvm_lv", "resizefs: true shrinks it first", vg=GROUP, name="l", size="200MiB", shrink=True)
    four_steps(vg, "lvm_lv", size="200MiB", shrink=True, **wish)
    assert columns(vg, "l", "lv_size") == [str(200 * MIB)]
    assert vg.guest.ssh(f"e2fsck -fn /dev/{GROUP}/l >/dev/null 2>&1; echo $?") == "0"
    vg.guest.ssh(f"mount /dev/{GROUP}/l /mnt/pl")
    refused(vg, "lvm_lv", "shrinks only while it is not", size="100MiB", shrink=True, **wish)
    assert vg.guest.ssh("cat /mnt/pl/file; umount /mnt/pl") == "kept"


def test_shrinking_unknown_data_needs_consent(vg: Direct) -> None:
    vg.guest.ssh(
        f"lvcreate -qy -L 64m -n l {GROUP} && dd if=/dev/urandom of=/dev/{GROUP}/l bs=1M oflag=direct status=none || true"
    )
    wish: dict[str, t.Any] = {"vg": GROUP, "name": "l", "size": "32MiB", "shrink": True}
    refused(vg, "lvm_lv", "unrecognised data", expendable_disks=[], **wish)
    four_steps(vg, "lvm_lv", **wish)
    assert columns(vg, "l", "lv_size") == [str(32 * MIB)]


def test_volumes_of_others_are_refused(vg: Direct) -> None:
    vg.guest.ssh(f"lvcreate -qy -L 64m -n base {GROUP} && lvcreate -qy -s -L 16m -n snap {GROUP}/base")
    refused(vg, "lvm_lv", "it has snapshots", vg=GROUP, name="base", state="absent")
    refused(vg, "lvm_lv", "it is a snapshot", vg=GROUP, name="snap", state="absent")
    refused(vg, "lvm_lv", "it has snapshots", vg=GROUP, name="base", tags=["x"])


def test_a_group_name_that_is_there_twice_is_refused(vg: Direct) -> None:
    other = vg.disks["virt-000014"]
    only = f'--config \'devices {{ filter=["a|^{other}$|", "r|.*|"] }}\''
    vg.guest.ssh(f"vgcreate -qy {only} {GROUP} {other} >/dev/null 2>&1")
    try:
        for state in ("present", "absent"):
            said = vg.run("lvm_lv", vg=GROUP, name="l", state=state, size="100MiB")
            assert said.failed and "2 volume groups with the name" in said.message, said.message
    finally:
        vg.guest.ssh(f"vgremove -qffy {only} {GROUP} >/dev/null 2>&1; pvremove -qffy {only} {other} >/dev/null 2>&1")


def test_a_pulled_disk_is_told_and_its_image_rebuilt(vg: Direct) -> None:
    """On SCSI, where the disk can be found again; last, since names change with it."""
    disks = vg.disks
    keeps, dies = disks["6SJ0000008"], disks["6SJ0000009"]
    vg.guest.ssh(f"lvcreate -qy --type raid1 -m1 -L 64m --nosync -n r {GROUP} {keeps} {dies}")
    data = vg.guest.ssh(
        f"dd if=/dev/urandom of=/dev/{GROUP}/r bs=1M count=64 oflag=direct status=none; md5sum < /dev/{GROUP}/r"
    )
    name = dies.rsplit("/", 1)[1]
    host = vg.guest.ssh(f"readlink -f /sys/block/{name}/device | grep -o 'host[0-9]*' | head -1")
    try:
        vg.guest.ssh(
            f"echo 1 > /sys/block/{name}/device/delete; sleep 1; dd if=/dev/zero of=/dev/{GROUP}/r bs=4k count=0 status=none"
        )
        told = vg.run("lvm_lv", vg=GROUP, name="r")
        assert not told.changed and told["lv"]["health"] == "partial"
        assert "is degraded (partial)" in str(told["warnings"])
        refused(vg, "lvm_lv", "are missing", vg=GROUP, name="r", tags=["x"])
        repaired = four_steps(vg, "lvm_lv", vg=GROUP, name="r", repair=True, wait_for_sync=True)
        assert repaired["lv"]["health"] == "" and repaired["lv"]["sync_percent"] == 100
        assert vg.guest.ssh(f"vgs --noheadings -o vg_missing_pv_count {GROUP}") == "0"
        assert vg.guest.ssh(f"dmsetup status {GROUP}-r | grep -o AA") == "AA"
        assert vg.guest.ssh(f"echo 3 > /proc/sys/vm/drop_caches; md5sum < /dev/{GROUP}/r") == data
    finally:
        vg.guest.ssh(f"echo '- - -' > /sys/class/scsi_host/{host}/scan; sleep 3; udevadm settle")
        vg.__dict__.pop("disks", None)
        vg.guest.ssh(f"wipefs -qaf {vg.disks['6SJ0000009']}; udevadm settle")
