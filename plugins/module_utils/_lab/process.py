# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Processes of the lab, known by their number together with a mark in their arguments."""

from __future__ import annotations

import os
import select
import signal

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["kill_process", "machines_of_directory", "process_runs", "wait_until_gone"]


def process_runs(pid: int, mark: str) -> bool:
    """Whether that process lives and has the mark in its arguments; another one that got the number does not count."""
    if pid <= 0:
        return False
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as source:
            # A zombie has no arguments: dead also where nobody collects it.
            return mark.encode() in source.read()
    except OSError:
        return False


def wait_until_gone(pid: int, mark: str, timeout: float) -> bool:
    """Whether the process ended within C(timeout) seconds, with all its threads and the files they held."""
    try:
        # Its arguments vanish before its files are closed; the handle tells the end of the last thread.
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if not process_runs(pid, mark) and not _is_ending(pid):
            return True
        return bool(select.select([handle], [], [], timeout)[0])
    finally:
        os.close(handle)


def _is_ending(pid: int) -> bool:
    """Whether a process lost its arguments but has not gone yet."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as source:
            return not source.read()
    except OSError:
        return False


def kill_process(pid: int, mark: str) -> bool:
    """Kills the process at once if it is the marked one, and waits for its end; True if there was something to kill."""
    if not process_runs(pid, mark):
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError as error:
        raise StorageError(f"process {pid} belongs to another user and cannot be ended: {error}") from error
    if not wait_until_gone(pid, mark, 30):
        raise StorageError(f"process {pid} was killed but is still there after 30 s")
    return True


def _arguments(pid: str) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as source:
            return source.read().decode(errors="replace").split("\0")
    except OSError:
        return []


def _holds_file_below(pid: str, directory: str) -> bool:
    try:
        for handle in os.listdir(f"/proc/{pid}/fd"):
            # A removed file reads "…/console.log (deleted)".
            if os.readlink(f"/proc/{pid}/fd/{handle}").startswith(directory + os.sep):
                return True
    except OSError:
        pass
    return False


def machines_of_directory(state_dir: str) -> dict[str, int]:
    """Names and process numbers of the QEMU processes that hold files below a lab's directory, removed ones too."""
    found: dict[str, int] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = _arguments(pid)
        name = words[words.index("-name") + 1] if "-name" in words[:-1] else ""
        if name.startswith("plumbline-") and _holds_file_below(pid, state_dir):
            found[name[len("plumbline-") :]] = int(pid)
    return found
