# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs run under observation: output, resources, readiness, time limit, and their end."""

from __future__ import annotations

import os
import time

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

pytestmark = pytest.mark.runs_programs


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
        return stream.read().rsplit(")", 1)[1].split()[0] != "Z"


def test_output_exit_code_and_cpu_time() -> None:
    run = Runner().measure(
        ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo out; echo err >&2; exit 3"], 30
    )
    assert (run.rc, run.stdout, run.stderr, run.stopped_why) == (3, "out\n", "err\n", None)
    assert 0 < run.user_seconds + run.system_seconds < 30
    assert run.ended_at > run.ready_at


def test_the_c_locale_and_no_input() -> None:
    run = Runner().measure(["sh", "-c", "echo $LC_ALL $LANGUAGE; cat"], 10)
    assert run.stdout == "C C\n"


def test_it_waits_until_it_was_told_to_go() -> None:
    seen: list[float] = []

    def on_ready() -> None:
        time.sleep(0.2)
        seen.append(time.monotonic())

    run = Runner().measure(["sh", "-c", "echo noise; echo ready; read -r go; echo got $go; cat"], 10, "ready", on_ready)
    assert run.rc == 0
    assert run.stdout == "got go\n"
    assert len(seen) == 1
    assert run.ready_at >= seen[0]


def test_a_program_that_dies_before_it_is_ready() -> None:
    called: list[int] = []
    run = Runner().measure(["sh", "-c", "echo cannot >&2; exit 32"], 10, "ready", lambda: called.append(1))
    assert (run.rc, run.stderr, called) == (32, "cannot\n", [])


def test_a_program_that_dies_while_it_is_told_to_go() -> None:
    run = Runner().measure(["sh", "-c", "exec 0<&-; echo ready; exit 4"], 10, "ready", lambda: time.sleep(0.3))
    assert run.rc == 4


def test_the_time_limit_ends_it_and_its_children() -> None:
    begin = time.monotonic()
    run = Runner().measure(["sh", "-c", "sleep 60 & echo $!; sleep 60"], 1)
    assert time.monotonic() - begin < 10
    assert (run.rc, run.reaped) == (None, True)
    assert "no end after 1 s" in (run.stopped_why or "")
    time.sleep(0.2)
    assert not alive(int(run.stdout))


def test_it_ends_when_told_to_stop() -> None:
    begin = time.monotonic()
    run = Runner().measure(["sleep", "60"], 50, stop=lambda: time.monotonic() - begin > 1)
    assert "told to stop" in (run.stopped_why or "")
    assert time.monotonic() - begin < 10


def test_an_error_while_it_waits_leaves_no_process() -> None:
    pids: list[int] = []

    def fail() -> None:
        pids.extend(int(name) for name in os.listdir("/proc") if name.isdigit() and _is_child(int(name)))
        raise OSError("caches could not be emptied")

    with pytest.raises(OSError, match="caches"):
        Runner().measure(["sh", "-c", "echo ready; read -r go; sleep 60"], 50, "ready", fail)
    assert pids
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}") and alive(pid)]


def _is_child(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return int(stream.read().rsplit(")", 1)[1].split()[1]) == os.getpid()
    except OSError:
        return False


def test_nothing_is_measured_in_check_mode() -> None:
    with pytest.raises(StorageError, match="check mode"):
        Runner(check_mode=True).measure(["true"], 1)
