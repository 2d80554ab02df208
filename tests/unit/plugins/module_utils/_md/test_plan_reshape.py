# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level, number of devices, chunk and size: begun only on consent, one at a time, and only where it can succeed."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState, MdWanted
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import plan_md

K, M, G = 1024, 1024**2, 1024**3
UUID = "11111111:22222222:33333333:44444444"


def disks(count: int, start: int = 0) -> list[DeviceGeometry]:
    return [DeviceGeometry(f"/dev/sd{chr(ord('a') + start + index)}", 2 * G) for index in range(count)]


def made(count: int, **fields: t.Any) -> MdState:
    """As it is read after it was made, 64 MiB of each member in use unless said otherwise."""
    devices = disks(count)
    options = {"level": "raid5", "chunk_bytes": 64 * K, "size_bytes": 64 * M, **fields}
    if options["level"] == "raid1":
        del options["chunk_bytes"]
    if options["level"] == "raid0":
        del options["size_bytes"]
    wanted = MdWanted("data", members=tuple(one.path for one in devices), **options)
    predicted = plan_md(None, wanted, devices).predicted
    members = tuple(one._replace(data_offset_bytes=3 * M) for one in predicted.members)
    return predicted._replace(kernel_name="md127", uuid=UUID, event_count=20, members=members)


def plan(state: MdState, count: int | None = None, **fields: t.Any) -> Plan:
    devices = disks(count or 0)
    wanted = MdWanted("data", members=tuple(one.path for one in devices), **{"reshape": True, **fields})
    return plan_md(state, wanted, devices)


def grows(found: Plan) -> list[str]:
    return [" ".join(step.argv[2:]).replace("/dev/md127", "md") for step in found.steps if "--grow" in step.argv]


@pytest.mark.parametrize(
    ("state", "count", "fields", "expected"),
    [
        (made(3), 4, {}, "md --raid-devices=4 --add /dev/sdd"),
        (made(3), 3, {"chunk_bytes": 128 * K}, "md --chunk=128K"),
        (made(3), None, {"chunk_bytes": 128 * K, "backup_file": "/b"}, "md --chunk=128K --backup-file=/b"),
        (made(3), None, {"size_bytes": 128 * M}, "md --size=131072K"),
        (made(3), None, {"size_max": True}, "md --size=max"),
        (made(3), 4, {"level": "raid6"}, "md --level=6 --raid-devices=4 --add /dev/sdd"),
        (made(2, level="raid1"), None, {"level": "raid5"}, "md --level=5"),
        (made(2, level="raid1"), 3, {"level": "raid5"}, "md --level=5 --raid-devices=3 --add /dev/sdc"),
        (made(2, level="raid1"), 3, {}, "md --raid-devices=3 --add /dev/sdc"),
        (made(3, level="raid4"), None, {"level": "raid5"}, "md --level=5"),
        (made(2, level="raid0"), 3, {"level": "raid5"}, "md --level=5 --raid-devices=3 --add /dev/sdc"),
        (made(2, level="raid0"), 4, {"level": "raid10"}, "md --level=10 --raid-devices=4 --add /dev/sdc /dev/sdd"),
        (made(4, level="raid10", bitmap="none"), None, {"level": "raid0"}, "md --level=0"),
        (made(4, level="raid10"), 5, {}, "md --raid-devices=5 --add /dev/sde"),
    ],
)
def test_the_command(state: MdState, count: int | None, fields: dict[str, t.Any], expected: str) -> None:
    found = plan(state, count, **fields)
    assert grows(found) == [expected]
    assert found.before != found.after
    # New devices are wiped first, and the guard sees them.
    added = tuple(expected.split(" --add ")[1].split()) if "--add" in expected else ()
    assert found.writes() == added
    assert bool(added) == (found.steps[0].argv[0] == "wipefs")
    if not fields.get("size_max"):
        again = plan(found.predicted, None if fields.get("level") == "raid0" else count, **fields)
        assert grows(again) == []
    # Nothing of this happens by itself.
    with pytest.raises(PlanRefused, match="reshape: true"):
        plan(state, count, **{**fields, "reshape": False})


def test_one_at_a_time() -> None:
    found = plan(made(3), 4, level="raid6", chunk_bytes=128 * K, size_bytes=128 * M)
    assert grows(found) == ["md --level=6 --raid-devices=4 --add /dev/sdd"]
    assert "one after the other" in found.pending[0]
    second = plan(found.predicted, 4, level="raid6", chunk_bytes=128 * K, size_bytes=128 * M)
    assert grows(second) == ["md --chunk=128K"]
    third = plan(second.predicted, 4, level="raid6", chunk_bytes=128 * K, size_bytes=128 * M)
    assert grows(third) == ["md --size=131072K"]


@pytest.mark.parametrize("fields", [{"reshaping": True, "sync_action": "reshape"}, {"sync_action": "recover"}])
def test_what_runs_is_let_run(fields: dict[str, t.Any]) -> None:
    found = plan(made(3)._replace(**fields), chunk_bytes=128 * K)
    assert not found.changed
    assert "chunk is 64KiB, asked is 128KiB: this is begun when" in found.pending[0]


def test_added_members_are_rebuilt_first() -> None:
    state = made(3)
    state = state._replace(members=state.members[:2], degraded=1)
    found = plan(state, 3, chunk_bytes=128 * K)
    assert [step.argv[1] for step in found.steps] == ["--all", "/dev/md127"]
    assert "have been rebuilt" in found.pending[0]


@pytest.mark.parametrize(
    ("state", "count", "fields", "words"),
    [
        (made(3), None, {"level": "raid0"}, ["cannot become a raid0", "raid1 to raid5"]),
        (made(3), None, {"level": "raid6"}, ["needs 1 more device"]),
        (made(2, level="raid0"), None, {"level": "raid5"}, ["needs 1 more device"]),
        (made(2, level="raid0"), 3, {"level": "raid10"}, ["needs 2 more devices"]),
        (made(2, level="raid0"), 5, {"level": "raid10"}, ["2 more devices"]),
        (made(3, level="raid1"), None, {"level": "raid5"}, ["two devices"]),
        (made(4, level="raid10", layout="f2"), None, {"level": "raid0"}, ["layout n2"]),
        (made(4, level="raid10", layout="f2"), 5, {}, ["near layout"]),
        (made(4, level="raid10"), 4, {"level": "raid0"}, ["leave devices out"]),
        (made(2, level="raid0"), 3, {}, ["raid0 cannot take in"]),
        (made(2, level="raid0"), None, {"chunk_bytes": 128 * K}, ["chunk of a raid0"]),
        (made(3), None, {"size_bytes": 32 * M}, ["never made smaller"]),
        (made(3), None, {"size_bytes": 3 * G}, ["at most", "3MiB"]),
        (made(3, size_bytes=64 * M + 64 * K), None, {"chunk_bytes": 128 * K}, ["no multiple of 128KiB"]),
        (made(3, consistency_policy="ppl"), 4, {}, ["consistency policy ppl"]),
    ],
)
def test_refused_beforehand(state: MdState, count: int | None, fields: dict[str, t.Any], words: list[str]) -> None:
    for consent in (True, False):
        with pytest.raises(PlanRefused) as caught:
            plan(state, count, **{**fields, "reshape": consent})
        assert [word for word in [*words, "Nothing was changed"] if word not in caught.value.message] == []


def test_a_degraded_array_is_refused() -> None:
    state = made(3)
    broken = state._replace(members=state.members[:2], degraded=1)
    with pytest.raises(PlanRefused, match="1 of its 3 members are missing"):
        plan(broken, chunk_bytes=128 * K)


def test_a_bitmap_goes_before_a_raid10_becomes_a_raid0() -> None:
    assert grows(plan(made(4, level="raid10"), level="raid0")) == ["--bitmap=none md", "md --level=0"]


def test_a_stale_stripe_is_told_of() -> None:
    state = made(3)._replace(optimal_io_bytes=64 * K)
    assert "io_opt is 64KiB where 128KiB is right" in plan(state, 3).warnings[0]
    assert plan(state._replace(optimal_io_bytes=128 * K), 3).warnings == ()
    # Disks that show a figure of their own make the array's one say nothing.
    members = tuple(one._replace(optimal_io_bytes=33553920) for one in state.members)
    assert plan(state._replace(members=members), 3).warnings == ()


def test_a_bitmap_waits_for_a_reshape_that_begins() -> None:
    found = plan(made(3, bitmap="none"), 4, bitmap="internal")
    assert grows(found) == ["md --raid-devices=4 --add /dev/sdd"]
    assert found.more
    assert "consistency policy is changed to bitmap later" in found.pending[0]
