# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The power is cut before every command of a stack's build and of its removal; the next run ends it well, by itself.

The machine resets without writing its caches, in a guest of the profile many_buses. How many commands there are is counted
in a first run without a cut. Each test takes every eighth boundary.
"""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct
from guest import Guest
from test_storage_stack import assert_nothing_left

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

DISKS = ("WD-WCASJ0000001", "6SJ0000008", "virt-000014")
TESTS = 8
WISH: dict[str, t.Any] = {
    "name": "s",
    "disks": list(DISKS),
    "region": {"start": "1MiB", "size": "1GiB"},
    "layers": [
        {"md": {"level": 5, "chunk": "64KiB"}},
        {"pv": {}},
        {"vg": {}},
        {"lv": {}},
        {"xfs": {"mount": "/srv/cut"}},
    ],
}
ABSENT = {"name": "s", "state": "absent"}


@pytest.fixture(scope="module")
def lab(guest: Guest) -> t.Iterator[Direct]:
    with Direct(guest, DISKS) as direct:
        direct.clean()
        yield direct


@pytest.fixture(scope="module")
def commands(lab: Direct) -> dict[str, int]:
    """How many changing commands the build and the removal have."""
    counts = {}
    for phase, params in (("build", WISH), ("removal", ABSENT)):
        said = lab.run("storage_stack", **params)
        assert not said.failed, said.result
        counts[phase] = lab.changes()
    assert_nothing_left(lab)
    print(counts)
    return counts


def build(lab: Direct) -> None:
    said = lab.run("storage_stack", **WISH)
    assert not said.failed, f"{said.message} {said.result}"
    verified = lab.run("storage_stack", state="verified", **WISH)
    assert not verified.failed, verified.message
    assert lab.guest.ssh("findmnt -no FSTYPE /srv/cut") == "xfs"


def remove(lab: Direct) -> None:
    said = lab.run("storage_stack", **ABSENT)
    assert not said.failed, f"{said.message} {said.result}"
    assert_nothing_left(lab)


@pytest.mark.parametrize("first", range(1, TESTS + 1))
def test_a_build_that_was_cut_off_is_ended_by_the_next_run(lab: Direct, commands: dict[str, int], first: int) -> None:
    for number in range(first, commands["build"] + 1, TESTS):
        print("build, cut before command", number)
        lab.cut("storage_stack", number, **WISH)
        build(lab)
        remove(lab)


@pytest.mark.parametrize("first", range(1, TESTS + 1))
def test_a_build_that_was_cut_off_can_be_removed(lab: Direct, commands: dict[str, int], first: int) -> None:
    """Every second boundary: what is half there is also taken away without having been built."""
    for number in range(first, commands["build"] + 1, 2 * TESTS):
        print("build, then removal, cut before command", number)
        lab.cut("storage_stack", number, **WISH)
        remove(lab)


@pytest.mark.parametrize("first", range(1, TESTS + 1))
def test_a_removal_that_was_cut_off_is_ended_by_the_next_run(lab: Direct, commands: dict[str, int], first: int) -> None:
    for number in range(first, commands["removal"] + 1, TESTS):
        build(lab)
        print("removal, cut before command", number)
        lab.cut("storage_stack", number, **ABSENT)
        remove(lab)
