# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One lock per host: two runs that change disks never overlap, and a refusal names the holder."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = ["LOCK_PATH", "STATE_DIR", "host_lock", "lock_holder"]

STATE_DIR = "/var/lib/plumbline"
LOCK_PATH = "/run/plumbline.lock"


def lock_holder(path: str = LOCK_PATH) -> dict[str, t.Any] | None:
    """Who wrote the lock file last: pid, what, since. None when nobody ever did."""
    try:
        with open(path, encoding="utf-8") as stream:
            return t.cast("dict[str, t.Any]", json.load(stream))
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def host_lock(
    what: str = "a storage module", wait_seconds: float = 10, enabled: bool = True, path: str = LOCK_PATH
) -> t.Iterator[None]:
    """Holds the host's lock; raises PlanRefused naming the holder when another run keeps it longer than C(wait_seconds)."""
    if not enabled:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _acquire(descriptor, wait_seconds, path)
        note = {"pid": os.getpid(), "what": what, "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, wait_seconds: float, path: str) -> None:
    end = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                holder = lock_holder(path) or {}
                raise PlanRefused(
                    f"another run is changing disks of this host: {holder.get('what', 'unknown')}, process {holder.get('pid', '?')}, "
                    f"since {holder.get('since', '?')}. Nothing was changed; wait for it to end, or end it, and run again"
                ) from None
            time.sleep(0.2)
