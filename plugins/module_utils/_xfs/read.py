# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the superblock from the device itself, mounted or not, and where it is mounted; asks mkfs.xfs what it would make."""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import re
import stat
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import Mount
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import devno_of_path
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_mounts
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, Trial, XfsState
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.parse import (
    FSGEOMETRY_BYTES,
    MAGIC,
    SUPERBLOCK_BYTES,
    is_unfinished,
    log_is_dirty,
    parse_info,
    parse_superblock,
    with_fsgeometry,
)

__all__ = ["read_first_bytes", "read_log_dirty", "read_signatures_of", "read_trial", "read_xfs"]

# _IOR('X', 126, struct xfs_fsop_geom)
_XFS_IOC_FSGEOMETRY = 2 << 30 | FSGEOMETRY_BYTES << 16 | ord("X") << 8 | 126
# What mkfs.xfs says of a device in use: the guard tells who uses it.
_IN_USE = ("mounted filesystem", "is in use", "busy")


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
        return read_signatures_of(runner, device)
    if is_unfinished(data):
        return OtherContent(device, ("xfs",), "an XFS whose making was cut short")
    try:
        return _with_mounts(parse_superblock(data, device), read_mounts())
    except ParseError as error:
        return OtherContent(device, ("xfs",), f"a damaged XFS: {error.message}")


def _with_mounts(state: XfsState, mounts: t.Iterable[Mount]) -> XfsState:
    """Where it is mounted, and what only a mount can tell: its size after growing, and its log's device."""
    devno = devno_of_path(state.device)
    here = [mount for mount in mounts if mount.devno == devno]
    own = tuple(dict.fromkeys(mount.mount_point for mount in here if mount.namespace_of is None))
    state = state._replace(mounted_at=own, mounted_elsewhere=any(mount.namespace_of is not None for mount in here))
    if not own:
        return state
    logs = re.search(r"(?:^|,)logdev=([^,]+)", here[0].super_options)
    state = state._replace(log_device=logs.group(1) if logs else None)
    geometry = _fsgeometry(own[0])
    return state if geometry is None else with_fsgeometry(state, geometry)


def _fsgeometry(mount_point: str) -> bytes | None:
    """The answer of XFS_IOC_FSGEOMETRY; None where something else covers the mount point, or the kernel is too old."""
    buffer = bytearray(FSGEOMETRY_BYTES)
    try:
        descriptor = os.open(mount_point, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.ioctl(descriptor, _XFS_IOC_FSGEOMETRY, buffer)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return bytes(buffer)


def read_signatures_of(runner: Runner, device: str) -> OtherContent | None:
    """What has a signature on a device; None when there is nothing, or the device is busy: then the guard says who holds it."""
    result = runner.query(["wipefs", "-J", device], ok=None)
    if result.rc != 0:
        return None
    try:
        entries = json.loads(result.stdout or "{}").get("signatures", [])
        kinds = tuple(dict.fromkeys(str(entry["type"]) for entry in entries))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ParseError(f"the signatures of {device} from wipefs", result.stdout) from None
    return OtherContent(device, kinds) if kinds else None


def read_trial(runner: Runner, argv: t.Sequence[str]) -> Trial | None:
    """What mkfs.xfs would make by this command, which writes nothing; None where the device is in use and it does not tell."""
    result = runner.query(argv, ok=None)
    if result.rc == 0:
        return Trial(
            parse_info(result.stdout, argv[-1]),
            warning=_warning(f"{result.stdout.partition('meta-data=')[0]}\n{result.stderr}"),
        )
    lines = [line.strip() for line in (result.stderr or result.stdout).splitlines() if line.strip()]
    if any(word in line for line in lines for word in _IN_USE):
        return None
    return Trial(refusal=_refusal(runner, lines))


def _warning(said: str) -> str:
    """A warning of mkfs.xfs, which goes over several lines, before the description or apart from it."""
    start = said.find("Warning:")
    return "" if start < 0 else f"mkfs.xfs says: {' '.join(said[start:].split())}"


def _refusal(runner: Runner, lines: t.Sequence[str]) -> str:
    """The reason is the line before the list of options; warnings may come before it."""
    usage = next((at for at, line in enumerate(lines) if line.startswith("Usage")), len(lines))
    said = lines[usage - 1] if usage else "nothing"
    if said.startswith("unknown option"):
        version = runner.query(["mkfs.xfs", "-V"], ok=None).stdout.strip()
        return f"mkfs.xfs of this host ({version or 'of unknown version'}) does not know {said.split()[-1]}"
    return f"mkfs.xfs says {said!r}"


def read_log_dirty(runner: Runner, device: str, log_device: str | None = None) -> bool:
    """Whether the log of an unmounted file system holds changes that a mount must replay."""
    log = ["-l", log_device] if log_device else []
    return log_is_dirty(runner.query(["xfs_logprint", "-t", *log, device], ok=None).stdout)
