# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside a guest: puts content or use on disks, and prints what the guard says of overwriting them.

usage: guard_matrix.py COLLECTIONS_DIR DISK_A DISK_B BLANK_DISK [CASE ...]
Disks by serial number; the content of A and B is lost, the third must be blank and stays so.

One JSON line per case: name, what was said without consent, with one disk listed, with all listed, and whether the
ends of the disks were the same before and after.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import typing as t

sys.path.insert(0, sys.argv[1])

from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks

MIB = 1024**2
RAID = "mdadm --create /dev/md/t --run --assume-clean --bitmap=none --homehost=any -l1 -n2 --metadata={m} {a} {b}"

# name, commands that set it up, what is overwritten, commands that undo it (the disks are wiped anyhow)
CONTENT: list[tuple[str, list[str], str]] = [
    ("ext4", ["mkfs.ext4 -q -F -L home {a}"], "{a}"),
    ("xfs", ["mkfs.xfs -q -f {a}"], "{a}"),
    ("btrfs", ["mkfs.btrfs -q -f {a}"], "{a}"),
    ("vfat", ["mkfs.vfat -I {a}"], "{a}"),
    ("swap signature", ["mkswap {a}"], "{a}"),
    ("LUKS", ["echo secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 {a} -"], "{a}"),
    ("gpt with ext4", ["echo , | sfdisk -q -X gpt {a}", "udevadm settle", "mkfs.ext4 -q -F {a1}"], "{a}"),
    ("empty gpt", ["echo label: gpt | sfdisk -q {a}"], "{a}"),
    ("mbr", ["echo , | sfdisk -q -X dos {a}"], "{a}"),
    (
        "gpt only at the end",
        ["echo , | sfdisk -q -X gpt {a}", "dd if=/dev/zero of={a} bs=1M count=1 conv=fsync"],
        "{a}",
    ),
    ("data without a signature", ["head -c 65536 /dev/urandom | dd of={a} bs=64k seek=3 conv=fsync"], "{a}"),
    ("data at the end", ["head -c 512 /dev/urandom | dd of={a} bs=512 seek=1048575 conv=fsync"], "{a}"),
    ("partition with xfs", ["echo , | sfdisk -q -X gpt {a}", "udevadm settle", "mkfs.xfs -q -f {a1}"], "{a1}"),
]
SHARED: list[tuple[str, list[str], str]] = [
    *(
        (f"stopped md {m}", [RAID.replace("{m}", m), "udevadm settle", "mdadm --stop /dev/md/t"], "{a}")
        for m in ("0.90", "1.0", "1.2")
    ),
    ("inactive group", ["pvcreate -qy {a} {b}", "vgcreate -qy t {a} {b}", "lvcreate -qy -Wn -an -l1 -n l t"], "{a}"),
    ("group without volumes", ["pvcreate -qy {a} {b}", "vgcreate -qy t {a} {b}"], "{a}"),
    ("btrfs on two", ["mkfs.btrfs -q -f -d single -m single {a} {b}"], "{b}"),
    (
        "group in a stopped md",
        [RAID.replace("{m}", "1.2"), "pvcreate -qy /dev/md/t", "udevadm settle", "mdadm --stop /dev/md/t"],
        "{a}",
    ),
]
IN_USE: list[tuple[str, list[str], str, list[str]]] = [
    ("mounted", ["mkfs.ext4 -q -F {a}", "mkdir -p /mnt/t", "mount {a} /mnt/t"], "{a}", ["umount /mnt/t"]),
    (
        "mounted in another namespace",
        [
            "mkfs.ext4 -q -F {a}",
            "mkdir -p /mnt/t",
            "unshare -m --propagation private sh -c 'mount {a} /mnt/t; exec sleep 900' > /dev/null 2>&1 &",
        ],
        "{a}",
        ["pkill -x sleep"],
    ),
    ("swapped on", ["mkswap {a}", "swapon {a}"], "{a}", ["swapoff {a}"]),
    ("open by a process", ["sleep 900 < {a} > /dev/null 2>&1 &"], "{a}", ["pkill -x sleep"]),
    (
        "partition mounted",
        [
            "echo , | sfdisk -q -X gpt {a}",
            "udevadm settle",
            "mkfs.ext4 -q -F {a1}",
            "mkdir -p /mnt/t",
            "mount {a1} /mnt/t",
        ],
        "{a}",
        ["umount /mnt/t"],
    ),
    ("active md", [RAID.replace("{m}", "1.2")], "{a}", ["mdadm --stop /dev/md/t"]),
    (
        "active volume",
        ["pvcreate -qy {a}", "vgcreate -qy t {a}", "lvcreate -qy -Wn -l1 -n l t"],
        "{a}",
        ["vgchange -qan t"],
    ),
    ("behind a loop device", ["losetup /dev/loop7 {a}"], "{a}", ["losetup -d /dev/loop7"]),
    ("read-only", ["blockdev --setro {a}"], "{a}", ["blockdev --setrw {a}"]),
    (
        "btrfs, the other device mounted",
        ["mkfs.btrfs -q -f {a} {b}", "mkdir -p /mnt/t", "mount {a} /mnt/t"],
        "{b}",
        ["umount /mnt/t"],
    ),
    ("system disk", [], "{root}", []),
]


def sh(command: str, names: dict[str, str], check: bool = True) -> None:
    text = command.format(**names)
    done = subprocess.run(text, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S602
    if check and done.returncode != 0:
        raise SystemExit(f"{text}: {done.stderr.decode()}")


def said(device: str, expendable: list[str]) -> str:
    """What the guard says: the refusal, or an empty text; with time and number of processes."""
    start, runner = time.monotonic(), Runner()
    try:
        guard = Guard(runner, parse_consent(expendable))
        plan = Plan((Step(("true",), "make an md member of it", (device,)),))
        guard.check(plan)
        guard.before_step(plan.steps[0])
    except StorageError as error:
        return error.message
    finally:
        TIMES.append((time.monotonic() - start, runner.process_count))
    return ""


TIMES: list[tuple[float, int]] = []


def ends(paths: t.Iterable[str]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            size = os.lseek(file.fileno(), 0, os.SEEK_END)
            for offset in (0, size // 2, size - 4 * MIB):
                digest.update(os.pread(file.fileno(), 4 * MIB, offset))
    return digest.hexdigest()


def wipe(names: dict[str, str]) -> None:
    """Signatures, and both ends: 8 MiB hold everything that the cases write outside file systems."""
    for disk in (names["a"], names["b"]):
        sh(f"wipefs -qaf {disk}?* {disk}", names, False)
        with open(disk, "r+b") as file:
            size = os.lseek(file.fileno(), 0, os.SEEK_END)
            for offset in (0, size - 8 * MIB):
                os.pwrite(file.fileno(), bytes(8 * MIB), offset)
            os.fsync(file.fileno())
        sh(f"blockdev --rereadpt {disk}", names, False)
    sh("udevadm settle", names, False)


def main() -> None:
    disks = {disk.serial_number: disk.device_path for disk in read_disks(read_tree())}
    serial_a, serial_b, serial_blank = sys.argv[2:5]
    names = {"a": disks[serial_a], "b": disks[serial_b], "a1": disks[serial_a] + "1", "root": "/dev/vda"}
    cases = [*((*case, []) for case in CONTENT), *((*case, []) for case in SHARED), *IN_USE]
    only = sys.argv[5:]
    for name, setup, target, undo in cases:
        if only and name not in only:
            continue
        wipe(names)
        for command in setup:
            sh(command, names)
        time.sleep(0.5)
        sh("udevadm settle", names)
        before = ends((names["a"], names["b"]))
        device = target.format(**names)
        result = {
            "case": name,
            "none": said(device, []),
            "one": said(device, [serial_b if target == "{b}" else serial_a]),
            "all": said(device, [serial_a, serial_b, "plumb-root"]),
        }
        result["unchanged"] = before == ends((names["a"], names["b"]))
        for command in undo:
            sh(command, names, False)
        result["seconds"], result["processes"] = (
            [round(one[0], 2) for one in TIMES[-3:]],
            [one[1] for one in TIMES[-3:]],
        )
        print(json.dumps(result), flush=True)
    wipe(names)
    print(
        json.dumps(
            {
                "case": "blank",
                "none": said(disks[serial_blank], []),
                "seconds": [round(TIMES[-1][0], 2)],
                "processes": [TIMES[-1][1]],
            }
        )
    )


main()
