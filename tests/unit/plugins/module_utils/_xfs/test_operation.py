# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of xfs_filesystem: what they mean, and which are refused."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.operation import (
    XfsOperation,
    XfsRead,
    wanted_from_params,
    xfs_operation,
    xfs_result,
)

RAID5 = DeviceGeometry("/dev/md0", 6 * 1024**3, stripe=Stripe(262144, 3))


def params(**options: t.Any) -> dict[str, t.Any]:
    return {"device": "/dev/md0", "state": "present", **options}


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, {"geometry": None, "su_bytes": None, "sw": None, "label": None, "features": (), "grow": False}),
        ({"su": "256KiB", "sw": 3}, {"su_bytes": 262144, "sw": 3}),
        ({"su": "256k", "sw": 1}, {"su_bytes": 262144, "sw": 1}),
        ({"sunit": "512s", "swidth": "1536s"}, {"su_bytes": 262144, "sw": 3}),
        ({"geometry": "none", "log_su": "32KiB"}, {"geometry": "none", "log_su_bytes": 32768}),
        ({"sector_size": "8s", "block_size": "4KiB"}, {"sector_bytes": 4096, "block_bytes": 4096}),
        ({"label": "", "bigtime": False, "crc": True}, {"label": "", "features": (("crc", True), ("bigtime", False))}),
        ({"agsize": "64MiB", "log_size": "64MiB"}, {"ag_bytes": 64 * 1024**2, "log_bytes": 64 * 1024**2}),
        ({"log_device": "/dev/sdx", "inode_size": "1KiB"}, {"log_device": "/dev/sdx", "inode_bytes": 1024}),
    ],
)
def test_options(options: dict[str, t.Any], fields: dict[str, t.Any]) -> None:
    wanted = wanted_from_params(params(**options))
    assert {name: getattr(wanted, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"su": "256KiB"}, "su and sw"),
        ({"sw": 3}, "su and sw"),
        ({"sunit": "512s"}, "sunit and swidth"),
        ({"su": "256KiB", "sw": 0}, "geometry: none"),
        ({"su": "0KiB", "sw": 2}, "geometry: none"),
        ({"sunit": "512s", "swidth": "1500s"}, "not a multiple"),
        ({"sunit": "0s", "swidth": "0s"}, "not a multiple"),
        ({"su": "64KiB", "sw": 2, "sunit": "128s", "swidth": "256s"}, "two ways"),
        ({"su": "64KiB", "sw": 2, "geometry": "auto"}, "give one of them"),
        ({"su": "64", "sw": 2}, "without a unit"),
        ({"block_size": "3KiB"}, "power of two"),
        ({"block_size": "512s"}, "power of two"),
        ({"sector_size": "256B"}, "power of two"),
        ({"label": "thirteen_long"}, "12"),
        ({"label": "a b"}, "label"),
        ({"label": "-f\nx"}, "label"),
        ({"uuid": "2dd2e2d8"}, "UUID"),
        ({"agcount": 0}, "agcount"),
        ({"agcount": 4, "agsize": "64MiB"}, "two ways"),
        ({"agsize": "15MiB"}, "16MiB"),
        ({"agsize": "1TiB"}, "1TiB"),
        ({"inode_size": "128B"}, "power of two"),
        ({"su": "64KiB", "sw": "3"}, "count"),
        ({"agcount": True}, "count"),
        ({"reflink": "yes"}, "true or false"),
        ({"change_uuid": True}, "without uuid"),
        ({"log_device": "/dev/md0"}, "the file system itself"),
    ],
)
def test_refused_options(options: dict[str, t.Any], words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        xfs_operation(params(**options))


def test_plan_and_result_of_a_prediction() -> None:
    operation = xfs_operation(params(label="data"))
    plan = operation.plan(XfsRead(None, RAID5))
    assert plan.changed
    shown = operation.result(plan.predicted)["filesystem"]
    assert (shown["sunit_bytes"], shown["swidth_bytes"], shown["sw"], shown["label"]) == (262144, 786432, 3, "data")
    assert shown["size_bytes"] is None
    assert not operation.plan(plan.predicted).changed


def test_absent_needs_no_geometry() -> None:
    operation = XfsOperation(wanted_from_params(params()), present=False)
    plan = operation.plan(XfsRead(XfsState("/dev/md0", uuid="x"), None))
    assert plan.commands() == ["wipefs -a /dev/md0"]
    assert operation.result(plan.predicted) == {"filesystem": None}


@pytest.mark.parametrize(
    ("content", "sw"),
    [
        (XfsState("/dev/x", sunit_bytes=65536, swidth_bytes=262144), 4),
        (XfsState("/dev/x", sunit_bytes=0, swidth_bytes=0), 0),
        (XfsState("/dev/x"), None),
    ],
)
def test_width_in_units(content: XfsState, sw: int | None) -> None:
    shown = xfs_result(content)
    assert shown is not None
    assert shown["sw"] == sw


def test_other_content_is_no_file_system() -> None:
    assert xfs_result(OtherContent("/dev/x", ("ext4",))) is None
    assert xfs_result(None) is None
