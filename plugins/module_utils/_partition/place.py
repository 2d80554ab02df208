# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Where a partition can lie on a disk: the grid, the neighbours, the room. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import is_aligned
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    DEFAULT_ALIGNMENT_BYTES,
    LINUX_TYPE,
    PartitionState,
    PartitionWanted,
    TableState,
    canonical_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import partition_node

__all__ = ["check_stripe", "emptied_table", "placed_partition", "room_end"]

# sfdisk begins the first partition of a new table at 1 MiB, and the copy of a GPT needs 16 KiB of entries and one
# sector at the end of the disk.
_NEW_FIRST_BYTES = DEFAULT_ALIGNMENT_BYTES
_GPT_ENTRIES_BYTES = 128 * 128


def emptied_table(table: TableState, disk: DeviceGeometry) -> TableState:
    """The disk without a table, as a new one would find it."""
    end = _end_before_copy(table, disk)
    return TableState(table.disk, None, None, (), table.sector_bytes, _NEW_FIRST_BYTES, end)


def _end_before_copy(table: TableState, disk: DeviceGeometry) -> int | None:
    """Where the copy of a GPT begins when it lies at the end of the disk. None on a disk of unknown size."""
    if disk.size_bytes is None:
        return None
    sector = table.sector_bytes
    return disk.size_bytes // sector * sector - sector - max(_GPT_ENTRIES_BYTES, sector)


def _usable_end(table: TableState, disk: DeviceGeometry) -> int | None:
    """Of a GPT made when the disk was smaller, the room behind its old end counts: sfdisk moves the copy to the end of the disk
    whenever it writes the table."""
    if table.copy_misplaced:
        return _end_before_copy(table, disk)
    return disk.size_bytes if table.end_usable_bytes is None else table.end_usable_bytes


def placed_partition(table: TableState, wanted: PartitionWanted, disk: DeviceGeometry) -> PartitionState:
    """The partition at its place in the table; raises PlanRefused when it cannot be there."""
    if wanted.start_bytes is None:
        raise PlanRefused(f"partition {wanted.name!r} is not on {wanted.disk}; give start to make it")
    start, end = wanted.start_bytes, room_end(table, wanted.start_bytes or 0, wanted, disk)
    size = wanted.size_bytes
    if size is None:
        size = max(0, end - start) // wanted.alignment_bytes * wanted.alignment_bytes
    _check_grid(start, size, wanted, disk)
    if table.first_usable_bytes is not None and start < table.first_usable_bytes:
        raise PlanRefused(
            f"start was given as {format_size(start)}, but partitions on {wanted.disk} can begin at "
            f"{format_size(table.first_usable_bytes)} at the earliest; the space before it holds the table"
        )
    _check_overlap(table, start, size, wanted)
    if start + size > end:
        raise PlanRefused(
            f"partition {wanted.name!r} was asked for from {format_size(start)} to {format_size(start + size)}, but "
            f"{wanted.disk} has room only up to {format_size(end)}; ask for {format_size(max(0, end - start))} or less"
        )
    taken = {part.number for part in table.partitions}
    number = next(number for number in range(1, len(taken) + 2) if number not in taken)
    return PartitionState(
        path=partition_node(table.disk, number),
        number=number,
        name=wanted.name,
        start_bytes=start,
        size_bytes=size,
        uuid=canonical_uuid(wanted.uuid),
        type_guid=(wanted.type_guid or LINUX_TYPE).upper(),
    )


def room_end(table: TableState, start: int, wanted: PartitionWanted, disk: DeviceGeometry) -> int:
    """The first byte behind the start that is not free: the next partition, or the end of what the table may use."""
    end = _usable_end(table, disk)
    if end is None:
        raise PlanRefused(
            f"the size of {wanted.disk} is not known, so partition {wanted.name!r} cannot be placed on it"
        )
    behind = [part.start_bytes for part in table.partitions if part.start_bytes >= start]
    return min([end, *behind])


def _check_grid(start: int, size: int, wanted: PartitionWanted, disk: DeviceGeometry) -> None:
    physical = max(disk.physical_sector_bytes, disk.logical_sector_bytes)
    if not is_aligned(start, physical):
        raise PlanRefused(
            f"start was given as {format_size(start)}, which is inside a physical sector of {wanted.disk} "
            f"({format_size(physical)}); every write at its edge would be read, changed and written"
        )
    if not is_aligned(start, wanted.alignment_bytes):
        raise PlanRefused(
            f"start was given as {format_size(start)}, which is not a multiple of the alignment "
            f"{format_size(wanted.alignment_bytes)}; move it, or give another alignment"
        )
    if size <= 0:
        raise PlanRefused(
            f"there is no room for partition {wanted.name!r} on {wanted.disk} behind {format_size(start)}"
        )
    if not is_aligned(size, physical):
        raise PlanRefused(
            f"size was given as {format_size(size)}, which is not a whole number of sectors of {wanted.disk} "
            f"({format_size(physical)})"
        )


def _check_overlap(table: TableState, start: int, size: int, wanted: PartitionWanted) -> None:
    for part in table.partitions:
        if start < part.end_bytes and part.start_bytes < start + size:
            raise PlanRefused(
                f"partition {wanted.name!r} was asked for from {format_size(start)} to {format_size(start + size)} of "
                f"{wanted.disk}, where partition {part.number} ({part.name or 'without a name'}, "
                f"{format_size(part.start_bytes)} to {format_size(part.end_bytes)}) lies; choose another place, or "
                "remove that partition first"
            )


def check_stripe(part: PartitionState, table: TableState, disk: DeviceGeometry) -> tuple[str, ...]:
    """A warning where the start lies off the full stripe below, or off what the disk reports as its best size of I/O."""
    grid, what = (
        (disk.stripe.full_bytes, "full stripe") if disk.stripe else (table.optimal_io_bytes, "optimal I/O size")
    )
    off = (disk.offset_bytes + part.start_bytes) % grid if grid else 0
    if not off:
        return ()
    return (
        f"partition {part.name!r} begins at {format_size(part.start_bytes)} of {table.disk}, {format_size(off)} behind a multiple of "
        f"the {what} below ({format_size(grid)}); what is aligned inside the partition is not aligned on the disk",
    )
