# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes on physical volumes and on the members of groups, and what is refused."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.label import find_label_sector
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    LvmState,
    LvSegment,
    LvState,
    PvState,
    PvWanted,
    SegmentArea,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation import LvmRead, keeping_others_seen
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import plan_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_absent import plan_pv_absent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import predict_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import plan_vg, plan_vg_absent

KIB, MIB, GIB = 1024, 1024**2, 1024**3
EXTENT = 4 * MIB
A, B, C = "/dev/sda", "/dev/sdb", "/dev/sdc"
DEVICE = DeviceGeometry(A, 2 * GIB)


def member(path: str, used: int = 0, **change: t.Any) -> PvState:
    """A PV of 511 extents in the group v, its first C(used) in use."""
    pv = PvState(
        path,
        f"uuid-{path}",
        MIB,
        1020 * KIB,
        size_bytes=511 * EXTENT,
        device_size_bytes=2 * GIB,
        vg_name="v",
        extent_count=511,
        allocated_extents=used,
        free_ranges=((used, 511 - used),) if used < 511 else (),
    )
    return pv._replace(**change)


def volume(name: str, kind: str, *places: tuple[str, int], extents: int = 10) -> LvState:
    areas = tuple(SegmentArea(start, pv_path=path) for path, start in places)
    segment = LvSegment(kind, 0, extents, len(areas), len(areas), areas=areas)
    return LvState("v", name, f"uuid-{name}", kind, extents * EXTENT, extents, (segment,))


def world(*pvs: PvState, lvs: t.Sequence[LvState] = (), **change: t.Any) -> LvmState:
    count = sum(pv.extent_count or 0 for pv in pvs)
    free = count - sum(pv.allocated_extents for pv in pvs)
    names = tuple(lv.name for lv in lvs if not lv.hidden)
    vg = VgState("v", "uuid-v", EXTENT, count, free, tuple(pv.path for pv in pvs), names)
    return LvmState(pvs, (vg._replace(**change),), tuple(lvs))


def grown(lvm: LvmState, **options: t.Any) -> Plan:
    return plan_pv(lvm.pvs[0], PvWanted(A, **options), DEVICE, lvm.vg("v"))


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"metadata_copies": 2}, ("--pvmetadatacopies", "2")),
        ({"metadata_copies": 0}, ("--pvmetadatacopies", "0")),
        ({"bootloader_bytes": 256 * KIB}, ("--bootloaderareasize", "262144b")),
        ({"label_sector": 3}, ("--labelsector", "3")),
    ],
)
def test_options_at_creation(options: dict[str, t.Any], arguments: tuple[str, str]) -> None:
    plan = plan_pv(None, PvWanted(A, **options), DEVICE)
    argv = plan.steps[1].argv
    assert arguments in list(zip(argv, argv[1:]))
    assert not plan_pv(plan.predicted, PvWanted(A, **options), DEVICE).changed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metadata_copies": 2}, "has 1 metadata areas, but pvmetadatacopies 2"),
        ({"bootloader_bytes": MIB}, "bootloader area has 0"),
        ({"label_sector": 0}, "in sector 1, but labelsector 0"),
    ],
)
def test_what_cannot_change_in_place(options: dict[str, t.Any], words: str) -> None:
    with pytest.raises(DriftFound, match=words):
        plan_pv(predict_pv(PvWanted(A), DEVICE), PvWanted(A, **options), DEVICE)


@pytest.mark.parametrize(
    ("pv", "count"),
    [
        (member(A), None),
        (member(A, device_size_bytes=2 * GIB + 512 * KIB), None),
        (member(A, device_size_bytes=3 * GIB), 767),
        (member(A, used=100, device_size_bytes=GIB), 255),
        (member(A, device_size_bytes=3 * GIB, mda_count=2), 767),
        (member(A, device_size_bytes=3 * GIB + MIB, mda_count=2), 767),
        (member(A, device_size_bytes=3 * GIB + 4 * MIB, mda_count=2, mda_size_bytes=512 * KIB), 768),
    ],
)
def test_resize_counts_whole_extents(pv: PvState, count: int | None) -> None:
    lvm = world(pv)
    plan = grown(lvm, resize=True)
    assert plan.commands() == ([] if count is None else [f"lvm pvresize {A}"])
    assert not grown(lvm).changed
    if count is not None:
        assert plan.predicted.extent_count == count
        assert sum(extents for _start, extents in plan.predicted.free_ranges) == count - pv.allocated_extents


def test_orphan_is_resized_to_the_byte() -> None:
    pv = predict_pv(PvWanted(A), DEVICE)._replace(device_size_bytes=3 * GIB)
    plan = plan_pv(pv, PvWanted(A, resize=True), DEVICE)
    assert plan.commands() == [f"lvm pvresize {A}"]
    assert not plan_pv(plan.predicted, PvWanted(A, resize=True), DEVICE).changed


def test_shrunken_device() -> None:
    lvm = world(member(A, used=300, device_size_bytes=GIB))
    assert "needs 2045MiB, but its device has only 1GiB" in grown(lvm).warnings[0]
    with pytest.raises(PlanRefused, match="room for 255 extents, but logical volumes use extents up to number 299"):
        grown(lvm, resize=True)


def test_tags_and_allocation() -> None:
    lvm = world(member(A, tags=("a", "b")))
    plan = grown(lvm, tags=("b", "c"), allocatable=False)
    assert plan.commands() == [f"lvm pvchange --addtag c --deltag a {A}", f"lvm pvchange -x n {A}"]
    after = lvm._replace(pvs=(plan.predicted,))
    assert not grown(after, tags=("b", "c"), allocatable=False).changed
    assert grown(after, tags=(), allocatable=True).changed


@pytest.mark.parametrize("options", [{"tags": ("a",)}, {"allocatable": False}])
@pytest.mark.parametrize("state", [None, predict_pv(PvWanted(A), DEVICE)])
def test_tags_need_a_group(state: PvState | None, options: dict[str, t.Any]) -> None:
    with pytest.raises(PlanRefused, match="volume group"):
        plan_pv(state, PvWanted(A, **options), DEVICE)
    plan = plan_pv(state, PvWanted(A, **options), DEVICE, check_mode=True)
    assert plan.assumed_parent and "earlier task" in plan.warnings[-1]


@pytest.mark.parametrize("change", [{"exported": True}, {"shared": True}, {"foreign": True}, {"missing_pv_count": 1}])
def test_groups_that_must_not_change(change: dict[str, t.Any]) -> None:
    lvm = world(member(A), member(B), **change)
    with pytest.raises(PlanRefused):
        grown(lvm, tags=("x",))
    with pytest.raises(PlanRefused):
        plan_pv_absent(lvm.pvs[0], lvm, move_data=True)


def test_data_moves_off_before_removal() -> None:
    lvm = world(member(A, used=10), member(B), lvs=[volume("l", "linear", (A, 0))])
    plan = plan_pv_absent(lvm.pvs[0], lvm, move_data=True)
    assert plan.commands() == [f"lvm pvmove -i 1 {A}", f"lvm vgreduce v {A}", f"lvm pvremove {A}"]
    empty = world(member(A), member(B))
    assert plan_pv_absent(empty.pvs[0], empty, move_data=True).commands() == plan.commands()[1:]
    with pytest.raises(PlanRefused, match="10 extents in use"):
        plan_pv_absent(lvm.pvs[0], lvm)


@pytest.mark.parametrize(
    ("lvm", "words"),
    [
        (world(member(A, used=10)), "no other physical volume"),
        (world(member(A, used=10), member(B, mda_count=0)), "no metadata area"),
        (world(member(A, used=10), member(B, used=505)), "only 6 free extents"),
        (world(member(A, used=10), member(B, allocatable=False)), "only 0 free extents"),
        (
            world(member(A, used=10), member(B, used=10), lvs=[volume("r", "raid1", (A, 0), (B, 0))]),
            "no other part of r have only 0 free",
        ),
        (
            world(
                member(A, used=20),
                member(B, used=10),
                lvs=[volume("s", "striped", (A, 0), (B, 0), extents=20), volume("l", "linear", (A, 10))],
            ),
            "asked to move 10 extents off /dev/sda",
        ),
    ],
)
def test_no_room_is_known_before(lvm: LvmState, words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        plan_pv_absent(lvm.pvs[0], lvm, move_data=True)


def test_a_move_under_way_has_its_room() -> None:
    hidden = volume("pvmove0", "mirror", (A, 0), (B, 501))._replace(hidden=True)
    lvm = world(member(A, used=10), member(B, used=511), lvs=[hidden])
    assert plan_pv_absent(lvm.pvs[0], lvm, move_data=True).commands()[0] == f"lvm pvmove -i 1 {A}"


def updated(lvm: LvmState, paths: tuple[str, ...], **options: t.Any) -> Plan:
    return plan_vg(lvm.vg("v"), VgWanted("v", paths, **options), lvm.pvs, {}, lvm)


def test_extra_members_stay_unless_asked() -> None:
    lvm = world(member(A), member(B))
    assert not updated(lvm, (A,)).changed
    plan = updated(lvm, (A,), remove_extra=True)
    assert plan.commands() == [f"lvm vgreduce v {B}"]
    assert plan.predicted.pv_paths == (A,) and plan.predicted.extent_count == 511
    with pytest.raises(PlanRefused, match="list the devices that stay"):
        updated(lvm, (), remove_extra=True)


def test_new_members_come_before_old_ones_leave() -> None:
    new = predict_pv(PvWanted(C), DeviceGeometry(C, 2 * GIB))._replace(uuid="c")
    used = world(
        member(A, used=511), member(B, used=10), lvs=[volume("l", "linear", (A, 0)), volume("k", "linear", (B, 0))]
    )
    lvm = used._replace(pvs=(*used.pvs, new))
    with pytest.raises(PlanRefused, match="10 extents of k"):
        updated(lvm, (A, C), remove_extra=True)
    plan = updated(lvm, (A, C), remove_extra=True, move_data=True)
    assert plan.commands() == [f"lvm vgextend v {C}", f"lvm pvmove -i 1 {B}", f"lvm vgreduce v {B}"]


def test_several_that_leave_do_not_take_each_others_data() -> None:
    lvm = world(member(A, used=10), member(B, used=10), member(C), lvs=[volume("l", "linear", (A, 0))])
    commands = updated(lvm, (C,), remove_extra=True, move_data=True).commands()
    assert commands == [
        f"lvm pvchange -x n {A}",
        f"lvm pvchange -x n {B}",
        f"lvm pvmove -i 1 {A}",
        f"lvm pvmove -i 1 {B}",
        f"lvm vgreduce v {A} {B}",
    ]


def test_missing_members() -> None:
    lost = member("[unknown]", missing=True)
    lvm = world(member(A), lost, missing_pv_count=1)
    assert "lacks 1" in updated(lvm, ()).warnings[0]
    with pytest.raises(PlanRefused, match="remove_missing: true"):
        updated(lvm, (), tags=("x",))
    plan = updated(lvm, (), tags=("x",), remove_missing=True)
    assert plan.commands() == ["lvm vgreduce --removemissing v", "lvm vgchange --addtag x v"]
    assert plan.predicted.missing_pv_count == 0 and plan.predicted.pv_paths == (A,)
    used = world(member(A), lost, lvs=[volume("l", "linear", ("[unknown]", 0))], missing_pv_count=1)
    with pytest.raises(PlanRefused, match="need them: l"):
        updated(used, (), remove_missing=True)
    assert plan_vg_absent(lvm.vg("v"), remove_missing=True).commands()[0] == "lvm vgreduce --removemissing v"


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        (LvmRead(LvmState(pvs=(member(B, vg_name=None),)), {}, devices_file=False), True),
        (LvmRead(LvmState(pvs=(member(B, vg_name=None),)), {}, devices_file=True), False),
        (LvmRead(LvmState(), {}, devices_file=False), False),
        (LvmRead(world(member(B)), {}, devices_file=False), False),
    ],
)
def test_no_list_of_devices_is_begun_that_hides_others(read: LvmRead, kept: bool) -> None:
    step = Step(("lvm", "pvcreate", "--config", "devices/data_alignment_offset_detection=0", A), "make it")
    (after,) = keeping_others_seen(Plan((step,)), read, (A,)).steps
    assert ("devices/use_devicesfile=0" in " ".join(after.argv)) is kept


@pytest.mark.parametrize("sector", [0, 1, 2, 3, None])
def test_label_sector(sector: int | None) -> None:
    # Made by hand: the label's layout is fixed; a mark that names another sector is a leftover.
    area = bytearray(2048)
    area[512:544] = b"LABELONE" + (7).to_bytes(8, "little") + bytes(8) + b"LVM2 001"
    if sector is not None:
        at = sector * 512
        area[at : at + 32] = b"LABELONE" + sector.to_bytes(8, "little") + bytes(8) + b"LVM2 001"
    assert find_label_sector(bytes(area)) == sector
