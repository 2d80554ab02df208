# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What lies on devices: signatures by wipefs, memberships by superblock, blankness by reading."""

from __future__ import annotations

import os
import threading
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlankScan, Membership, Signature
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import (
    HIDDEN_VOLUME,
    SUPERBLOCK_BYTES,
    VOLUME_LABEL_BYTES,
    has_volume_label,
    md_data_offset,
    parse_membership,
    parse_wipefs,
    superblock_start,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["read_memberships", "read_signatures", "scan_blank", "scan_many"]

_WIPEFS = ("wipefs", "-J", "-O", "DEVICE,OFFSET,TYPE,USAGE,UUID,LABEL")
_END_BYTES = 4 * 1024**2
_SAMPLES = 64
_SAMPLE_BYTES = 4096
_READ_BYTES = 1024**2
_SIDE_BY_SIDE = 16


def read_signatures(runner: Runner, paths: t.Sequence[str], tolerant: bool = False) -> dict[str, tuple[Signature, ...]]:
    """Path -> signatures, for kernel paths such as C(/dev/sda). One process for all.

    wipefs is asked because it shows all signatures; blkid shows one winner and misses a GPT left only at the end.
    When a device cannot be read this raises CommandError, or leaves it out when C(tolerant).
    """
    wanted = list(dict.fromkeys(paths))
    if not wanted:
        return {}
    result = runner.query([*_WIPEFS, *wanted], ok=None if tolerant else (0,), timeout=300)
    if result.rc == 0:
        found = parse_wipefs(result.stdout)
        # wipefs names a device by the last part of its path.
        return {path: found.get(os.path.basename(path), ()) for path in wanted}
    single = {path: runner.query([*_WIPEFS, path], ok=None, timeout=300) for path in wanted}
    return {
        path: parse_wipefs(one.stdout).get(os.path.basename(path), ()) for path, one in single.items() if one.rc == 0
    }


def read_memberships(path: str, signatures: t.Iterable[Signature]) -> tuple[Membership, ...]:
    """The containers that a device is a member of, each once."""
    found: dict[str, Membership] = {}
    for signature in signatures:
        start = superblock_start(signature)
        block = None if start is None else _read_at(path, start, SUPERBLOCK_BYTES)
        if signature.type == "linux_raid_member" and _holds_volume(path, block):
            found[HIDDEN_VOLUME.container] = HIDDEN_VOLUME
        membership = parse_membership(signature, block)
        if membership is not None:
            found.setdefault(membership.container, membership)
    return tuple(found.values())


def scan_blank(path: str) -> BlankScan:
    """Reads the first and last 4 MiB and 64 samples between. Raises StorageError when the device cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError(f"could not open {path} to see whether it is blank: {error.strerror}") from error
    try:
        size = os.lseek(fd, 0, os.SEEK_END)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        zeros = bytes(_READ_BYTES)
        for offset, length in _extents(size):
            data = os.pread(fd, length, offset)
            if data != zeros[:length]:
                first = len(data) - len(data.lstrip(b"\0"))
                return BlankScan(size, offset + first)
        return BlankScan(size)
    except OSError as error:
        raise StorageError(f"could not read {path} to see whether it is blank: {error.strerror}") from error
    finally:
        os.close(fd)


def scan_many(paths: t.Sequence[str]) -> dict[str, BlankScan]:
    """C(scan_blank) of several devices side by side: disks are slow, and each waits for itself."""
    found: dict[str, BlankScan] = {}
    errors: list[StorageError] = []

    def scan(path: str) -> None:
        try:
            found[path] = scan_blank(path)
        except StorageError as error:
            errors.append(error)

    threads = [threading.Thread(target=scan, args=(path,), daemon=True) for path in dict.fromkeys(paths)]
    for start in range(0, len(threads), _SIDE_BY_SIDE):
        group = threads[start : start + _SIDE_BY_SIDE]
        for thread in group:
            thread.start()
        for thread in group:
            thread.join()
    if errors:
        raise errors[0]
    return found


def _extents(size: int) -> list[tuple[int, int]]:
    """(offset, length) of what is read: both ends in pieces of 1 MiB, then samples spread evenly between."""
    head_end, tail_start = min(size, _END_BYTES), max(0, size - _END_BYTES)
    ranges = [(0, head_end), (max(head_end, tail_start), size)]
    pieces: list[tuple[int, int]] = []
    for start, end in ranges:
        pieces.extend((at, min(_READ_BYTES, end - at)) for at in range(start, end, _READ_BYTES))
    between = tail_start - head_end
    if between > _SAMPLES * _SAMPLE_BYTES:
        step = between // (_SAMPLES + 1)
        starts = [(head_end + step * n) // _SAMPLE_BYTES * _SAMPLE_BYTES for n in range(1, _SAMPLES + 1)]
        pieces.extend((start, _SAMPLE_BYTES) for start in starts)
    elif between > 0:
        pieces.append((head_end, between))
    return pieces


def _holds_volume(path: str, superblock: bytes | None) -> bool:
    start = md_data_offset(superblock)
    return start is not None and has_volume_label(_read_at(path, start, VOLUME_LABEL_BYTES))


def _read_at(path: str, offset: int, length: int) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.pread(fd, length, offset)
    except OSError:
        return None
    finally:
        os.close(fd)
