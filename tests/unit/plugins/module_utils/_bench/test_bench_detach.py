# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The background process: its own session, no inherited descriptor, its output in the log."""

from __future__ import annotations

import os
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.detach import detach
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError


def wait_for(path: Path, text: str = "") -> str:
    for _ in range(200):
        if path.exists() and text in path.read_text():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear with {text!r}")


def test_it_runs_apart_from_the_caller(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    out, log = tmp_path / "out", tmp_path / "logs" / "log"

    def main() -> None:
        print("said", flush=True)
        open_descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:4]
        part = tmp_path / "part"
        part.write_text(f"{os.getpid()} {os.getsid(0)} {os.getppid()} {open_descriptors[:3]} {os.getcwd()}")
        os.rename(part, out)

    pid = detach(main, str(log))
    os.close(writer)
    seen = wait_for(out).split(" ", 3)
    assert int(seen[0]) == pid != os.getpid()
    assert int(seen[1]) not in (os.getsid(0), pid)
    assert int(seen[2]) != os.getpid()
    assert seen[3].endswith("/") and "[0, 1, 2]" in seen[3]
    assert wait_for(log, "said") == "said\n"
    assert os.read(reader, 1) == b""  # an ssh connection ends only when nobody holds its pipes
    os.close(reader)


def test_an_error_goes_to_the_log(tmp_path: Path) -> None:
    def main() -> None:
        raise ValueError("broken inside")

    detach(main, str(tmp_path / "log"))
    assert "ValueError: broken inside" in wait_for(tmp_path / "log", "broken inside")


def test_a_log_that_cannot_be_written_is_told_to_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_fork: t.Callable[[], int] = os.fork
    calls: list[int] = []

    def fork_once() -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError("no more processes")
        return real_fork()

    monkeypatch.setattr(os, "fork", fork_once)
    with pytest.raises(StorageError, match=r"could not be started.*no more processes"):
        detach(lambda: None, str(tmp_path / "log"))
