# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where workloads run, the test file, time limits, and programs that see a private mount."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.isolate import (
    fill_in_private_mount,
    in_private_mount,
    remove_in_private_mount,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload, parse_workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.target import (
    RunTarget,
    check_workloads,
    device_of,
    file_bytes_wanted,
    fill_block_bytes,
    time_limit_seconds,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

MIB, GIB = 1024**2, 1024**3
TARGET = RunTarget("/dev/top", "/dev/top", {"md": "/dev/md0"})


def load(**change: t.Any) -> Workload:
    return parse_workload({"name": "x", "tool": "fio", "runtime": "5s", **change})


def test_devices_by_the_name_of_their_layer() -> None:
    assert device_of(load(), TARGET) == "/dev/top"
    assert device_of(load(on="filesystem"), TARGET) == "/dev/top"
    assert device_of(load(on="md"), TARGET) == "/dev/md0"
    with pytest.raises(PlanRefused, match="it has: top_device, filesystem, md"):
        device_of(load(on="lv"), TARGET)
    with pytest.raises(PlanRefused, match="this stack has none"):
        device_of(load(on="filesystem"), RunTarget("/dev/top"))


def test_a_write_to_the_device_below_a_file_system_is_refused() -> None:
    for on in ("top_device", "md"):
        with pytest.raises(PlanRefused, match="would destroy the file system"):
            check_workloads([load(rw="randrw", on=on)], TARGET)
    check_workloads([load(rw="write", on="filesystem"), load()], TARGET)
    check_workloads([load(rw="write")], RunTarget("/dev/top"))


def test_the_fill_block_is_whole_full_stripes_of_about_4_mib() -> None:
    assert fill_block_bytes(768 * 1024) == 6 * 768 * 1024
    assert fill_block_bytes(MIB) == 4 * MIB
    assert fill_block_bytes(6 * MIB) == 6 * MIB
    assert fill_block_bytes(0) == fill_block_bytes(None) == 4 * MIB


def test_the_test_file_holds_every_workload_and_ends_on_a_stripe() -> None:
    loads = [
        load(on="filesystem", size="100MiB"),
        load(on="filesystem", size="50MiB", offset="80MiB"),
        load(size="9GiB"),
    ]
    assert file_bytes_wanted(loads, TARGET, GIB, 4608 * 1024) == 29 * 4608 * 1024
    assert file_bytes_wanted([load(on="filesystem")], TARGET, GIB, MIB) == 512 * MIB
    assert file_bytes_wanted([load(on="filesystem")], TARGET, 100 * GIB, MIB) == GIB
    assert file_bytes_wanted(loads, RunTarget("/d", "/d", file_bytes=200 * MIB), GIB, MIB) == 200 * MIB


def test_a_test_file_that_cannot_be_is_refused() -> None:
    with pytest.raises(PlanRefused, match="a tenth of it must stay free"):
        file_bytes_wanted([load(on="filesystem", size="950MiB")], TARGET, GIB, MIB)
    with pytest.raises(PlanRefused, match="too small for one block"):
        file_bytes_wanted([load(on="filesystem", bs="4MiB")], RunTarget("/d", "/d", file_bytes=MIB), GIB, MIB)


def test_time_limits() -> None:
    assert time_limit_seconds(load(ramp="1s"), GIB) == 66
    assert time_limit_seconds(load(timeout="10s"), GIB) == 10
    sized = parse_workload({"name": "x", "tool": "dd", "size": "1GiB"})
    assert time_limit_seconds(sized, 2_000_000_000) == 1060


@pytest.mark.parametrize("evil", ["/dev/x; rm -rf /", "$(reboot)", "-o exec", "a b\n"])
def test_nothing_given_by_a_person_becomes_shell_text(evil: str) -> None:
    for argv in (
        in_private_mount(evil, ["/usr/bin/dd", evil], True),
        fill_in_private_mount(evil, evil, 4096, ["dd"]),
        remove_in_private_mount(evil, evil),
    ):
        script = argv[argv.index("-c") + 1]
        assert evil not in script
        assert evil in argv[argv.index("-c") + 2 :]


def test_a_read_mounts_read_only_and_nothing_outlives_unshare() -> None:
    argv = in_private_mount("/dev/x", ["/usr/bin/fio", "--name=a"], True)
    assert {"-m", "-p", "-f", "--mount-proc", "--kill-child=KILL"} <= set(argv)
    assert "ro,norecovery,noatime" in argv
    assert "rw,noatime" in in_private_mount("/dev/x", ["/usr/bin/fio"], False)
    assert argv[-2:] == ["/usr/bin/fio", "--name=a"]
