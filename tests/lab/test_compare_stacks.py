# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job in a guest of the profile four_sata: what it measures, what it refuses, what it leaves behind.

Needs a guest of the profile four_sata (disks limited to 20 MB/s).
"""

from __future__ import annotations

import collections
import json
import re
import shutil
import sqlite3
import statistics
import subprocess
import typing as t
from pathlib import Path

import pytest
from guest import ROOT, Guest, Played, environment, play

SERIALS = [f"WD-WCASJ000000{number}" for number in (1, 2, 3, 4)]
DISK_BYTES_PER_SECOND = 20e6
BLOCKS = 2

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


class Compared(t.NamedTuple):
    played: Played
    results: Path


@pytest.fixture(scope="module")
def compared(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """One comparison of two blocks, the literal command inside playbooks/."""
    results = tmp_path_factory.mktemp("compare")
    played = play(
        "compare_stacks.yml",
        guest,
        cwd=ROOT / "playbooks",
        timeout=1500,
        compare_blocks=BLOCKS,
        results_dir=str(results),
    )
    return Compared(played, results)


def rows(compared: Compared) -> list[dict[str, t.Any]]:
    with sqlite3.connect(compared.results / "plumbline.db") as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("select * from observations")]


def test_the_play_ends_well_and_shows_the_answer_first(compared: Compared) -> None:
    assert compared.played.code == 0, compared.played.text[-4000:]
    text = compared.played.text
    host_line, table = text.index("lab1, 4 x WDC WD10EACS"), text.index("seq_read MB/s")
    assert host_line < text.index("XFS on LVM on md RAID5", host_line) < table
    assert re.search(r"Report: .*report\.html", text)
    assert re.search(r"Again: +ansible-playbook compare_stacks\.yml .*-e resume=\d{8}-[0-9a-f]{4}", text)


def test_progress_was_shown(compared: Compared) -> None:
    lines = [line for line in compared.played.text.splitlines() if re.match(r"lab1 .* of 12 done", line)]
    assert any("block 1/2" in line for line in lines)
    assert any("MB/s" in line and " left" in line for line in lines)


def test_every_cell_of_the_design_was_measured_once(compared: Compared) -> None:
    found = rows(compared)
    cells = collections.Counter((row["block"], row["stack"], row["workload"]) for row in found if row["valid"])
    assert len(cells) == BLOCKS * 3 * 2, [row["invalid_reason"] for row in found if not row["valid"]]
    assert set(cells.values()) == {1}
    assert all(row["invalid_reason"] for row in found if not row["valid"]), "an invalid run says why, and was repeated"


def test_every_observation_has_its_fingerprint_and_raw_output(compared: Compared) -> None:
    with sqlite3.connect(compared.results / "plumbline.db") as database:
        tables = {name: [column[1] for column in database.execute(f"pragma table_info({name})")]
                  for (name,) in database.execute("select name from sqlite_master where type = 'table'")}  # fmt: skip
    assert "fingerprints" in tables
    for row in rows(compared):
        assert row["settings_hash"]
        assert row["disks_hash"]
        assert row["raw_output"]


def test_md_raid5_reads_faster_than_three_and_a_half_disks(compared: Compared) -> None:
    rates = [
        json.loads(row["metrics"])["throughput_bytes_per_second"]
        for row in rows(compared)
        if (row["stack"], row["workload"]) == ("md", "seq_read")
    ]
    assert statistics.median(rates) > 3.5 * DISK_BYTES_PER_SECOND
    assert max(rates) < 4.4 * DISK_BYTES_PER_SECOND, "four disks cannot give more"


def test_the_report_is_one_file_with_plots_and_no_link_to_the_network(compared: Compared) -> None:
    html = (compared.results / "report.html").read_text()
    assert html.count("<svg") >= 2
    assert html.count("<table") >= 1
    loaded = re.findall(r"""(?:src|href)\s*=\s*["'](?!#|data:)([^"']+)""", html) + re.findall(
        r"url\((?!#|data:|['\"]?#)([^)]+)\)", html
    )
    assert loaded == []
    assert len(html) < 5_000_000


def test_the_summary_is_for_programs(compared: Compared) -> None:
    summary = json.loads((compared.results / "summary.json").read_text())
    assert summary["schema_version"] == 1
    assert "lab1" in json.dumps(summary["hosts"])


def test_nothing_is_left_on_the_guest(guest: Guest, compared: Compared) -> None:
    assert guest.ssh("grep -c '^md' /proc/mdstat || true") == "0"
    assert (
        guest.ssh("dmsetup ls --target linear; dmsetup ls --target striped").replace("No devices found", "").strip()
        == ""
    )
    assert guest.ssh("lsblk -nro TYPE | grep -c part || true") == "0"
    assert guest.ssh("find /var/lib/plumbline -name '*.json*' -not -name runner.json | wc -l") == "0"
    for serial in SERIALS:
        assert guest.ssh(f"wipefs --noheadings {guest.device(serial)}") == ""


def test_the_installed_collection_plans_the_same_by_its_full_name(guest: Guest, tmp_path: Path) -> None:
    galaxy = shutil.which("ansible-galaxy") or "ansible-galaxy"
    installed = tmp_path / "installed"
    installed.mkdir()
    for arguments in (
        ["build", str(ROOT), "--output-path", str(tmp_path)],
        ["install", str(tmp_path / "plumbline-storage-0.1.0.tar.gz"), "-p", str(installed), "--offline"],
    ):
        subprocess.run(
            [galaxy, "collection", *arguments],
            check=True,
            capture_output=True,
            env=environment(installed),
            cwd=tmp_path,
        )
    played = play("plumbline.storage.compare_stacks", guest, "--check", "-v", cwd=tmp_path, collections=installed)
    assert played.code == 0, played.text[-3000:]
    assert "mkfs.xfs" in played.text
    assert not (tmp_path / "results").exists()


def test_without_consent_nothing_changes_and_the_way_on_is_shown(guest: Guest, tmp_path: Path) -> None:
    before = guest.ssh(f"head -c 1M {guest.device(SERIALS[0])} | sha256sum")
    played = play("playbooks/compare_stacks.yml", guest, expendable_disks=[], results_dir=str(tmp_path))
    assert played.code != 0
    assert (
        "lab1: no disk of this host is listed in expendable_disks, so nothing was changed. Disks seen:" in played.text
    )
    for serial in SERIALS:
        assert f'"{serial}"' in played.text
    assert "never usable" in played.text
    assert "Traceback" not in played.text
    assert guest.ssh(f"head -c 1M {guest.device(SERIALS[0])} | sha256sum") == before


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"expendable_disks": [12345, *SERIALS]}, "quotes"),
        ({"compare_disks": ["NO-SUCH-DISK", *SERIALS[1:]]}, "NO-SUCH-DISK"),
        ({"compare_disks": [SERIALS[0], SERIALS[0], *SERIALS[1:]]}, "twice"),
        ({"compare_region": {"start": "1MiB", "size": "1"}}, "without a unit"),
        ({"compare_region": {"start": "1MiB", "size": "100GiB"}}, "has room only up to"),
        ({"compare_disks": ["plumb-root", *SERIALS[1:]]}, "plumb-root"),
    ],
)
def test_bad_input_gets_one_sentence(guest: Guest, tmp_path: Path, extra: dict[str, t.Any], words: str) -> None:
    played = play("playbooks/compare_stacks.yml", guest, results_dir=str(tmp_path), **extra)
    assert played.code != 0
    assert words in " ".join(played.text.split())
    assert "Traceback" not in played.text
    assert guest.ssh("lsblk -nro TYPE | grep -c part || true") == "0"


def checksum(guest: Guest, *disks: str) -> str:
    """Of 2 MiB in every 64 MiB and the last 32 MiB of each disk: reading throttled disks whole takes minutes."""
    parts = " ".join(
        f"for at in $(seq 0 64 3071); do dd if={disk} bs=1M skip=$at count=2 status=none; done; dd if={disk} bs=1M skip=3040 status=none;"
        for disk in disks
    )
    return guest.ssh(f"{{ {parts} }} | sha256sum")


CONTENT = {
    "ext4": ("mkfs.ext4 -q -F -L home {disk}", 'ext4 file system "home"', ":"),
    "random bytes": ("dd if=/dev/urandom of={disk} bs=1M count=8 status=none", "unrecognised data", ":"),
    "mounted elsewhere": (
        "mkfs.ext4 -q -F {disk}; mkdir -p /tmp/m; "
        "setsid unshare -m sh -c 'mount -o ro,noload {disk} /tmp/m; exec sleep 1000' </dev/null >/dev/null 2>&1 & sleep 3",
        "mounted on /tmp/m",
        "pkill -x sleep; sleep 1",
    ),
}


@pytest.mark.parametrize("case", CONTENT)
def test_a_disk_that_is_not_listed_survives(guest: Guest, tmp_path: Path, case: str) -> None:
    make, words, undo = CONTENT[case]
    disk = guest.device(SERIALS[3])
    guest.ssh(make.format(disk=disk))
    try:
        before = checksum(guest, disk)
        listed = {"expendable_disks": SERIALS[:3], "compare_disks": SERIALS, "results_dir": str(tmp_path)}
        played = play("playbooks/compare_stacks.yml", guest, **listed)
        assert played.code != 0
        flat = " ".join(played.text.split())
        assert SERIALS[3] in flat
        assert words in flat
        assert checksum(guest, disk) == before
    finally:
        guest.ssh(f"{undo}; wipefs -qa {disk}; dd if=/dev/zero of={disk} bs=1M count=16 status=none", check=False)


def test_a_stopped_array_of_which_one_member_is_listed_survives(guest: Guest, tmp_path: Path) -> None:
    one, other = guest.device(SERIALS[2]), guest.device(SERIALS[3])
    guest.ssh(
        f"mdadm --create /dev/md/keep --run --bitmap=none --level=1 --raid-devices=2 --metadata=1.2 --assume-clean {one} {other}; "
        "mkfs.ext4 -q /dev/md/keep; udevadm settle; mdadm --wait /dev/md/keep; mdadm --stop /dev/md/keep; udevadm settle"
    )
    try:
        before = checksum(guest, one, other)
        played = play("playbooks/compare_stacks.yml", guest, expendable_disks=SERIALS[:3], results_dir=str(tmp_path))
        assert played.code != 0
        assert SERIALS[3] in played.text
        assert checksum(guest, one, other) == before
    finally:
        guest.ssh(
            f"mdadm --stop /dev/md/keep; wipefs -qa {one} {other}",
            check=False,
        )
