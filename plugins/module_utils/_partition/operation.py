# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of disk_partition as an Operation."""

from __future__ import annotations

import hashlib
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PARTITION_TYPES,
    PartitionWanted,
    TableState,
    find_partition,
    own_table_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan import plan_partition
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan_absent import plan_partition_absent
from ansible_collections.plumbline.storage.plugins.module_utils._partition.read import read_machine_id, read_table

__all__ = ["DiskRead", "PartitionOperation", "partition_operation", "partition_result", "wanted_from_params"]

_GUID = re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_NAME = re.compile(r"^[A-Za-z0-9_.:+@ -]{1,36}$")


class DiskRead(t.NamedTuple):
    """A disk, its table, and who the host is (a seed for the GUID of a table that must be made)."""

    geometry: DeviceGeometry
    table: TableState
    machine_id: str


def wanted_from_params(params: t.Mapping[str, t.Any]) -> PartitionWanted:
    """The options, checked and typed; raises PlanRefused."""
    name = params["name"]
    if not _NAME.match(name):
        raise PlanRefused(
            f"name was given as {name!r}; a partition name here has 1 to 36 letters, digits, blanks or any of _.:+@-"
        )
    return PartitionWanted(
        disk=params["disk"],
        name=name,
        start_bytes=parse_optional_size(params.get("start"), "start"),
        size_bytes=parse_optional_size(params.get("size"), "size"),
        uuid=_guid(params.get("uuid"), "uuid"),
        type_guid=_type_guid(params.get("type")),
        alignment_bytes=_alignment(params.get("alignment") or "1MiB"),
        resize=bool(params.get("resize")),
    )


def _alignment(text: str) -> int:
    size = parse_size(text, "alignment")
    if size < 512 or size % 512:
        raise PlanRefused(f"alignment was given as {text}; it must be a multiple of 512 bytes")
    return size


def _guid(text: str | None, option: str) -> str | None:
    if text is not None and not _GUID.match(text):
        raise PlanRefused(
            f"{option} was given as {text!r}, which is not a UUID such as 2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11"
        )
    return text


def _type_guid(text: str | None) -> str | None:
    if text is None:
        return None
    if text not in PARTITION_TYPES and not _GUID.match(text):
        raise PlanRefused(f"type was given as {text!r}; use one of {', '.join(PARTITION_TYPES)}, or the GUID of a type")
    return PARTITION_TYPES.get(text, text)


class PartitionOperation:
    """Read, plan and result of one partition."""

    def __init__(self, wanted: PartitionWanted, present: bool, replace_table: bool) -> None:
        self.wanted, self.present, self.replace_table = wanted, present, replace_table

    def read(self, runner: Runner) -> DiskRead:
        """The disk must exist, also in check mode."""
        table = read_table(runner, self.wanted.disk)
        return DiskRead(read_device_geometry(table.disk, False), table, read_machine_id())

    def plan(self, state: DiskRead) -> Plan:
        """The plan; its prediction is a DiskRead."""
        if self.present:
            wanted = self.wanted
            if wanted.table_uuid is None:
                wanted = wanted._replace(table_uuid=_seeded(state, wanted))
            plan = plan_partition(state.table, wanted, state.geometry, self.replace_table)
        else:
            plan = plan_partition_absent(state.table, self.wanted, state.geometry)
        return plan._replace(predicted=state._replace(table=plan.predicted))

    def result(self, state: DiskRead) -> dict[str, t.Any]:
        return {"partition": partition_result(state.table, self.wanted)}


def _seeded(state: DiskRead, wanted: PartitionWanted) -> str:
    """The GUID of a new table: the same for the same wish, so that check mode shows the command of the real run."""
    parts = (state.machine_id, state.table.disk, wanted.name, str(wanted.start_bytes), wanted.uuid or "")
    return own_table_uuid(hashlib.sha256("\0".join(parts).encode()).hexdigest())


def partition_result(table: TableState, wanted: PartitionWanted) -> dict[str, t.Any] | None:
    """The partition as a person gets it, None when it is not there."""
    part = find_partition(table, wanted)
    if part is None:
        return None
    words = {guid: word for word, guid in PARTITION_TYPES.items()}
    return {
        "disk": table.disk,
        "path": part.path,
        "number": part.number,
        "name": part.name,
        "start_bytes": part.start_bytes,
        "size_bytes": part.size_bytes,
        "uuid": part.uuid,
        "type": words.get(part.type_guid, part.type_guid),
        "table_uuid": table.uuid,
    }


def partition_operation(params: t.Mapping[str, t.Any]) -> PartitionOperation:
    """An Operation from the options of disk_partition; raises PlanRefused for options that cannot be."""
    return PartitionOperation(
        wanted_from_params(params), params["state"] == "present", bool(params.get("replace_table"))
    )
