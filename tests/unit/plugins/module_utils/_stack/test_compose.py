# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState, LvState, VgState
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdMember, MdState
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import MountState, MountWanted
from ansible_collections.plumbline.storage.plugins.module_utils._mount.unit import unit_text
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import TableState
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import (
    World,
    compose_layers,
    compose_regions,
    filesystem_paths,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Region, StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import (
    mounts_of,
    new_record,
    owner_tag,
    short_name,
    with_mounts_of,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import parse_stack
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import StackRecord
from ansible_collections.plumbline.storage.plugins.module_utils._stack.removal import (
    compose_region_removal,
    compose_removal,
    compose_unmount,
    unassembled_arrays,
)

GIB, KIB = 1024**3, 1024
REGION = Region(1024**2, GIB)
LVM_ON_MD = [{"md": {"level": 5, "chunk": "256KiB"}}, {"pv": {}}, {"vg": {}}, {"lv": {}}, {"xfs": {}}]
STRIPED = [{"pv": {}}, {"vg": {}}, {"lv": {"type": "striped", "stripesize": "256KiB"}}, {"xfs": {}}]
MD = [{"md": {"level": 5, "chunk": "256KiB"}}, {"xfs": {}}]


def uuids() -> t.Callable[[], str]:
    numbers = iter(range(1, 1000))
    return lambda: f"{next(numbers):08x}-0000-4000-8000-000000000000"


def make(layers: list[t.Any], disks: int = 4, **more: t.Any) -> tuple[StackDescription, StackRecord]:
    stack = parse_stack({"name": "s", "layers": layers, **more}, disks)
    new = uuids()
    return stack, new_record("pl_e_s", stack, [], REGION, [new() for _ in range(disks)], new)


def regions(count: int = 4) -> list[DeviceGeometry]:
    return [DeviceGeometry(f"/dev/sd{letter}1", GIB) for letter in "abcdefgh"[:count]]


def programs(plan: Plan) -> list[str]:
    return [" ".join(step.argv[:2]) if step.argv[0] in ("lvm", "mdadm") else step.argv[0] for step in plan.steps]


def test_lvm_on_md_is_made_from_below_in_few_commands() -> None:
    stack, record = make(LVM_ON_MD)
    built = compose_layers(stack, record, regions(), World(), None)
    assert [name for name in programs(built.plan) if name != "wipefs"] == [
        "mdadm --create",
        "lvm vgcreate",
        "lvm lvcreate",
        "mkfs.xfs",
    ]
    mkfs = built.plan.steps[-1].argv
    assert "su=262144,sw=3" in mkfs
    assert built.top == built.filesystem == "/dev/pl_e_s/lv"
    assert built.geometries["lv"].stripe == Stripe(256 * KIB, 3)
    create = next(step.argv for step in built.plan.steps if step.argv[:2] == ("mdadm", "--create"))
    assert {"--assume-clean", "--bitmap=none", "--homehost=any", f"--uuid={record.arrays['md']}"} <= set(create)
    vgcreate = next(step.argv for step in built.plan.steps if step.argv[:2] == ("lvm", "vgcreate"))
    assert owner_tag(record.id) in vgcreate


def test_no_device_is_wiped_twice_in_a_row() -> None:
    stack, record = make(LVM_ON_MD)
    wiped = [
        device
        for step in compose_layers(stack, record, regions(), World(), None).plan.steps
        if step.argv[0] == "wipefs"
        for device in step.argv[2:]
    ]
    assert "/dev/md/pl_e_s" in wiped
    assert len(wiped) == len(set(wiped))


def test_alignment_is_a_multiple_of_the_full_stripe() -> None:
    stack, record = make(LVM_ON_MD)
    vgcreate = next(
        s.argv for s in compose_layers(stack, record, regions(), World(), None).plan.steps if "vgcreate" in s.argv
    )
    asked = int(vgcreate[vgcreate.index("--dataalignment") + 1].rstrip("b"))
    assert asked % (3 * 256 * KIB) == 0


@pytest.mark.parametrize("layers", [MD, LVM_ON_MD, STRIPED])
def test_every_stack_gets_the_size_asked_for(layers: list[t.Any]) -> None:
    stack, record = make(layers)
    built = compose_layers(stack, record, regions(), World(), 2 * GIB + 256 * 1024**2)
    top = built.geometries["lv" if "lv" in built.geometries else "md"]
    assert top.size_bytes == 2 * GIB + 256 * 1024**2


def test_stripes_over_two_arrays_compose() -> None:
    layers = [
        {"md": {"name": "a", "on": "disks[0:4]", "level": 5, "chunk": "64KiB"}},
        {"md": {"name": "b", "on": "disks[4:8]", "level": 5, "chunk": "64KiB"}},
        {"pv": {"on": ["a", "b"]}},
        {"vg": {}},
        {"lv": {"type": "striped", "stripesize": "64KiB"}},
        {"xfs": {}},
    ]
    stack, record = make(layers, 8)
    built = compose_layers(stack, record, regions(8), World(), None)
    assert built.geometries["lv"].stripe == Stripe(64 * KIB, 6)
    assert record.array_names == {"a": "pl_e_s_a", "b": "pl_e_s_b"}
    assert programs(built.plan).count("mdadm --create") == 2


def test_a_missing_personality_is_refused_before_anything() -> None:
    stack, record = make(MD)
    with pytest.raises(PlanRefused, match="raid456"):
        compose_layers(stack, record, regions(), World(personality_problems={"raid5": "no raid456 here"}), None)


def test_too_few_disks_for_the_level() -> None:
    stack, record = make([{"md": {"level": 6}}, {"xfs": {}}], 3)
    with pytest.raises(PlanRefused, match="needs at least 4"):
        compose_layers(stack, record, regions(3), World(), None)


def test_regions_are_one_call_per_disk_and_unchanged_the_second_time() -> None:
    _, record = make(MD)
    disks = tuple(DeviceGeometry(f"/dev/sd{letter}", 3 * GIB) for letter in "abcd")
    world = World(disks=disks, tables=tuple(TableState(disk.path) for disk in disks))
    plan, planned = compose_regions(record, world)
    assert programs(plan) == ["sfdisk"] * 4
    assert [region.path for region in planned] == ["/dev/sda1", "/dev/sdb1", "/dev/sdc1", "/dev/sdd1"]
    assert {region.size_bytes for region in planned} == {GIB}


def test_a_disk_smaller_than_the_region_is_refused() -> None:
    _, record = make(MD, 1)
    disk = DeviceGeometry("/dev/sda", GIB // 2)
    with pytest.raises(PlanRefused):
        compose_regions(record, World(disks=(disk,), tables=(TableState("/dev/sda"),)))


def array_of(record: StackRecord, active: bool = True) -> MdState:
    members = tuple(MdMember(f"/dev/sd{letter}1") for letter in "abcd")
    return MdState(
        "/dev/md/pl_e_s",
        "md127",
        record.arrays["md"],
        "pl_e_s",
        level="raid5",
        raid_devices=4,
        members=members,
        active=active,
    )


def group_of(
    record: StackRecord, tags: tuple[str, ...] | None = None, pvs: tuple[str, ...] = ("/dev/md127",)
) -> LvmState:
    tags = (owner_tag(record.id),) if tags is None else tags
    group = VgState("pl_e_s", "u", 4 * 1024**2, 100, 0, pv_paths=pvs, lv_names=("lv",), tags=tags)
    return LvmState(vgs=(group,), lvs=(LvState("pl_e_s", "lv", "u", "linear", GIB, 256),))


REGION_NODES = [f"/dev/sd{letter}1" for letter in "abcd"]


def test_removal_goes_from_the_top_and_wipes_content_before_its_container() -> None:
    _, record = make(LVM_ON_MD)
    plan = compose_removal(record, World(arrays=(array_of(record),), lvm=group_of(record)), REGION_NODES)
    assert programs(plan) == ["wipefs", "lvm vgremove", "wipefs", "mdadm --stop", "wipefs"]
    assert [step.writes for step in plan.steps if step.argv[0] == "wipefs"] == [
        ("/dev/pl_e_s/lv",),
        ("/dev/md127",),
        tuple(REGION_NODES),
    ]
    assert all(step.retries for step in plan.steps)


def test_removal_of_a_half_built_stack_does_what_is_left() -> None:
    _, record = make(LVM_ON_MD)
    assert programs(compose_removal(record, World(), REGION_NODES)) == ["wipefs"]
    assert programs(compose_removal(record, World(), [])) == []
    bare = compose_removal(record, World(arrays=(array_of(record),)), REGION_NODES)
    assert programs(bare) == ["wipefs", "mdadm --stop", "wipefs"]
    inactive = compose_removal(record, World(arrays=(array_of(record, active=False),)), REGION_NODES)
    assert programs(inactive) == ["mdadm --stop", "wipefs"]


def test_a_group_with_our_name_but_not_our_tag_is_not_ours() -> None:
    _, record = make(LVM_ON_MD)
    with pytest.raises(PlanRefused, match="somebody else"):
        compose_removal(record, World(lvm=group_of(record, tags=())), REGION_NODES)


def test_an_array_that_is_not_assembled_is_known() -> None:
    _, record = make(LVM_ON_MD)
    assert unassembled_arrays(record, World()) == ["md"]
    assert unassembled_arrays(record, World(arrays=(array_of(record),))) == []
    assert unassembled_arrays(record, World(arrays=(array_of(record, active=False),))) == ["md"]


def test_regions_that_are_gone_need_nothing() -> None:
    _, record = make(MD, 1)
    disk = DeviceGeometry("/dev/sda", 3 * GIB)
    assert not compose_region_removal(record, World(disks=(disk,), tables=(TableState("/dev/sda"),))).changed


def test_names_fit_into_md_superblocks() -> None:
    assert short_name("pl_e_s") == "pl_e_s"
    long = short_name("pl_a_rather_long_experiment_with_a_stack")
    assert len("any:" + long) == 31
    assert long != short_name("pl_a_rather_long_experiment_with_a_stacc")


@pytest.mark.parametrize(
    ("layers", "paths"),
    [
        (MD, {"xfs": "/dev/md/pl_e_s"}),
        (LVM_ON_MD, {"xfs": "/dev/pl_e_s/lv"}),
        ([], {}),
        ([{"xfs": {"on": "disks[1]"}}], {"xfs": "/dev/sdb1"}),
        (
            [*LVM_ON_MD[:4], {"lv": {"on": "vg"}}, {"xfs": {"on": "lv"}}, {"xfs": {"on": "lv2"}}],
            {"xfs": "/dev/pl_e_s/lv", "xfs2": "/dev/pl_e_s/lv2"},
        ),
    ],
)
def test_file_systems_have_a_device_before_it_exists(layers: list[t.Any], paths: dict[str, str]) -> None:
    stack, record = make(layers)
    assert filesystem_paths(stack, record, regions()) == paths


MOUNTED = [*MD[:1], {"xfs": {"mount": "/srv/s", "mount_options": "noatime"}}]


def test_a_permanent_mount_comes_last_and_goes_first() -> None:
    stack, record = make(MOUNTED)
    assert record.mounts == {"xfs": "/srv/s"}
    built = compose_layers(stack, record, regions(), World(), None)
    assert [step.argv[:2] for step in built.plan.steps][-1] == ("systemctl", "start")
    unit = next(step.stdin for step in built.plan.steps if step.argv[0] == "tee")
    assert f"What=/dev/disk/by-uuid/{record.filesystems['xfs']}\n" in str(unit)
    there = MountState("/srv/s", str(unit), True, "/dev/md127")
    plan = compose_unmount(record, World(mounts={"/srv/s": there}))
    assert plan.steps[0].argv == ("systemctl", "stop", "srv-s.mount")


def test_a_mount_that_moves_is_taken_down_at_the_old_place() -> None:
    _unused, record = make(MOUNTED)
    stack, _unused_too = make([MOUNTED[0], {"xfs": {"mount": "/srv/t"}}])
    record = with_mounts_of(stack, record)
    unit = unit_text(MountWanted("/srv/s", record.filesystems["xfs"], "noatime", record.id))
    world = World(mounts={"/srv/s": MountState("/srv/s", unit, True, "/dev/md127")})
    argvs = [step.argv for step in compose_layers(stack, record, regions(), world, None).plan.steps]
    assert argvs.index(("systemctl", "stop", "srv-s.mount")) < argvs.index(("systemctl", "start", "srv-t.mount"))


def test_a_removal_finds_both_places_of_a_mount_that_was_cut_off_on_the_move() -> None:
    first, record = make(MOUNTED)
    stack, _unused = make([MOUNTED[0], {"xfs": {"mount": "/srv/t"}}])
    assert with_mounts_of(first, record) == record
    record = with_mounts_of(stack, record)
    assert (record.mounts, record.former_mounts) == (mounts_of(stack), ("/srv/s",))
    assert with_mounts_of(stack, record) == record  # the next run still knows the old place
    assert with_mounts_of(first, record).former_mounts == ("/srv/t",)
    units = {
        path: MountState(path, unit_text(MountWanted(path, record.filesystems["xfs"], "noatime", record.id)), True)
        for path in ("/srv/s", "/srv/t")
    }
    removed = [step.argv[-1] for step in compose_unmount(record, World(mounts=units)).steps if step.argv[0] == "rm"]
    assert removed == ["/etc/systemd/system/srv-t.mount", "/etc/systemd/system/srv-s.mount"]


def test_what_drifted_is_refused_or_left_with_a_warning() -> None:
    _unused, record = make(MD)
    members = tuple(MdMember(f"/dev/sd{letter}1", slot=slot, state="in_sync") for slot, letter in enumerate("abcd"))
    array = array_of(record)._replace(
        chunk_bytes=256 * KIB, layout="left-symmetric", homehost="any", bitmap="none", members=members
    )
    world = World(arrays=(array,))
    other, _unused_too = make([{"md": {"level": 5, "chunk": "64KiB"}}, {"xfs": {}}])
    with pytest.raises(DriftFound, match="chunk is 256KiB, asked is 64KiB"):
        compose_layers(other, record, regions(), world, None)
    built = compose_layers(other, record, regions(), world, None, tolerant=True)
    assert len(built.drift) == 1
    assert "chunk is 256KiB, asked is 64KiB" in built.drift[0]
    assert "su=262144,sw=3" in built.plan.steps[-1].argv  # what stands above follows what is there


def test_the_record_names_what_is_ours() -> None:
    _, record = make(LVM_ON_MD, 2)
    assert record.container_ids() == {
        *(f"partuuid:{uuid}" for uuid in record.partitions),
        f"md:{record.arrays['md']}",
        "vg:pl_e_s",
    }
    assert dataclasses.replace(record, arrays={}, groups={}, partitions=()).container_ids() == frozenset()
