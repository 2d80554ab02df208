# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometry of existing devices, from a hand-made tree of sysfs files and device-mapper tables."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.dm_table import parse_dm_table
from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import (
    may_be_planned,
    read_device_geometry,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.md_word import md_layout_word
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import Stripe

K, M, G = 1024, 1024**2, 1024**3


class TableRunner(Runner):
    """Answers dmsetup from a table; any other program is an error."""

    def __init__(self, tables: dict[str, str]) -> None:
        super().__init__(check_mode=True)
        self.tables = tables

    def query(self, argv: t.Sequence[str], *args: t.Any, **kwargs: t.Any) -> CommandResult:
        assert argv[:2] == ["dmsetup", "table"]
        return CommandResult(tuple(argv), 0, self.tables[argv[2]], "")


def node(name: str, devno: str, kind: str = "disk", **fields: t.Any) -> BlockNode:
    return BlockNode(
        **{"kernel_name": name, "path": f"/dev/{name}", "devno": devno, "size_bytes": G, "kind": kind, **fields}
    )


def md_files(directory: Path, level: str, disks: int, chunk: int, layout: int, offset: int = 6144) -> str:
    values = {"level": level, "raid_disks": disks, "chunk_size": chunk, "layout": layout, "dev-sda/offset": offset}
    for name, value in values.items():
        file = directory / "md" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n", encoding="utf-8")
    return str(directory)


def tree_of(*nodes: BlockNode) -> BlockTree:
    numbers = {one.path: one.devno for one in nodes}
    return BlockTree({one.kernel_name: one for one in nodes}, numbers.get)


@pytest.fixture
def tree(tmp_path: Path) -> BlockTree:
    disks = [node(f"sd{letter}", f"8:{16 * index}") for index, letter in enumerate("abcd")]
    slaves = ("sda", "sdb", "sdc", "sdd")
    array = node("md0", "9:0", "md", slaves=slaves, sysfs_path=md_files(tmp_path / "md0", "raid5", 4, 256 * K, 2))
    twin = node("md1", "9:1", "md", slaves=slaves, sysfs_path=md_files(tmp_path / "md1", "raid5", 4, 256 * K, 2))
    over = node(
        "md2", "9:2", "md", slaves=("md0", "md1"), sysfs_path=md_files(tmp_path / "md2", "raid0", 2, 128 * K, 0)
    )
    region = node("sda1", "8:1", "partition", parent="sda", partition_start_bytes=M)
    inside = node("md0p1", "259:0", "partition", parent="md0", partition_start_bytes=M)
    linear = node("dm-0", "253:0", "dm", slaves=("md0",), dm_name="v-l")
    striped = node("dm-1", "253:1", "dm", slaves=("md0", "md1"), dm_name="v-s")
    plain = node("dm-2", "253:2", "dm", slaves=("sda", "sdb"), dm_name="v-p")
    return tree_of(*disks, array, twin, over, region, inside, linear, striped, plain)


TABLES = {
    "v-l": "0 1536 linear 9:0 3072\n1536 2048 linear 9:0 9216\n",
    "v-s": "0 8192 striped 2 256 9:0 3072 9:1 3072\n",
    "v-p": "0 8192 striped 2 128 8:0 2048 8:16 2048\n",
}


@pytest.mark.parametrize(
    ("path", "stripe", "offset"),
    [
        ("/dev/sda", None, 0),
        ("/dev/sda1", None, 0),
        ("/dev/md0", Stripe(256 * K, 3), 0),
        ("/dev/md0p1", Stripe(256 * K, 3), 256 * K),
        # 3 MiB of data offset on a full stripe of 768 KiB.
        ("/dev/md2", Stripe(128 * K, 12), 0),
        ("/dev/dm-0", Stripe(256 * K, 3), 0),
        ("/dev/dm-1", Stripe(128 * K, 12), 0),
        ("/dev/dm-2", Stripe(64 * K, 2), 0),
    ],
)
def test_geometry_is_derived_down_to_the_disks(tree: BlockTree, path: str, stripe: Stripe | None, offset: int) -> None:
    found = read_device_geometry(path, False, TableRunner(TABLES), tree)
    assert (found.stripe, found.offset_bytes) == (stripe, offset)
    assert (found.path, found.size_bytes, found.assumed) == (path, G, False)


def test_a_linear_volume_off_the_stripe(tree: BlockTree) -> None:
    found = read_device_geometry("/dev/dm-0", False, TableRunner({"v-l": "0 1024 linear 9:0 2048\n"}), tree)
    assert found.offset_bytes == M % (768 * K)
    unlike = TableRunner({"v-l": "0 1024 linear 9:0 3072\n1024 2048 linear 9:0 9216\n"})
    assert read_device_geometry("/dev/dm-0", False, unlike, tree).offset_bytes == 256 * K


def test_a_striped_volume_off_the_stripe(tree: BlockTree) -> None:
    """128 KiB more on each array are one more round, so two stripes of the volume."""
    found = read_device_geometry(
        "/dev/dm-1", False, TableRunner({"v-s": "0 8192 striped 2 256 9:0 3328 9:1 3328\n"}), tree
    )
    assert (found.stripe, found.offset_bytes) == (Stripe(128 * K, 12), 256 * K)


def test_images_of_a_raid_volume_are_looked_through(tree: BlockTree) -> None:
    images = [node(f"dm-{at}", f"253:{at}", "dm", slaves=("md0",), dm_name=f"v-i{at}") for at in (3, 4)]
    raid = node("dm-5", "253:5", "dm", slaves=("dm-3", "dm-4"), dm_name="v-r")
    tables = {
        "v-i3": "0 8192 linear 9:0 2048\n",
        "v-i4": "0 8192 linear 9:1 2048\n",
        "v-r": "0 8192 raid raid1 3 0 region_size 4096 2 - 253:3 - 253:4\n",
    }
    found = read_device_geometry("/dev/dm-5", False, TableRunner(tables), tree_of(*tree.nodes.values(), *images, raid))
    assert (found.stripe, found.offset_bytes) == (Stripe(256 * K, 3), 256 * K)


def test_a_reshaping_array_shows_what_it_will_be(tree: BlockTree, tmp_path: Path) -> None:
    (tmp_path / "md0/md/chunk_size").write_text("131072 (262144)\n", encoding="utf-8")
    assert read_device_geometry("/dev/md0", False, TableRunner({}), tree).stripe == Stripe(128 * K, 3)


@pytest.mark.parametrize(
    ("path", "planned"),
    [
        ("/dev/sda7", True),
        ("/dev/sdz1", False),
        ("/dev/sdz", False),
        ("/dev/nvme0n1", False),
        ("/dev/nvme0n1p1", False),
        ("/dev/md/data", True),
        ("/dev/md17", True),
        ("/dev/vg/lv", True),
        ("/dev/mapper/vg-lv", True),
        ("/dev/disk/by-partlabel/region", True),
        ("/dev/disk/by-id/ata-missing", False),
        ("/dev/disk/by-id/ata-missing-part1", False),
        ("/dev/input/event0", False),
        ("/etc/passwd", False),
    ],
)
def test_only_containers_may_be_missing_in_check_mode(tree: BlockTree, path: str, planned: bool) -> None:
    assert may_be_planned(path, tree) is planned
    if planned:
        found = read_device_geometry(path, True, TableRunner({}), tree)
        assert (found.assumed, found.size_bytes, found.path) == (True, None, path)
    else:
        with pytest.raises(PlanRefused, match="no such block device"):
            read_device_geometry(path, True, TableRunner({}), tree)
    with pytest.raises(PlanRefused, match="no such block device"):
        read_device_geometry(path, False, TableRunner({}), tree)


def test_raid_volumes_and_unknown_targets() -> None:
    (raid,) = parse_dm_table(
        "0 8192 raid raid5_ls 3 128 region_size 4096 4 253:0 253:1 253:2 253:3 253:4 253:5 253:6 253:7\n"
    )
    assert (raid.stripe, raid.data_stripes) == (Stripe(64 * K, 3), 3)
    assert [area.devno for area in raid.areas] == ["253:1", "253:3", "253:5", "253:7"]
    (ten,) = parse_dm_table(
        "0 8192 raid raid10 7 128 region_size 4096 raid10_copies 2 raid10_format near "
        "4 253:0 253:1 253:2 253:3 - - 253:6 253:7\n"
    )
    assert (ten.stripe, ten.data_stripes, len(ten.areas)) == (Stripe(64 * K, 4), 2, 3)
    (legs,) = parse_dm_table("0 8192 mirror disk 2 253:1 4096 2 253:2 0 253:3 2048 1 handle_errors\n")
    assert [(leg.devno, leg.offset_bytes) for leg in legs.areas] == [("253:2", 0), ("253:3", M)]
    (mirror,) = parse_dm_table("0 8192 raid raid1 3 0 region_size 4096 2 253:0 253:1 253:2 253:3\n")
    assert mirror.stripe is None
    (unknown,) = parse_dm_table("0 8192 marvel 1 2 3\n")
    assert (unknown.target, unknown.areas) == ("marvel", ())
    with pytest.raises(ParseError):
        parse_dm_table("0 8192 striped two\n")


@pytest.mark.parametrize(
    ("level", "number", "word"),
    [
        ("raid10", 0x102, "n2"),
        ("raid10", 0x201, "f2"),
        ("raid10", 0x10201, "o2"),
        ("raid10", 0x103, "n3"),
        ("raid5", 2, "left-symmetric"),
        ("raid6", 8, "ddf-zero-restart"),
        ("raid0", 1, None),
        ("raid1", 0, None),
        ("raid5", None, None),
    ],
)
def test_layout_words_of_the_kernel(level: str, number: int | None, word: str | None) -> None:
    assert md_layout_word(level, number) == word


def test_an_unknown_layout_number_is_an_error() -> None:
    with pytest.raises(ParseError, match="99"):
        md_layout_word("raid5", 99)
