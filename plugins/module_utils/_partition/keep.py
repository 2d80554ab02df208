# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides what changes in place on a partition that is there. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.fields import managed_fields
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionState,
    PartitionWanted,
    TableState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import partition_node
from ansible_collections.plumbline.storage.plugins.module_utils._partition.place import (
    check_stripe,
    room_end,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.steps import (
    UDEV_RETRIES,
    set_step,
    tell_kernel_step,
)

__all__ = ["keep_partition"]


def keep_partition(table: TableState, found: PartitionState, wanted: PartitionWanted, disk: DeviceGeometry) -> Plan:
    """An existing partition: it is never moved; it may grow on request, and name and type may change in place."""
    size = _grown_size(table, found, wanted, disk)
    for what, asked, has in (
        ("start", wanted.start_bytes, found.start_bytes),
        ("size", wanted.size_bytes, size),
    ):
        if asked is not None and asked != has:
            raise DriftFound(
                f"partition {wanted.name!r} was asked for on {wanted.disk} with {what} {format_size(asked)}, but the "
                f"one there (number {found.number}, UUID {found.uuid}) has {what} {format_size(has)}, which does not "
                "change in place (only growing does, with resize: true); remove it first (state: absent), or ask for what it has"
            )
    steps: list[Step] = []
    if size != found.size_bytes:
        steps += _grow_steps(table, found, size)
    elif found.path is None or table.kernel_sizes.get(found.number, size) != size:
        steps.append(tell_kernel_step(table.disk, found.number))
    if found.name != wanted.name:
        steps.append(set_step(table.disk, found.number, "--part-label", wanted.name))
    if wanted.type_guid is not None and wanted.type_guid.upper() != found.type_guid:
        steps.append(set_step(table.disk, found.number, "--part-type", wanted.type_guid.upper()))
    changed = found._replace(
        path=found.path or partition_node(table.disk, found.number),
        size_bytes=size,
        name=wanted.name,
        type_guid=(wanted.type_guid or found.type_guid).upper(),
    )
    parts = tuple(changed if part is found else part for part in table.partitions)
    return Plan(
        steps=tuple(steps),
        before=managed_fields(found, wanted),
        after=managed_fields(changed, wanted),
        warnings=check_stripe(changed, table, disk),
        predicted=table._replace(partitions=parts, kernel_sizes={}),
    )


def _grown_size(table: TableState, found: PartitionState, wanted: PartitionWanted, disk: DeviceGeometry) -> int:
    """The size that an existing partition will have: larger only where that was asked for and there is room."""
    has, asked = found.size_bytes, wanted.size_bytes
    if not wanted.resize or (asked is not None and asked <= has):
        return has
    end = room_end(table, found.end_bytes, wanted, disk)
    room = end - found.start_bytes
    if asked is None:
        return max(has, room // wanted.alignment_bytes * wanted.alignment_bytes)
    if asked > room:
        raise PlanRefused(
            f"partition {wanted.name!r} of {wanted.disk} was asked to grow from {format_size(has)} to {format_size(asked)}, but "
            f"behind it there is room only up to {format_size(room)}; ask for less, or for another region"
        )
    physical = max(disk.physical_sector_bytes, disk.logical_sector_bytes)
    if asked % physical:
        raise PlanRefused(
            f"size was given as {format_size(asked)}, which is not a whole number of sectors of {wanted.disk} "
            f"({format_size(physical)})"
        )
    return asked


def _grow_steps(table: TableState, found: PartitionState, size: int) -> list[Step]:
    argv = ("sfdisk", "-N", str(found.number), "--quiet", "--lock=yes", "--no-reread", "--wipe", "never")
    where = f"{found.start_bytes // table.sector_bytes}, size={size // table.sector_bytes}"
    grow = Step(
        (*argv, "--wipe-partitions", "never", table.disk),
        f"let partition {found.number} of {table.disk} grow from {format_size(found.size_bytes)} to {format_size(size)}",
        (table.disk,),
        stdin=f"start={where}\n",
        retries=UDEV_RETRIES,
        table_only=True,
    )
    return [grow, tell_kernel_step(table.disk, found.number)]
