# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where workloads run: the devices of a stack, and what fits together. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import FILESYSTEM, TOP_DEVICE, Workload
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size

__all__ = ["RunTarget", "check_workloads", "device_of", "file_bytes_wanted", "fill_block_bytes", "time_limit_seconds"]

_DEFAULT_FILE_BYTES = 1024**3
_FILL_BYTES = 4 * 1024**2
# Slower than any disk that works: a run that moves less is taken for a hung device.
_SLOWEST_BYTES_PER_SECOND = 2_000_000
_GRACE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True)
class RunTarget:
    """The devices of one stack, by path. C(filesystem_device) holds an XFS that nobody has mounted.

    C(layers) are further devices by the name of their layer. C(file_bytes) is the size of the test file, None: what the
    workloads need. C(keep_file) false removes the test file at the end.
    """

    top_device: str
    filesystem_device: str | None = None
    layers: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    file_bytes: int | None = None
    keep_file: bool = True


def device_of(workload: Workload, target: RunTarget) -> str:
    """Path of the block device that a workload runs on, for a filesystem the one below it; raises PlanRefused."""
    if workload.on == TOP_DEVICE:
        return target.top_device
    if workload.on == FILESYSTEM:
        if target.filesystem_device is None:
            raise PlanRefused(
                f"workload {workload.name} runs on the filesystem, but this stack has none; add an xfs layer"
            )
        return target.filesystem_device
    if workload.on not in target.layers:
        known = ", ".join([TOP_DEVICE, FILESYSTEM, *sorted(target.layers)])
        raise PlanRefused(
            f"workload {workload.name} runs on {workload.on!r}, which this stack does not have; it has: {known}"
        )
    return target.layers[workload.on]


def check_workloads(workloads: t.Sequence[Workload], target: RunTarget) -> None:
    """Raises PlanRefused when a workload has no place here, or would overwrite the file system that others need."""
    for workload in workloads:
        device_of(workload, target)
        if workload.writes and not workload.on_filesystem and target.filesystem_device is not None:
            raise PlanRefused(
                f"workload {workload.name} writes to the device {device_of(workload, target)} itself, "
                f"which would destroy the file system on {target.filesystem_device}; "
                "use a stack without xfs for it, or on: filesystem"
            )


def file_bytes_wanted(
    workloads: t.Sequence[Workload], target: RunTarget, filesystem_bytes: int, block_bytes: int
) -> int:
    """Size of the test file: whole fill blocks that hold every filesystem workload. PlanRefused when it cannot fit."""
    ends = [load.offset_bytes + load.size_bytes for load in workloads if load.on_filesystem and load.size_bytes]
    wanted = target.file_bytes or (max(ends) if ends else min(_DEFAULT_FILE_BYTES, filesystem_bytes // 2))
    short = [load.name for load in workloads if load.on_filesystem and load.offset_bytes + load.bs_bytes > wanted]
    if short:
        raise PlanRefused(f"the test file of {format_size(wanted)} is too small for one block of workload {short[0]}")
    rounded = -(-wanted // block_bytes) * block_bytes
    if rounded > filesystem_bytes * 9 // 10:
        raise PlanRefused(
            f"the workloads need a test file of {format_size(rounded)}, "
            f"but the file system has {format_size(filesystem_bytes)} "
            "and a tenth of it must stay free; give a smaller size"
        )
    return rounded


def fill_block_bytes(full_stripe_bytes: int | None) -> int:
    """Block size for writing the test file: whole full stripes, about 4 MiB."""
    full = full_stripe_bytes or _FILL_BYTES
    return full * max(1, -(-_FILL_BYTES // full))


def time_limit_seconds(workload: Workload, size_bytes: int) -> float:
    """When a run counts as hung: what was asked for plus a minute, or a rate slower than any disk that works."""
    if workload.timeout_seconds is not None:
        return workload.timeout_seconds
    expected = workload.expected_seconds()
    if expected is not None:
        return expected + _GRACE_SECONDS
    return size_bytes / _SLOWEST_BYTES_PER_SECOND + _GRACE_SECONDS
