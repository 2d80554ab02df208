# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""md_array in a guest, each step checked by mdadm and sysfs.

Needs a guest of the profile many_buses: its inventory in the variable PLUMBLINE_LAB_INVENTORY. Everything on its
expendable SATA disks is lost.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import typing as t
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INVENTORY = os.environ.get("PLUMBLINE_LAB_INVENTORY", "")
SERIALS = ("WD-WCASJ0000001", "WD-WCASJ0000002", "WD-WCC7K0000003", "S5Y1NJ0R000004", "Z1N0000005", "Z1N0000006")
KIB, MIB = 1024, 1024**2

pytestmark = [
    pytest.mark.lab,
    pytest.mark.runs_programs,
    pytest.mark.skipif(not INVENTORY, reason="PLUMBLINE_LAB_INVENTORY names no guest"),
]


def run_ansible(module: str, arguments: str, *options: str) -> str:
    program = shutil.which("ansible") or "ansible"
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
    }
    command = [program, "-i", INVENTORY, "all", "-m", module, "-a", arguments, *options]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def md_array(check: bool = False, consent: t.Sequence[str] = SERIALS, **arguments: t.Any) -> dict[str, t.Any]:
    """Result of the module; C(failed) tells whether it refused or failed."""
    arguments["expendable_disks"] = list(consent)
    text = run_ansible("plumbline.storage.md_array", json.dumps(arguments), "-o", *(["--check"] if check else []))
    start = text.index("=> {") + 3
    found = json.JSONDecoder().raw_decode(text[start:])[0]
    found["failed"] = "FAILED!" in text[:start]
    return t.cast("dict[str, t.Any]", found)


def shell(command: str) -> str:
    text = run_ansible("raw", f"export LC_ALL=C; {command}; true")
    text = text.split("\n", 1)[1].replace("\r", "")
    # The terminal that raw works through adds a line of ssh's.
    return re.sub(r"Shared connection to .* closed\.\s*$", "", text).strip()


@pytest.fixture(scope="module")
def disks() -> list[str]:
    """Device nodes in the order of SERIALS; names change between boots."""
    lines = [line.split() for line in shell("lsblk -dnro NAME,SERIAL").splitlines()]
    by_serial = {words[1]: f"/dev/{words[0]}" for words in lines if len(words) == 2}
    return [by_serial[serial] for serial in SERIALS]


@pytest.fixture(autouse=True)
def clean(disks: list[str]) -> t.Iterator[None]:
    yield
    listed = " ".join(disks)
    shell(
        "umount /mnt 2>/dev/null; for a in /dev/md[0-9]*; do mdadm --stop $a 2>/dev/null; done; udevadm settle; "
        f"for d in {listed}; do mdadm --zero-superblock $d 2>/dev/null; wipefs -qa $d; "
        "dd if=/dev/zero of=$d bs=1M count=8 status=none; done; udevadm settle"
    )


# options, number of members, and what the kernel must then say: chunk, io_opt, readahead in KiB
CASES: dict[str, tuple[dict[str, t.Any], int, tuple[int, int, int]]] = {
    "raid0": ({"level": 0, "chunk": "96KiB"}, 3, (96 * KIB, 288 * KIB, 576)),
    "raid1": ({"level": 1, "assume_clean": True}, 2, (0, 0, 128)),
    "raid5": ({"level": 5, "chunk": "256KiB", "bitmap": "none", "assume_clean": True}, 4, (256 * KIB, 768 * KIB, 1536)),
    "raid6": ({"level": "raid6", "chunk": "128KiB", "assume_clean": True}, 6, (128 * KIB, 512 * KIB, 1024)),
    "raid10": (
        {"level": 10, "chunk": "128KiB", "layout": "f2", "assume_clean": True, "readahead": "3MiB"},
        4,
        (128 * KIB, 512 * KIB, 3072),
    ),
}
PREDICTED = (
    *("array_size_bytes", "bitmap", "chunk_bytes", "component_size_bytes", "data_offset_bytes", "full_stripe_bytes"),
    *("homehost", "layout", "level", "metadata", "name", "raid_devices", "readahead_bytes"),
)


@pytest.mark.parametrize("level", CASES)
def test_check_apply_again_and_remove(level: str, disks: list[str]) -> None:
    options, count, (chunk, io_opt, readahead) = CASES[level]
    wanted: dict[str, t.Any] = {"name": f"t_{level}", "devices": disks[:count], **options}
    planned = md_array(check=True, **wanted)
    assert planned["changed"], planned
    assert shell("grep -c ^md /proc/mdstat") == "0"
    made = md_array(**wanted)
    assert made["changed"], made
    assert made["commands"] == planned["commands"]
    assert {key: made["array"][key] for key in PREDICTED} == {key: planned["array"][key] for key in PREDICTED}
    probe_array(made["array"], level, count, (chunk, io_opt, readahead))
    assert not md_array(**wanted)["changed"]
    assert not md_array(check=True, **wanted)["changed"]
    remove_array(wanted["name"], disks[:count])


def probe_array(array: dict[str, t.Any], level: str, count: int, numbers: tuple[int, int, int]) -> None:
    base = f"/sys/block/{array['kernel_name']}"
    files = ("md/level", "md/raid_disks", "md/chunk_size", "queue/optimal_io_size", "queue/read_ahead_kb", "size")
    seen = shell("cat " + " ".join(f"{base}/{name}" for name in files)).split()
    assert seen == [level, str(count), *(str(number) for number in numbers), str(array["array_size_bytes"] // 512)]
    detail = shell(f"mdadm --detail --export {array['path']}").splitlines()
    assert f"MD_NAME=any:{array['name']}" in detail
    assert f"MD_UUID={array['uuid']}" in detail
    assert f"MD_DEVICES={count}" in detail


def remove_array(name: str, members: list[str]) -> None:
    planned = md_array(check=True, name=name, state="absent", devices=members)
    assert planned["changed"], planned
    removed = md_array(name=name, state="absent")
    assert removed["changed"], removed
    assert shell("grep -c ^md /proc/mdstat") == "0"
    assert shell(f"wipefs {' '.join(members)}") == ""
    assert not md_array(name=name, state="absent", devices=members)["changed"]


def test_drift_is_refused_and_settings_change_in_place(disks: list[str]) -> None:
    wanted: dict[str, t.Any] = {
        "name": "t_drift",
        "level": 5,
        "devices": disks[:3],
        "chunk": "64KiB",
        "assume_clean": True,
    }
    assert md_array(**wanted)["changed"]
    refused = md_array(**{**wanted, "chunk": "128KiB"})
    assert refused["failed"]
    assert "chunk is 64KiB, asked is 128KiB" in refused["msg"]
    changed = md_array(name="t_drift", bitmap="none", readahead="1MiB")
    assert [command.split()[:2] for command in changed["commands"]] == [["mdadm", "--grow"], ["blockdev", "--setra"]]
    assert shell("cat /sys/block/md127/md/bitmap/location /sys/block/md127/queue/read_ahead_kb").split() == [
        "none",
        "1024",
    ]
    assert not md_array(name="t_drift", bitmap="none", readahead="1MiB")["changed"]


def test_a_stopped_array_is_assembled_with_its_data(disks: list[str]) -> None:
    wanted: dict[str, t.Any] = {
        "name": "t_stop",
        "level": 5,
        "devices": disks[:3],
        "chunk": "64KiB",
        "assume_clean": True,
    }
    made = md_array(**wanted)
    shell("echo plumb | dd of=/dev/md/t_stop conv=fsync status=none; mdadm --stop /dev/md/t_stop; udevadm settle")
    again = md_array(**wanted)
    assert again["changed"], again
    assert "--assemble" in again["commands"][0]
    assert again["array"]["uuid"] == made["array"]["uuid"]
    assert shell("head -c 5 /dev/md/t_stop") == "plumb"


def test_a_member_alone_is_stopped_and_the_whole_removed(disks: list[str]) -> None:
    md_array(name="t_alone", level=5, devices=disks[:3], chunk="64KiB", assume_clean=True)
    shell(f"mdadm --stop /dev/md/t_alone; udevadm settle; mdadm --incremental {disks[0]}; udevadm settle")
    assert "inactive" in shell("cat /proc/mdstat")
    removed = md_array(name="t_alone", state="absent", devices=disks[:3])
    assert removed["changed"], removed
    assert shell(f"grep -c ^md /proc/mdstat; wipefs {' '.join(disks[:3])}") == "0"


def test_a_create_that_fails_halfway_leaves_nothing(disks: list[str]) -> None:
    """A stand-in for mdadm makes the array with a chunk that the kernel refuses after the superblocks are written."""
    wrapper = (
        "mkdir -p /usr/local/sbin; printf '%s\\n' '#!/bin/bash' 'args=()' "
        '\'for a; do [ "$a" = --chunk=64K ] && a=--chunk=96K; args+=("$a"); done\' '
        "'exec /usr/sbin/mdadm \"${args[@]}\"' > /usr/local/sbin/mdadm; chmod +x /usr/local/sbin/mdadm"
    )
    shell(wrapper)
    try:
        failed = md_array(name="t_half", level=5, devices=disks[:3], chunk="64KiB", assume_clean=True)
    finally:
        shell("rm /usr/local/sbin/mdadm")
    assert failed["failed"]
    assert "RUN_ARRAY failed" in failed["msg"]
    assert failed["cleanup"]
    assert shell(f"grep -c ^md /proc/mdstat; wipefs {' '.join(disks[:3])}") == "0"


def test_content_and_use_are_refused(disks: list[str]) -> None:
    shell(f"mkfs.ext4 -q -F -L home {disks[0]}; udevadm settle")
    before = shell(f"head -c 16M {disks[0]} | sha256sum")
    wanted: dict[str, t.Any] = {
        "name": "t_guard",
        "level": 5,
        "devices": disks[:3],
        "chunk": "64KiB",
        "assume_clean": True,
    }
    refused = md_array(consent=SERIALS[1:], **wanted)
    assert refused["failed"]
    assert 'ext4 file system "home"' in refused["msg"]
    assert SERIALS[0] in refused["msg"]
    assert shell(f"head -c 16M {disks[0]} | sha256sum") == before
    assert md_array(**wanted)["changed"]
    shell("mkfs.xfs -q -f /dev/md/t_guard; mount /dev/md/t_guard /mnt")
    in_use = md_array(name="t_guard", state="absent")
    assert in_use["failed"]
    assert "mounted on /mnt" in in_use["msg"]
    assert shell("grep -c raid5 /proc/mdstat") != "0"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"level": 5, "devices": 2}, "at least 3"),
        ({"chunk": "96KiB"}, "power of two"),
        ({"chunk": "64"}, "without a unit"),
        ({"level": 1}, "no chunk"),
        ({"devices": ["/dev/nothere", "/dev/neither", "/dev/nor"]}, "no such block device"),
    ],
)
def test_wishes_that_cannot_be(change: dict[str, t.Any], words: str, disks: list[str]) -> None:
    wanted: dict[str, t.Any] = {"name": "t_bad", "level": 5, "devices": 3, "chunk": "64KiB", **change}
    if isinstance(wanted["devices"], int):
        wanted["devices"] = disks[: wanted["devices"]]
    for check in (True, False):
        refused = md_array(check=check, **wanted)
        assert refused["failed"]
        assert words in refused["msg"]
    assert shell(f"wipefs {' '.join(disks)}") == ""
