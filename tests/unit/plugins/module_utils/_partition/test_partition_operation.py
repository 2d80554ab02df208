# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of disk_partition, and reading a disk's nodes from sysfs."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import CommandError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition import read
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import PARTITION_TYPES, TableState
from ansible_collections.plumbline.storage.plugins.module_utils._partition.operation import (
    DiskRead,
    partition_operation,
    wanted_from_params,
)

FIXTURES = Path(__file__).parents[4] / "fixtures"
MIB, GIB = 1024**2, 1024**3
BLANK = DiskRead(DeviceGeometry("/dev/sdb", 4 * GIB), TableState("/dev/sdb"), "host-a")


def params(**options: t.Any) -> dict[str, t.Any]:
    base = {"disk": "/dev/sdb", "name": "region", "state": "present", "start": "1MiB", "size": "1GiB"}
    return {**base, "alignment": "1MiB", "replace_table": False, **options}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, {"start_bytes": MIB, "size_bytes": GIB, "uuid": None, "type_guid": None, "alignment_bytes": MIB}),
        ({"start": "2048s", "size": None}, {"start_bytes": MIB, "size_bytes": None}),
        ({"type": "raid"}, {"type_guid": PARTITION_TYPES["raid"]}),
        ({"type": "0FC63DAF-8483-4772-8E79-3D69D8477DE4"}, {"type_guid": PARTITION_TYPES["linux"]}),
        ({"alignment": "4KiB"}, {"alignment_bytes": 4096}),
    ],
)
def test_options(options: dict[str, t.Any], fields: dict[str, t.Any]) -> None:
    wanted = wanted_from_params(params(**options))
    assert {name: getattr(wanted, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": "1"}, "without a unit"),
        ({"size": "much"}, "size"),
        ({"name": ""}, "name"),
        ({"name": "x" * 37}, "36"),
        ({"name": 'a", start=0, name="b'}, "name"),
        ({"name": "a\nlabel: dos"}, "name"),
        ({"uuid": "1234"}, "UUID"),
        ({"type": "swap space"}, "type"),
        ({"alignment": "100B"}, "512"),
        ({"alignment": "0MiB"}, "512"),
    ],
)
def test_refused_options(options: dict[str, t.Any], words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        partition_operation(params(**options))


def test_the_same_wish_gives_the_same_command_and_another_host_another_table() -> None:
    operation = partition_operation(params())
    plan = operation.plan(BLANK)
    assert plan.commands() == operation.plan(BLANK).commands()
    other = DiskRead(BLANK.geometry, BLANK.table, "host-b")
    assert plan.commands() != operation.plan(other).commands()
    shown = operation.result(plan.predicted)["partition"]
    assert (shown["path"], shown["start_bytes"], shown["size_bytes"], shown["type"]) == ("/dev/sdb1", MIB, GIB, "linux")
    assert shown["table_uuid"].startswith("706c756d-626c-4")
    assert operation.result(BLANK) == {"partition": None}


def test_absent_on_a_blank_disk() -> None:
    assert not partition_operation(params(state="absent")).plan(BLANK).changed


class Sfdisk(Runner):
    """Answers with one result."""

    def __init__(self, rc: int, out: str, err: str) -> None:
        super().__init__()
        self.answer = (rc, out, err)

    def query(self, argv, *rest, **more) -> CommandResult:  # type: ignore[no-untyped-def,override]
        assert argv == ["sfdisk", "-J", "/dev/sdb"]
        return CommandResult(tuple(argv), *self.answer)


@pytest.fixture
def sysfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A disk sdb with one partition, and a device-mapper device."""
    block = tmp_path / "class" / "block"
    for name in ("sdb/sdb2", "sdb/queue", "sdb2", "dm-0/dm"):
        (block / name).mkdir(parents=True)
    (block / "sdb" / "sdb2" / "partition").write_text("2\n", encoding="ascii")
    (block / "sdb2" / "partition").write_text("2\n", encoding="ascii")
    (block / "sdb" / "queue" / "logical_block_size").write_text("4096\n", encoding="ascii")
    monkeypatch.setattr(read, "SYSFS", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("sysfs")
def test_table_with_nodes() -> None:
    text = (FIXTURES / "sfdisk-2.38.1" / "gpt_second_left.json").read_text(encoding="utf-8")
    table = read.read_table(Sfdisk(0, text, ""), "/dev/sdb")
    assert [(part.number, part.path) for part in table.partitions] == [(2, "/dev/sdb2")]


@pytest.mark.usefixtures("sysfs")
@pytest.mark.parametrize("version", ["sfdisk-2.38.1", "sfdisk-2.41.5"])
def test_a_table_of_before_the_disk_grew(version: str) -> None:
    text, said = ((FIXTURES / version / f"gpt_grown.{end}").read_text() for end in ("json", "stderr.txt"))
    assert read.read_table(Sfdisk(0, text, said), "/dev/sdb").copy_misplaced
    assert not read.read_table(Sfdisk(0, text, ""), "/dev/sdb").copy_misplaced


@pytest.mark.usefixtures("sysfs")
def test_no_table() -> None:
    said = (FIXTURES / "sfdisk-2.38.1" / "no_table.stderr.txt").read_text(encoding="utf-8")
    table = read.read_table(Sfdisk(1, "", said), "/dev/sdb")
    assert (table.label, table.sector_bytes, table.leftovers) == (None, 4096, ("/dev/sdb2",))


@pytest.mark.usefixtures("sysfs")
def test_another_error_of_sfdisk_is_not_taken_for_an_empty_disk() -> None:
    with pytest.raises(CommandError, match="Input/output error"):
        read.read_table(Sfdisk(1, "", "sfdisk: cannot open /dev/sdb: Input/output error"), "/dev/sdb")


@pytest.mark.usefixtures("sysfs")
@pytest.mark.parametrize(
    ("disk", "words"), [("/dev/sdz", "no such"), ("/dev/sdb2", "whole disk"), ("/dev/dm-0", "device-mapper")]
)
def test_not_a_whole_disk(disk: str, words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        read.kernel_name(disk)
