# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""storage_stack in a guest of the profile many_buses, looked at with the system's own tools."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, Said, four_steps, refused

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

REGION = {"start": "1MiB", "size": "1GiB"}
SATA = ["WD-WCASJ0000001", "WD-WCASJ0000002", "Z1N0000005", "Z1N0000006"]
SCSI, SECTORS_4K = ["6SJ0000008", "6SJ0000009"], ["K4G0000010", "K4G0000011"]
LVM_ON_MD = [
    {"md": {"level": 5, "chunk": "256KiB"}},
    {"pv": {}},
    {"vg": {"extent_size": "12MiB"}},
    {"lv": {}},
    {"xfs": {}},
]


def params(disks: list[str], layers: list[dict[str, t.Any]], **more: t.Any) -> dict[str, t.Any]:
    return {"name": "s", "disks": disks, "region": REGION, "layers": layers, **more}


def remove(lab: Direct) -> Said:
    """Check mode, removal, removal again; afterwards nothing may be left on any test disk."""
    before = lab.state()
    promised = lab.run("storage_stack", check=True, name="s", state="absent")
    assert promised.changed, promised.result
    assert lab.state() == before
    removed = lab.run("storage_stack", name="s", state="absent")
    assert not removed.failed, removed.result
    assert removed["commands"] == promised["commands"]
    assert not lab.run("storage_stack", name="s", state="absent").changed
    assert_nothing_left(lab)
    return removed


def assert_nothing_left(lab: Direct) -> None:
    guest = lab.guest
    assert guest.ssh("grep -c ^md /proc/mdstat", check=False) == "0"
    assert (
        guest.ssh(
            "pvs --noheadings -o pv_name; vgs --noheadings -o vg_name; dmsetup ls | grep -v '^No devices'", check=False
        )
        == ""
    )
    assert guest.ssh(f"wipefs --noheadings {' '.join(lab.paths())}") == ""
    assert guest.ssh("lsblk -nro TYPE | grep -c part", check=False) == "0"
    assert (
        guest.ssh(
            "ls /var/lib/plumbline/stacks; grep -ls plumbline.storage /etc/systemd/system/*.mount /etc/systemd/system/.*",
            check=False,
        )
        == ""
    )


@pytest.mark.parametrize(
    ("disks", "layers", "probes"),
    [
        pytest.param(
            SATA,
            LVM_ON_MD,
            {
                "cat /sys/class/block/$(basename $(readlink -f /dev/md/pl_stack_s))/md/chunk_size": "262144",
                "pvs --noheadings --units b --nosuffix -o pe_start /dev/md/pl_stack_s | awk '{print $1 % 786432}'": "0",
                "xfs_db -r -c 'sb 0' -c 'p unit width' /dev/pl_stack_s/lv": "unit = 64\nwidth = 192",
            },
            id="xfs_on_lvm_on_raid5",
        ),
        pytest.param(
            [*SATA, *SCSI],
            [
                {"md": {"name": "a", "on": "disks[0:3]", "level": 5, "chunk": "64KiB"}},
                {"md": {"name": "b", "on": "disks[3:6]", "level": 5, "chunk": "64KiB"}},
                {"pv": {"on": ["a", "b"]}},
                {"vg": {}},
                {"lv": {"type": "striped", "stripesize": "64KiB"}},
                {"xfs": {}},
            ],
            {
                "lvs --noheadings -o stripes,stripe_size --units k pl_stack_s/lv | xargs": "2 64.00k",
                # full stripe 2 x lcm(64 KiB, 128 KiB) = 256 KiB: su 64 KiB, sw 4
                "xfs_db -r -c 'sb 0' -c 'p unit width' /dev/pl_stack_s/lv": "unit = 16\nwidth = 64",
            },
            id="lv_stripes_over_two_arrays",
        ),
        pytest.param(
            [*SATA[:2], *SCSI],
            [
                {"md": {"name": "a", "on": "disks[0:2]", "level": 1}},
                {"md": {"name": "b", "on": "disks[2:4]", "level": 1}},
                {"md": {"name": "c", "on": ["a", "b"], "level": 0, "chunk": "128KiB"}},
                {"xfs": {}},
            ],
            {
                "grep -c '^md.*raid' /proc/mdstat": "3",
                "xfs_db -r -c 'sb 0' -c 'p unit width' /dev/md/pl_stack_s_c": "unit = 32\nwidth = 64",
            },
            id="raid0_over_two_mirrors",
        ),
        pytest.param(
            SECTORS_4K,
            [{"pv": {}}, {"vg": {}}, {"lv": {"name": "one", "type": "raid1", "mirrors": 1, "size": "400MiB"}},
             {"lv": {"name": "two", "on": "vg", "size": "400MiB"}}, {"xfs": {"on": "one"}}, {"xfs": {"on": "two", "label": "second"}}],
            {
                "lvs --noheadings -o lv_name,segtype -S vg_name=pl_stack_s | xargs": "one raid1 two linear",
                "blkid -s TYPE -o value /dev/pl_stack_s/one /dev/pl_stack_s/two": "xfs\nxfs",
                "blkid -s LABEL -o value /dev/pl_stack_s/two": "second",
            },
            id="two_volumes_on_4096_byte_sectors",
        ),
        pytest.param(
            ["S4EWNX0R000012/n1", "virt-000014"],
            [{"md": {"level": 1, "on": "disks[0:2]", "bitmap": "internal"}}],
            {"mdadm --detail --export /dev/md/pl_stack_s | grep MD_LEVEL": "MD_LEVEL=raid1"},
            id="mirror_of_nvme_and_virtio",
        ),
        pytest.param(
            SCSI[:1], [{"xfs": {"on": "disks[0]"}}], {"lsblk -nro FSTYPE,PARTLABEL | grep pl_": "xfs pl_stack_s"}, id="xfs_on_a_region"
        ),
    ],
)  # fmt: skip
def test_a_stack_is_built_and_removed(
    lab: Direct, disks: list[str], layers: list[t.Any], probes: dict[str, str]
) -> None:
    wish = params(disks, layers)
    said = four_steps(lab, "storage_stack", **wish)
    assert said["stack"]["top_device"]
    for command, expected in probes.items():
        assert lab.guest.ssh(f"udevadm settle; {command}") == expected, command
    assert not lab.run("storage_stack", state="verified", **wish).failed
    remove(lab)


def test_single_modules_give_the_same(lab: Direct) -> None:
    look = r"""
for m in /dev/md/pl_stack_s; do mdadm --detail --export $m | grep -v 'UUID\|DEVICE\|DEVNAME\|UPDATE\|EVENTS'; done
pvs --noheadings --units b -o pe_start,pv_mda_size,pv_size; vgs --noheadings --units b -o vg_name,vg_extent_size,vg_size,vg_free
lvs --noheadings --units b -o lv_name,segtype,lv_size,seg_start_pe,devices
xfs_db -r -c 'sb 0' -c 'p blocksize dblocks unit width logsunit sectsize agcount' /dev/pl_stack_s/lv
lsblk -nbro START,SIZE,TYPE,PARTLABEL | grep part"""
    said = lab.run("storage_stack", **params(SATA, LVM_ON_MD))
    assert not said.failed, said.result
    by_stack = lab.guest.ssh(look)
    remove(lab)
    parts = []
    for serial in SATA:
        run(lab, "disk_partition", disk=lab.disks[serial], name="pl_stack_s", start="1MiB", size="1GiB")
        parts.append(f"{lab.disks[serial]}1")
    run(lab, "md_array", name="pl_stack_s", level=5, chunk="256KiB", devices=parts, bitmap="none", assume_clean=True)
    run(lab, "lvm_pv", device="/dev/md/pl_stack_s")
    run(lab, "lvm_vg", name="pl_stack_s", devices=["/dev/md/pl_stack_s"], extent_size="12MiB")
    run(lab, "lvm_lv", vg="pl_stack_s", name="lv", extents="100%FREE")
    run(lab, "xfs_filesystem", device="/dev/pl_stack_s/lv")
    assert sorted(lab.guest.ssh(look).splitlines()) == sorted(by_stack.splitlines())


def run(lab: Direct, module: str, **options: t.Any) -> None:
    said = lab.run(module, **options)
    assert not said.failed, said.result
    assert said.changed


def test_drift_is_refused_left_or_rebuilt(lab: Direct) -> None:
    built = lab.run("storage_stack", **params(SATA, [{"md": {"level": 5, "chunk": "256KiB"}}, {"xfs": {}}]))
    assert not built.failed, built.result
    other = params(SATA, [{"md": {"level": 5, "chunk": "64KiB"}}, {"xfs": {}}])
    for more in ({}, {"state": "verified"}):
        refused(lab, "storage_stack", "chunk is 256KiB, asked is 64KiB", **other, **more)
    warned = lab.run("storage_stack", on_drift="warn", **other)
    assert not warned.failed, warned.result
    assert not warned.changed
    assert any("chunk is 256KiB, asked is 64KiB" in str(text) for text in warned["warnings"])
    unlisted = refused(
        lab, "storage_stack", "chunk is 256KiB", "not listed", expendable_disks=SATA[:3], on_drift="rebuild", **other
    )
    assert SATA[3] in unlisted
    rebuilt = four_steps(lab, "storage_stack", on_drift="rebuild", **other)
    assert "it is removed and built anew" in str(rebuilt["warnings"])
    chunk = "cat /sys/class/block/$(basename $(readlink -f /dev/md/pl_stack_s))/md/chunk_size"
    assert lab.guest.ssh(chunk) == "65536"
    fewer = params(SATA[:3], [{"md": {"level": 5, "chunk": "64KiB"}}, {"xfs": {}}])
    refused(lab, "storage_stack", "its disks are", **fewer)
    four_steps(lab, "storage_stack", on_drift="rebuild", **fewer)
    assert "raid5" in lab.guest.ssh("grep ^md /proc/mdstat")
    remove(lab)


def test_a_permanent_mount_survives_a_reboot_and_goes_with_the_stack(lab: Direct) -> None:
    wish = params(SATA[:2], [{"md": {"level": 1}}, {"xfs": {"mount": "/srv/lab-data", "mount_options": "noatime"}}])
    ssh = lab.guest.ssh
    four_steps(lab, "storage_stack", **wish)
    assert ssh("findmnt -no FSTYPE,OPTIONS /srv/lab-data").startswith("xfs rw,noatime")
    ssh("echo kept > /srv/lab-data/file; sync")
    lab.reboot()
    assert ssh("cat /srv/lab-data/file") == "kept"
    assert not lab.run("storage_stack", **wish).changed
    assert not lab.run("storage_stack", state="verified", **wish).failed
    ssh("sleep 600 < /srv/lab-data/file > /dev/null 2>&1 &")
    for check in (True, False):
        busy = lab.run("storage_stack", check=check, name="s", state="absent")
        assert busy.failed
        assert "in use by process" in busy.message
    ssh("pkill -x sleep; mkdir /srv/lab-data/below && mount -t tmpfs none /srv/lab-data/below")
    below = lab.run("storage_stack", name="s", state="absent")
    assert "in use by the mount on /srv/lab-data/below" in below.message
    ssh("umount /srv/lab-data/below")
    moved = params(SATA[:2], [{"md": {"level": 1}}, {"xfs": {"mount": "/srv/moved"}}])
    four_steps(lab, "storage_stack", **moved)
    assert ssh("cat /srv/moved/file; findmnt -n /srv/lab-data", check=False) == "kept"
    remove(lab)
    assert ssh("systemctl list-unit-files 'srv-*'  --no-legend", check=False) == ""


def test_a_foreign_mount_is_respected(lab: Direct) -> None:
    lab.guest.ssh("mkdir -p /srv/taken; echo theirs > /srv/taken/file")
    wish = params(SATA[:2], [{"md": {"level": 1}}, {"xfs": {"mount": "/srv/taken"}}])
    refused(lab, "storage_stack", "/srv/taken", "holds files", **wish)
    lab.guest.ssh("rm -r /srv/taken")


def test_a_member_that_was_away_is_found_for_the_removal(lab: Direct) -> None:
    """Pulled, and back as an inactive array of its own under another name: it would hold the disk and come back as a ghost."""
    wish = params(SCSI, [{"md": {"level": 1}}, {"xfs": {}}])
    assert not lab.run("storage_stack", **wish).failed
    device = lab.disks[SCSI[1]].removeprefix("/dev/")
    host = lab.guest.ssh(f"readlink -f /sys/block/{device} | grep -o 'host[0-9]*' | head -1")
    lab.guest.ssh(f"echo 1 > /sys/block/{device}/device/delete; udevadm settle; sleep 1")
    degraded = lab.run("storage_stack", state="verified", **{**wish, "disks": SCSI})
    assert degraded.failed
    lab.guest.ssh(f"echo '- - -' > /sys/class/scsi_host/{host}/scan; sleep 2; udevadm settle")
    lab.forget_disks()
    removed = lab.run("storage_stack", name="s", state="absent")
    assert not removed.failed, removed.result
    assert_nothing_left(lab)


def test_what_cannot_be_is_refused_before_anything(lab: Direct) -> None:
    refused(lab, "storage_stack", "an array over logical volumes is not built", **params(
        SATA[:2], [{"pv": {}}, {"vg": {}}, {"lv": {}}, {"md": {"level": 1, "on": "lv"}}]))  # fmt: skip
    refused(lab, "storage_stack", "no such disk", **params(["NO-SUCH"], [{"xfs": {"on": "disks[0]"}}]))
    refused(
        lab,
        "storage_stack",
        "room only up to",
        **{**params(SATA[:1], [{"xfs": {"on": "disks[0]"}}]), "region": {"size": "9GiB"}},
    )
