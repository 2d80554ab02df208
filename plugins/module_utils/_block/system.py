# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The disks that the running system stands on: never usable."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockTree, Mount, SystemDisks
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import parse_swaps
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import (
    devno_of_path,
    list_names,
    read_text,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_all

__all__ = ["SYSTEM_MOUNT_POINTS", "read_system_disks"]

SYSTEM_MOUNT_POINTS = ("/", "/usr", "/boot", "/boot/efi", "/efi", "/boot/firmware", "/var", "/etc")
# Root file systems that stand on no local disk.
_DISKLESS = ("tmpfs", "ramfs", "rootfs", "nfs", "nfs4", "9p", "virtiofs", "cifs", "ceph")


def read_system_disks(
    tree: BlockTree, mounts: t.Sequence[Mount], proc_root: str = "/proc", sysfs_root: str = "/sys"
) -> SystemDisks:
    """Disks in the closure of the system's mount points, swap and resume. C(unresolved) is set when C(/) cannot be told."""
    own = [mount for mount in mounts if mount.namespace_of is None]
    holds: dict[str, str] = {}
    pools: list[str] = []
    unresolved = None
    for point in SYSTEM_MOUNT_POINTS:
        for mount in own:
            if mount.mount_point != point:
                continue
            devnos = _devices_of(mount, own, tree, sysfs_root)
            if mount.fstype == "zfs":
                pools.append(mount.source.split("/", 1)[0])
            elif devnos is None and point == "/":
                unresolved = f"/ is of type {mount.fstype} from {mount.source}, whose disk could not be told"
            for devno in devnos or ():
                _add(tree, holds, devno, point)
    if not any(mount.mount_point == "/" for mount in own):
        unresolved = "no file system is mounted on /"
    for devno, what in _swap_and_resume(proc_root, sysfs_root):
        _add(tree, holds, devno, what)
    return SystemDisks(holds, unresolved, tuple(dict.fromkeys(pools)))


def _add(tree: BlockTree, holds: dict[str, str], devno: str, what: str) -> None:
    node = tree.numbered(devno)
    if node is not None:
        for disk in tree.disks_under(node):
            holds.setdefault(disk.kernel_name, what)
            backing = disk.loop_backing_file
            if backing:  # a live system: its root is a file on another disk
                for deeper in _device_of_file(backing):
                    if deeper != devno:
                        _add(tree, holds, deeper, what)


def _devices_of(mount: Mount, mounts: t.Sequence[Mount], tree: BlockTree, sysfs_root: str) -> list[str] | None:
    """Device numbers under a mounted file system; an empty list for one without a disk, None when it cannot be told."""
    if tree.numbered(mount.devno) is not None:
        return [mount.devno]
    if mount.fstype == "btrfs":
        return _btrfs_devices(mount, sysfs_root) or None
    if mount.fstype == "overlay":
        return _overlay_devices(mount, mounts, tree, sysfs_root)
    if mount.fstype in _DISKLESS or mount.fstype.startswith("nfs"):
        return []
    source = devno_of_path(mount.source) if mount.source.startswith("/") else None
    return [source] if source is not None and tree.numbered(source) is not None else None


def _btrfs_devices(mount: Mount, sysfs_root: str) -> list[str]:
    source = devno_of_path(mount.source)
    root = os.path.join(sysfs_root, "fs/btrfs")
    for uuid in list_names(root):
        devices = os.path.join(root, uuid, "devices")
        numbers = [read_text(os.path.join(devices, name, "dev")) for name in list_names(devices)]
        if source in numbers:
            return [number for number in numbers if number is not None]
    return [] if source is None else [source]


def _overlay_devices(mount: Mount, mounts: t.Sequence[Mount], tree: BlockTree, sysfs_root: str) -> list[str] | None:
    """An overlay stands on the file systems that hold its directories; all of them must be known."""
    found: list[str] = []
    directories = re.findall(r"(?:lowerdir\+?|upperdir|workdir)=([^,]+)", mount.super_options)
    for directory in [part for text in directories for part in text.split(":") if part]:
        holder = _mount_holding(directory, [other for other in mounts if other is not mount])
        if holder is None or holder.fstype == "overlay":
            return None
        devices = _devices_of(holder, mounts, tree, sysfs_root)
        if devices is None:
            return None
        found.extend(devices)
    return found if directories else None


def _mount_holding(directory: str, mounts: t.Sequence[Mount]) -> Mount | None:
    fitting = [
        mount
        for mount in mounts
        if directory == mount.mount_point or directory.startswith(mount.mount_point.rstrip("/") + "/")
    ]
    return max(fitting, key=lambda mount: len(mount.mount_point), default=None)


def _swap_and_resume(proc_root: str, sysfs_root: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path, kind in parse_swaps(read_all(f"{proc_root}/swaps") or ""):
        devnos = [devno_of_path(path)] if kind == "partition" else _device_of_file(path)
        found.extend((devno, "swap") for devno in devnos if devno is not None)
    resume = read_text(os.path.join(sysfs_root, "power/resume"))
    if resume and not resume.startswith("0:"):
        found.append((resume, "the resume image"))
    return found


def _device_of_file(path: str) -> list[str]:
    try:
        device = os.stat(path).st_dev
    except OSError:
        return []
    return [f"{os.major(device)}:{os.minor(device)}"]
