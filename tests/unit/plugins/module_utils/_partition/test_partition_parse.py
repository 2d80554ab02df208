# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table parser on recorded output of sfdisk, against `sfdisk -d` of the same disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import parse_table, partition_node

FIXTURES = Path(__file__).parents[4] / "fixtures"
CASES = sorted(FIXTURES.glob("sfdisk-*/*.json"))


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_fixtures_are_there() -> None:
    assert len(CASES) >= 5


@pytest.mark.parametrize("path", CASES, ids=ids)
def test_agrees_with_the_dump(path: Path) -> None:
    table = parse_table(path.read_text(encoding="utf-8"), "/dev/sdb")
    dump = path.with_suffix("").with_suffix(".dump.txt").read_text(encoding="utf-8")
    head = dict(re.findall(r"^([a-z-]+): (.*)$", dump, re.M))
    sector = int(head["sector-size"])
    assert (table.label, table.sector_bytes) == (head["label"], sector)
    assert table.uuid == head["label-id"].lower()
    if "first-lba" in head:
        assert table.first_usable_bytes == int(head["first-lba"]) * sector
        assert table.end_usable_bytes == (int(head["last-lba"]) + 1) * sector
    rows = re.findall(r"^\S+?(\d+) : start= *(\d+), size= *(\d+), type=([^,\n]+)(.*)$", dump, re.M)
    assert len(rows) == len(table.partitions)
    for part, (number, start, size, kind, rest) in zip(table.partitions, rows):
        assert (part.number, part.start_bytes, part.size_bytes) == (
            int(number),
            int(start) * sector,
            int(size) * sector,
        )
        assert part.type_guid == kind.strip().upper()
        assert f'name="{part.name}"' in rest or not part.name
        assert part.uuid is None or f"uuid={part.uuid.upper()}" in rest


@pytest.mark.parametrize("path", [case for case in CASES if case.stem == "gpt_second_left"], ids=ids)
def test_nodes_come_from_the_kernel(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    table = parse_table(text, "/dev/nvme0n1", {1: "/dev/nvme0n1p1", 2: "/dev/nvme0n1p2"})
    assert [(part.number, part.path, part.name) for part in table.partitions] == [(2, "/dev/nvme0n1p2", "second part")]
    assert table.leftovers == ("/dev/nvme0n1p1",)
    assert parse_table(text, "/dev/nvme0n1").partitions[0].path is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "nothing",
        '{"partitiontable": {"label": "gpt", "id": "A", "unit": "cylinders"}}',
        '{"partitiontable": {"label": "gpt", "unit": "sectors"}}',
        '{"partitiontable": {"label": "gpt", "id": "A", "unit": "sectors", "partitions": [{"node": "x", "start": 1}]}}',
        '{"partitiontable": {"label": "gpt", "id": "A", "unit": "sectors", "partitions": [{"node": "x1"}]}}',
    ],
)
def test_anything_else_is_a_parse_error(text: str) -> None:
    with pytest.raises(ParseError):
        parse_table(text, "/dev/sdb")


@pytest.mark.parametrize(
    ("disk", "node"),
    [
        ("/dev/sda", "/dev/sda3"),
        ("/dev/nvme0n1", "/dev/nvme0n1p3"),
        ("/dev/md127", "/dev/md127p3"),
        ("/dev/vdb", "/dev/vdb3"),
    ],
)
def test_predicted_node(disk: str, node: str) -> None:
    assert partition_node(disk, 3) == node
