# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What was begun on an array and perhaps not ended: so that a run that was killed can be finished by the next.

A record names the UUID that the array has, or gets, before its first superblock is written or wiped. A superblock with
that UUID is then known to be the leavings of our own half-done work.
"""

from __future__ import annotations

import contextlib
import json
import os
import re

__all__ = ["RECORDS_DIR", "begin_work", "end_work", "work_begun"]

RECORDS_DIR = "/var/lib/plumbline/arrays"


def _path(uuid: str, directory: str) -> str:
    return os.path.join(directory, re.sub("[^0-9a-f]", "", uuid.lower()) + ".json")


def begin_work(uuid: str, name: str, word: str, directory: str = RECORDS_DIR) -> None:
    """Notes durably that C(word) (create, remove) begins on the array of this UUID."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    path = _path(uuid, directory)
    with open(f"{path}.part", "w", encoding="utf-8") as stream:
        json.dump({"uuid": uuid, "name": name, "begun": word}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(f"{path}.part", path)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def work_begun(uuid: str | None, directory: str = RECORDS_DIR) -> str | None:
    """What was begun on the array of this UUID and not ended: C(create) or C(remove), else None."""
    if uuid is None:
        return None
    try:
        with open(_path(uuid, directory), encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return None
    word = data.get("begun") if isinstance(data, dict) else None
    return word if word in ("create", "remove") else None


def end_work(uuid: str, directory: str = RECORDS_DIR) -> None:
    """Forgets what was begun; no error when nothing was noted."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(uuid, directory))
