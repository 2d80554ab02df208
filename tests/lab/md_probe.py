# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a guest's own tools say of md arrays, for the tests of md_array."""

from __future__ import annotations

import typing as t

from direct import Direct


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
