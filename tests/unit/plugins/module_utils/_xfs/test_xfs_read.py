# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading: first bytes, mount points, and what is on a device."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._xfs import read
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState

FIXTURES = Path(__file__).parents[4] / "fixtures"
SUPERBLOCK = next(FIXTURES.glob("xfsprogs-*/su256k_sw3.superblock.bin"))


class Wipefs(Runner):
    """Answers every query with one text."""

    def __init__(self, text: str, rc: int = 0) -> None:
        super().__init__()
        self.text, self.rc = text, rc

    def query(self, argv, *rest, **more) -> CommandResult:  # type: ignore[no-untyped-def,override]
        assert argv[:2] == ["wipefs", "-J"]
        return CommandResult(tuple(argv), self.rc, self.text, "")


@pytest.fixture
def as_block_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as block devices, and are mounted nowhere."""
    monkeypatch.setattr(stat, "S_ISBLK", lambda mode: True)
    monkeypatch.setattr(read, "mount_points", lambda device: ())


@pytest.mark.parametrize("size", [4096, 8192, 100])
def test_first_bytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "device"
    data = os.urandom(size)
    path.write_bytes(data)
    assert read.read_first_bytes(str(path)) == data[:4096]


def test_mount_points(tmp_path: Path) -> None:
    number = os.stat("/dev/null").st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"
    table = tmp_path / "mountinfo"
    table.write_text(
        f"36 35 {name} / /srv/with\\040blank rw - xfs /dev/x rw\n"
        "37 35 99:99 / /elsewhere rw - xfs /dev/y rw\n"
        f"38 35 {name} /sub /bind rw - xfs /dev/x rw\n",
        encoding="utf-8",
    )
    assert read.mount_points("/dev/null", str(table)) == ("/srv/with blank", "/bind")


@pytest.mark.usefixtures("as_block_device")
def test_a_file_system_is_read(tmp_path: Path) -> None:
    path = tmp_path / "device"
    path.write_bytes(SUPERBLOCK.read_bytes())
    state = read.read_xfs(Wipefs(""), str(path))
    assert isinstance(state, XfsState)
    assert (state.sunit_bytes, state.swidth_bytes) == (262144, 786432)


@pytest.mark.usefixtures("as_block_device")
@pytest.mark.parametrize(
    ("offset", "value", "note"), [(126, b"\1", "cut short"), (200, b"\7", "checksum"), (4, b"\7", "block size")]
)
def test_unfinished_and_damaged_ones_are_other_content(tmp_path: Path, offset: int, value: bytes, note: str) -> None:
    data = bytearray(SUPERBLOCK.read_bytes())
    data[offset : offset + 1] = value
    path = tmp_path / "device"
    path.write_bytes(data)
    found = read.read_xfs(Wipefs(""), str(path))
    assert isinstance(found, OtherContent)
    assert found.kinds == ("xfs",)
    assert note in found.note


@pytest.mark.usefixtures("as_block_device")
@pytest.mark.parametrize(
    ("text", "rc", "expected"),
    [
        ('{"signatures": []}', 0, None),
        ("", 0, None),
        ("", 1, None),
        (
            '{"signatures": [{"device": "x", "offset": "0x438", "type": "ext4"}, {"type": "gpt"}, {"type": "ext4"}]}',
            0,
            ("ext4", "gpt"),
        ),
    ],
)
def test_other_content_by_its_signatures(tmp_path: Path, text: str, rc: int, expected: tuple[str, ...] | None) -> None:
    path = tmp_path / "device"
    path.write_bytes(bytes(4096))
    found = read.read_xfs(Wipefs(text, rc), str(path))
    assert (found.kinds if isinstance(found, OtherContent) else found) == expected


@pytest.mark.usefixtures("as_block_device")
def test_unreadable_signatures(tmp_path: Path) -> None:
    path = tmp_path / "device"
    path.write_bytes(bytes(4096))
    with pytest.raises(ParseError):
        read.read_xfs(Wipefs('{"signatures": [{"no": "type"}]}'), str(path))


def test_no_device_and_no_block_device(tmp_path: Path) -> None:
    assert read.read_xfs(Wipefs(""), str(tmp_path / "missing")) is None
    with pytest.raises(PlanRefused, match="not a block device"):
        read.read_xfs(Wipefs(""), str(tmp_path))
