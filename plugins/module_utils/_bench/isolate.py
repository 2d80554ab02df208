# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Argument lists for programs that see a filesystem mounted for them alone. Pure.

The mount lives in a mount and PID namespace of its own. The first process of the PID namespace is the shell and then,
by exec, the tool: when it ends or is killed, the kernel kills the rest of the namespace and drops the mount. C(unshare)
passes its own death on to it, and gets a parent-death signal itself from whoever starts it.
"""

from __future__ import annotations

import typing as t

__all__ = [
    "BENCH_FILE",
    "MOUNT_DIR",
    "READY",
    "fill_in_private_mount",
    "in_private_mount",
    "remove_in_private_mount",
]

MOUNT_DIR = "/run/plumbline/mnt"
BENCH_FILE = "plumbline-bench.dat"
READY = "plumbline-ready"

_UNSHARE = ("unshare", "-m", "-p", "-f", "--mount-proc", "--kill-child=KILL", "--propagation", "private")
# Constant text: what varies is passed as "$1" (options), "$2" (device), "$3" (directory), then the tool's words.
_MOUNT = 'mount -t xfs -o "$1" -- "$2" "$3"'
_RUN = f'{_MOUNT} && echo {READY} && read -r go && shift 3 && exec "$@"'
_FILL = f'{_MOUNT} && fallocate -l "$4" -- "$5" && shift 5 && exec "$@"'
_REMOVE = f'{_MOUNT} && exec rm -f -- "$4"'


def in_private_mount(device: str, argv: t.Sequence[str], read_only: bool, directory: str = MOUNT_DIR) -> list[str]:
    """Mounts, prints C(READY) on a line of its own, waits for one line on standard input, becomes C(argv)."""
    # Whatever is read here was written and cleanly unmounted before; without norecovery even a read-only mount writes its log.
    options = "ro,norecovery,noatime" if read_only else "rw,noatime"
    return [*_UNSHARE, "sh", "-c", _RUN, "sh", options, device, directory, *argv]


def fill_in_private_mount(
    device: str, path: str, size_bytes: int, argv: t.Sequence[str], directory: str = MOUNT_DIR
) -> list[str]:
    """Mounts, lays the file out in one piece, becomes C(argv), which writes it in full."""
    return [*_UNSHARE, "sh", "-c", _FILL, "sh", "rw,noatime", device, directory, str(size_bytes), path, *argv]


def remove_in_private_mount(device: str, path: str, directory: str = MOUNT_DIR) -> list[str]:
    """Mounts and removes one file."""
    return [*_UNSHARE, "sh", "-c", _REMOVE, "sh", "rw,noatime", device, directory, path]
