# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a guest's own tools say of md arrays, for the tests of md_array."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct

# As the whole state of a guest, but quick: arrays, links, settings, the start of every disk that no array holds, the configuration.
STATE = r"""
sed 's/(auto-read-only) //' /proc/mdstat | grep '^md'; ls /dev/md 2>/dev/null; md5sum /etc/mdadm/mdadm.conf
for md in /sys/block/md*; do
  cat "$md/size" "$md/queue/read_ahead_kb" "$md/md/consistency_policy" "$md"/md/dev-*/slot "$md"/md/dev-*/state 2>/dev/null
done
for disk in $DISKS; do
  ls /sys/block/"${disk#/dev/}"/holders | grep -q '^md' || dd if="$disk" bs=64K count=16 status=none | md5sum
done
wipefs $DISKS
"""


def quick_state(lab: Direct) -> str:
    return lab.guest.ssh(f"DISKS='{' '.join(lab.paths())}'; udevadm settle; {STATE}", check=False)


def detail(lab: Direct, path: str = "/dev/md/t_md") -> dict[str, str]:
    """mdadm's own word on an array."""
    lines = lab.guest.ssh(f"mdadm --detail --export {path}").splitlines()
    return dict(line.split("=", 1) for line in lines)


def kernel_name(lab: Direct, path: str = "/dev/md/t_md") -> str:
    return lab.guest.ssh(f"basename $(readlink -f {path})")


def sysfs(lab: Direct, name: str, *files: str) -> list[str]:
    """The words of files of an array in sysfs."""
    return lab.guest.ssh("cat " + " ".join(f"/sys/block/{name}/{file}" for file in files)).split()


def member_states(lab: Direct) -> dict[str, str]:
    """Device path to C(slot state), as the kernel has them, of the array t_md."""
    name = kernel_name(lab)
    text = lab.guest.ssh(f"cd /sys/block/{name}/md; for d in dev-*; do echo $d $(cat $d/slot $d/state); done")
    return {"/dev/" + line.split()[0][len("dev-") :]: line.split(maxsplit=1)[1] for line in text.splitlines()}


def fill(lab: Direct) -> str:
    """Random data at the start of the array; returns its checksum."""
    lab.guest.ssh("dd if=/dev/urandom of=/dev/md/t_md bs=1M count=24 oflag=direct conv=fsync status=none")
    return checksum(lab)


def checksum(lab: Direct) -> str:
    """Read from the disks, not from memory."""
    return lab.guest.ssh("dd if=/dev/md/t_md bs=1M count=24 iflag=direct status=none | md5sum")


def make(lab: Direct, **options: t.Any) -> dict[str, t.Any]:
    """The array t_md, small and made without a resync."""
    wanted = {"name": "t_md", "size": "64MiB", "assume_clean": True, **options}
    said = lab.run("md_array", **wanted)
    assert said.changed, said.message
    return t.cast("dict[str, t.Any]", said["array"])


# As the full cleaning, but of disks that were written since they were cleaned, which is what takes the time.
CLEAN = r"""
quiet() { "$@" >/dev/null 2>&1; }
mkdir -p /run/md_clean
for dir in $(awk '$2 ~ "^/mnt/" {print $2}' /proc/self/mounts); do umount "$dir"; done
for md in /dev/md[0-9]*; do
  [ -b "$md" ] && { quiet wipefs -qaf "$md"; quiet mdadm --stop "$md"; }
done
udevadm settle
for disk in $DISKS; do
  name=${disk#/dev/}
  written=$(awk '{print $7}' "/sys/block/$name/stat")
  serial=$(cat /sys/block/"$name"/diskseq)
  [ "$(cat "/run/md_clean/$name" 2>/dev/null)" = "$serial $written" ] && continue
  for part in "/sys/block/$name/$name"*; do
    [ -e "$part/partition" ] && wipefs -qaf "/dev/$(basename "$part")"
  done
  wipefs -qaf "$disk" >/dev/null
  size=$(blockdev --getsize64 "$disk")
  dd if=/dev/zero of="$disk" bs=1M count=48 conv=notrunc oflag=direct status=none
  dd if=/dev/zero of="$disk" bs=1M count=4 seek=$((size / 1048576 - 4)) conv=notrunc oflag=direct status=none
  # A reshape moves the data to the middle of the disk.
  blkdiscard -f "$disk" 2>/dev/null
  blockdev --rereadpt "$disk" 2>/dev/null
  udevadm settle
  echo "$serial $(awk '{print $7}' "/sys/block/$name/stat")" >"/run/md_clean/$name"
done
rm -rf /var/lib/plumbline/arrays/*
udevadm settle
grep '^md' /proc/mdstat
true
"""


def quick_clean(lab: Direct) -> None:
    left = lab.guest.ssh(f"DISKS='{' '.join(lab.paths())}'; {CLEAN}", timeout=300)
    assert left == "", f"the guest could not be cleaned: {left}"


def be_quick(lab: Direct, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a fixture: cleaning and looking at the guest take most of the time of a test otherwise."""
    monkeypatch.setattr(lab, "state", lambda: quick_state(lab))
    monkeypatch.setattr(lab, "clean", lambda: quick_clean(lab))
