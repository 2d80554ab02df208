# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting, stopping and removing; what a killed run left; settings that change in place."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdConfig,
    MdNamed,
    MdState,
    MdSuperblock,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import (
    plan_md,
    plan_md_absent,
    plan_md_assembled,
    plan_md_stopped,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_state import is_half_made

K, M, G = 1024, 1024**2, 1024**3
UUID = "11111111:22222222:33333333:44444444"
PATHS = ("/dev/sda", "/dev/sdb", "/dev/sdc")
DISKS = [DeviceGeometry(path, 2 * G) for path in PATHS]


def wish(**fields: t.Any) -> MdWanted:
    return MdWanted(**{"name": "data", "level": "raid5", "members": PATHS, **fields})


def made(named: MdNamed | None = None, **fields: t.Any) -> MdState:
    predicted = plan_md(None, wish(**fields), DISKS, named=named or MdNamed()).predicted
    return predicted._replace(kernel_name="md127", uuid=UUID, event_count=20)


def stopped(members: int = 3, **fields: t.Any) -> MdState:
    state = made(**{key: value for key, value in fields.items() if key == "level"})
    rest = {key: value for key, value in fields.items() if key != "level"}
    return state._replace(
        kernel_name="",
        active=False,
        array_state="stopped",
        members=state.members[:members],
        degraded=3 - members,
        **rest,
    )


def test_stopping_keeps_the_content() -> None:
    found = plan_md_stopped(made(), MdWanted("data"))
    assert [step.argv for step in found.steps] == [("mdadm", "--stop", "/dev/md127")]
    # The guard looks at the use only.
    assert found.stops() == ("md:/dev/md127",)
    assert found.writes() == found.removes() == ()
    assert not plan_md_stopped(found.predicted, MdWanted("data")).changed
    assert not plan_md_stopped(None, MdWanted("data")).changed


def test_assembled_never_makes_an_array() -> None:
    with pytest.raises(PlanRefused, match="no superblock of it was found on /dev/sda"):
        plan_md_assembled(None, wish(), DISKS)
    found = plan_md_assembled(stopped(), MdWanted("data"))
    assert found.steps[0].argv == ("mdadm", "--assemble", "/dev/md/data", f"--uuid={UUID}", *PATHS)
    assert not plan_md_assembled(made(), wish(), DISKS).changed
    with pytest.raises(PlanRefused, match="layout is left-symmetric"):
        plan_md_assembled(made(), wish(layout="right-symmetric"), DISKS)


def test_degraded_only_when_asked() -> None:
    with pytest.raises(PlanRefused, match=r"only 2 of its 3 members.*run_degraded"):
        plan_md_assembled(stopped(2), MdWanted("data"))
    found = plan_md_assembled(stopped(2), MdWanted("data", run_degraded=True))
    assert found.steps[0].argv[:4] == ("mdadm", "--assemble", "/dev/md/data", "--run")


def test_a_member_that_is_out_of_date_is_left_out_and_added_again() -> None:
    events = dict(zip(PATHS, (30, 12, 29)))
    blocks = tuple(MdSuperblock(path, UUID, "raid5", 3, "1.2", event_count=events[path]) for path in PATHS)
    state = stopped(event_count=30)
    with pytest.raises(PlanRefused, match="/dev/sdb carries an older state"):
        plan_md(state, wish(), DISKS, named=MdNamed(superblocks=blocks))
    found = plan_md(state, wish(run_degraded=True), DISKS, named=MdNamed(superblocks=blocks))
    assert [step.argv[1] for step in found.steps] == ["--assemble", "/dev/md/data"]
    assert found.steps[0].argv[-2:] == ("/dev/sda", "/dev/sdc")
    assert found.steps[1].argv[-2:] == ("--add", "/dev/sdb")


@pytest.mark.parametrize(
    ("state", "begun", "listed", "expected"),
    [
        # Never started: no event was counted.
        (stopped(2, event_count=0), None, PATHS, True),
        (stopped(3, event_count=0), None, PATHS, True),
        (stopped(2, event_count=1), None, PATHS, False),
        (stopped(2, event_count=1), "create", PATHS, False),
        # Some other disk carries it, too.
        (stopped(2, event_count=0), None, PATHS[:1], False),
        # raid0 counts no events: only our own note tells, and only while superblocks are missing.
        (stopped(2, event_count=0, level="raid0"), None, PATHS, False),
        (stopped(2, event_count=0, level="raid0"), "create", PATHS, True),
        (stopped(3, event_count=0, level="raid0"), "create", PATHS, False),
        (stopped(2, event_count=9), "remove", PATHS, True),
        (made()._replace(event_count=0), None, PATHS, False),
        (None, "create", PATHS, False),
    ],
)
def test_what_is_half_made(state: MdState | None, begun: str | None, listed: tuple[str, ...], expected: bool) -> None:
    assert is_half_made(state, begun, listed) is expected


def test_a_half_made_array_is_made_anew() -> None:
    found = plan_md(stopped(2, event_count=0), wish(), DISKS)
    assert [step.argv[1] for step in found.steps[:3]] == ["--zero-superblock", "--all", "--create"]
    held = stopped(2, event_count=0)._replace(kernel_name="md127", array_state="inactive")
    assert plan_md(held, wish(), DISKS).steps[0].argv[:2] == ("mdadm", "--stop")
    with pytest.raises(PlanRefused, match="list all its devices"):
        plan_md(stopped(2, event_count=0), MdWanted("data"), [])


@pytest.mark.parametrize(
    ("present", "asked", "expected"),
    [
        ({"bitmap": "none"}, {"bitmap": "internal"}, ["--bitmap=internal"]),
        ({}, {"bitmap": "none"}, ["--bitmap=none"]),
        ({}, {"consistency_policy": "resync"}, ["--bitmap=none"]),
        ({}, {"bitmap": "internal"}, []),
        ({"bitmap": "none"}, {"bitmap": "none"}, []),
        ({"bitmap": "none"}, {"consistency_policy": "resync"}, []),
        ({"consistency_policy": "ppl"}, {"consistency_policy": "resync"}, ["--consistency-policy=resync"]),
        ({"consistency_policy": "ppl"}, {"bitmap": "internal"}, ["--consistency-policy=resync", "--bitmap=internal"]),
        ({"consistency_policy": "ppl"}, {"bitmap": "none"}, []),
        ({"data_offset_bytes": 4 * M}, {"consistency_policy": "ppl"}, ["--bitmap=none", "--consistency-policy=ppl"]),
    ],
)
def test_bitmap_and_policy(present: dict[str, t.Any], asked: dict[str, t.Any], expected: list[str]) -> None:
    state = made(**present)
    members = tuple(one._replace(data_offset_bytes=state.data_offset_bytes) for one in state.members)
    state = state._replace(members=members)
    found = plan_md(state, wish(**asked), DISKS)
    assert [step.argv[2] for step in found.steps] == expected
    assert not plan_md(found.predicted, wish(**asked), DISKS).changed


def test_policies_that_cannot_be() -> None:
    journal = MdNamed(journal=DeviceGeometry("/dev/sdj", 2 * G))
    state = made(named=journal, journal="/dev/sdj")
    assert state.consistency_policy == "journal"
    with pytest.raises(PlanRefused, match="journal"):
        plan_md(state, wish(bitmap="internal"), DISKS)
    other = MdNamed(journal=DeviceGeometry("/dev/sdk", 2 * G))
    with pytest.raises(PlanRefused, match=r"journal is /dev/sdj for .* asked is /dev/sdk"):
        plan_md(state, wish(journal="/dev/sdk"), DISKS, named=other)
    assert not plan_md(state, wish(journal="/dev/sdj"), DISKS, named=journal).changed
    small = made()
    members = tuple(one._replace(data_offset_bytes=3 * M) for one in small.members)
    with pytest.raises(PlanRefused, match="needs 1MiB"):
        plan_md(small._replace(members=members), wish(consistency_policy="ppl"), DISKS)
    with pytest.raises(PlanRefused, match="only raid5"):
        plan_md(made(level="raid4"), MdWanted("data", consistency_policy="ppl"), [])


def test_write_mostly_marks() -> None:
    marks = MdNamed(write_mostly=("/dev/sda",))
    created = plan_md(None, wish(level="raid1", write_mostly=("/dev/sda",)), DISKS, named=marks)
    words = next(step.argv for step in created.steps if "--create" in step.argv)
    assert words[-4:] == ("/dev/sdb", "/dev/sdc", "--write-mostly", "/dev/sda")
    state = made(named=marks, level="raid1", write_mostly=("/dev/sda",))
    swapped = MdNamed(write_mostly=("/dev/sdb",))
    found = plan_md(state, wish(level="raid1"), DISKS, named=swapped)
    assert {step.argv[1]: step.stdin for step in found.steps} == {
        "/sys/block/md127/md/dev-sda/state": "-writemostly\n",
        "/sys/block/md127/md/dev-sdb/state": "writemostly\n",
    }
    assert not plan_md(found.predicted, wish(level="raid1"), DISKS, named=swapped).changed
    lying = state._replace(kernel_name="", active=False, array_state="stopped")
    assembled = plan_md(lying, wish(level="raid1"), DISKS, named=swapped)
    assert [step.argv[1] for step in assembled.steps] == ["--assemble"]
    assert assembled.more
    with pytest.raises(PlanRefused, match="every member"):
        plan_md(None, wish(level="raid1", write_mostly=PATHS), DISKS, named=MdNamed(write_mostly=PATHS))


def test_configuration_comes_before_the_ramdisk_and_goes_first() -> None:
    empty = MdConfig("/etc/mdadm/mdadm.conf", "MAILADDR root\n", ("update-initramfs", "-u"))
    wanted = wish(config=True, update_initramfs=True, uuid=UUID)
    found = plan_md(None, wanted, DISKS, config=empty)
    names = [step.argv[0] for step in found.steps]
    assert names[-2:] == ["mv", "update-initramfs"]
    text = next(step.stdin for step in found.steps if step.argv[0] == "tee")
    assert text == f"MAILADDR root\nARRAY /dev/md/data metadata=1.2 UUID={UUID}\n"
    there = empty._replace(text=text)
    assert not plan_md(made()._replace(config=True), wanted, DISKS, config=there).changed
    # A run that was cut between the two: the file is newer than the ramdisk.
    stale = there._replace(initramfs_stale=True)
    assert [step.argv[0] for step in plan_md(made(), wanted, DISKS, config=stale).steps] == ["update-initramfs"]
    gone = plan_md_absent(made(), wanted, DISKS, config=there)
    names = [step.argv[0] for step in gone.steps]
    assert names[0] == "tee"
    assert names[-1] == "update-initramfs"
    assert gone.steps[0].stdin == "MAILADDR root\n"
    assert [step.argv[0] for step in plan_md_absent(None, wanted, config=stale).steps] == ["update-initramfs"]
    # Where it was not asked for, the file is not touched.
    assert "tee" not in [step.argv[0] for step in plan_md_absent(made(), wish(), DISKS, config=None).steps]
