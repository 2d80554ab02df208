# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What is ours on this host, recorded before the first step, so that a killed run can be finished or removed."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import STATE_DIR

__all__ = [
    "RECORDS_DIR",
    "StackRecord",
    "delete_record",
    "read_record",
    "read_records",
    "write_atomically",
    "write_record",
]

RECORDS_DIR = os.path.join(STATE_DIR, "stacks")


@dataclasses.dataclass(frozen=True)
class StackRecord:
    """One stack, or the regions of an experiment. UUIDs are chosen before anything is made.

    C(disks) are identities (serial_number, wwn, capacity_bytes), in the order of the description; C(partitions) the
    partition UUIDs in the same order; C(arrays) md UUIDs, C(groups) VG names, C(filesystems) XFS UUIDs and C(mounts) their
    mount points by layer name; C(former_mounts) are mount points of an earlier description that may still be there;
    C(keeps_regions) marks a stack that stands on regions which outlive it.
    """

    id: str
    stack: str
    disks: tuple[t.Mapping[str, t.Any], ...]
    region_start_bytes: int
    region_size_bytes: int
    partitions: tuple[str, ...]
    partition_name: str
    arrays: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    array_names: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    groups: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    filesystems: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    mounts: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    former_mounts: tuple[str, ...] = ()
    keeps_regions: bool = False
    run_id: str | None = None
    settings_before: tuple[tuple[str, str], ...] = ()

    def container_ids(self) -> frozenset[str]:
        """Ids by which the guard knows what is ours."""
        ids = [f"partuuid:{uuid}" for uuid in self.partitions]
        ids += [f"md:{uuid}" for uuid in self.arrays.values()]
        ids += [f"vg:{name}" for name in self.groups.values()]
        return frozenset(ids)

    def mount_points(self) -> list[str]:
        """Every place where something of this stack may be mounted, once each."""
        return list(dict.fromkeys([*self.mounts.values(), *self.former_mounts]))

    def layer_names(self) -> dict[str, t.Iterable[str]]:
        """The names of the recorded layers by kind."""
        return {"md": self.arrays, "vg": self.groups, "xfs": self.filesystems}


def record_path(record_id: str) -> str:
    return os.path.join(RECORDS_DIR, f"{record_id}.json")


def write_atomically(path: str, text: str) -> None:
    """Writes a file so that a power cut leaves the old or the new content, never a torn one."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
    _sync_directory(os.path.dirname(path))


def _sync_directory(path: str) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def write_record(record: StackRecord) -> None:
    """Stores the record durably; it must be there before the first step."""
    write_atomically(record_path(record.id), json.dumps(dataclasses.asdict(record), indent=1, sort_keys=True))


def delete_record(record_id: str) -> None:
    """Forgets a stack that is gone, durably; no error when it was not recorded."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(record_path(record_id))
        _sync_directory(RECORDS_DIR)


def read_record(record_id: str) -> StackRecord | None:
    """The record, or None. Raises StorageError when the file is damaged."""
    path = record_path(record_id)
    try:
        with open(path, encoding="utf-8") as stream:
            return _from_json(json.load(stream))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(
            f"the record {path} cannot be read ({error}); look at what it names, remove that by hand, and delete it"
        ) from None


def _from_json(data: t.Mapping[str, t.Any]) -> StackRecord:
    known = {field.name for field in dataclasses.fields(StackRecord)}
    values = {key: value for key, value in data.items() if key in known}
    for key in ("disks", "partitions"):
        values[key] = tuple(values[key])
    values["former_mounts"] = tuple(values.get("former_mounts", ()))
    values["settings_before"] = tuple((path, value) for path, value in values.get("settings_before", ()))
    return StackRecord(**values)


def read_records() -> list[StackRecord]:
    """Every record on this host; stacks before the regions they stand on."""
    try:
        names = sorted(name[:-5] for name in os.listdir(RECORDS_DIR) if name.endswith(".json"))
    except FileNotFoundError:
        return []
    records = [record for record in map(read_record, names) if record is not None]
    return sorted(records, key=lambda record: (not record.keeps_regions, record.id))
