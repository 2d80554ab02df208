# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads a mount point: its unit, what is mounted there, and who uses it. Runs no program."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import Mount
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_mounts
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import UNITS_DIR, MountState
from ansible_collections.plumbline.storage.plugins.module_utils._mount.unit import part_path, unit_name, unit_path

__all__ = ["read_mount"]


def read_mount(path: str, users: bool = False) -> MountState:
    """The mount point as it is; C(users) also looks for processes and other mounts that keep it busy."""
    name = unit_name(path)
    mounts = read_mounts()
    mounted = [mount for mount in mounts if mount.namespace_of is None and mount.mount_point == path]
    exists = os.path.lexists(path)
    return MountState(
        path=path,
        unit_text=_text(unit_path(path)),
        enabled=os.path.lexists(f"{UNITS_DIR}/local-fs.target.wants/{name}"),
        device=_device(mounted[-1]) if mounted else None,
        is_directory=os.path.isdir(path),
        exists=exists,
        empty=not exists or not os.path.isdir(path) or not os.listdir(path),
        in_fstab=_in_fstab(path),
        users=(*_other_mounts(mounts, mounted[-1]), *_users(path)) if users and mounted else (),
        torn=os.path.lexists(part_path(path)),
    )


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _device(mount: Mount) -> str:
    """The kernel's path of the mounted device, or the source as it stands for what is no block device."""
    real = os.path.realpath(f"/dev/block/{mount.devno}")
    return real if os.path.exists(real) and real.startswith("/dev/") else mount.source


def _in_fstab(path: str) -> bool:
    lines = (_text("/etc/fstab") or "").splitlines()
    fields = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return any(len(words) > 1 and words[1] == path for words in fields)


def _other_mounts(mounts: t.Sequence[Mount], own: Mount) -> t.Iterator[str]:
    """Mounts below this one, which systemd would take down with it, and further ones of the same file system."""
    for mount in mounts:
        below = mount.namespace_of is None and mount.mount_point.startswith(f"{own.mount_point}/")
        # Elsewhere the same path is mostly this mount, handed on by the host, and goes with it.
        again = mount.devno == own.devno and mount.mount_point != own.mount_point
        if below or again:
            where = f" in the mount namespace of {mount.namespace_of}" if mount.namespace_of else ""
            yield f"the mount on {mount.mount_point}{where}"


def _users(path: str) -> t.Iterator[str]:
    for pid in sorted((name for name in os.listdir("/proc") if name.isdigit()), key=int):
        links = [f"/proc/{pid}/cwd", f"/proc/{pid}/root", f"/proc/{pid}/exe", *_open_files(pid)]
        if any(_under(link, path) for link in links):
            yield f"process {pid} ({(_text(f'/proc/{pid}/comm') or '?').strip()})"


def _open_files(pid: str) -> list[str]:
    try:
        return [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []


def _under(link: str, path: str) -> bool:
    try:
        target = os.readlink(link)
    except OSError:
        return False
    return target == path or target.startswith(f"{path}/")
