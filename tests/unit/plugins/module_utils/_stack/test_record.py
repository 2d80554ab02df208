# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._stack import record as records
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import (
    StackRecord,
    delete_record,
    read_record,
    read_records,
    write_record,
)

RECORD = StackRecord(
    id="pl_stack_s",
    stack="s",
    disks=({"names": ["S-1"]},),
    region_start_bytes=1024**2,
    region_size_bytes=1024**3,
    partitions=("11111111-2222-4333-8444-555555555555",),
    partition_name="pl_stack_s",
    arrays={"md": "00000001:00000002:00000003:00000004"},
    mounts={"xfs": "/srv/t"},
    former_mounts=("/srv/s",),
    settings_before=(("/sys/block/sda/queue/read_ahead_kb", "128"),),
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(records, "RECORDS_DIR", str(tmp_path / "stacks"))
    return tmp_path / "stacks"


def test_a_record_is_read_as_it_was_written_and_can_be_forgotten() -> None:
    assert read_record(RECORD.id) is None
    write_record(RECORD)
    assert read_record(RECORD.id) == RECORD
    assert read_records() == [RECORD]
    delete_record(RECORD.id)
    delete_record(RECORD.id)
    assert read_records() == []


def test_a_cut_in_the_middle_of_writing_leaves_the_old_record(monkeypatch: pytest.MonkeyPatch) -> None:
    write_record(RECORD)

    def cut(*_unused: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", cut)
    with pytest.raises(KeyboardInterrupt):
        write_record(StackRecord(**{**vars(RECORD), "stack": "other"}))
    assert read_records() == [RECORD]


def test_content_name_and_absence_of_a_record_are_put_on_the_disk(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_record(RECORD)
    assert synced == ["pl_stack_s.json.part", "stacks"]
    delete_record(RECORD.id)
    assert synced[2:] == ["stacks"]


def test_a_damaged_record_says_what_to_do(directory: Path) -> None:
    directory.mkdir()
    (directory / "pl_stack_s.json").write_text('{"id": "pl')
    with pytest.raises(StorageError, match=r"pl_stack_s\.json cannot be read .*; look at what it names"):
        read_record(RECORD.id)
