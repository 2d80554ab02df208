# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What `sfdisk -J` prints, typed."""

from __future__ import annotations

import json
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionState,
    TableState,
    canonical_uuid,
)

__all__ = ["parse_table", "partition_node"]

_NUMBER = re.compile(r"(\d+)$")


def partition_node(disk: str, number: int) -> str:
    """The kernel's name for a partition that does not exist yet: C(sda1), but C(nvme0n1p1) behind a digit."""
    return f"{disk}{'p' if disk[-1:].isdigit() else ''}{number}"


def parse_table(text: str, disk: str, nodes: t.Mapping[int, str] | None = None) -> TableState:
    """The table in the output of `sfdisk -J`. C(nodes) are the kernel's partition nodes by number.

    Raises ParseError when a required field is missing or the unit is not sectors.
    """
    try:
        table = json.loads(text)["partitiontable"]
        if table["unit"] != "sectors":
            raise ParseError("the partition table, whose unit is not sectors", text)
        # util-linux before 2.34 does not print the sector size, and then knows only 512.
        sector = int(table.get("sectorsize", 512))
        parts = tuple(_partition(entry, sector, nodes or {}) for entry in table.get("partitions", []))
        return TableState(
            disk=disk,
            label=table["label"],
            uuid=canonical_uuid(table["id"]),
            partitions=tuple(sorted(parts, key=lambda part: part.start_bytes)),
            sector_bytes=sector,
            first_usable_bytes=table["firstlba"] * sector if "firstlba" in table else None,
            end_usable_bytes=(table["lastlba"] + 1) * sector if "lastlba" in table else None,
            leftovers=_leftovers(parts, nodes or {}),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"the partition table of {disk} from sfdisk ({type(error).__name__}: {error})", text) from None


def _partition(entry: t.Mapping[str, t.Any], sector: int, nodes: t.Mapping[int, str]) -> PartitionState:
    match = _NUMBER.search(entry["node"])
    if match is None:
        raise ValueError(f"no partition number in {entry['node']!r}")
    number = int(match.group(1))
    return PartitionState(
        path=nodes.get(number),
        number=number,
        name=entry.get("name", ""),
        start_bytes=int(entry["start"]) * sector,
        size_bytes=int(entry["size"]) * sector,
        uuid=canonical_uuid(entry.get("uuid")),
        type_guid=str(entry["type"]).upper(),
    )


def _leftovers(parts: t.Sequence[PartitionState], nodes: t.Mapping[int, str]) -> tuple[str, ...]:
    known = {part.number for part in parts}
    return tuple(path for number, path in sorted(nodes.items()) if number not in known)
