# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads from what a person writes."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import (
    parse_seconds,
    parse_workload,
    parse_workloads,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

FIO = {"name": "seq_read", "tool": "fio", "rw": "read", "runtime": "30s"}
DD = {"name": "buffered", "tool": "dd", "on": "filesystem", "size": "384MiB"}


def test_a_fio_workload_in_full() -> None:
    load = parse_workload(
        {**FIO, "on": "lv", "bs": "256k", "direct": True, "iodepth": 8, "numjobs": "2", "ramp": "500ms", "cold": "yes"}
    )
    assert (load.on, load.bs_bytes, load.direct, load.iodepth, load.numjobs) == ("lv", 262144, True, 8, 2)
    assert (load.runtime_seconds, load.ramp_seconds, load.cold) == (30.0, 0.5, True)
    assert load.expected_seconds() == 30.5
    assert load.primary_metric == "throughput_bytes_per_second"


def test_a_dd_workload_has_no_runtime() -> None:
    load = parse_workload(DD)
    assert (load.access, load.size_bytes, load.on_filesystem) == ("read", 384 * 1024**2, True)
    assert load.expected_seconds() is None
    assert not load.writes


@pytest.mark.parametrize("access", ["write", "randwrite", "rw", "readwrite", "randrw"])
def test_what_writes_is_known(access: str) -> None:
    assert parse_workload({**FIO, "rw": access}).writes


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("30s", 30), ("2m", 120), ("1h", 3600), ("500ms", 0.5), (30, 30), ("1.5", 1.5), ("2 min", 120)],
)
def test_seconds(value: t.Any, seconds: float) -> None:
    assert parse_seconds(value, "runtime") == seconds


@pytest.mark.parametrize("value", ["", "s", "30x", "-1s", True, None, "1e9s", [30]])
def test_what_is_no_time(value: t.Any) -> None:
    with pytest.raises(PlanRefused, match="is not a time"):
        parse_seconds(value, "runtime")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": None}, "a name is needed"),
        ({"name": "two words"}, "a name is needed"),
        ({"name": 7}, "a name is needed"),
        ({"tool": "iozone"}, "known tools: fio, dd"),
        ({"tool": None}, "known tools"),
        ({"blocksize": "1MiB"}, "'blocksize', which fio workloads do not take"),
        ({"access": "read"}, "'access', which fio"),
        ({"rw": "trim"}, "known: read, write"),
        ({"bs": 1048576}, "without a unit"),
        ({"bs": "64"}, "without a unit"),
        ({"bs": "0k"}, "block size"),
        ({"bs": "2g"}, "block size"),
        ({"bs": "1000B", "direct": True}, "no multiple of 512B"),
        ({"runtime": "soon"}, "is not a time"),
        ({"runtime": "0.2s"}, "at least 1s"),
        ({"runtime": None}, "neither how long nor how much"),
        ({"size": "10"}, "without a unit"),
        ({"iodepth": 0}, "whole number"),
        ({"iodepth": True}, "whole number"),
        ({"iodepth": "many"}, "whole number"),
        ({"direct": "maybe"}, "give true or false"),
        ({"ioengine": "io_uring"}, "known: libaio, psync"),
        ({"on": "each_disk"}, "cannot do yet"),
        ({"on": "all_disks"}, "cannot do yet"),
        ({"on": "memory"}, "cannot do yet"),
        ({"on": "/dev/sda"}, "name of a layer"),
        ({"on": None}, "name of a layer"),
        ({"primary_metric": 3}, "name of a metric"),
    ],
)
def test_refusals_name_the_workload_and_the_way_out(change: dict[str, t.Any], said: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        parse_workload({**FIO, **change})
    assert said in refused.value.message
    assert "seq_read" in refused.value.message or "name" in change


def test_dd_refuses_what_only_fio_knows_and_a_size_below_a_block() -> None:
    with pytest.raises(PlanRefused, match="'runtime', which dd workloads do not take"):
        parse_workload({**DD, "runtime": "5s"})
    with pytest.raises(PlanRefused, match="less than one block"):
        parse_workload({**DD, "size": "64KiB"})
    with pytest.raises(PlanRefused, match="access"):
        parse_workload({**DD, "access": "randread"})


def test_no_workload_no_mapping_and_two_of_one_name() -> None:
    with pytest.raises(PlanRefused, match="no workload was given"):
        parse_workloads([])
    with pytest.raises(PlanRefused, match="must be a mapping"):
        parse_workloads(["seq_read"])  # type: ignore[list-item]
    with pytest.raises(PlanRefused, match="two workloads are called seq_read"):
        parse_workloads([FIO, DD, FIO])
    assert [load.name for load in parse_workloads([DD, FIO])] == ["buffered", "seq_read"]
