# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Who uses a block device: mounts in every namespace, swap, open files, exports, loop devices."""

from __future__ import annotations

import errno
import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockTree, Mount, Uses
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import parse_mountinfo, parse_swaps
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import (
    devno_of_path,
    list_names,
    read_text,
)

__all__ = ["HELD_OPEN", "exclusive_open_fails", "read_mounts", "read_uses"]

HELD_OPEN = "held open by process"
# A look through an open file on these may wait for a server that is gone.
_REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "ceph", "gluster", "afs", "lustre", "gpfs")
_NO_FILE = ("socket:", "pipe:", "anon_inode:", "/memfd:")


def read_uses(tree: BlockTree, proc_root: str = "/proc", sysfs_root: str = "/sys") -> Uses:
    """All uses of all block devices, in words, by device number. Starts no program. Needs root to see all."""
    mounts = read_mounts(proc_root)
    found: dict[str, list[str]] = {}
    for devno, words in [
        *_mounted(mounts, sysfs_root),
        *_swaps(proc_root),
        *_opened(mounts, proc_root),
        *_exported(sysfs_root),
        *_looped(tree),
    ]:
        if words not in found.setdefault(devno, []):
            found[devno].append(words)
    return Uses({devno: tuple(words) for devno, words in found.items()}, tuple(mounts))


def exclusive_open_fails(path: str) -> bool:
    """True when the kernel refuses an exclusive open: the device is mounted, swapped on, or part of something active."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def read_mounts(proc_root: str = "/proc") -> list[Mount]:
    """Mounts of every mount namespace that a process lives in; the host's own come first."""
    seen: set[str] = set()
    mounts: list[Mount] = []
    for pid in sorted((name for name in list_names(proc_root) if name.isdigit()), key=int):
        try:
            namespace = os.readlink(f"{proc_root}/{pid}/ns/mnt")
        except OSError:
            continue
        if namespace in seen:
            continue
        text = read_all(f"{proc_root}/{pid}/mountinfo")
        if text is None:
            continue
        owner = f"process {pid} ({read_text(f'{proc_root}/{pid}/comm') or '?'})" if seen else None
        seen.add(namespace)
        mounts.extend(parse_mountinfo(text, owner))
    return mounts


def read_all(path: str) -> str | None:
    """A whole file of procfs, whose size is not known before; None when it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return None


def _mounted(mounts: t.Iterable[Mount], sysfs_root: str) -> t.Iterator[tuple[str, str]]:
    own: set[str] = set()
    for mount in mounts:
        numbers = {mount.devno}
        if mount.devno.startswith("0:") and mount.source.startswith("/"):  # btrfs and others with a number of their own
            numbers.add(devno_of_path(mount.source) or "")
        if mount.namespace_of is None:
            own |= numbers
            where = f"mounted on {mount.mount_point}"
        else:
            numbers -= own  # a namespace inherits the host's mounts: nothing new
            where = f"mounted on {mount.mount_point} in the mount namespace of {mount.namespace_of}"
        yield from ((number, where) for number in sorted(numbers))
    for uuid in list_names(os.path.join(sysfs_root, "fs/btrfs")):
        devices = os.path.join(sysfs_root, "fs/btrfs", uuid, "devices")
        for name in list_names(devices):
            devno = read_text(os.path.join(devices, name, "dev"))
            yield devno or "", f"part of the mounted btrfs file system {uuid}"


def _swaps(proc_root: str) -> t.Iterator[tuple[str, str]]:
    for path, kind in parse_swaps(read_all(f"{proc_root}/swaps") or ""):
        if kind == "partition":
            yield devno_of_path(path) or "", "in use as swap"


def _opened(mounts: t.Iterable[Mount], proc_root: str) -> t.Iterator[tuple[str, str]]:
    remote = tuple(mount.mount_point.rstrip("/") + "/" for mount in mounts if mount.fstype.startswith(_REMOTE))
    own = str(os.getpid())
    for pid in list_names(proc_root):
        if not pid.isdigit() or pid == own:
            continue
        directory = f"{proc_root}/{pid}/fd"
        for name in list_names(directory):
            devno = _opened_device(f"{directory}/{name}", remote)
            if devno is not None:
                yield devno, f"{HELD_OPEN} {pid} ({read_text(f'{proc_root}/{pid}/comm') or '?'})"


def _opened_device(link: str, remote: tuple[str, ...]) -> str | None:
    try:
        target = os.readlink(link)
    except OSError:
        return None
    if target.startswith(_NO_FILE) or (remote and target.startswith(remote)):
        return None
    return devno_of_path(link)


def _exported(sysfs_root: str) -> t.Iterator[tuple[str, str]]:
    """Devices given to other hosts by the kernel's iSCSI and NVMe targets."""
    core = os.path.join(sysfs_root, "kernel/config/target/core")
    for backend in list_names(core):
        for name in list_names(os.path.join(core, backend)):
            path = read_text(os.path.join(core, backend, name, "udev_path"))
            if path:
                yield devno_of_path(path) or "", f"exported by the SCSI target {backend}/{name}"
    subsystems = os.path.join(sysfs_root, "kernel/config/nvmet/subsystems")
    for subsystem in list_names(subsystems):
        for number in list_names(os.path.join(subsystems, subsystem, "namespaces")):
            path = read_text(os.path.join(subsystems, subsystem, "namespaces", number, "device_path"))
            if path:
                yield devno_of_path(path) or "", f"exported by the NVMe target {subsystem}"


def _looped(tree: BlockTree) -> t.Iterator[tuple[str, str]]:
    for node in tree.nodes.values():
        if node.loop_backing_file:
            yield devno_of_path(node.loop_backing_file) or "", f"behind the loop device {node.kernel_name}"
