# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Names and records of stacks: everything that a stack will be called is decided here, before anything is made. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Region, StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import StackRecord

__all__ = ["OWNER_TAG", "mounts_of", "new_record", "owner_tag", "short_name", "stack_id", "with_mounts_of"]

# An md name and its home host ("any:") share 32 bytes, the last of which mdadm leaves zero.
MD_NAME_LENGTH = 27
OWNER_TAG = "plumbline"


def short_name(text: str, length: int = MD_NAME_LENGTH) -> str:
    """The text, or its beginning and a hash where it is too long."""
    if len(text) <= length:
        return text
    return f"{text[: length - 8]}_{hashlib.sha256(text.encode()).hexdigest()[:7]}"


def stack_id(experiment: str, stack: str) -> str:
    """The id, and the name of its array and volume group: C(pl_<experiment>_<stack>)."""
    return short_name(f"pl_{experiment}_{stack}")


def owner_tag(record_id: str) -> str:
    """The tag on VGs and LVs of a stack."""
    return f"{OWNER_TAG}={record_id}"


def _layer_names(base: str, names: t.Sequence[str]) -> dict[str, str]:
    """One object gets the stack's own name, several get the layer's added."""
    return {name: base if len(names) == 1 else short_name(f"{base}_{name}") for name in names}


def new_record(
    record_id: str,
    stack: StackDescription,
    disks: t.Sequence[DiskIdentity],
    region: Region,
    partitions: t.Sequence[str],
    new_uuid: t.Callable[[], str],
    keeps_regions: bool = False,
    run_id: str | None = None,
) -> StackRecord:
    """The record of a stack to be made. C(new_uuid) gives fresh UUIDs; C(partitions) are those of the regions."""
    arrays = [layer.name for layer in stack.layers if layer.kind == "md"]
    groups = [layer.name for layer in stack.layers if layer.kind == "vg"]
    return StackRecord(
        id=record_id,
        stack=stack.name,
        disks=tuple(disk_identity(disk) for disk in disks),
        region_start_bytes=region.start_bytes,
        region_size_bytes=region.size_bytes,
        partitions=tuple(partitions),
        partition_name=record_id[:36],
        arrays={name: md_uuid(new_uuid()) for name in arrays},
        array_names=_layer_names(record_id, arrays),
        groups=_layer_names(record_id, groups),
        filesystems={layer.name: new_uuid() for layer in stack.layers if layer.kind == "xfs"},
        mounts=mounts_of(stack),
        keeps_regions=keeps_regions,
        run_id=run_id,
    )


def mounts_of(stack: StackDescription) -> dict[str, str]:
    """Where the file systems of a stack are mounted for good, by layer."""
    return {layer.name: str(layer.options["mount"]) for layer in stack.layers if layer.options.get("mount") is not None}


def with_mounts_of(stack: StackDescription, record: StackRecord) -> StackRecord:
    """The record with the mounts of this description; what was mounted elsewhere is kept in mind until it is gone."""
    wished = mounts_of(stack)
    former = tuple(path for path in record.mount_points() if path not in wished.values())
    return dataclasses.replace(record, mounts=wished, former_mounts=former)


def disk_identity(disk: DiskIdentity) -> dict[str, t.Any]:
    """How a record names a disk."""
    return {
        "names": list(disk.names()),
        "serial_number": disk.serial_number,
        "wwn": disk.wwn,
        "capacity_bytes": disk.capacity_bytes,
        "path_id": disk.path_id,
    }


def md_uuid(uuid: str) -> str:
    """A UUID as mdadm writes it: four groups of eight hex digits."""
    digits = uuid.replace("-", "").lower()
    return ":".join(digits[index : index + 8] for index in range(0, 32, 8))
