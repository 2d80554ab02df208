# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The superblock parser against what xfs_info printed of the same file system."""

from __future__ import annotations

import re
import struct
import uuid
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.parse import (
    is_unfinished,
    parse_info,
    parse_superblock,
    with_fsgeometry,
)

FIXTURES = Path(__file__).parents[4] / "fixtures"
CASES = sorted(FIXTURES.glob("xfsprogs-*/*.superblock.bin"))


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.name.split('.')[0]}"


def truth(path: Path) -> dict[str, str]:
    """The fields of xfs_info by section and name, such as data.sunit."""
    fields, section = {}, ""
    text = path.with_name(path.name.replace(".superblock.bin", ".xfs_info.txt")).read_text(encoding="utf-8")
    for line in text.splitlines():
        section = line.split("=")[0].strip() or section
        for name, value in re.findall(r"([a-z0-9-]+)=(\w+)", line.partition("=")[2]):
            fields[f"{section.split()[0]}.{name}"] = value
    return fields


def test_fixtures_of_a_guest_are_there() -> None:
    assert len(CASES) >= 12


@pytest.mark.parametrize("path", CASES, ids=ids)
def test_agrees_with_xfs_info(path: Path) -> None:
    state, info = parse_superblock(path.read_bytes(), "/dev/x"), truth(path)
    block = int(info["data.bsize"])
    assert state.block_bytes == block
    assert state.sector_bytes == int(info["meta-data.sectsz"])
    assert (state.agcount, state.agblocks) == (int(info["meta-data.agcount"]), int(info["meta-data.agsize"]))
    assert state.data_blocks == int(info["data.blocks"])
    assert state.size_bytes == int(info["data.blocks"]) * block
    assert state.sunit_bytes == int(info["data.sunit"]) * block
    assert state.swidth_bytes == int(info["data.swidth"]) * block
    assert state.log_sunit_bytes == int(info["log.sunit"]) * block
    assert state.log_blocks == int(info["log.blocks"])
    assert state.inode_bytes == int(info["meta-data.isize"])


@pytest.mark.parametrize("path", CASES, ids=ids)
def test_features_agree_with_xfs_info(path: Path) -> None:
    state, info = parse_superblock(path.read_bytes(), "/dev/x"), truth(path)
    for name, shown in (
        ("crc", "crc"),
        ("reflink", "reflink"),
        ("rmapbt", "rmapbt"),
        ("bigtime", "bigtime"),
        ("finobt", "finobt"),
        ("sparse", "sparse"),
        ("inobtcount", "inobtcount"),
        ("nrext64", "nrext64"),
    ):
        assert (name in state.features) == (info[f"meta-data.{shown}"] == "1"), name


@pytest.mark.parametrize("path", [case for case in CASES if "noalign_label" in case.name], ids=ids)
def test_names(path: Path) -> None:
    state = parse_superblock(path.read_bytes(), "/dev/x", ("/srv",))
    assert (state.label, state.uuid) == ("plumb", "2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c12")
    assert state.mounted_at == ("/srv",)


def one() -> bytes:
    return next(case for case in CASES if "su256k" in case.name).read_bytes()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: b"", "could not read"),
        (lambda data: bytes(4096), "could not read"),
        (lambda data: data[:200], "could not read"),
        (lambda data: data[:4] + struct.pack(">I", 4097) + data[8:], "block size is 4097"),
        (lambda data: data[:88] + bytes(4) + data[92:], "no allocation group"),
        (lambda data: data[:184] + struct.pack(">I", 1) + data[188:], "checksum is wrong"),
    ],
)
def test_damaged_is_a_parse_error(damage: object, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        parse_superblock(damage(one()), "/dev/x")  # type: ignore[operator]


def test_a_file_system_cut_short_is_seen() -> None:
    data = one()
    assert not is_unfinished(data)
    assert is_unfinished(data[:126] + b"\1" + data[127:])
    assert not is_unfinished(bytes(4096))


@pytest.mark.parametrize("path", CASES, ids=ids)
def test_text_of_the_tools_says_the_same_as_the_superblock(path: Path) -> None:
    """xfs_info prints the very lines of mkfs.xfs -N."""
    state = parse_superblock(path.read_bytes(), "/dev/x")
    text = path.with_name(path.name.replace(".superblock.bin", ".xfs_info.txt")).read_text(encoding="utf-8")
    assert parse_info(text, "/dev/x") == state._replace(uuid=None, label="")


@pytest.mark.parametrize("text", ["", "meta-data=x isize=512", "data = bsize=a"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_info(text, "/dev/x")


def test_kernel_knows_better_of_a_mounted_one() -> None:
    state = parse_superblock(CASES[0].read_bytes(), "/dev/x")
    head = struct.pack("=8I4Q", 4096, 1, 65536, 9, 16384, 512, 512, 25, 589824, 0, 0, 0)
    data = head + uuid.UUID(state.uuid).bytes + struct.pack("=2I", 16, 48) + bytes(168)
    seen = with_fsgeometry(state, data)
    assert (seen.agcount, seen.data_blocks, seen.sunit_bytes, seen.swidth_bytes) == (9, 589824, 65536, 196608)
    assert with_fsgeometry(state._replace(uuid=str(uuid.UUID(int=1))), data).agcount == state.agcount
