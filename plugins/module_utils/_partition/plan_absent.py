# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how a partition goes. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.fields import managed_fields
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionState,
    PartitionWanted,
    TableState,
    find_partition,
    is_own_table,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.place import (
    emptied_table,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.steps import (
    UDEV_RETRIES,
    forget_kernel_step,
    reread_step,
)

__all__ = ["plan_partition_absent"]


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
        steps: tuple[Step, ...] = (reread_step(table.disk),) if stale else ()
        return Plan(steps=steps, predicted=table._replace(leftovers=()))
    _check_same_place(found, wanted)
    rest = tuple(part for part in table.partitions if part is not found)
    nodes = (found.path,) if found.path else ()
    if ours and remove_table and not rest:
        argv = ("wipefs", "-a", *nodes, table.disk)
        summary = f"wipe partition {found.number} of {table.disk} and the table made for it"
        steps = (Step(argv, summary, (*nodes, table.disk), retries=UDEV_RETRIES),)
        after = emptied_table(table, disk)
    else:
        wipe = (Step(("wipefs", "-a", *nodes), f"wipe {found.path}", nodes, retries=UDEV_RETRIES),) if nodes else ()
        argv = ("sfdisk", "--quiet", "--lock=yes", "--no-reread", "--delete", table.disk, str(found.number))
        summary = f"delete partition {found.number} of {table.disk}"
        delete = Step(argv, summary, (table.disk,), retries=UDEV_RETRIES, table_only=True)
        steps = (*wipe, delete, forget_kernel_step(table.disk, found.number))
        after = table._replace(partitions=rest)
    return Plan(steps=steps, before=managed_fields(found, wanted), predicted=after)


def _check_same_place(found: PartitionState, wanted: PartitionWanted) -> None:
    asked = (wanted.start_bytes, wanted.size_bytes)
    if asked[0] not in (None, found.start_bytes) or asked[1] not in (None, found.size_bytes):
        raise PlanRefused(
            f"partition {wanted.name!r} of {wanted.disk} was to be removed from {format_size(asked[0])} with size "
            f"{format_size(asked[1])}, but it begins at {format_size(found.start_bytes)} and has "
            f"{format_size(found.size_bytes)}; is it the one you mean? Give its own start and size, or leave them out"
        )
