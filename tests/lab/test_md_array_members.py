# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""md_array in a guest: members that fail, are pulled, come back, are replaced; runs that were killed; a reboot."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused
from md_probe import checksum, detail, fill, kernel_name, make, member_states, sysfs

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]
SIZE = {"size": "64MiB", "assume_clean": True}


def pull(lab: Direct, path: str) -> str:
    """Takes a SCSI disk away, as if pulled; returns the host to scan for it."""
    name = path[len("/dev/") :]
    host = lab.guest.ssh(f"readlink -f /sys/block/{name}/device | grep -o 'host[0-9]*' | head -1")
    lab.guest.ssh(f"echo 1 > /sys/block/{name}/device/delete; sleep 1; udevadm settle")
    return host


def bring_back(lab: Direct, host: str) -> None:
    """The disk may have another name afterwards."""
    lab.guest.ssh(f"echo '- - -' > /sys/class/scsi_host/{host}/scan; sleep 2; udevadm settle")
    lab.__dict__.pop("disks", None)


@pytest.mark.parametrize("level", [5, 1])
def test_a_pulled_member_is_reported_and_replaced(lab: Direct, level: int) -> None:
    serials = dict(zip(lab.paths(), lab.serials, strict=True))
    sata, other, scsi, blank = lab.paths()[0], lab.paths()[1], lab.paths()[4], lab.paths()[5]
    members = [sata, other, scsi] if level == 5 else [sata, scsi]
    make(lab, level=level, devices=members)
    data = fill(lab)
    host = pull(lab, scsi)
    try:
        seen = lab.run("md_array", name="t_md")
        assert not seen.changed
        assert (seen["array"]["degraded"], seen["array"]["missing_slots"]) == (1, [len(members) - 1])
        assert "is degraded: 1 of its" in str(seen["warnings"])
        gone = lab.run("md_array", name="t_md", devices=members)
        assert gone.failed
        assert "runs degraded" in gone.message
        healed = [*members[:-1], blank]
        applied = lab.run("md_array", name="t_md", devices=healed, wait_for_sync=True)
        assert applied.changed, applied.message
        assert applied["array"]["degraded"] == 0
        again = lab.run("md_array", name="t_md", devices=healed, wait_for_sync=True)
        assert not again.changed, again.result
    finally:
        bring_back(lab, host)
    assert sysfs(lab, kernel_name(lab), "md/degraded", "md/sync_action") == ["0", "idle"]
    assert checksum(lab) == data
    old = lab.disks[serials[scsi]]
    # After a reboot the old member is assembled alone; here udev's part of that is done by hand.
    lab.guest.ssh(f"mdadm --incremental {old}; udevadm settle", check=False)
    seen = lab.run("md_array", name="t_md", devices=healed)
    assert not seen.changed, seen.result
    # As a listed spare it is let go by its assembly and taken in.
    four_steps(lab, "md_array", name="t_md", devices=healed, spares=[old])
    assert member_states(lab)[old] == "none spare"
    assert checksum(lab) == data


def test_a_member_that_failed_is_added_again(lab: Direct) -> None:
    members = lab.paths(3)
    make(lab, level=5, devices=members)
    data = fill(lab)
    lab.guest.ssh(f"mdadm /dev/md/t_md --fail {members[1]}")
    seen = lab.run("md_array", name="t_md")
    assert "faulty" in str(seen["warnings"])
    four_steps(lab, "md_array", name="t_md", devices=members, wait_for_sync=True, expendable_disks=[])
    assert set(member_states(lab).values()) == {"0 in_sync", "1 in_sync", "2 in_sync"}
    assert checksum(lab) == data


def test_a_former_member_comes_back_without_consent(lab: Direct) -> None:
    members = lab.paths(2)
    make(lab, level=1, devices=members)
    lab.guest.ssh(f"mdadm /dev/md/t_md --fail {members[1]} --remove {members[1]}")
    data = fill(lab)
    back = lab.run("md_array", name="t_md", devices=members, wait_for_sync=True, expendable_disks=[])
    assert back.changed, back.message
    assert checksum(lab) == data
    assert lab.guest.ssh(f"cmp -n 25165824 -i 3145728 {members[0]} {members[1]} && echo same") == "same"
    # A disk with something else on it needs consent as ever.
    lab.guest.ssh(f"mdadm /dev/md/t_md --fail {members[1]} --remove {members[1]}; mkfs.ext4 -q -F {lab.paths(3)[2]}")
    refused(
        lab, "md_array", "an ext4 file system", name="t_md", devices=[members[0], lab.paths(3)[2]], expendable_disks=[]
    )


def test_spares_come_and_go(lab: Direct) -> None:
    paths = lab.paths(5)
    make(lab, level=5, devices=paths[:3])
    four_steps(lab, "md_array", name="t_md", devices=paths[:3], spares=[paths[3]])
    assert member_states(lab)[paths[3]] == "none spare"
    assert not lab.run("md_array", name="t_md", devices=paths[:3]).changed
    refused(lab, "md_array", paths[3], "remove_extra_members", name="t_md", devices=paths[:3], spares=[])
    swapped = {"name": "t_md", "devices": paths[:3], "spares": [paths[4]], "remove_extra_members": True}
    four_steps(lab, "md_array", **swapped)
    assert member_states(lab)[paths[4]] == "none spare"
    assert paths[3] not in member_states(lab)
    four_steps(lab, "md_array", name="t_md", devices=paths[:3], spares=[], remove_extra_members=True)
    assert len(member_states(lab)) == 3
    assert lab.guest.ssh(f"wipefs {paths[3]} {paths[4]}") == ""


def test_a_member_is_replaced_while_both_are_in_the_array(lab: Direct) -> None:
    paths = lab.paths(4)
    make(lab, level=5, devices=paths[:3])
    data = fill(lab)
    wanted = {"name": "t_md", "devices": [paths[0], paths[3], paths[2]]}
    refused(lab, "md_array", paths[3], "remove_extra_members", **wanted)
    replaced = four_steps(lab, "md_array", remove_extra_members=True, wait_for_sync=True, **wanted)
    assert any("--replace" in command for command in replaced["commands"])
    assert not any("--fail" in command for command in replaced["commands"])
    assert member_states(lab) == {paths[0]: "0 in_sync", paths[3]: "1 in_sync", paths[2]: "2 in_sync"}
    assert checksum(lab) == data
    assert lab.guest.ssh(f"wipefs {paths[1]}") == ""


def test_waiting_has_an_end(lab: Direct) -> None:
    paths = lab.paths(3)
    with lab.guest.slow_resync():
        late = lab.run(
            "md_array", name="t_md", level=1, devices=paths[:2], size="256MiB", wait_for_sync=True, wait_timeout=2
        )
        assert late.failed
        assert "resync of the array t_md" in late.message
        assert "% is done" in late.message
        running = lab.run("md_array", name="t_md")["array"]
        assert (running["sync_action"], running["sync_percent"] is not None) == ("resync", True)
        checked = lab.run("md_array", check=True, name="t_md", wait_for_sync=True, wait_timeout=1)
        assert not checked.failed
    assert not lab.run("md_array", name="t_md", wait_for_sync=True).changed
    assert sysfs(lab, kernel_name(lab), "md/sync_action") == ["idle"]


def killing(lab: Direct, when: str, then: str) -> None:
    """A stand-in for mdadm that, called with an option, does something else and kills who called it."""
    script = f"""#!/bin/bash
case " $* " in *" {when} "*) {then}; kill -9 $PPID; exit 1;; esac
exec /usr/sbin/mdadm "$@"
"""
    lab.guest.ssh(f"cat > /usr/local/sbin/mdadm <<'END'\n{script}END\nchmod +x /usr/local/sbin/mdadm")


def unkill(lab: Direct) -> None:
    lab.guest.ssh("rm -f /usr/local/sbin/mdadm; udevadm settle")


@pytest.mark.parametrize("level", [5, 0])
def test_a_create_that_was_killed_is_finished(lab: Direct, level: int) -> None:
    """Two of three superblocks are left: a chunk that the kernel refuses stops the array from starting."""
    paths = lab.paths(3)
    wanted: dict[str, t.Any] = {"name": "t_md", "level": level, "devices": paths, "chunk": "64KiB"}
    broken = '/usr/sbin/mdadm "${@/--chunk=64K/--chunk=96K}"' if level == 5 else '/usr/sbin/mdadm "$@"'
    then = f"{broken}; for d in /dev/md[0-9]*; do /usr/sbin/mdadm --stop $d; done; dd if=/dev/zero of={paths[2]} bs=1M count=16 oflag=direct"
    killing(lab, "--create", then)
    try:
        with pytest.raises(AssertionError, match="t_md"):
            lab.run("md_array", **wanted)
    finally:
        unkill(lab)
    assert lab.guest.ssh(f"wipefs --noheadings {' '.join(paths)} | grep -c linux_raid") == "2"
    # Nothing can be lost, so it needs no consent.
    four_steps(lab, "md_array", expendable_disks=[], **wanted)
    assert detail(lab)["MD_DEVICES"] == "3"
    assert lab.guest.ssh("ls /var/lib/plumbline/arrays") == ""


def test_a_removal_that_was_killed_is_finished(lab: Direct) -> None:
    paths = lab.paths(3)
    make(lab, level=5, devices=paths)
    lab.guest.ssh("mkfs.ext4 -q -F /dev/md/t_md")
    killing(lab, "--zero-superblock", f"/usr/sbin/mdadm --zero-superblock {paths[0]} {paths[1]}")
    try:
        with pytest.raises(AssertionError, match="t_md"):
            lab.run("md_array", name="t_md", state="absent")
    finally:
        unkill(lab)
    four_steps(lab, "md_array", name="t_md", state="absent", expendable_disks=[])
    assert (
        lab.guest.ssh(f"wipefs {' '.join(paths)}; grep ^md /proc/mdstat; ls /var/lib/plumbline/arrays", check=False)
        == ""
    )


def test_a_create_that_fails_leaves_nothing(lab: Direct) -> None:
    script = """#!/bin/bash
exec /usr/sbin/mdadm "${@/--chunk=64K/--chunk=96K}"
"""
    lab.guest.ssh(f"cat > /usr/local/sbin/mdadm <<'END'\n{script}END\nchmod +x /usr/local/sbin/mdadm")
    try:
        failed = lab.run("md_array", name="t_md", level=5, devices=lab.paths(3), chunk="64KiB")
    finally:
        unkill(lab)
    assert failed.failed
    assert "RUN_ARRAY failed" in failed.message
    assert failed["cleanup"]
    assert lab.guest.ssh(f"wipefs {' '.join(lab.paths(3))}; grep ^md /proc/mdstat", check=False) == ""


def test_the_name_survives_a_reboot(lab: Direct) -> None:
    paths = lab.paths(3)
    before = lab.guest.ssh("cat /etc/mdadm/mdadm.conf; sha256sum /boot/initrd.img-*")
    made = four_steps(
        lab,
        "md_array",
        name="t_md",
        level=5,
        devices=paths,
        homehost="elsewhere",
        config=True,
        update_initramfs=True,
        **SIZE,
    )
    uuid = made["array"]["uuid"]
    line = f"ARRAY /dev/md/t_md metadata=1.2 UUID={uuid}"
    conf = lab.guest.ssh("cat /etc/mdadm/mdadm.conf")
    assert conf.splitlines()[-1] == line
    assert conf[: -len(line)].strip() in before
    assert lab.guest.ssh("stat -c '%a %U' /etc/mdadm/mdadm.conf; ls /etc/mdadm") == "644 root\nmdadm.conf"
    inside = lab.guest.ssh("for i in /boot/initrd.img-*; do lsinitramfs -l $i >/dev/null; unmkinitramfs $i /tmp/ird; done; "
                           "grep -rh ^ARRAY /tmp/ird --include=mdadm.conf; rm -rf /tmp/ird", timeout=300)  # fmt: skip
    assert line in inside
    data = fill(lab)
    lab.reboot()
    # The lab boots the ramdisk of the image, which does not know the line; the guest's own was looked into above.
    lab.guest.ssh("mdadm --stop /dev/md127; mdadm --assemble --scan; udevadm settle")
    assert detail(lab)["MD_UUID"] == uuid
    assert checksum(lab) == data
    members = lab.paths(3)
    wanted = {"name": "t_md", "level": 5, "devices": members, "config": True, "update_initramfs": True}
    assert not lab.run("md_array", **wanted).changed
    four_steps(lab, "md_array", name="t_md", state="absent", config=True, update_initramfs=True, timeout=1800)
    assert line not in lab.guest.ssh("cat /etc/mdadm/mdadm.conf")
