# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stage of the test run counted, and how programs are run for it."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import time
import typing as t
from pathlib import Path

__all__ = ["BUILD", "ROOT", "Outcome", "call", "capture", "counts_of", "one", "say"]

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build"
_PYTEST = re.compile(r"^=* ?((?:\d+ [a-z]+,? ?)+) in [\d.]+s\b")
_COUNTS = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Counts of one stage or part of it. C(notes) name what failed or was left out."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.notes + other.notes,
        )


def say(text: str) -> None:
    print(text, flush=True)


def environment(**more: str) -> dict[str, str]:
    """This process's environment with the tools of its own Python first on PATH."""
    tools = str(Path(sys.executable).parent)
    path = os.pathsep.join([tools, os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    return {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", **more}


def call(argv: t.Sequence[str], timeout: float, cwd: Path = ROOT, env: t.Mapping[str, str] | None = None) -> int:
    """Runs a program with its output shown; its exit code, 124 when it took longer than C(timeout) seconds, 127 when it is missing."""
    say(f"+ {' '.join(str(word) for word in argv)}")
    try:
        return subprocess.run(
            argv, cwd=cwd, env=env or environment(), stdin=subprocess.DEVNULL, timeout=timeout, check=False
        ).returncode
    except FileNotFoundError:
        say(f"the program {argv[0]} was not found; run make setup")
        return 127
    except subprocess.TimeoutExpired:
        say(f"ended after {timeout:g} s: {argv[0]}")
        return 124


def capture(
    argv: t.Sequence[str], timeout: float, cwd: Path = ROOT, env: t.Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """As C(call), but also returns the lines that were printed, which are shown as they come."""
    say(f"+ {' '.join(str(word) for word in argv)}")
    lines: list[str] = []
    end = time.monotonic() + timeout
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            say(line.rstrip("\n"))
            lines.append(line.rstrip("\n"))
            if time.monotonic() > end:
                process.kill()
                return 124, lines
    return process.returncode, lines


def one(name: str, good: bool) -> Outcome:
    """The outcome of something that either passes or fails."""
    return Outcome(passed=1) if good else Outcome(failed=1, notes=(f"failed: {name}",))


def counts_of(lines: t.Sequence[str]) -> Outcome | None:
    """The counts in the last line of the form C(3 passed, 1 failed, 2 skipped), or pytest's own, None without one."""
    for line in reversed(lines):
        match = _COUNTS.match(line.strip())
        if match:
            return Outcome(*(int(number or 0) for number in match.groups()))
        match = _PYTEST.match(line.strip())
        if match:
            words = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", match.group(1))}
            return Outcome(
                words.get("passed", 0), words.get("failed", 0) + words.get("error", 0), words.get("skipped", 0)
            )
    return None
