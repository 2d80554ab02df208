# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks on disks, tried on plain files in the place of device nodes."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block import device_lock
from ansible_collections.plumbline.storage.plugins.module_utils._block.device_lock import DeviceLocks, whole_disk
from ansible_collections.plumbline.storage.plugins.module_utils._block.wait import wait_for_nodes
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step, apply_plan


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that two "partitions" of it lead to."""
    path = tmp_path / "disk"
    path.write_bytes(b"")
    monkeypatch.setattr(device_lock, "whole_disk", lambda one: str(path) if one.startswith(str(path)) else None)
    return str(path)


def is_locked(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def test_partitions_of_one_disk_share_its_lock(disk: str) -> None:
    with DeviceLocks() as locks:
        locks.hold((disk + "1", disk + "2", "/dev/gone"))
        assert is_locked(disk)
        locks.hold((disk + "1",))
        assert is_locked(disk)
        locks.hold(())
        assert not is_locked(disk)
        locks.hold((disk,))
    assert not is_locked(disk)


def test_a_disk_that_others_lock_is_passed_over(disk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_lock, "_WAIT_SECONDS", 0.1)
    with open(disk, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with DeviceLocks() as locks:
            locks.hold((disk,))
    assert not is_locked(disk)


def test_what_is_no_block_device_has_no_disk(tmp_path: Path) -> None:
    assert whole_disk(str(tmp_path)) is None
    assert whole_disk("/dev/null") is None
    assert whole_disk("/dev/does-not-exist") is None


def test_steps_keep_the_lock_between_them(disk: str) -> None:
    seen: list[bool] = []

    class LookingRunner(Runner):
        def change(self, argv: object, *args: object, **kwargs: object) -> CommandResult:
            seen.append(is_locked(disk))
            return CommandResult((), 0, "", "")

    between: list[bool] = []
    steps = [Step(("a",), "a"), Step(("b",), "b", locks=(disk,)), Step(("c",), "c", locks=(disk,)), Step(("d",), "d")]
    apply_plan(Plan(tuple(steps)), LookingRunner(), before_step=lambda step: between.append(is_locked(disk)))
    assert seen == [False, True, True, False]
    assert between == [False, False, True, True]


def test_a_step_waits_for_the_node_it_works_on(tmp_path: Path) -> None:
    node = tmp_path / "node"
    seen: list[bool] = []

    class MakingRunner(Runner):
        def change(self, argv: object, *args: object, **kwargs: object) -> CommandResult:
            seen.append(node.exists())
            threading.Timer(0.2, node.touch).start()
            return CommandResult((), 0, "", "")

    steps = [Step(("make",), "make"), Step(("use",), "use", awaits=(str(node),))]
    apply_plan(Plan(tuple(steps)), MakingRunner())
    assert seen == [False, True]


def test_a_node_that_never_comes_is_named() -> None:
    with pytest.raises(StorageError, match="/dev/never did not appear within"):
        wait_for_nodes(["/dev/null", "/dev/never"], seconds=0.1)
