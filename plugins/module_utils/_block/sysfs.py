# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Small readers of sysfs and procfs: an attribute that is not there is None, never an error."""

from __future__ import annotations

import os

__all__ = ["devno_of_path", "list_names", "read_bytes", "read_int", "read_text"]


def read_bytes(path: str, limit_bytes: int = 65536) -> bytes | None:
    """Content of a small file, or None when it cannot be read (missing, no permission, device gone)."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(fd, limit_bytes)
    except OSError:
        return None
    finally:
        os.close(fd)


def read_text(path: str) -> str | None:
    """Content without blanks and NULs at both ends; None when missing or empty."""
    data = read_bytes(path)
    text = "" if data is None else data.decode(errors="replace").strip(" \t\r\n\0")
    return text or None


def read_int(path: str) -> int | None:
    text = read_text(path)
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None


def list_names(path: str) -> tuple[str, ...]:
    """Sorted names in a directory; empty when it is not there."""
    try:
        return tuple(sorted(os.listdir(path)))
    except OSError:
        return ()


def devno_of_path(path: str) -> str | None:
    """Number of the block device behind a path, such as "8:0"; None when there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if (status.st_mode & 0o170000) != 0o060000:
        return None
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
