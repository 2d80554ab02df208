# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One GPT partition as a region of a disk, and the table it stands in. Sizes in bytes."""

from __future__ import annotations

import typing as t

__all__ = [
    "DEFAULT_ALIGNMENT_BYTES",
    "LINUX_TYPE",
    "PARTITION_TYPES",
    "PartitionState",
    "PartitionWanted",
    "TableState",
    "canonical_uuid",
    "find_partition",
    "is_own_table",
    "own_table_uuid",
]

DEFAULT_ALIGNMENT_BYTES = 1024**2
LINUX_TYPE = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
# Words for the type option; the GUIDs are those of the UEFI and Discoverable Partitions specifications.
PARTITION_TYPES = {
    "linux": LINUX_TYPE,
    "raid": "A19D880F-05FC-4D3B-A006-743F0F84911E",
    "lvm": "E6D6D379-F507-44C2-A23C-238F2A3DF928",
}
# A table made by this collection is known by the first bytes of its GUID, the letters "plumbl". So a run that was
# killed, or a later one without any record, can tell a table that it may take down from a foreign one.
_OWN_PREFIX = "706c756d-626c-4"


def canonical_uuid(text: str | None) -> str | None:
    """A UUID in lower case, as udev names it; None stays None."""
    return None if text is None else text.strip().lower()


def own_table_uuid(seed_hex: str) -> str:
    """The GUID for a table of ours from at least 18 hexadecimal digits (a hash of host, disk and region)."""
    digits = seed_hex.lower()
    return f"{_OWN_PREFIX}{digits[:3]}-8{digits[3:6]}-{digits[6:18]}"


class PartitionWanted(t.NamedTuple):
    """The wish. Of an existing partition None is not managed.

    C(size_bytes) None takes at creation all room from the start to the next partition or the end. C(type_guid) None
    is a Linux filesystem partition at creation. C(table_uuid) names the table when one must be made.
    C(resize): an existing one grows into free room behind it, to C(size_bytes), or without that as far as there is room.
    """

    disk: str
    name: str
    start_bytes: int | None = None
    size_bytes: int | None = None
    uuid: str | None = None
    type_guid: str | None = None
    table_uuid: str | None = None
    alignment_bytes: int = DEFAULT_ALIGNMENT_BYTES
    resize: bool = False


class PartitionState(t.NamedTuple):
    """A partition of the table. C(path) is its device node, None where the kernel does not show it (yet)."""

    path: str | None
    number: int
    name: str
    start_bytes: int
    size_bytes: int
    uuid: str | None
    type_guid: str

    @property
    def end_bytes(self) -> int:
        """The first byte behind it."""
        return self.start_bytes + self.size_bytes


class TableState(t.NamedTuple):
    """The partition table of a disk. C(label) None: there is none.

    C(first_usable_bytes) and C(end_usable_bytes) bound what partitions may take, None where the table does not say.
    C(leftovers) are partition nodes that the kernel still shows though the table does not have them. C(optimal_io_bytes) is
    what the disk reports, 0 where it reports nothing or nonsense. C(kernel_sizes) are what the kernel shows, by number.
    C(copy_misplaced): the copy of the GPT is not at the end of the disk, which has become larger.
    """

    disk: str
    label: str | None = None
    uuid: str | None = None
    partitions: tuple[PartitionState, ...] = ()
    sector_bytes: int = 512
    first_usable_bytes: int | None = None
    end_usable_bytes: int | None = None
    leftovers: tuple[str, ...] = ()
    optimal_io_bytes: int = 0
    kernel_sizes: t.Mapping[int, int] = {}
    copy_misplaced: bool = False


def is_own_table(table: TableState) -> bool:
    """Whether this collection made the table."""
    return table.label == "gpt" and (table.uuid or "").lower().startswith(_OWN_PREFIX)


def find_partition(table: TableState, wanted: PartitionWanted) -> PartitionState | None:
    """The partition that the wish means: by UUID where one is given, else by name (and start, if several have it)."""
    if wanted.uuid is not None:
        return next((part for part in table.partitions if part.uuid == canonical_uuid(wanted.uuid)), None)
    named = [part for part in table.partitions if part.name == wanted.name]
    if len(named) > 1 and wanted.start_bytes is not None:
        named = [part for part in named if part.start_bytes == wanted.start_bytes] or named
    return named[0] if named else None
