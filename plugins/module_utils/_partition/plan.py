# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a partition comes to be or goes. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import is_aligned, misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    DEFAULT_ALIGNMENT_BYTES,
    LINUX_TYPE,
    PartitionState,
    PartitionWanted,
    TableState,
    canonical_uuid,
    find_partition,
    is_own_table,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import partition_node

__all__ = ["geometry_of", "managed_fields", "plan_partition", "plan_partition_absent", "plan_region"]

# sfdisk begins the first partition of a new table at 1 MiB, and the copy of a GPT needs 16 KiB of entries and one
# sector at the end of the disk.
_NEW_FIRST_BYTES = DEFAULT_ALIGNMENT_BYTES
_GPT_ENTRIES_BYTES = 128 * 128
_UDEV_RETRIES = 3


def geometry_of(state: PartitionState, disk: DeviceGeometry) -> DeviceGeometry:
    """The partition as the layer above sees it: the disk's sectors and stripe, begun at the partition's start."""
    full = disk.stripe.full_bytes if disk.stripe else None
    return dataclasses.replace(
        disk,
        path=state.path or partition_node(disk.path, state.number),
        size_bytes=state.size_bytes,
        offset_bytes=misalignment(disk.offset_bytes + state.start_bytes, full),
    )


def managed_fields(part: PartitionState | None, wanted: PartitionWanted) -> dict[str, t.Any]:
    """The managed fields of a partition for the diff; empty when it does not exist."""
    if part is None:
        return {}
    fields: dict[str, t.Any] = {"disk": wanted.disk, "name": part.name}
    if wanted.start_bytes is not None:
        fields["start_bytes"] = part.start_bytes
    if wanted.size_bytes is not None:
        fields["size_bytes"] = part.size_bytes
    if wanted.uuid is not None:
        fields["uuid"] = part.uuid
    if wanted.type_guid is not None:
        fields["type"] = part.type_guid
    return fields


def plan_region(table: TableState, wanted: PartitionWanted, disk: DeviceGeometry) -> Plan:
    """The plan for a region of a disk that is given up as a whole: a table that is not ours is replaced."""
    foreign = table.label is not None and not is_own_table(table)
    return plan_partition(table, wanted, disk, replace_table=foreign)


def plan_partition(
    table: TableState, wanted: PartitionWanted, disk: DeviceGeometry, replace_table: bool = False
) -> Plan:
    """The plan that makes the partition; empty when it is there. C(predicted) is the table afterwards.

    C(replace_table): when the partition is not there, everything on the disk goes and a new table is made. Raises
    PlanRefused when the place is taken, off the grid or outside the disk, or when an existing one lies elsewhere.
    """
    found = find_partition(table, wanted)
    if found is not None:
        return _keep(table, found, wanted)
    base = _emptied(table, disk) if replace_table or table.label is None else table
    if base.label not in (None, "gpt"):
        raise PlanRefused(
            f"{wanted.disk} has a partition table of kind {table.label}, but partition {wanted.name!r} can only be "
            "made in a GPT. Use another disk, or give replace_table: true to lose this table and everything in it"
        )
    made = _placed(base, wanted, disk)
    steps = _make_steps(table, base, made, wanted)
    after = dataclasses.replace(
        base,
        label="gpt",
        uuid=base.uuid if base.label else canonical_uuid(wanted.table_uuid),
        partitions=tuple(sorted((*base.partitions, made), key=lambda part: part.start_bytes)),
        leftovers=(),
    )
    return Plan(steps=steps, after=managed_fields(made, wanted), predicted=after)


def _emptied(table: TableState, disk: DeviceGeometry) -> TableState:
    """The disk without a table, as a new one would find it."""
    end = None
    if disk.size_bytes is not None:
        sector = table.sector_bytes
        end = disk.size_bytes // sector * sector - sector - max(_GPT_ENTRIES_BYTES, sector)
    return TableState(table.disk, None, None, (), table.sector_bytes, _NEW_FIRST_BYTES, end)


def _keep(table: TableState, found: PartitionState, wanted: PartitionWanted) -> Plan:
    """An existing partition: its place is compared and never moved; name and type may change in place."""
    for what, asked, has in (
        ("start", wanted.start_bytes, found.start_bytes),
        ("size", wanted.size_bytes, found.size_bytes),
    ):
        if asked is not None and asked != has:
            raise PlanRefused(
                f"partition {wanted.name!r} was asked for on {wanted.disk} with {what} {format_size(asked)}, but the "
                f"one there (number {found.number}, UUID {found.uuid}) has {what} {format_size(has)}, which cannot "
                "change in place; remove it first (state: absent), or ask for what it has"
            )
    steps: list[Step] = []
    if found.path is None:
        steps.append(_reread_step(table.disk))
    if found.name != wanted.name:
        steps.append(_set_step(table.disk, found.number, "--part-label", wanted.name))
    if wanted.type_guid is not None and wanted.type_guid.upper() != found.type_guid:
        steps.append(_set_step(table.disk, found.number, "--part-type", wanted.type_guid.upper()))
    changed = dataclasses.replace(
        found,
        path=found.path or partition_node(table.disk, found.number),
        name=wanted.name,
        type_guid=(wanted.type_guid or found.type_guid).upper(),
    )
    parts = tuple(changed if part is found else part for part in table.partitions)
    return Plan(
        steps=tuple(steps),
        before=managed_fields(found, wanted),
        after=managed_fields(changed, wanted),
        predicted=dataclasses.replace(table, partitions=parts),
    )


def _placed(table: TableState, wanted: PartitionWanted, disk: DeviceGeometry) -> PartitionState:
    """The partition at its place in the table; raises PlanRefused when it cannot be there."""
    if wanted.start_bytes is None:
        raise PlanRefused(f"partition {wanted.name!r} is not on {wanted.disk}; give start to make it")
    start, end = wanted.start_bytes, _room_end(table, wanted, disk)
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


def _room_end(table: TableState, wanted: PartitionWanted, disk: DeviceGeometry) -> int:
    """The first byte behind the start that is not free: the next partition, or the end of what the table may use."""
    end = table.end_usable_bytes if table.end_usable_bytes is not None else disk.size_bytes
    if end is None:
        raise PlanRefused(
            f"the size of {wanted.disk} is not known, so partition {wanted.name!r} cannot be placed on it"
        )
    behind = [part.start_bytes for part in table.partitions if part.start_bytes >= (wanted.start_bytes or 0)]
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


def _make_steps(table: TableState, base: TableState, made: PartitionState, wanted: PartitionWanted) -> tuple[Step, ...]:
    """One sfdisk call; before it old partitions are wiped, so that nothing in them is found again later."""
    disk, sector = table.disk, table.sector_bytes
    steps: list[Step] = []
    line = f"start={made.start_bytes // sector}, size={made.size_bytes // sector}, type={made.type_guid}"
    line += f", uuid={made.uuid.upper()}" if made.uuid else ""
    line += f', name="{made.name}"\n'
    where = f"{made.name!r} from {format_size(made.start_bytes)}, {format_size(made.size_bytes)} long"
    lock = ("--quiet", "--lock=yes", "--wipe-partitions", "always")
    if base.label is not None:
        argv = ("sfdisk", "--append", *lock, "--wipe", "never", disk)
        return (Step(argv, f"add partition {where} to {disk}", (disk,), stdin=line, retries=_UDEV_RETRIES),)
    if table.label is not None:
        old = tuple(part.path for part in table.partitions if part.path)
        gone = f"wipe the {table.label} table of {disk} and {len(table.partitions)} partitions in it"
        steps.append(Step(("wipefs", "-a", *old, disk), gone, (*old, disk), retries=_UDEV_RETRIES))
    head = "label: gpt\n" + (f"label-id: {wanted.table_uuid.upper()}\n" if wanted.table_uuid else "")
    new = ("sfdisk", *lock, "--wipe", "always", disk)
    steps.append(
        Step(new, f"make a GPT on {disk} with partition {where}", (disk,), stdin=head + line, retries=_UDEV_RETRIES)
    )
    return tuple(steps)


def _set_step(disk: str, number: int, option: str, value: str) -> Step:
    argv = ("sfdisk", "--quiet", "--lock=yes", "--no-reread", option, disk, str(number), value)
    return Step(argv, f"set {option[7:]} of partition {number} of {disk} to {value}", retries=_UDEV_RETRIES)


def _reread_step(disk: str) -> Step:
    return Step(("blockdev", "--rereadpt", disk), f"make the kernel read the table of {disk}", retries=_UDEV_RETRIES)


def plan_partition_absent(
    table: TableState, wanted: PartitionWanted, disk: DeviceGeometry, remove_table: bool = True
) -> Plan:
    """The plan that removes the partition and its signatures; empty when it is not there.

    C(remove_table): with the last partition of a table that this collection made, the table goes too.
    """
    found = find_partition(table, wanted)
    ours = is_own_table(table)
    if found is None:
        # An interrupted removal may leave the kernel with a partition that no table has any more.
        stale = bool(table.leftovers) and (ours or table.label is None)
        steps: tuple[Step, ...] = (_reread_step(table.disk),) if stale else ()
        return Plan(steps=steps, predicted=dataclasses.replace(table, leftovers=()))
    _check_same_place(found, wanted)
    rest = tuple(part for part in table.partitions if part is not found)
    nodes = (found.path,) if found.path else ()
    if ours and remove_table and not rest:
        argv = ("wipefs", "-a", *nodes, table.disk)
        summary = f"wipe partition {found.number} of {table.disk} and the table made for it"
        steps = (Step(argv, summary, (*nodes, table.disk), retries=_UDEV_RETRIES),)
        after = _emptied(table, disk)
    else:
        wipe = (Step(("wipefs", "-a", *nodes), f"wipe {found.path}", nodes, retries=_UDEV_RETRIES),) if nodes else ()
        argv = ("sfdisk", "--quiet", "--lock=yes", "--delete", table.disk, str(found.number))
        delete = Step(argv, f"delete partition {found.number} of {table.disk}", nodes, retries=_UDEV_RETRIES)
        steps, after = (*wipe, delete), dataclasses.replace(table, partitions=rest)
    return Plan(steps=steps, before=managed_fields(found, wanted), predicted=after)


def _check_same_place(found: PartitionState, wanted: PartitionWanted) -> None:
    asked = (wanted.start_bytes, wanted.size_bytes)
    if asked[0] not in (None, found.start_bytes) or asked[1] not in (None, found.size_bytes):
        raise PlanRefused(
            f"partition {wanted.name!r} of {wanted.disk} was to be removed from {format_size(asked[0])} with size "
            f"{format_size(asked[1])}, but it begins at {format_size(found.start_bytes)} and has "
            f"{format_size(found.size_bytes)}; is it the one you mean? Give its own start and size, or leave them out"
        )
