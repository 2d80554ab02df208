# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that an array gains, replaces and loses, and what is refused."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdNamed,
    MdState,
    MdSuperblock,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import plan_md

M, G = 1024**2, 1024**3
UUID = "11111111:22222222:33333333:44444444"


def disk(letter: str, size: int = 2 * G) -> DeviceGeometry:
    return DeviceGeometry(f"/dev/sd{letter}", size)


def array(members: str, level: str = "raid5", places: int = 3, **fields: t.Any) -> MdState:
    """Such as C("a0 b1 s- cF"): letter and slot, - for a spare, F for faulty, R rebuilding in the last free slot."""
    found = []
    for word in members.split():
        state = {"-": "spare", "F": "faulty"}.get(word[1], "in_sync")
        slot = int(word[1]) if word[1].isdigit() else None
        found.append(MdMember(f"/dev/sd{word[0]}", slot=slot, state=state, size_bytes=2 * G))
    slots = sum(member.slot is not None for member in found)
    state = MdState(
        path="/dev/md/data", kernel_name="md127", uuid=UUID, name="data", homehost="any", level=level, raid_devices=places,
        chunk_bytes=512 * 1024, layout="left-symmetric", metadata="1.2", bitmap="internal", component_size_bytes=64 * M,
        data_offset_bytes=M, members=tuple(found), degraded=places - slots, sync_action="idle", event_count=20,
        consistency_policy="bitmap",
    )  # fmt: skip
    return state._replace(**fields)


def plan(
    state: MdState, devices: str, spares: str | None = None, blocks: t.Sequence[MdSuperblock] = (), **fields: t.Any
) -> Plan:
    members = [disk(letter) for letter in devices]
    extra = [disk(letter) for letter in spares or ""]
    wanted = MdWanted(
        "data",
        members=tuple(one.path for one in members),
        spares=None if spares is None else tuple(one.path for one in extra),
        **fields,
    )
    return plan_md(state, wanted, members, extra, named=MdNamed(superblocks=tuple(blocks)))


def commands(found: Plan) -> list[str]:
    return [" ".join(step.argv).replace("/dev/sd", "").replace("/dev/md127", "md") for step in found.steps]


@pytest.mark.parametrize(
    ("members", "devices", "spares", "remove", "expected"),
    [
        ("a0 b1 c2", "abc", None, False, []),
        ("a0 b1 c2", "cab", None, False, []),
        ("a0 b1 c2 s-", "abc", None, False, []),
        # A vacant place and a listed device.
        ("a0 b1", "abd", None, False, ["wipefs --all d", "mdadm md --add d"]),
        # A member that failed is put in again; one that is not listed stays until that is asked for.
        ("a0 b1 cF", "abc", None, False, ["mdadm md --remove c", "mdadm md --add c"]),
        ("a0 b1 cF", "abd", None, False, ["wipefs --all d", "mdadm md --add d"]),
        ("a0 b1 d2 cF", "abd", None, False, []),
        ("a0 b1 d2 cF", "abd", None, True, ["mdadm md --remove c", "mdadm --zero-superblock c"]),
        # Spares.
        ("a0 b1 c2", "abc", "s", False, ["wipefs --all s", "mdadm md --add s"]),
        ("a0 b1 c2 s-", "abc", "s", False, []),
        ("a0 b1 s2", "abd", "s", False, ["wipefs --all d", "mdadm md --add d"]),
        ("a0 b1 c2 s-", "abc", "", True, ["mdadm md --remove s", "mdadm --zero-superblock s"]),
        ("a0 b1 c2 s-", "abc", None, True, []),
        (
            *("a0 b1 c2 s-", "abc", "t", True),
            ["mdadm md --remove s", "mdadm --zero-superblock s", "wipefs --all t", "mdadm md --add t"],
        ),
        # Replaced by copying, never by failing the old one first.
        ("a0 b1 c2", "abd", None, True, ["wipefs --all d", "mdadm md --add d", "mdadm md --replace c --with d"]),
        # A run that was killed between the two.
        ("a0 b1 c2 d-", "abd", None, True, ["mdadm md --replace c --with d"]),
    ],
)
def test_the_commands(members: str, devices: str, spares: str | None, remove: bool, expected: list[str]) -> None:
    found = plan(array(members), devices, spares, remove_extra_members=remove)
    assert commands(found) == expected
    again = plan(found.predicted, devices, spares, remove_extra_members=remove)
    assert commands(again) == []


def test_a_disk_that_is_gone_from_the_host_is_let_go() -> None:
    state = array("a0 b1")
    state = state._replace(members=(*state.members, MdMember("/dev/sdd (gone)", state="missing")))
    found = plan(state, "abd")
    assert commands(found) == ["mdadm md --fail detached --remove detached", "wipefs --all d", "mdadm md --add d"]
    assert commands(plan(found.predicted, "abd")) == []


def test_new_devices_are_shown_to_the_guard() -> None:
    assert plan(array("a0 b1"), "abd").writes() == ("/dev/sdd",)


def old_copy(events: int, uuid: str = UUID) -> MdSuperblock:
    return MdSuperblock("/dev/sdd", uuid, "raid5", 3, "1.2", event_count=events)


def test_an_old_copy_of_the_array_comes_back_without_being_asked_for() -> None:
    found = plan(array("a0 b1"), "abd", blocks=[old_copy(12)])
    assert commands(found) == ["mdadm md --add d"]
    assert found.writes() == ()


def test_a_member_of_another_array_is_content() -> None:
    found = plan(array("a0 b1"), "abd", blocks=[old_copy(12, "9" * 8)])
    assert found.writes() == ("/dev/sdd",)


def test_a_copy_that_is_newer_than_the_array_is_refused() -> None:
    with pytest.raises(PlanRefused, match=r"newer \(event 30\)"):
        plan(array("a0 b1"), "abd", blocks=[old_copy(30)])


def test_a_replacement_that_runs_is_left_alone() -> None:
    state = array("a0 b1 c2")
    members = (
        *state.members[:2],
        state.members[2]._replace(state="in_sync,want_replacement"),
        MdMember("/dev/sdd", slot=2, state="spare,replacement"),
    )
    running = state._replace(members=members, sync_action="recover")
    assert commands(plan(running, "abd", remove_extra_members=True)) == []


@pytest.mark.parametrize(
    ("state", "devices", "spares", "words"),
    [
        (array("a0 b1 c2"), "abd", None, ["/dev/sdd is listed", "no vacant place", "have /dev/sdc replaced"]),
        (array("a0 b1 c2"), "ab", None, ["3 places, and 2 devices", "/dev/sdc"]),
        (array("a0 b1 c2 s-"), "abc", "", ["not listed: /dev/sds", "spare"]),
        (array("a0 b1 c2 s-"), "abc", "t", ["/dev/sdt is listed"]),
        (array("a0 b1", level="raid0", places=2), "ac", None, ["no redundancy"]),
        (array("a0"), "abc", None, ["more than a raid5 can lose"]),
        (array("a0 b1", component_size_bytes=4 * G), "abd", None, ["2GiB", "4GiB", "larger device"]),
    ],
)
def test_refusals(state: MdState, devices: str, spares: str | None, words: list[str]) -> None:
    with pytest.raises(PlanRefused) as caught:
        plan(state, devices, spares)
    assert [word for word in [*words, "Nothing was changed"] if word not in caught.value.message] == []


def test_unlike_sectors_are_refused() -> None:
    odd = DeviceGeometry("/dev/sdd", 2 * G, logical_sector_bytes=4096)
    with pytest.raises(PlanRefused, match="sector sizes"):
        plan_md(array("a0 b1"), MdWanted("data", members=("a", "b", "d")), [disk("a"), disk("b"), odd])


def test_metadata_090_cannot_replace() -> None:
    state = array("a0 b1 c2", metadata="0.90", name=None, homehost=None)
    with pytest.raises(PlanRefused, match=r"0\.90"):
        plan(state, "abd", remove_extra_members=True)


def test_degraded_arrays_are_told_of() -> None:
    state = array("a0 b1 cF")
    found = plan_md(state, MdWanted("data"), [])
    assert not found.changed
    assert any("1 of its 3 members is missing" in text for text in found.pending)
    assert any("/dev/sdc" in text and "faulty" in text for text in found.pending)
