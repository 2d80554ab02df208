# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the superblock from the device itself, mounted or not, and where it is mounted."""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import stat

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.parse import (
    MAGIC,
    SUPERBLOCK_BYTES,
    is_unfinished,
    parse_superblock,
)

__all__ = ["mount_points", "read_first_bytes", "read_xfs"]

_MOUNTINFO = "/proc/self/mountinfo"
_OCTAL = re.compile(r"\\([0-7]{3})")


def read_first_bytes(device: str, size_bytes: int = SUPERBLOCK_BYTES) -> bytes:
    """The first bytes as they are on the device.

    A mounted XFS writes its superblock past the page cache of its device, which may hold an older one: the
    read is direct where the device allows it.
    """
    direct = getattr(os, "O_DIRECT", 0)
    descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        reader = os.open(device, os.O_RDONLY | os.O_CLOEXEC | direct)
    except OSError as error:
        if error.errno != errno.EINVAL:
            os.close(descriptor)
            raise
        reader = os.dup(descriptor)
    try:
        with mmap.mmap(-1, size_bytes) as page:  # anonymous memory is aligned as a direct read needs it
            count = os.preadv(reader, [page], 0)
            return page[:count]
    finally:
        os.close(reader)
        os.close(descriptor)


def mount_points(device: str, mountinfo: str = _MOUNTINFO) -> tuple[str, ...]:
    """Where a block device is mounted in this mount namespace."""
    number = os.stat(device).st_rdev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    found = []
    with open(mountinfo, encoding="utf-8", errors="surrogateescape") as stream:
        for line in stream:
            words = line.split(" ")
            if len(words) > 4 and words[2] == wanted:
                found.append(_OCTAL.sub(lambda match: chr(int(match.group(1), 8)), words[4]))
    return tuple(found)


def read_xfs(runner: Runner, device: str) -> XfsState | OtherContent | None:
    """The XFS on a device, other content with a signature, or None when it has neither or does not exist.

    Raises PlanRefused when the path is not a block device.
    """
    try:
        mode = os.stat(device).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISBLK(mode):
        raise PlanRefused(f"device was given as {device}, which is not a block device")
    data = read_first_bytes(device)
    if data[:4] != MAGIC:
        return _other_content(runner, device)
    if is_unfinished(data):
        return OtherContent(device, ("xfs",), "an XFS whose making was cut short")
    try:
        return parse_superblock(data, device, mount_points(device))
    except ParseError as error:
        return OtherContent(device, ("xfs",), f"a damaged XFS: {error.message}")


def _other_content(runner: Runner, device: str) -> OtherContent | None:
    # A busy device cannot be opened for this; then the guard says who holds it.
    result = runner.query(["wipefs", "-J", device], ok=None)
    if result.rc != 0:
        return None
    try:
        entries = json.loads(result.stdout or "{}").get("signatures", [])
        kinds = tuple(dict.fromkeys(str(entry["type"]) for entry in entries))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ParseError(f"the signatures of {device} from wipefs", result.stdout) from None
    return OtherContent(device, kinds) if kinds else None
