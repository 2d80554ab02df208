# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Programs of the lab, and one sentence for those that are not there."""

from __future__ import annotations

import fcntl
import os
import shutil
import typing as t
from contextlib import contextmanager

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import MissingTool

__all__ = ["boot_id", "cache_directory", "is_there", "locked", "require_programs", "state_directory"]

_PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mkfs.ext4": "e2fsprogs",
    "tar": "tar",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "fakeroot": "fakeroot",
    "newuidmap": "uidmap",
}


def is_there(program: str) -> bool:
    """Whether a program is found, also in the directories that an ordinary user's PATH lacks."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"
    return shutil.which(program, path=path) is not None


def require_programs(programs: t.Iterable[str], what: str) -> None:
    """Raises MissingTool naming all Debian packages whose programs are missing for C(what)."""
    missing = [program for program in programs if not is_there(program)]
    if missing:
        packages = sorted({_PACKAGES.get(program, program) for program in missing})
        raise MissingTool(f"{what} needs {', '.join(missing)} on this machine; run: apt install {' '.join(packages)}")


def cache_directory() -> str:
    """Where the lab keeps images: below XDG_CACHE_HOME, else ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "plumbline")


def state_directory() -> str:
    """Where the lab keeps its machines unless told otherwise: below XDG_STATE_HOME, else ~/.local/state."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "plumbline", "lab")


def boot_id() -> str:
    """The running kernel's boot id; empty where there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as source:
            return source.read().strip()
    except OSError:
        return ""


@contextmanager
def locked(directory: str) -> t.Iterator[None]:
    """Holds the only lock on a directory, which is made if it is not there; waits for whoever has it."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
