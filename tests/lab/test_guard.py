# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard against real signatures and real use, in a guest. Set PLUMBLINE_LAB_SSH to an ssh command line of a lab
machine with two SCSI disks and a blank one, and PLUMBLINE_LAB_SERIALS to their serial numbers, separated by blanks."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import tarfile
import typing as t
from pathlib import Path

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

ROOT = Path(__file__).resolve().parents[2]
REMOTE = "/root/guard-test"
PACKAGE = "ansible_collections/plumbline/storage/plugins"

# Case -> words that the refusal without consent must have.
CONTENT = {
    "ext4": 'an ext4 file system "home"',
    "xfs": "an xfs file system",
    "btrfs": "a btrfs file system",
    "vfat": "a vfat file system",
    "swap signature": "swap space",
    "LUKS": "a LUKS encrypted volume",
    "gpt with ext4": "a partition table (gpt) and an ext4 file system",
    "empty gpt": "a partition table (gpt)",
    "mbr": "a partition table (dos)",
    "gpt only at the end": "a partition table (gpt)",
    "data without a signature": "unrecognised data (the first at byte 196608)",
    "data at the end": "unrecognised data (the first at byte",
    "partition with xfs": "an xfs file system",
}
SHARED = {
    "stopped md 0.90": "a member of the md array",
    "stopped md 1.0": "a member of the md array",
    "stopped md 1.2": "a member of the md array",
    "inactive group": 'a physical volume of the volume group "t"',
    "group without volumes": 'a physical volume of the volume group "t"',
    "btrfs on two": "a btrfs file system",
    "group in a stopped md": "a member of the md array",
}
IN_USE = {
    "mounted": "it is mounted on /mnt/t",
    "mounted in another namespace": "it is mounted on /mnt/t in the mount namespace of process",
    "swapped on": "it is in use as swap",
    "open by a process": "it is held open by process",
    "partition mounted": "is mounted on /mnt/t",
    "active md": "it is part of the active array",
    "active volume": "it is in use by the active logical volume t/l",
    "behind a loop device": "it is behind the loop device loop7",
    "read-only": "it is read-only",
    "btrfs, the other device mounted": "part of the mounted btrfs file system",
    "system disk": "holds / of the running system and is never usable",
}


def ssh(*command: str, data: bytes | None = None) -> str:
    argv = [*shlex.split(os.environ["PLUMBLINE_LAB_SSH"]), *command]
    return subprocess.run(argv, input=data, stdout=subprocess.PIPE, check=True, timeout=3600).stdout.decode()


def packed() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(ROOT / "plugins/module_utils", f"{PACKAGE}/module_utils", filter=_sources)
        archive.add(ROOT / "tests/lab/guard_matrix.py", "guard_matrix.py")
    return buffer.getvalue()


def _sources(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in info.name else info


@pytest.fixture(scope="module")
def said() -> dict[str, dict[str, t.Any]]:
    if "PLUMBLINE_LAB_SSH" not in os.environ:
        pytest.skip("PLUMBLINE_LAB_SSH is not set: no lab machine to test the guard on")
    ssh(f"rm -rf {REMOTE}; mkdir -p {REMOTE}; tar xzf - -C {REMOTE}", data=packed())
    serials = " ".join(map(shlex.quote, os.environ["PLUMBLINE_LAB_SERIALS"].split()))
    lines = ssh(f"python3 {REMOTE}/guard_matrix.py {REMOTE} {serials}").splitlines()
    return {result["case"]: result for result in map(json.loads, lines)}


@pytest.mark.parametrize("case", CONTENT)
def test_content_is_kept_until_its_disk_is_listed(said: dict[str, dict[str, t.Any]], case: str) -> None:
    assert CONTENT[case] in said[case]["none"]
    assert "If its content may be lost, add " in said[case]["none"]
    assert (said[case]["one"], said[case]["all"], said[case]["unchanged"]) == ("", "", True)


@pytest.mark.parametrize("case", SHARED)
def test_what_disks_share_is_kept_until_all_are_listed(said: dict[str, dict[str, t.Any]], case: str) -> None:
    assert SHARED[case] in said[case]["none"]
    assert "is not listed as expendable" in said[case]["one"]
    assert (said[case]["all"], said[case]["unchanged"]) == ("", True)


@pytest.mark.parametrize("case", IN_USE)
def test_use_is_refused_listed_or_not(said: dict[str, dict[str, t.Any]], case: str) -> None:
    for text in (said[case]["none"], said[case]["all"]):
        assert IN_USE[case] in text
        assert "expendable_disks" not in text
    if "mounted" not in case:  # a mounted file system writes by itself
        assert said[case]["unchanged"]


def test_a_blank_disk_needs_no_consent(said: dict[str, dict[str, t.Any]]) -> None:
    assert said["blank"]["none"] == ""
