# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of logical volumes that exist: size with file system, repair, replacement, conversion, removal."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import ExtentRequest
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.content import LvContent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    UNKNOWN_DEVICE,
    LvSegment,
    LvState,
    LvWanted,
    PvRun,
    PvState,
    SegmentArea,
    VgState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv import plan_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv_absent import plan_lv_absent

MIB = 1024**2
EXTENT = 4 * MIB
DISKS = ("/dev/sda", "/dev/sdb", "/dev/sdc")


def pv(path: str, free: int = 100, first: int = 50) -> PvState:
    runs = ((first, free),) if free else ()
    return PvState(path, path, MIB, MIB, vg_name="v", extent_count=150, allocated_extents=150 - free, free_ranges=runs)


def vg(**more: t.Any) -> VgState:
    return VgState("v", "u", EXTENT, 450, 300, DISKS)._replace(**more)


def linear(extents: int = 50, **more: t.Any) -> LvState:
    segment = LvSegment("linear", 0, extents, areas=(SegmentArea(0, pv_path="/dev/sda"),))
    lv = LvState("v", "l", "id", "linear", extents * EXTENT, extents, (segment,), runs=(PvRun("/dev/sda", 0, extents),))
    return lv._replace(**more)


def raid1(lost: bool = False, **more: t.Any) -> LvState:
    second = UNKNOWN_DEVICE if lost else "/dev/sdb"
    areas = (SegmentArea(1, pv_path="/dev/sda"), SegmentArea(1, pv_path=second))
    segment = LvSegment("raid1", 0, 49, stripes=2, region_bytes=2 * MIB, data_copies=2, areas=areas)
    runs = [
        PvRun(path, start, count, f"l_{part}_{n}")
        for n, path in enumerate(("/dev/sda", second))
        for start, count, part in ((0, 1, "rmeta"), (1, 49, "rimage"))
    ]
    health = "partial" if lost else ""
    lv = LvState(
        "v", "l", "id", "raid1", 49 * EXTENT, 49, (segment,), runs=tuple(runs), health=health, sync_percent=100.0
    )
    return lv._replace(**more)


def wish(**more: t.Any) -> LvWanted:
    if isinstance(more.get("size"), int):
        more["size"] = ExtentRequest("extents", more["size"])
    return LvWanted("v", "l", **more)


def commands(
    state: LvState, wanted: LvWanted, content: LvContent | None = None, group: VgState | None = None, **more: t.Any
) -> list[str]:
    pvs = more.pop("pvs", [pv(path) for path in DISKS])
    return plan_lv(state, wanted, group or vg(), pvs, content=content, **more).commands()


EXT4 = LvContent(("ext4",), 50 * EXTENT, 4096, 32768, group_overhead_blocks=600)
XFS = LvContent(("xfs",), 50 * EXTENT, 4096, 12800)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (LvContent(), ["lvm lvextend -l 80 v/l"]),
        (XFS._replace(mounted_at=("/data",)), ["lvm lvextend -l 80 v/l", "xfs_growfs /data"]),
        (
            EXT4,
            ["lvm lvextend -l 80 v/l", "e2fsck -f -p /dev/v/l", "resize2fs /dev/v/l"],
        ),
        (EXT4._replace(mounted_at=("/a b",)), ["lvm lvextend -l 80 v/l", "resize2fs /dev/v/l"]),
    ],
)
def test_the_file_system_grows_after_the_volume(content: LvContent, expected: list[str]) -> None:
    assert commands(linear(), wish(size=80, resizefs=True), content) == expected


def test_a_file_system_that_was_left_behind_is_grown_alone() -> None:
    left = XFS._replace(fs_bytes=40 * EXTENT, mounted_at=("/data",))
    assert commands(linear(), wish(resizefs=True), left) == ["xfs_growfs /data"]
    assert commands(linear(), wish(), left) == []
    plan = plan_lv(linear(), wish(resizefs=True), vg(), [pv(path) for path in DISKS], {}, left)
    assert plan.before["file_system_bytes"] == 40 * EXTENT
    assert plan.after["file_system_bytes"] == 50 * EXTENT
    assert commands(linear(), wish(resizefs=True), XFS._replace(mounted_at=("/data",))) == []


@pytest.mark.parametrize(
    ("content", "wanted", "words"),
    [
        (XFS, wish(size=80, resizefs=True), "grows only while it is mounted"),
        (None, wish(size=80, resizefs=True), "is not active"),
        (LvContent(("swap",)), wish(size=80, resizefs=True), "holds swap"),
        (XFS, wish(size=40, shrink=True, resizefs=True), "XFS cannot shrink"),
        (EXT4, wish(size=40, shrink=True), "resizefs: true shrinks it first"),
        (
            EXT4._replace(mounted_at=("/d",)),
            wish(size=40, shrink=True, resizefs=True),
            "shrinks only while it is not",
        ),
        (LvContent(("crypto_LUKS",)), wish(size=40, shrink=True), "holds crypto_LUKS, which cannot be shrunk"),
        (LvContent(), wish(size=40), "never shrunk unless"),
        (None, wish(size=40, shrink=True), "cannot be seen"),
    ],
)
def test_changes_of_size_that_are_refused(content: LvContent | None, wanted: LvWanted, words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        commands(linear(), wanted, content)


def test_shrinking_with_and_without_a_file_system() -> None:
    reduce = "lvm lvreduce -y -f -l 40 v/l"
    wanted = wish(size=40, shrink=True, resizefs=True)
    assert commands(linear(), wanted, EXT4) == ["e2fsck -f -p /dev/v/l", "resize2fs /dev/v/l 163840K", reduce]
    assert commands(linear(), wanted, XFS._replace(fs_bytes=40 * EXTENT)) == [reduce]
    plan = plan_lv(linear(), wanted, vg(), [pv(path) for path in DISKS], content=LvContent())
    assert plan.commands() == [reduce]
    # The guard looks at what has no signature.
    assert plan.writes() == ("/dev/v/l",)


@pytest.mark.parametrize(("kind", "amount"), [("vg", 5), ("free", 1), ("pvs", 10)])
def test_a_percentage_never_shrinks(kind: str, amount: int) -> None:
    assert commands(linear(), wish(size=ExtentRequest(kind, amount), shrink=True), LvContent()) == []


def test_a_percentage_counts_the_volumes_own_extents() -> None:
    full = [pv("/dev/sda", 0), pv("/dev/sdb", 0), pv("/dev/sdc", 0)]
    lv = linear(450, runs=tuple(PvRun(path, 0, 150) for path in DISKS))
    wanted = wish(size=ExtentRequest("free", 100))
    assert commands(lv, wanted, group=vg(free_extents=0), pvs=full) == []
    grown = [*full[:2], pv("/dev/sdc", 30)]
    smaller = lv._replace(extents=420, runs=(*lv.runs[:2], PvRun("/dev/sdc", 0, 120)))
    assert commands(smaller, wanted, group=vg(free_extents=30), pvs=grown) == ["lvm lvextend -l 450 v/l"]


def test_a_striped_volume_needs_room_on_as_many_devices() -> None:
    areas = tuple(SegmentArea(0, pv_path=path) for path in DISKS[:2])
    segment = LvSegment("striped", 0, 100, stripes=2, data_stripes=2, stripe_bytes=65536, areas=areas)
    runs = tuple(PvRun(path, 0, 50) for path in DISKS[:2])
    lv = LvState("v", "l", "id", "striped", 100 * EXTENT, 100, (segment,), runs=runs)
    one_free = [pv("/dev/sda", 0), pv("/dev/sdb", 0), pv("/dev/sdc", 100)]
    with pytest.raises(PlanRefused, match="grows on 2 devices at the same time, and only 1 have free"):
        commands(lv, wish(size=120), pvs=one_free)


def test_a_degraded_volume_is_told_and_repaired_where_asked() -> None:
    broken = vg(missing_pv_count=1)
    there = [pv("/dev/sda"), pv("/dev/sdc")]
    plan = plan_lv(raid1(lost=True), wish(), broken, there)
    assert not plan.changed
    assert "l_rimage_1, l_rmeta_1 lay on a device that is missing; repair: true" in plan.warnings[0]
    plan = plan_lv(raid1(lost=True), wish(repair=True, pv_paths=("/dev/sda", "/dev/sdc")), broken, there)
    assert plan.commands() == [
        "lvm lvconvert -y --repair v/l /dev/sda /dev/sdc",
        "lvm vgreduce --removemissing v",
    ]
    assert plan.before["health"] == "partial" and plan.after["health"] == ""
    shared = plan_lv(raid1(lost=True), wish(repair=True), broken, there, others_lost=True)
    assert shared.commands() == ["lvm lvconvert -y --repair v/l"]
    # The second run, after another volume was repaired too.
    assert commands(raid1(), wish(repair=True), group=broken) == ["lvm vgreduce --removemissing v"]
    assert commands(raid1(), wish(repair=True)) == []


@pytest.mark.parametrize(
    ("state", "pvs", "words"),
    [
        (raid1(lost=True), [pv("/dev/sda")], "add a device to the group"),
        (raid1(lost=True), [pv("/dev/sda"), pv("/dev/sdc", 49)], "50 free extents"),
        (linear(health="partial", runs=(PvRun(UNKNOWN_DEVICE, 0, 50),)), [pv("/dev/sda")], "holds everything once"),
        (raid1(lost=True, active=False), [pv("/dev/sda"), pv("/dev/sdc")], "is not active"),
    ],
)
def test_repairs_that_cannot_be(state: LvState, pvs: list[PvState], words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        commands(state, wish(repair=True), group=vg(missing_pv_count=1), pvs=pvs)


def test_other_ills_of_copies() -> None:
    assert commands(raid1(health="refresh needed"), wish(repair=True)) == ["lvm lvchange --refresh v/l"]
    assert commands(raid1(health="mismatches exist"), wish(repair=True)) == ["lvm lvchange --syncaction repair v/l"]


def test_leaving_a_device() -> None:
    assert commands(raid1(), wish(leave_paths=("/dev/sda",))) == ["lvm lvconvert -y --replace /dev/sda v/l"]
    assert commands(linear(), wish(leave_paths=("/dev/sda",))) == ["lvm pvmove -n v/l /dev/sda"]
    assert commands(linear(), wish(leave_paths=("/dev/sdb",))) == []
    with pytest.raises(PlanRefused, match="without a part of it has that much free"):
        commands(raid1(), wish(leave_paths=("/dev/sda",)), pvs=[pv("/dev/sda"), pv("/dev/sdb")])
    with pytest.raises(PlanRefused, match=r"not in step .* 40.0% synchronised"):
        commands(raid1(sync_percent=40.0), wish(leave_paths=("/dev/sda",)))
    with pytest.raises(PlanRefused, match="both in devices and in leave_devices"):
        commands(linear(), wish(leave_paths=("/dev/sda",), pv_paths=("/dev/sda",)))


def test_copies_and_regions_of_a_raid1_change() -> None:
    assert commands(raid1(), wish(mirrors=2)) == ["lvm lvconvert -y -m 2 v/l"]
    assert commands(raid1(), wish(region_bytes=MIB)) == ["lvm lvconvert -y -R 1048576b v/l"]
    after = plan_lv(raid1(), wish(mirrors=2), vg(), [pv(path) for path in DISKS]).predicted
    assert after.mirrors == 2
    with pytest.raises(PlanRefused, match="2 more device"):
        commands(raid1(), wish(mirrors=3))
    with pytest.raises(PlanRefused, match=r"nosync.*lvchange --resync"):
        commands(raid1(synced=False), wish(mirrors=2))
    with pytest.raises(DriftFound, match="mirrors is 1, asked for was 0"):
        commands(raid1(), wish(mirrors=0))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (wish(type="raid1"), "type is linear, asked for was raid1"),
        (wish(pv_paths=("/dev/sdb",)), "devices is /dev/sda, asked for was /dev/sdb"),
        (wish(region_bytes=MIB), "regionsize is 0B, asked for was 1MiB"),
    ],
)
def test_drift_shows_both_values(wanted: LvWanted, words: str) -> None:
    with pytest.raises(DriftFound, match=words):
        commands(linear(), wanted)


@pytest.mark.parametrize(
    ("found", "asked", "same"),
    [
        ("raid5", "raid5_ls", True),
        ("raid5_ls", "raid5", True),
        ("raid5_rs", "raid5", True),
        ("raid5_rs", "raid5_ls", False),
        ("raid6_zr", "raid6", True),
        ("raid0_meta", "raid0", False),
    ],
)
def test_variants_of_types(found: str, asked: str, same: bool) -> None:
    state = linear(type=found)
    if same:
        assert commands(state, wish(type=asked)) == []
    else:
        with pytest.raises(DriftFound, match=f"type is {found}"):
            commands(state, wish(type=asked))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"roles": ("public", "snapshot", "thicksnapshot")}, "it is a snapshot"),
        ({"roles": ("public", "origin", "thickorigin")}, "it has snapshots"),
        ({"roles": ("private", "thin", "pool", "data")}, "it is a pool"),
        ({"type": "thin"}, "its type is thin"),
        ({"type": "cache"}, "its type is cache"),
        ({"hidden": True}, "hidden part"),
    ],
)
def test_volumes_of_others_are_left_alone(change: dict[str, t.Any], words: str) -> None:
    state = linear(**change)
    with pytest.raises(PlanRefused, match=words):
        plan_lv_absent(state, vg())
    with pytest.raises(PlanRefused, match=words):
        commands(state, wish(tags=("x",)))


def test_settings_change_together() -> None:
    assert commands(linear(), wish(alloc="cling", read_only=True, active=False)) == [
        "lvm lvchange --alloc cling v/l",
        "lvm lvchange -p r v/l",
        "lvm lvchange -an v/l",
    ]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (wish(size=10, mirrorlog="core"), "only type mirror has a log"),
        (wish(size=10, type="raid1", mirrorlog="core"), "only the type mirror has such a log"),
        (wish(size=10, region_bytes=MIB), "keeps no log of regions"),
        (wish(size=10, nosync=True), "has nothing to synchronise"),
        (wish(size=10, type="raid6", stripes=3, nosync=True), "LVM always synchronises"),
    ],
)
def test_options_that_a_new_volume_cannot_have(wanted: LvWanted, words: str) -> None:
    disks = (*DISKS, "/dev/sdd", "/dev/sde")
    group = vg(pv_paths=disks)
    with pytest.raises(PlanRefused, match=words):
        plan_lv(None, wanted, group, [pv(path) for path in disks])


def test_a_new_volume_with_all_its_words() -> None:
    wanted = wish(size=10, type="mirror", mirrorlog="core", alloc="anywhere", nosync=True, read_only=True, active=False)
    plan = plan_lv(None, wanted, vg(), [pv(path) for path in DISKS])
    assert "--mirrorlog core --alloc anywhere --nosync -l 10" in plan.commands()[0]
    assert plan.commands()[1:] == ["lvm lvchange -p r v/l", "lvm lvchange -an v/l"]
    assert any("without an initial synchronisation" in text for text in plan.warnings)
    assert not plan_lv(plan.predicted, wanted, vg(), [pv(path) for path in DISKS]).changed
