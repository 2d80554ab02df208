# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where a run on the target leaves its observations and says how far it is."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import STATE_DIR

__all__ = ["SPOOL_DIR", "Spool", "left_spools", "parse_spool"]

SPOOL_DIR = os.path.join(STATE_DIR, "spool")
_RUN_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")


class Spool:
    """The files of one run: observations as JSON lines, a status, a lease that the controller renews, a log."""

    def __init__(self, run_id: str, directory: str = SPOOL_DIR) -> None:
        """Names only; nothing is created. Raises PlanRefused for a run id that is not a plain name."""
        if not _RUN_ID.match(run_id):
            raise PlanRefused(
                f"run_id was given as {run_id!r}; use letters, digits, '-', '_' and '.', such as 20261130-a1f3"
            )
        self.run_id, self.directory = run_id, directory
        self.path = os.path.join(directory, f"{run_id}.jsonl")
        self.status_path = os.path.join(directory, f"{run_id}.status.json")
        self.lease_path = os.path.join(directory, f"{run_id}.lease")
        self.log_path = os.path.join(directory, f"{run_id}.log")

    def create(self) -> None:
        """Makes the directory and the lease; ends the torn last line of a killed run, so that the next is whole."""
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        self.renew_lease()
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb+") as stream:
            if stream.seek(0, os.SEEK_END):
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    stream.write(b"\n")

    def append(self, observation: t.Mapping[str, t.Any]) -> None:
        """Adds one line and returns when it is on the disk; a power cut can tear the last line only."""
        line = json.dumps(observation, sort_keys=True, separators=(",", ":")) + "\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            _write_all(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def write_status(self, status: t.Mapping[str, t.Any]) -> None:
        """Replaces the status in one step: a reader sees the old one or the new one."""
        part = f"{self.status_path}.part"
        with open(part, "w", encoding="utf-8") as stream:
            json.dump(
                {"run_id": self.run_id, "pid": os.getpid(), "updated_at": round(time.time(), 3), **status}, stream
            )
        os.replace(part, self.status_path)

    def read_status(self) -> dict[str, t.Any] | None:
        """The last status, or None."""
        try:
            with open(self.status_path, encoding="utf-8") as stream:
                return t.cast("dict[str, t.Any]", json.load(stream))
        except (OSError, ValueError):
            return None

    def read(self) -> list[dict[str, t.Any]]:
        """Every whole observation; what a power cut tore is left out."""
        try:
            with open(self.path, "rb") as stream:
                return parse_spool(stream.read())
        except FileNotFoundError:
            return []

    def renew_lease(self) -> None:
        with open(self.lease_path, "a", encoding="ascii"):
            os.utime(self.lease_path)

    def lease_age_seconds(self) -> float:
        """How long ago the controller last looked; infinite when the lease was taken away."""
        try:
            return max(0.0, time.time() - os.stat(self.lease_path).st_mtime)
        except OSError:
            return float("inf")

    def job(self, pid: int) -> dict[str, t.Any]:
        """What a module returns of a detached run, for whoever follows it."""
        return {
            "pid": pid,
            "run_id": self.run_id,
            "spool": self.path,
            "status": self.status_path,
            "lease": self.lease_path,
            "log": self.log_path,
        }


def parse_spool(data: bytes) -> list[dict[str, t.Any]]:
    """Observations of the whole lines; lines that are no JSON object are left out."""
    found: list[dict[str, t.Any]] = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def left_spools(directory: str = SPOOL_DIR) -> list[str]:
    """Spools of the runs that left anything here, sorted; of a run that ended early its spool may not be there."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    ends = (".jsonl", ".status.json", ".lease", ".log")
    runs = {name[: -len(end)] for name in names for end in ends if name.endswith(end)}
    return [os.path.join(directory, f"{run}.jsonl") for run in sorted(runs)]


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
