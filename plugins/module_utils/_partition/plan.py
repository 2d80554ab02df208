# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a partition comes to be or goes. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.fields import managed_fields
from ansible_collections.plumbline.storage.plugins.module_utils._partition.keep import keep_partition
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionState,
    PartitionWanted,
    TableState,
    canonical_uuid,
    find_partition,
    is_own_table,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.place import (
    check_stripe,
    emptied_table,
    placed_partition,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.steps import (
    UDEV_RETRIES,
    tell_kernel_step,
)

__all__ = ["plan_partition", "plan_region"]


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
        return keep_partition(table, found, wanted, disk)
    base = emptied_table(table, disk) if replace_table or table.label is None else table
    if base.label not in (None, "gpt"):
        raise PlanRefused(
            f"{wanted.disk} has a partition table of kind {table.label}, but partition {wanted.name!r} can only be "
            "made in a GPT. Use another disk, or give replace_table: true to lose this table and everything in it"
        )
    made = placed_partition(base, wanted, disk)
    steps = _make_steps(table, base, made, wanted)
    after = base._replace(
        label="gpt",
        uuid=base.uuid if base.label else canonical_uuid(wanted.table_uuid),
        partitions=tuple(sorted((*base.partitions, made), key=lambda part: part.start_bytes)),
        leftovers=(),
    )
    warnings = check_stripe(made, table, disk)
    return Plan(steps=steps, after=managed_fields(made, wanted), warnings=warnings, predicted=after)


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
        argv = ("sfdisk", "--append", "--no-reread", *lock, "--wipe", "never", disk)
        summary = f"add partition {where} to {disk}"
        add = Step(argv, summary, (disk,), stdin=line, retries=UDEV_RETRIES, table_only=True)
        return (add, tell_kernel_step(disk, made.number))
    if table.label is not None:
        old = tuple(part.path for part in table.partitions if part.path)
        gone = f"wipe the {table.label} table of {disk} and {len(table.partitions)} partitions in it"
        steps.append(Step(("wipefs", "-a", *old, disk), gone, (*old, disk), retries=UDEV_RETRIES))
    head = "label: gpt\n" + (f"label-id: {wanted.table_uuid.upper()}\n" if wanted.table_uuid else "")
    new = ("sfdisk", *lock, "--wipe", "always", disk)
    steps.append(
        Step(new, f"make a GPT on {disk} with partition {where}", (disk,), stdin=head + line, retries=UDEV_RETRIES)
    )
    return tuple(steps)
