# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans for md arrays: what is done, what is refused, and that a plan leaves nothing to do."""

from __future__ import annotations

import random
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._md.cleanup import cleanup_steps
from ansible_collections.plumbline.storage.plugins.module_utils._md.find import find_array, find_others, find_pieces
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdState,
    MdSuperblock,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import geometry_of, plan_md, plan_md_absent

K, M, G = 1024, 1024**2, 1024**3
UUID = "11111111:22222222:33333333:44444444"
OTHER = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"


def disks(count: int, size: int = 2 * G, start: int = 0) -> list[DeviceGeometry]:
    return [DeviceGeometry(f"/dev/sd{chr(ord('a') + start + index)}", size) for index in range(count)]


def wish(devices: t.Sequence[DeviceGeometry], **fields: t.Any) -> MdWanted:
    return MdWanted(**{"name": "data", "level": "raid5", "members": tuple(one.path for one in devices), **fields})


def made(devices: t.Sequence[DeviceGeometry], **fields: t.Any) -> MdState:
    """An array as it is read after it was made."""
    predicted: MdState = plan_md(None, wish(devices, **fields), devices).predicted
    return predicted._replace(kernel_name="md127", uuid=predicted.uuid or UUID, event_count=20)


def argv(plan: Plan, program: str, option: str = "") -> tuple[str, ...]:
    found = [step.argv for step in plan.steps if step.argv[0] == program and (not option or option in step.argv)]
    assert len(found) == 1
    return found[0]


def test_create_names_every_default() -> None:
    four = disks(4)
    plan = plan_md(None, wish(four, chunk_bytes=256 * K), four)
    assert argv(plan, "mdadm") == (
        *("mdadm", "--create", "/dev/md/data", "--run", "--homehost=any", "--name=data", "--metadata=1.2"),
        *("--level=raid5", "--raid-devices=4", "--chunk=256K", "--bitmap=internal"),
        *("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"),
    )
    assert plan.writes() == ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
    assert plan.before == {"state": "absent"}
    assert plan.after["bitmap"] == "internal"
    # Nothing may be written before the old signatures are gone, or an old file system comes back.
    assert plan.steps[0].argv[:2] == ("wipefs", "--all")
    assert plan.steps[-1].argv == ("wipefs", "--all", "/dev/md/data")


@pytest.mark.parametrize(
    ("fields", "present", "missing"),
    [
        ({"level": "raid0"}, ["--chunk=512K"], ["--bitmap", "--layout", "--assume-clean"]),
        ({"level": "raid0", "bitmap": "none", "assume_clean": True}, [], ["--bitmap", "--assume-clean"]),
        ({"level": "raid1"}, ["--bitmap=internal"], ["--chunk"]),
        ({"level": "linear"}, [], ["--chunk", "--bitmap"]),
        ({"level": "raid10", "layout": "f2", "bitmap": "none"}, ["--layout=f2", "--bitmap=none"], []),
        ({"assume_clean": True}, ["--assume-clean"], []),
        ({"size_bytes": 512 * M}, ["--size=524288K"], []),
        ({"data_offset_bytes": 8 * M}, ["--data-offset=8192K"], []),
        ({"uuid": UUID, "homehost": "box"}, [f"--uuid={UUID}", "--homehost=box"], []),
        ({"metadata": "0.90"}, ["--metadata=0.90"], ["--name", "--homehost"]),
        ({"consistency_policy": "ppl"}, ["--consistency-policy=ppl", "--bitmap=none"], []),
    ],
)
def test_create_options(fields: dict[str, t.Any], present: list[str], missing: list[str]) -> None:
    four = disks(4)
    words = argv(plan_md(None, wish(four, **fields), four), "mdadm")
    assert [option for option in present if option not in words] == []
    assert [word for word in words for option in missing if word.startswith(option)] == []


def test_spares_are_behind_the_members() -> None:
    four, spare = disks(4), disks(1, start=4)
    plan = plan_md(None, wish(four, spares=("/dev/sde",)), four, spare)
    assert "--spare-devices=1" in argv(plan, "mdadm")
    assert argv(plan, "mdadm")[-1] == "/dev/sde"
    assert plan.writes()[-1] == "/dev/sde"
    assert [member.slot for member in plan.predicted.members] == [0, 1, 2, 3, None]


@pytest.mark.parametrize(
    ("devices", "fields", "words"),
    [
        (disks(2), {}, ["raid5", "at least 3"]),
        (disks(3), {"level": "raid6"}, ["at least 4"]),
        (disks(4), {"chunk_bytes": 96 * K}, ["96KiB", "power of two"]),
        (disks(2), {"level": "raid1", "chunk_bytes": 64 * K}, ["no chunk"]),
        (disks(4), {"level": "raid0", "bitmap": "internal"}, ["bitmap", "raid0"]),
        (disks(4), {"level": "raid10", "layout": "left-symmetric"}, ["layout", "n2"]),
        (disks(4), {"name": "md0"}, ["md0", "kernel"]),
        (disks(4), {"name": "a b"}, ["a b"]),
        (disks(4), {"name": "x" * 31}, ["31"]),
        (disks(4), {"name": "../evil"}, ["../evil"]),
        (disks(4), {"size_bytes": 3 * G}, ["3GiB", "at most"]),
        (disks(4), {"size_bytes": 100 * M + K, "chunk_bytes": 64 * K}, ["multiple of 64KiB", "100MiB"]),
        (disks(2), {"level": "raid0", "size_bytes": G}, ["size", "raid0"]),
        (disks(4), {"metadata": "1.0", "data_offset_bytes": M}, ["data_offset", "1.0"]),
        (disks(4), {"data_offset_bytes": 4096 + 512}, ["4KiB"]),
        (disks(4, size=M), {}, ["smallest member", "1MiB"]),
        (disks(4), {"level": None}, ["does not exist", "level"]),
        ([], {"members": ()}, ["does not exist", "devices"]),
        ([*disks(3), *disks(1)], {}, ["/dev/sda", "twice"]),
        (
            [*disks(3), DeviceGeometry("/dev/sdx", 2 * G, logical_sector_bytes=4096)],
            {},
            ["sector", "/dev/sdx 4096", "/dev/sda 512"],
        ),
    ],
)
def test_creates_that_are_refused(devices: list[DeviceGeometry], fields: dict[str, t.Any], words: list[str]) -> None:
    with pytest.raises(PlanRefused) as caught:
        plan_md(None, wish(devices, **fields), devices)
    assert [word for word in words if word not in caught.value.message] == []


def test_a_device_under_two_names_is_one_device() -> None:
    three = disks(3)
    wanted = wish(three, members=("/dev/sda", "/dev/disk/by-id/ata-x", "/dev/sdc"))
    with pytest.raises(PlanRefused, match="/dev/sda and /dev/disk/by-id/ata-x"):
        plan_md(None, wanted, [three[0], three[0], three[2]])


def test_unequal_sizes_warn() -> None:
    devices = [*disks(3), DeviceGeometry("/dev/sdx", 4 * G)]
    assert "/dev/sdx 4GiB" in plan_md(None, wish(devices), devices).warnings[0]
    assert plan_md(None, wish(disks(4)), disks(4)).warnings == ()


def test_an_array_that_is_right_is_left_alone() -> None:
    four = disks(4)
    for fields in ({}, {"chunk_bytes": 256 * K, "bitmap": "none", "assume_clean": True}):
        plan = plan_md(made(four, **fields), wish(four, **fields), four)
        assert not plan.changed
        assert plan.before == plan.after == {}


def test_options_not_given_are_not_managed() -> None:
    four = disks(4)
    state = made(four, chunk_bytes=64 * K, bitmap="none")._replace(readahead_bytes=7 * M, homehost="box")
    assert not plan_md(state, MdWanted("data"), []).changed
    assert not plan_md(state, wish(four), four).changed


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"chunk_bytes": 512 * K}, ["chunk is 256KiB, asked is 512KiB"]),
        ({"level": "raid6"}, ["level is raid5, asked is raid6"]),
        ({"layout": "right-symmetric"}, ["layout is left-symmetric, asked is right-symmetric"]),
        ({"metadata": "1.0"}, ["metadata is 1.2, asked is 1.0"]),
        ({"size_bytes": G}, ["asked is 1GiB"]),
        ({"data_offset_bytes": 64 * M}, ["data_offset is 3MiB, asked is 64MiB"]),
        ({"homehost": "box"}, ["homehost is any, asked is box"]),
        ({"uuid": OTHER}, [f"asked is {OTHER}"]),
        ({"name": "other"}, ["name is data, asked is other"]),
        ({"chunk_bytes": 64 * K, "level": "raid4"}, ["chunk is 256KiB", "level is raid5"]),
    ],
)
def test_drift_is_refused_with_both_values(fields: dict[str, t.Any], words: list[str]) -> None:
    four = disks(4)
    with pytest.raises(PlanRefused) as caught:
        plan_md(made(four, chunk_bytes=256 * K), wish(four, **fields), four)
    assert [word for word in (*words, "Nothing was changed") if word not in caught.value.message] == []


def test_other_members_are_refused() -> None:
    four = disks(4)
    with pytest.raises(PlanRefused, match=r"no vacant place.*have /dev/sda replaced, set remove_extra_members"):
        plan_md(made(four), wish(disks(4, start=1)), disks(4, start=1))
    with pytest.raises(PlanRefused, match=r"number of devices is 4, asked is 5.*reshape: true"):
        plan_md(made(four), wish(disks(5)), disks(5))
    with pytest.raises(PlanRefused, match="4 places, and 3 devices were listed"):
        plan_md(made(four), wish(disks(3)), disks(3))


def test_readahead_and_bitmap_change_in_place() -> None:
    four = disks(4)
    wanted = wish(four, readahead_bytes=4 * M, bitmap="none")
    plan = plan_md(made(four), wanted, four)
    assert [step.argv for step in plan.steps] == [
        ("mdadm", "--grow", "--bitmap=none", "/dev/md127"),
        ("blockdev", "--setra", "8192", "/dev/md127"),
    ]
    assert plan.before == {"bitmap": "internal", "consistency_policy": "bitmap", "readahead_bytes": 3072 * K}
    assert plan.after == {"bitmap": "none", "consistency_policy": "resync", "readahead_bytes": 4 * M}
    assert plan.writes() == ()
    assert not plan_md(plan.predicted, wanted, four).changed


def test_a_stopped_array_is_assembled_and_a_broken_one_refused() -> None:
    four = disks(4)
    state = made(four)._replace(kernel_name="", active=False, array_state="stopped", readahead_bytes=None)
    plan = plan_md(state, wish(four), four)
    assert argv(plan, "mdadm")[:4] == ("mdadm", "--assemble", "/dev/md/data", f"--uuid={UUID}")
    assert plan.writes() == plan.removes() == ()
    assert not plan_md(plan.predicted, wish(four), four).changed
    inactive = state._replace(kernel_name="md127", array_state="inactive")
    assert [step.argv[:2] for step in plan_md(inactive, wish(four), four).steps] == [
        ("mdadm", "--stop"),
        ("mdadm", "--assemble"),
    ]
    broken = state._replace(members=state.members[:3], degraded=1)
    with pytest.raises(PlanRefused, match="only 3 of its 4 members"):
        plan_md(broken, MdWanted("data"), [])


def test_absent_stops_and_wipes_all_members() -> None:
    four = disks(4)
    plan = plan_md_absent(made(four), MdWanted("data"))
    assert [step.argv for step in plan.steps] == [
        ("wipefs", "--all", "/dev/md127"),
        ("mdadm", "--stop", "/dev/md127"),
        ("mdadm", "--zero-superblock", "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"),
    ]
    assert plan.removes() == (f"md:{UUID}",)
    assert set(plan.writes()) == {"/dev/md127", "/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"}
    # udev must not see the members between the stop and the wipe.
    assert plan.steps[1].locks == plan.steps[2].locks == ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
    assert not plan_md_absent(None, MdWanted("data")).changed


def test_absent_of_a_stopped_array_and_of_pieces() -> None:
    four = disks(4)
    stopped = made(four)._replace(kernel_name="", active=False, array_state="stopped")
    assert [step.argv[1] for step in plan_md_absent(stopped, MdWanted("data")).steps] == ["--zero-superblock"]
    piece = made(four)._replace(kernel_name="md126", active=False, members=(MdMember("/dev/sdz"),))
    plan = plan_md_absent(made(four), MdWanted("data"), (), (piece,))
    assert ("mdadm", "--stop", "/dev/md126") in [step.argv for step in plan.steps]
    # The kernel does not tell the UUID of an array that is not running.
    assert plan.removes() == (f"md:{UUID}", "md:/dev/md126")
    assert "/dev/sdz" in plan.steps[-1].argv


def test_absent_passes_over_members_that_are_gone_and_says_so() -> None:
    four = disks(4)
    state = made(four)
    gone = state.members[3]._replace(state="missing")
    plan = plan_md_absent(state._replace(members=(*state.members[:3], gone)), MdWanted("data"))
    assert "/dev/sdd" not in plan.steps[-1].argv
    assert "1 of the 4 members" in plan.warnings[0]


def test_absent_refuses_members_that_were_not_named() -> None:
    four = disks(4)
    with pytest.raises(PlanRefused, match="not named: /dev/sdd"):
        plan_md_absent(made(four), wish(four[:3]), four[:3])
    assert plan_md_absent(made(four), wish(disks(5)), disks(5)).changed


def test_a_foreign_array_on_the_devices_is_taken_down_whole() -> None:
    four = disks(4)
    foreign = made(disks(3, start=2), name="old")._replace(uuid=OTHER)
    plan = plan_md(None, wish(four), four, others=(foreign,))
    assert plan.steps[0].argv == ("mdadm", "--stop", "/dev/md127")
    assert plan.removes() == (f"md:{OTHER}",)
    # The guard must look at the member that the wish does not name, too.
    assert "/dev/sde" in plan.writes()
    with pytest.raises(PlanRefused, match="belong to other arrays: old"):
        plan_md(made(disks(4)), MdWanted("data"), [], others=(foreign,))


def test_members_that_are_only_planned_are_assumed() -> None:
    devices = [*disks(2), DeviceGeometry("/dev/sdc1", None, assumed=True)]
    plan = plan_md(None, wish(devices), devices)
    assert plan.assumed_parent
    assert plan.predicted.array_size_bytes is None
    assert "/dev/sdc1" in plan.warnings[0]


def test_geometry_of_read_and_predicted_arrays() -> None:
    four = disks(4)
    geometry = geometry_of(made(four, chunk_bytes=256 * K), four)
    assert geometry.stripe == Stripe(256 * K, 3)
    assert geometry.offset_bytes == 0
    assert geometry.size_bytes == made(four, chunk_bytes=256 * K).array_size_bytes
    big = [DeviceGeometry(one.path, one.size_bytes, 4096, 4096) for one in four]
    assert geometry_of(made(big), big).logical_sector_bytes == 4096
    nested = [DeviceGeometry(f"/dev/md{n}", 2 * G, stripe=Stripe(64 * K, 2)) for n in range(2)]
    over = made(nested, level="raid0", chunk_bytes=64 * K, name="over")
    assert geometry_of(over, nested).stripe == Stripe(64 * K, 4)
    odd = [DeviceGeometry(f"/dev/md{n}", 2 * G, stripe=Stripe(64 * K, 3)) for n in range(2)]
    assert geometry_of(over._replace(data_offset_bytes=M), odd).offset_bytes == M % (192 * K)


def test_arrays_are_found_by_uuid_then_name_then_members() -> None:
    four = disks(4)
    paths = [one.path for one in four]
    ours = made(four)
    other = made(disks(3, start=10), name="datax")._replace(uuid=OTHER, kernel_name="md126")
    assert find_array([other, ours], MdWanted("data"), []) == ours
    assert find_array([other, ours], MdWanted("dat"), []) is None
    assert find_array([other, ours], MdWanted("data", uuid=OTHER), []) == other
    assert find_array([other, ours], MdWanted("new"), paths) == ours
    assert find_array([other, ours], MdWanted("new"), paths[:3]) is None
    assert find_array([ours], MdWanted("data", homehost="box"), []) is None
    old = ours._replace(name=None, metadata="0.90")
    assert find_array([old], MdWanted("new", metadata="0.90"), [*paths[:3], "/dev/sdx"]) == old
    assert find_array([old], MdWanted("new"), [*paths[:3], "/dev/sdx"]) is None
    piece = ours._replace(kernel_name="md125", active=False, members=(MdMember("/dev/sdz"),))
    assert find_array([piece, ours], MdWanted("data"), []) == ours
    assert find_pieces([piece, ours, other], ours) == (piece,)
    assert find_others([piece, ours, other], ours, ["/dev/sdk", "/dev/sda"]) == (other,)


def test_two_arrays_of_one_name() -> None:
    ours = made(disks(4))
    twin = made(disks(3, start=10))._replace(uuid=OTHER, homehost="box", kernel_name="md126")
    with pytest.raises(PlanRefused, match="2 arrays of this host are named data"):
        find_array([ours, twin], MdWanted("data"), [])
    assert find_array([ours, twin], MdWanted("data"), ["/dev/sda"]) == ours
    assert find_array([ours, twin], MdWanted("data", homehost="box"), []) == twin


def block(path: str, uuid: str) -> MdSuperblock:
    return MdSuperblock(path, uuid, "raid5", 3, "1.2")


def test_a_failed_create_is_taken_back() -> None:
    three = disks(3)
    create = next(s for s in plan_md(None, wish(three, uuid=UUID), three).steps if "--create" in s.argv)
    half = made(three)._replace(
        active=False, array_state="inactive", members=(MdMember("/dev/sda"),), kernel_name="md0"
    )
    foreign = made(disks(2, start=1), level="raid1")._replace(uuid=OTHER, kernel_name="md5")
    wider = made(disks(3, start=2))._replace(kernel_name="md6")
    blocks = [block("/dev/sda", UUID), block("/dev/sdb", UUID), block("/dev/sdc", OTHER), block("/dev/sdx", UUID)]
    assert [step.argv for step in cleanup_steps(create, [half, foreign, wider], blocks)] == [
        ("mdadm", "--stop", "/dev/md0"),
        ("mdadm", "--zero-superblock", "/dev/sda", "/dev/sdb"),
    ]
    chosen_by_mdadm = next(s for s in plan_md(None, wish(three), three).steps if "--create" in s.argv)
    assert cleanup_steps(chosen_by_mdadm, [half, foreign], blocks) == ()
    assert cleanup_steps(Step(("mdadm", "--stop", "/dev/md0"), "stop"), [half], blocks) == ()


def random_wish(rng: random.Random) -> tuple[MdWanted, list[DeviceGeometry], list[DeviceGeometry]]:
    level = rng.choice(["linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10"])
    count, size = rng.randint(4, 7), rng.choice([G, 2 * G, 10 * G, 3000592982016])
    devices = [
        DeviceGeometry(f"/dev/sd{chr(ord('a') + index)}", size + rng.randint(0, 3) * M) for index in range(count + 1)
    ]
    redundant = level not in ("linear", "raid0")
    spares = devices[count:] if redundant and rng.random() < 0.3 else []
    chunk = rng.choice([None, 4 * K, 64 * K, 256 * K, M]) if level not in ("linear", "raid1") else None
    wanted = MdWanted(
        name=rng.choice(["a", "data", "x.1-y_z"]),
        level=level,
        members=tuple(one.path for one in devices[:count]),
        spares=tuple(one.path for one in spares),
        chunk_bytes=chunk,
        layout=rng.choice([None, "n2", "n3", "f2", "o2"]) if level == "raid10" else None,
        metadata=rng.choice([None, "0.90", "1.0", "1.1", "1.2"]),
        bitmap=rng.choice([None, "internal", "none"]) if redundant else rng.choice([None, "none"]),
        size_bytes=rng.choice([None, 512 * M]) if redundant else None,
        homehost=rng.choice([None, "any", "box"]),
        uuid=rng.choice([None, UUID]),
        assume_clean=rng.random() < 0.5,
        readahead_bytes=rng.choice([None, 128 * K, 3 * M]),
    )
    if wanted.metadata not in ("0.90", "1.0"):
        wanted = wanted._replace(data_offset_bytes=rng.choice([None, 8 * M]))
    return wanted, devices[:count], spares


def test_after_its_own_plan_nothing_is_left_to_do() -> None:
    rng = random.Random(20080229)
    for _ in range(2000):
        wanted, members, spares = random_wish(rng)
        first = plan_md(None, wanted, members, spares)
        assert first.changed
        read = first.predicted._replace(kernel_name="md127", uuid=first.predicted.uuid or UUID)
        again = plan_md(read, wanted, members, spares)
        assert not again.changed, (wanted, again.steps)
        assert find_array([read], wanted, [one.path for one in (*members, *spares)]) == read
        gone = plan_md_absent(read, wanted, [*members, *spares])
        assert set(gone.steps[-1].writes) == set(read.member_paths())
