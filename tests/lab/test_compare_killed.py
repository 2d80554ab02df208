# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison that was killed, on the controller or in the guest, is followed by one that ends well.

Needs a guest of the profile four_sata.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
import typing as t
from pathlib import Path

import pytest
from guest import ROOT, Guest, environment, play, play_command

SHORT = str(ROOT / "tests" / "lab" / "short_experiment.yml")
PLAYBOOK = "playbooks/compare_stacks.yml"
SERIALS = [f"WD-WCASJ000000{number}" for number in (1, 2, 3, 4)]
# The moments differ from run to run unless this says otherwise; a failure names its moment.
SEED = int(os.environ.get("PLUMBLINE_KILL_SEED", str(int(time.time()))))

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


def begin(guest: Guest, results: Path) -> subprocess.Popen[str]:
    """Starts a short comparison in a process group of its own."""
    extra: dict[str, t.Any] = {"compare_file": SHORT, "results_dir": str(results)}
    return subprocess.Popen(
        play_command(PLAYBOOK, guest, **extra), cwd=ROOT, env=environment(), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def runs_to_the_end(guest: Guest, results: Path) -> None:
    """Runs again, and looks at the result and at what is left."""
    played = play(PLAYBOOK, guest, compare_file=SHORT, results_dir=str(results))
    assert played.code == 0, played.text[-4000:]
    with sqlite3.connect(results / "plumbline.db") as database:
        (run_id,) = database.execute("select run_id from runs order by started_at desc, rowid desc limit 1").fetchone()
        found = database.execute(
            "select stack, workload, valid, metrics from observations where run_id = ?", (run_id,)
        ).fetchall()
    assert sorted((stack, workload) for stack, workload, _, _ in found) == sorted(
        (stack, workload) for stack in ("md", "lvm_on_md") for workload in ("seq_read", "buffered_read")
    )
    assert all(valid for _, _, valid, _ in found)
    assert all(json.loads(metrics)["throughput_bytes_per_second"] > 30e6 for _, _, _, metrics in found)
    assert guest.ssh("grep -c '^md' /proc/mdstat || true") == "0"
    assert guest.ssh("vgs --noheadings") == ""
    assert guest.ssh("lsblk -nro TYPE | grep -c part || true") == "0"
    assert guest.ssh("find /var/lib/plumbline -name '*.json*' -not -name runner.json") == ""
    assert guest.ssh("pgrep -x fio; pgrep -x dd; true") == ""
    for serial in SERIALS:
        assert guest.ssh(f"wipefs --noheadings {guest.device(serial)}") == ""


@pytest.mark.parametrize("number", range(5))
def test_the_play_is_killed_at_a_random_moment(guest: Guest, tmp_path: Path, number: int) -> None:
    moment = random.Random(f"{SEED}/{number}").uniform(5, 60)
    process = begin(guest, tmp_path)
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    print(f"killed {moment:.1f} s after the start, seed {SEED}")
    runs_to_the_end(guest, tmp_path)


@pytest.mark.parametrize("phase", ["building", "measuring"])
def test_the_runner_in_the_guest_is_killed(guest: Guest, tmp_path: Path, phase: str) -> None:
    process = begin(guest, tmp_path)
    # Only the status of a process that lives counts: an earlier run may have left its own.
    pid = guest.ssh(
        f'for i in $(seq 600); do for f in $(grep -ls \'"phase": "{phase}"\' /var/lib/plumbline/spool/*.status.json); do '
        "p=$(sed 's/.*\"pid\": \\([0-9]*\\).*/\\1/' $f); kill -0 $p && { sleep 1; echo $p; exit; }; done; sleep 0.2; done"
    )
    guest.ssh(f"kill -9 {int(pid)}")
    assert process.wait(timeout=300) != 0
    assert guest.ssh("sleep 3; pgrep -x fio; pgrep -x dd; true") == "", "children die with the runner"
    runs_to_the_end(guest, tmp_path)
