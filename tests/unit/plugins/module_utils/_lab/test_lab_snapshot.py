# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import is_there
from ansible_collections.plumbline.storage.plugins.module_utils._lab.snapshot import (
    delete_snapshot,
    list_snapshots,
    restore_snapshot,
    take_snapshot,
)

pytestmark = [
    pytest.mark.runs_programs,
    pytest.mark.skipif(not is_there("qemu-img"), reason="qemu-img (package qemu-utils) is not installed"),
]


@pytest.fixture
def disks(tmp_path: Path) -> list[str]:
    paths = [str(tmp_path / f"disk{number}.qcow2") for number in (1, 2)]
    for path in paths:
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", path, "1M"], check=True)
    return paths


def _write(path: str, text: str) -> None:
    source = Path(path + ".raw")
    source.write_bytes(text.encode().ljust(1024**2, b"\0"))
    subprocess.run(["qemu-img", "convert", "-n", "-f", "raw", "-O", "qcow2", str(source), path], check=True)


def _content(path: str) -> str:
    target = path + ".out"
    subprocess.run(["qemu-img", "convert", "-O", "raw", path, target], check=True)
    return Path(target).read_bytes().rstrip(b"\0").decode()


def test_all_disks_go_back_to_what_they_were(disks: list[str]) -> None:
    runner = Runner()
    for path in disks:
        _write(path, "before")
    take_snapshot(disks, "s1", runner)
    for path in disks:
        _write(path, "after")
    restore_snapshot(disks, "s1", runner)
    assert [_content(path) for path in disks] == ["before", "before"]


def test_snapshots_are_listed_in_order_and_removed(disks: list[str]) -> None:
    runner = Runner()
    for name in ("b", "a"):
        take_snapshot(disks, name, runner)
    assert list_snapshots(disks, runner) == ["b", "a"]
    assert delete_snapshot(disks, "b", runner) is True
    assert delete_snapshot(disks, "b", runner) is False
    assert list_snapshots(disks, runner) == ["a"]


def test_a_snapshot_of_some_disks_only_is_none_and_is_replaced(disks: list[str]) -> None:
    runner = Runner()
    take_snapshot(disks[:1], "s1", runner)
    assert list_snapshots(disks, runner) == []
    with pytest.raises(PlanRefused, match="no snapshot 's1' of disk2"):
        restore_snapshot(disks, "s1", runner)
    _write(disks[0], "later")
    take_snapshot(disks, "s1", runner)
    _write(disks[0], "last")
    restore_snapshot(disks, "s1", runner)
    assert _content(disks[0]) == "later"


@pytest.mark.parametrize("name", ["", "-c", "a b", "a/b"])
def test_a_name_that_qemu_img_would_misread_is_refused(disks: list[str], name: str) -> None:
    with pytest.raises(PlanRefused, match="snapshot name"):
        take_snapshot(disks, name, Runner())
