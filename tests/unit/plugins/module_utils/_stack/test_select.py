# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import parse_stack
from ansible_collections.plumbline.storage.plugins.module_utils._stack.select import choose_disks, named_disks
from ansible_collections.plumbline.storage.plugins.module_utils._stack.size import (
    common_usable_bytes,
    top_capacity_bytes,
)

GIB, MIB = 1024**3, 1024**2


def disk(name: str, serial: str, **more: t.Any) -> DiskIdentity:
    return DiskIdentity(name, f"/dev/{name}", serial_number=serial, capacity_bytes=3 * GIB, **more)


DISKS = [disk("sda", "S-4"), disk("sdb", "S-1"), disk("sdc", "S-3"), disk("sdd", "S-2"), disk("sde", "S-5")]
ALL = parse_consent(["S-1", "S-2", "S-3", "S-4", "S-5"])


def serials(chosen: list[DiskIdentity]) -> list[str | None]:
    return [each.serial_number for each in chosen]


def test_listed_disks_are_taken_in_serial_order_whatever_their_names() -> None:
    chosen, warnings = choose_disks(None, 4, 3, DISKS, ALL, {})
    assert serials(chosen) == ["S-1", "S-2", "S-3", "S-4"]
    assert warnings == []


def test_a_listed_disk_in_use_is_left_alone_and_told_of() -> None:
    chosen, warnings = choose_disks(None, 4, 3, DISKS, ALL, {"sdb": "is mounted on /srv"})
    assert serials(chosen) == ["S-2", "S-3", "S-4", "S-5"]
    assert "sdb" in warnings[0]
    assert "is mounted on /srv" in warnings[0]


def test_three_will_do_two_will_not() -> None:
    assert len(choose_disks(None, 4, 3, DISKS, parse_consent(["S-1", "S-2", "S-3"]), {})[0]) == 3
    with pytest.raises(PlanRefused, match="3 disks are needed"):
        choose_disks(None, 4, 3, DISKS, parse_consent(["S-1", "S-2"]), {})


def test_named_disks_come_in_the_order_named() -> None:
    assert serials(named_disks(["S-5", "S-1"], DISKS)) == ["S-5", "S-1"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["S-9"], 'no such disk; it has "S-4"'),
        (["S-1", "S-1"], "twice"),
        ([15], "quotes"),
        (["sda"], "name of a device"),
    ],
)
def test_names_that_cannot_be_meant(names: list[t.Any], words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        named_disks(names, DISKS)


def test_two_disks_of_one_serial_are_not_told_apart_by_it() -> None:
    twins = [disk("sda", "S-1", duplicate_serial=True), disk("sdb", "S-1", duplicate_serial=True)]
    with pytest.raises(PlanRefused, match="sda and sdb both carry this serial number"):
        named_disks(["S-1"], twins)
    with pytest.raises(PlanRefused, match="shares its serial number"):
        choose_disks(None, 4, 3, twins, ALL, {})


def stack(name: str, *layers: t.Any) -> t.Any:
    return parse_stack({"name": name, "layers": list(layers)}, 4)


MD = stack("md", {"md": {"level": 5, "chunk": "256KiB"}}, {"xfs": {}})
LVM_ON_MD = stack("on", {"md": {"level": 5, "chunk": "256KiB"}}, {"pv": {}}, {"vg": {}}, {"lv": {}}, {"xfs": {}})
STRIPED = stack("st", {"pv": {}}, {"vg": {}}, {"lv": {"type": "striped", "stripesize": "256KiB"}}, {"xfs": {}})


def test_one_size_fits_all_and_every_stripe() -> None:
    usable = common_usable_bytes([MD, LVM_ON_MD, STRIPED], [GIB] * 4, None)
    assert usable % (768 * 1024) == 0
    assert usable % (4 * MIB) == 0
    assert usable % MIB == 0
    assert 2.8 * GIB < usable <= min(top_capacity_bytes(each, [GIB] * 4) for each in (MD, LVM_ON_MD, STRIPED))


@pytest.mark.parametrize(
    ("layers", "least", "most"),
    [
        ([{"md": {"level": 0}}], 3.9, 4),
        ([{"md": {"level": 1}}], 0.98, 1),
        ([{"md": {"level": 6}}], 1.95, 2),
        ([{"md": {"level": 10}}], 1.95, 2),
        ([{"pv": {}}, {"vg": {}}, {"lv": {}}], 3.9, 4),
        ([{"pv": {}}, {"vg": {}}, {"lv": {"type": "raid5"}}], 2.9, 3),
        ([{"pv": {}}, {"vg": {}}, {"lv": {"type": "raid1"}}], 0.97, 1),
        ([{"pv": {}}, {"vg": {}}, {"lv": {"type": "raid10"}}], 1.95, 2),
    ],
)
def test_capacity_follows_the_layout(layers: list[t.Any], least: float, most: float) -> None:
    assert least * GIB < top_capacity_bytes(stack("s", *layers), [GIB] * 4) <= most * GIB


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    with pytest.raises(PlanRefused, match="usable_size is 4GiB, but stack md offers about"):
        common_usable_bytes([STRIPED, MD], [GIB] * 4, 4 * GIB)
    with pytest.raises(PlanRefused, match="at least 1GiB"):
        common_usable_bytes([MD], [256 * MIB] * 4, None)
