# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading: first bytes, mount points, and what is on a device."""

from __future__ import annotations

import os
import stat
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import Mount
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
    monkeypatch.setattr(read, "read_mounts", list)
    monkeypatch.setattr(read, "devno_of_path", lambda device: "9:1")


@pytest.mark.parametrize("size", [4096, 8192, 100])
def test_first_bytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "device"
    data = os.urandom(size)
    path.write_bytes(data)
    assert read.read_first_bytes(str(path)) == data[:4096]


@pytest.mark.usefixtures("as_block_device")
def test_where_it_is_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "device"
    path.write_bytes(SUPERBLOCK.read_bytes())
    mounts = [
        Mount("9:1", "/srv/a", "xfs", "/dev/x", "rw,logbufs=8,logdev=/dev/y,noquota"),
        Mount("9:2", "/elsewhere", "xfs", "/dev/z"),
        Mount("9:1", "/bind", "xfs", "/dev/x"),
        Mount("9:1", "/srv/a", "xfs", "/dev/x"),
        Mount("9:1", "/private", "xfs", "/dev/x", namespace_of="process 7 (fio)"),
    ]
    monkeypatch.setattr(read, "read_mounts", lambda: mounts)
    state = read.read_xfs(Wipefs(""), str(path))
    assert isinstance(state, XfsState)
    assert state.mounted_at == ("/srv/a", "/bind")
    assert state.mounted_elsewhere
    assert state.log_device == "/dev/y"
    monkeypatch.setattr(read, "read_mounts", lambda: mounts[4:])
    state = read.read_xfs(Wipefs(""), str(path))
    assert isinstance(state, XfsState)
    assert (state.mounted_at, state.mounted_elsewhere, state.mounted) == ((), True, True)


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


class Answers(Runner):
    """Answers by the program and whether its version was asked."""

    def __init__(self, **answers: tuple[int, str, str]) -> None:
        super().__init__()
        self.answers, self.asked = answers, []  # type: ignore[var-annotated]

    def query(self, argv: t.Sequence[str], *rest: t.Any, **more: t.Any) -> CommandResult:
        self.asked.append(list(argv))
        rc, out, err = self.answers["version" if "-V" in argv else "trial"]
        return CommandResult(tuple(argv), rc, out, err)


def test_trial_of_what_can_be_made() -> None:
    text = next(FIXTURES.glob("xfsprogs-*/su256k_sw3.xfs_info.txt")).read_text(encoding="utf-8")
    trial = read.read_trial(Answers(trial=(0, text, "")), ["mkfs.xfs", "-N", "/dev/x"])
    assert trial is not None
    assert trial.would_make is not None
    assert (trial.would_make.device, trial.would_make.sunit_bytes) == ("/dev/x", 262144)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("xfsprogs-*/*.logprint.txt")), ids=lambda path: path.parent.name)
def test_log_as_recorded(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert read.read_log_dirty(Answers(trial=(0, text, "")), "/dev/x") is path.name.startswith("dirty")


def test_log_with_something_to_replay() -> None:
    runner = Answers(trial=(0, "    log tail: 2 head: 128 state: <DIRTY>\n", ""))
    assert read.read_log_dirty(runner, "/dev/x", "/dev/y")
    assert runner.asked == [["xfs_logprint", "-t", "-l", "/dev/y", "/dev/x"]]
    assert not read.read_log_dirty(Answers(trial=(0, "    log tail: 2 head: 2 state: <CLEAN>\n", "")), "/dev/x")


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("xfsprogs-*/trial_*.txt")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_trial_as_recorded(path: Path) -> None:
    """Each record: what must be found in the answer, the exit code, then what was printed on either stream."""
    expected, rc, text = path.read_text(encoding="utf-8").split("\n", 2)
    code = int(rc.removeprefix("exit code "))
    out, _line, err = text.partition("--- standard error\n")
    version = (0, "mkfs.xfs version 1.2.3\n", "")
    trial = read.read_trial(Answers(trial=(code, out, err), version=version), ["mkfs.xfs", "-N", "/dev/x"])
    words = expected.removeprefix("expect: ")
    if words == "in use":
        assert trial is None
        return
    assert trial is not None
    assert words in (trial.warning if code == 0 else trial.refusal)
    assert (trial.would_make is None) == (code != 0)
