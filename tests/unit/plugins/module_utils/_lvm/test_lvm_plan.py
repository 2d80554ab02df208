# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to PVs, VGs and LVs, and what is refused."""

from __future__ import annotations

import random
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import ExtentRequest
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    LvWanted,
    PvState,
    PvWanted,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv import plan_lv, plan_lv_absent, vg_after_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import plan_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_absent import plan_pv_absent
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import predict_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import (
    combined_create,
    members_after,
    plan_vg,
    plan_vg_absent,
)

KIB, MIB, GIB = 1024, 1024**2, 1024**3
RAID5_768K = Stripe(256 * KIB, 3)


def device(path: str = "/dev/sda", size: int | None = 2 * GIB, **more: t.Any) -> DeviceGeometry:
    return DeviceGeometry(path, size, **more)


def pv_of(path: str, size: int = 2 * GIB, vg: str | None = None) -> PvState:
    return predict_pv(PvWanted(path), device(path, size))._replace(uuid=f"uuid-{path}", vg_name=vg)


def group(paths: t.Sequence[str], extent: int = 4 * MIB, size: int = 2 * GIB) -> tuple[VgState, tuple[PvState, ...]]:
    pvs = [pv_of(path, size) for path in paths]
    vg = plan_vg(None, VgWanted("v", tuple(paths), extent), pvs).predicted
    return vg, members_after(pvs, vg)


FOUR = ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")


# --- physical volumes


def test_new_pv_on_a_disk() -> None:
    plan = plan_pv(None, PvWanted("/dev/sda"), device())
    assert [step.argv[:2] for step in plan.steps] == [("wipefs", "-a"), ("lvm", "pvcreate")]
    assert plan.writes() == ("/dev/sda",)
    argv = plan.steps[1].argv
    assert argv[-1] == "/dev/sda"
    assert argv[argv.index("--dataalignment") + 1] == f"{MIB}b"
    assert "-y" not in argv and "-ff" not in argv
    assert plan.predicted.pe_start_bytes == MIB
    assert plan.before == {} and plan.after["pe_start_bytes"] == MIB


def test_new_pv_on_an_array_lies_on_its_full_stripe() -> None:
    plan = plan_pv(None, PvWanted("/dev/md0"), device("/dev/md0", stripe=RAID5_768K))
    assert plan.predicted.pe_start_bytes == 1536 * KIB
    assert not plan.warnings


def test_new_pv_of_a_misaligned_partition_is_moved_onto_the_stripe() -> None:
    below = device("/dev/md0p1", stripe=RAID5_768K, offset_bytes=256 * KIB)
    plan = plan_pv(None, PvWanted("/dev/md0p1"), below)
    assert (plan.predicted.pe_start_bytes + 256 * KIB) % (768 * KIB) == 0
    assert "--dataalignmentoffset" in plan.steps[1].argv


def test_new_pv_that_is_asked_off_the_stripe_is_warned_of() -> None:
    plan = plan_pv(None, PvWanted("/dev/md0", alignment=MIB), device("/dev/md0", stripe=RAID5_768K))
    assert plan.predicted.pe_start_bytes == MIB
    assert "256KiB behind a full stripe (768KiB)" in plan.warnings[0]


def test_new_pv_with_everything_asked() -> None:
    wanted = PvWanted("/dev/sda", 188 * KIB, 64 * KIB, 0, "abc-def")
    plan = plan_pv(None, wanted, device())
    argv = " ".join(plan.steps[1].argv)
    assert "--metadatasize 192512b" in argv and "--uuid abc-def --norestorefile" in argv
    assert plan.predicted.pe_start_bytes == 192 * KIB


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (PvWanted("/dev/sda", alignment=1000), "multiple"),
        (PvWanted("/dev/sda", alignment=0), "dataalignment was given as 0"),
        (PvWanted("/dev/sda", alignment=64 * KIB, alignment_offset_bytes=64 * KIB), "not below"),
        (PvWanted("/dev/sda", metadata_bytes=3 * GIB), "would begin at"),
        (
            PvWanted("/dev/sda", metadata_bytes=27 * KIB, alignment=4 * KIB),
            "metadata area of 28KiB, but LVM needs 32KiB",
        ),
    ],
)
def test_pv_that_cannot_be(wanted: PvWanted, part: str) -> None:
    with pytest.raises(PlanRefused, match=part):
        plan_pv(None, wanted, device())


def test_pv_on_a_planned_array() -> None:
    plan = plan_pv(None, PvWanted("/dev/md/a"), device("/dev/md/a", None, assumed=True))
    assert plan.changed and plan.assumed_parent
    assert plan.predicted.size_bytes is None


@pytest.mark.parametrize(
    "wanted",
    [
        PvWanted("/dev/sda"),
        PvWanted("/dev/sda", alignment="auto"),
        PvWanted("/dev/sda", alignment=64 * KIB),
        PvWanted("/dev/sda", metadata_bytes=100 * KIB),
        PvWanted("/dev/sda", metadata_bytes=100 * KIB, alignment=MIB),
        PvWanted("/dev/sda", uuid="uuid/dev/sda"),
    ],
)
def test_pv_that_is_right(wanted: PvWanted) -> None:
    plan = plan_pv(pv_of("/dev/sda"), wanted, device())
    assert not plan.changed and plan.before == plan.after


@pytest.mark.parametrize(
    ("wanted", "stripe", "part"),
    [
        (PvWanted("/dev/sda", alignment="auto"), RAID5_768K, "begins at 1MiB, but a multiple of 768KiB"),
        (PvWanted("/dev/sda", alignment=768 * KIB), None, "multiple of 768KiB"),
        (PvWanted("/dev/sda", alignment=64 * KIB, metadata_bytes=100 * KIB), None, "put it at 128KiB"),
        (PvWanted("/dev/sda", metadata_bytes=2 * MIB), None, "metadata area has 1020KiB"),
        (PvWanted("/dev/sda", uuid="other"), None, "UUID"),
        (PvWanted("/dev/sda", alignment=MIB, alignment_offset_bytes=4096), None, "plus 4KiB"),
    ],
)
def test_pv_that_differs_is_refused(wanted: PvWanted, stripe: Stripe | None, part: str) -> None:
    with pytest.raises(PlanRefused, match=part):
        plan_pv(pv_of("/dev/sda"), wanted, device(stripe=stripe))


def test_existing_pv_off_the_stripe_is_warned_of_when_not_managed() -> None:
    plan = plan_pv(pv_of("/dev/sda"), PvWanted("/dev/sda"), device(stripe=RAID5_768K))
    assert not plan.changed
    assert "behind a full stripe" in plan.warnings[0]


def test_pv_absent() -> None:
    assert not plan_pv_absent(None).changed
    plan = plan_pv_absent(pv_of("/dev/sda"))
    assert plan.commands() == ["lvm pvremove /dev/sda"]
    assert plan.writes() == ("/dev/sda",)
    with pytest.raises(PlanRefused, match="belongs to the volume group data"):
        plan_pv_absent(pv_of("/dev/sda", vg="data"))


# --- volume groups


def test_new_vg() -> None:
    pvs = [pv_of(path) for path in FOUR]
    plan = plan_vg(None, VgWanted("v", FOUR, 4 * MIB, ("b", "a")), pvs)
    assert plan.commands() == [f"lvm vgcreate -s 4194304b --addtag a --addtag b v {' '.join(FOUR)}"]
    assert (plan.predicted.extent_count, plan.predicted.tags) == (4 * 511, ("a", "b"))
    assert not plan.writes()


def test_new_vg_on_planned_pvs() -> None:
    pv = pv_of("/dev/md/a")._replace(device_size_bytes=None, size_bytes=None, assumed=True)
    plan = plan_vg(None, VgWanted("v", ("/dev/md/a",)), [pv])
    assert plan.assumed_parent and plan.predicted.extent_count is None


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (VgWanted("v"), "give devices"),
        (VgWanted("-v", FOUR), "does not take as a name"),
        (VgWanted("v", FOUR, 3 * KIB), "power of two or a multiple of 128KiB"),
        (VgWanted("v", FOUR, 4 * GIB), "not one fits"),
        (VgWanted("v", FOUR, tags=("a b",)), "tag 'a b'"),
        (VgWanted("v", ("/dev/sda", "/dev/sda")), "same device twice"),
        (VgWanted("v", ("/dev/sdx",)), "no LVM physical volume"),
        (VgWanted("v", ("/dev/sde",)), "/dev/sde is in other"),
    ],
)
def test_vg_that_cannot_be(wanted: VgWanted, part: str) -> None:
    pvs = [*(pv_of(path) for path in FOUR), pv_of("/dev/sde", vg="other")]
    with pytest.raises(PlanRefused, match=part):
        plan_vg(None, wanted, pvs)


def test_vg_of_unequal_sectors_is_refused() -> None:
    below = {"/dev/sda": device(), "/dev/sdb": device("/dev/sdb", logical_sector_bytes=4096)}
    with pytest.raises(PlanRefused, match="unequal size"):
        plan_vg(None, VgWanted("v", ("/dev/sda", "/dev/sdb")), [pv_of("/dev/sda"), pv_of("/dev/sdb")], below)


def test_extent_size_that_is_no_power_of_two() -> None:
    assert plan_vg(None, VgWanted("v", ("/dev/sda",), 3 * MIB), [pv_of("/dev/sda")]).predicted.extent_count == 682


def test_vg_update_adds_pvs_and_sets_tags_and_leaves_others() -> None:
    vg, pvs = group(FOUR[:2])
    more = (*pvs, pv_of("/dev/sdc"))
    plan = plan_vg(vg, VgWanted("v", ("/dev/sdc",), tags=("x",)), more)
    assert plan.commands() == ["lvm vgextend v /dev/sdc", "lvm vgchange --addtag x v"]
    assert plan.predicted.pv_paths == ("/dev/sda", "/dev/sdb", "/dev/sdc")
    assert plan.predicted.extent_count == 3 * 511
    assert not plan_vg(
        plan.predicted, VgWanted("v", FOUR[:3], tags=("x",)), members_after(more, plan.predicted)
    ).changed


def test_vg_with_another_extent_size_is_refused() -> None:
    vg, pvs = group(FOUR[:1])
    with pytest.raises(PlanRefused, match="extents of 4MiB, but extent_size 8MiB"):
        plan_vg(vg, VgWanted("v", extent_bytes=8 * MIB), pvs)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"exported": True}, "exported"),
        ({"shared": True}, "shared"),
        ({"foreign": True, "system_id": "elsewhere"}, "elsewhere"),
        ({"missing_pv_count": 1}, "missing"),
        ({"lv_names": ("home",)}, "logical volumes: home"),
    ],
)
def test_vg_that_must_not_be_removed(change: dict[str, t.Any], part: str) -> None:
    vg = group(FOUR[:1])[0]._replace(**change)
    with pytest.raises(PlanRefused, match=part):
        plan_vg_absent(vg)
    if "lv_names" not in change:
        with pytest.raises(PlanRefused, match=part):
            plan_vg(vg, VgWanted("v", tags=("new",)), ())
        with pytest.raises(PlanRefused, match=part):
            plan_lv(None, LvWanted("v", "l", size=ExtentRequest("extents", 1)), vg, ())


def test_vg_absent() -> None:
    plan = plan_vg_absent(group(FOUR[:1])[0])
    assert plan.commands() == ["lvm vgremove v"]
    assert plan.removes() == ("vg:v",)
    assert not plan_vg_absent(None).changed


def test_combined_create_is_the_same_as_single_steps() -> None:
    below = {path: device(path, stripe=RAID5_768K) for path in FOUR[:2]}
    wishes = [PvWanted(path) for path in below]
    wanted = VgWanted("v", tuple(below), 3 * MIB, ("t",))
    plan = combined_create(wanted, wishes, below)
    assert plan is not None
    single = plan_vg(None, wanted, [predict_pv(wish, below[wish.path]) for wish in wishes], below)
    assert plan.predicted == single.predicted
    assert plan.writes() == tuple(below)
    assert len(plan.steps) == 2
    assert "--dataalignment 786432b" in plan.commands()[1]
    assert plan.commands()[1].startswith("lvm vgcreate ")


def test_combined_create_cannot_differ_from_pv_to_pv() -> None:
    below = {"/dev/sda": device(), "/dev/md0": device("/dev/md0", stripe=RAID5_768K)}
    wishes = [PvWanted(path) for path in below]
    assert combined_create(VgWanted("v", tuple(below)), wishes, below) is None
    named = [PvWanted("/dev/sda", uuid="abc")]
    assert combined_create(VgWanted("v", ("/dev/sda",)), named, below) is None


# --- logical volumes


def lv(name: str = "l", **more: t.Any) -> LvWanted:
    more.setdefault("size", ExtentRequest("extents", 100))
    return LvWanted("v", name, **more)


@pytest.mark.parametrize(
    ("wanted", "words", "extents"),
    [
        (lv(), "--type linear -l 100 ", 100),
        (lv(size=ExtentRequest("bytes", 100 * MIB)), "-l 25 ", 25),
        (lv(size=ExtentRequest("free", 100)), "-l 2044 ", 2044),
        (lv(type="striped"), "--type striped -i 4 -I 65536b -l 100 ", 100),
        (lv(stripes=3, size=ExtentRequest("bytes", 100 * MIB)), "--type striped -i 3 -I 65536b -l 27 ", 27),
        (lv(type="striped", stripes=2, stripe_bytes=256 * KIB), "-i 2 -I 262144b", 100),
        (lv(type="raid1"), "--type raid1 -m 1 -l 100", 100),
        (lv(type="raid5", region_bytes=MIB), "--type raid5 -i 3 -I 65536b -R 1048576b -l 102", 102),
        (lv(type="raid10"), "--type raid10 -i 2 -I 65536b -m 1 -l 100", 100),
        (lv(type="raid5", size=ExtentRequest("free", 100)), "-l 1530 ", 1530),
        (lv(readahead=128 * KIB), "-r 256 ", 100),
        (lv(readahead="auto", tags=("b", "a")), "-r auto --addtag a --addtag b -n l v", 100),
        (lv(pv_paths=("/dev/sdb",)), "-n l v /dev/sdb", 100),
        (lv(pv_paths=("/dev/sdb",), size=ExtentRequest("pvs", 50)), "-l 255 ", 255),
    ],
)
def test_new_lv(wanted: LvWanted, words: str, extents: int) -> None:
    vg, pvs = group(FOUR)
    plan = plan_lv(None, wanted, vg, pvs)
    command = plan.commands()[0]
    assert command.startswith("lvm lvcreate -y --type ")
    assert words in command
    assert "-W y -Z y" in command
    assert (plan.predicted.extents, plan.predicted.size_bytes) == (extents, extents * 4 * MIB)
    assert sum(segment.extents for segment in plan.predicted.segments) == extents
    assert not plan.writes()


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (lv(size=None), "give size or extents"),
        (lv(size=ExtentRequest("extents", 2045)), "at most 2044 fit"),
        (lv(type="striped", stripes=5), "needs 5 physical volumes side by side, but only 4"),
        (lv(type="striped", stripes=1), "at least 2 stripes"),
        (lv(type="linear", stripe_bytes=64 * KIB), "has no stripes"),
        (lv(type="raid1", mirrors=0), "mirrors of at least 1"),
        (lv(type="striped", stripe_bytes=96 * KIB), "power of two of at least 4KiB, such as 64KiB"),
        (lv(type="striped", stripe_bytes=8 * MIB), "cannot be larger than an extent"),
        (lv(pv_paths=("/dev/sdx",)), "/dev/sdx"),
        (lv(readahead=1000), "sectors"),
        (lv(name="a/b"), "does not take as a name"),
        (lv(type="thin"), "not known"),
    ],
)
def test_lv_that_cannot_be(wanted: LvWanted, part: str) -> None:
    vg, pvs = group(FOUR)
    with pytest.raises(PlanRefused, match=part):
        plan_lv(None, wanted, vg, pvs)


def test_striped_lv_needs_the_smaller_pvs() -> None:
    pvs = [pv_of("/dev/sda", 2 * GIB), pv_of("/dev/sdb", GIB)]
    vg = plan_vg(None, VgWanted("v", ("/dev/sda", "/dev/sdb")), pvs).predicted
    members = members_after(pvs, vg)
    with pytest.raises(PlanRefused, match=r"at most 510 fit \(free extents: /dev/sda 511, /dev/sdb 255\)"):
        plan_lv(None, lv(type="striped", size=ExtentRequest("extents", 512)), vg, members)
    plan = plan_lv(None, lv(type="striped", size=ExtentRequest("free", 100)), vg, members)
    assert plan.predicted.extents == 510


def test_lv_in_a_planned_group() -> None:
    vg = VgState("v", None, 4 * MIB, None, None, (), assumed=True)
    plan = plan_lv(None, lv(size=ExtentRequest("free", 100)), vg, ())
    assert plan.assumed_parent
    assert "-l 100%FREE" in plan.commands()[0]
    assert plan.predicted.size_bytes is None


@pytest.mark.parametrize(
    "wanted",
    [
        lv(size=None),
        lv(size=ExtentRequest("extents", 27)),
        lv(size=ExtentRequest("bytes", 100 * MIB)),
        lv(size=ExtentRequest("bytes", 108 * MIB)),
        lv(size=ExtentRequest("free", 1)),
        lv(size=ExtentRequest("vg", 1)),
        lv(type="striped", size=None, stripes=3, stripe_bytes=64 * KIB, readahead="auto", tags=(), active=True),
    ],
)
def test_lv_that_is_right(wanted: LvWanted) -> None:
    vg, pvs = group(FOUR)
    made = plan_lv(None, lv(stripes=3, size=ExtentRequest("bytes", 100 * MIB)), vg, pvs).predicted
    after, left = vg_after_lv(vg, pvs, made)
    plan = plan_lv(made, wanted, after, left)
    assert not plan.changed and plan.before == plan.after


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        (lv(size=ExtentRequest("extents", 24)), "never shrunk unless"),
        (lv(type="linear"), "type is striped, asked for was linear"),
        (lv(stripes=4), "stripes is 3, asked for was 4"),
        (lv(stripe_bytes=128 * KIB), "stripesize is 64KiB, asked for was 128KiB"),
        (lv(mirrors=1), "mirrors is 0"),
        (lv(size=ExtentRequest("extents", 3000)), "at most"),
    ],
)
def test_lv_that_differs_is_refused(wanted: LvWanted, part: str) -> None:
    vg, pvs = group(FOUR)
    made = plan_lv(None, lv(stripes=3, size=ExtentRequest("bytes", 100 * MIB)), vg, pvs).predicted
    after, left = vg_after_lv(vg, pvs, made)
    with pytest.raises(PlanRefused, match=part):
        plan_lv(made, wanted, after, left)


@pytest.mark.parametrize(
    ("wanted", "commands"),
    [
        (lv(size=ExtentRequest("extents", 120)), ["lvm lvextend -l 120 v/l"]),
        (lv(size=None, readahead=256 * KIB), ["lvm lvchange -r 512 v/l"]),
        (lv(size=None, readahead=0), ["lvm lvchange -r 0 v/l"]),
        (lv(size=None, tags=("x",)), ["lvm lvchange --addtag x v/l"]),
        (lv(size=None, active=False), ["lvm lvchange -an v/l"]),
    ],
)
def test_lv_that_changes_in_place(wanted: LvWanted, commands: list[str]) -> None:
    vg, pvs = group(FOUR)
    made = plan_lv(None, lv(), vg, pvs).predicted
    after, left = vg_after_lv(vg, pvs, made)
    plan = plan_lv(made, wanted, after, left)
    assert plan.commands() == commands
    assert plan.before != plan.after
    assert not plan_lv(plan.predicted, wanted, after, left).changed


def test_lv_absent_wipes_first() -> None:
    vg, pvs = group(FOUR)
    made = plan_lv(None, lv(), vg, pvs).predicted
    plan = plan_lv_absent(made, vg)
    assert plan.commands() == ["wipefs -a /dev/v/l", "lvm lvremove -y v/l"]
    assert plan.writes() == ("/dev/v/l",) and plan.removes() == ("lv:v/l",)
    asleep = plan_lv_absent(made._replace(active=False), vg)
    assert asleep.commands()[0] == "lvm lvchange -ay -K v/l"
    assert not plan_lv_absent(None, vg).changed
    with pytest.raises(PlanRefused, match="thin-pool"):
        plan_lv_absent(made._replace(type="thin-pool"), vg)


# --- geometry


def test_geometry_of_a_linear_lv_is_that_of_the_array() -> None:
    below = {"/dev/md0": device("/dev/md0", stripe=RAID5_768K)}
    pvs = [predict_pv(PvWanted("/dev/md0"), below["/dev/md0"])]
    vg = plan_vg(None, VgWanted("v", ("/dev/md0",)), pvs).predicted
    members = members_after(pvs, vg)
    first = plan_lv(None, lv(), vg, members, below)
    found, warnings = geometry_of_lv(first.predicted, vg, members, below)
    assert (found.stripe, found.offset_bytes, warnings) == (RAID5_768K, 0, ())
    vg, members = vg_after_lv(vg, members, first.predicted)
    second = plan_lv(None, lv("m"), vg, members, below)
    # 100 extents of 4 MiB are 533 stripes and a third.
    assert geometry_of_lv(second.predicted, vg, members, below)[0].offset_bytes == 256 * KIB
    assert "256KiB behind a full stripe" in second.warnings[0]


def test_geometry_of_stripes_over_arrays() -> None:
    below = {path: device(path, stripe=Stripe(128 * KIB, 3)) for path in ("/dev/md0", "/dev/md1")}
    pvs = [predict_pv(PvWanted(path), below[path]) for path in below]
    vg = plan_vg(None, VgWanted("v", tuple(below)), pvs).predicted
    members = members_after(pvs, vg)
    plan = plan_lv(None, lv(type="striped", stripe_bytes=128 * KIB), vg, members, below)
    assert geometry_of_lv(plan.predicted, vg, members, below)[0].stripe == Stripe(128 * KIB, 6)


def test_stripes_that_begin_off_the_arrays_below() -> None:
    """Both ways to see the same volume tell the same: 128 KiB behind on each of two arrays are 256 KiB of the volume."""
    below = {path: device(path, stripe=Stripe(128 * KIB, 3)) for path in ("/dev/md0", "/dev/md1")}
    pvs = [predict_pv(PvWanted(path), below[path])._replace(pe_start_bytes=1664 * KIB) for path in below]
    vg = plan_vg(None, VgWanted("v", tuple(below)), pvs).predicted
    members = members_after(pvs, vg)
    plan = plan_lv(None, lv(type="striped", stripe_bytes=128 * KIB), vg, members, below)
    assert geometry_of_lv(plan.predicted, vg, members, below)[0].offset_bytes == 256 * KIB
    assert "begins 256KiB behind a full stripe (768KiB)" in plan.warnings[0]
    members = tuple(pv._replace(pe_start_bytes=1600 * KIB) for pv in members)
    plan = plan_lv(None, lv(type="striped", stripe_bytes=128 * KIB), vg, members, below)
    assert "no write through it will be a full stripe" in plan.warnings[0]


def test_geometry_of_stripes_over_disks() -> None:
    vg, pvs = group(FOUR)
    below = {path: device(path) for path in FOUR}
    plan = plan_lv(None, lv(type="striped"), vg, pvs, below)
    assert geometry_of_lv(plan.predicted, vg, pvs, below)[0].stripe == Stripe(64 * KIB, 4)


def test_pieces_that_lie_differently_are_warned_of() -> None:
    below = {path: device(path, stripe=RAID5_768K) for path in ("/dev/md0", "/dev/md1")}
    pvs = [predict_pv(PvWanted(path), below[path]) for path in below]
    vg = plan_vg(None, VgWanted("v", tuple(below)), pvs).predicted
    members = members_after(pvs, vg)
    plan = plan_lv(None, lv(size=ExtentRequest("free", 100)), vg, members, below)
    assert len(plan.predicted.segments) == 2
    assert "lie differently" in plan.warnings[0]


# --- second run


def random_wish(rng: random.Random) -> LvWanted:
    kind = rng.choice(["linear", "striped", "raid0", "raid1", "raid5", "raid6", "raid10", "mirror", None])
    size = rng.choice(
        [
            ExtentRequest("bytes", rng.randrange(1, GIB)),
            ExtentRequest("extents", rng.randrange(1, 400)),
            ExtentRequest(rng.choice(["free", "vg", "pvs"]), rng.randrange(1, 101)),
        ]
    )
    striped = kind in ("striped", "raid0", "raid5", "raid10")
    return lv(
        type=kind,
        size=size,
        stripes=rng.choice([None, 2]) if striped else None,
        stripe_bytes=rng.choice([None, 64 * KIB, 128 * KIB]) if striped else None,
        readahead=rng.choice([None, "auto", 0, 256 * KIB]),
        tags=rng.choice([None, (), ("a", "b")]),
        active=rng.choice([None, True, False]),
    )


@pytest.mark.parametrize("seed", range(300))
def test_plan_of_the_prediction_is_empty(seed: int) -> None:
    rng = random.Random(seed)
    paths = tuple(f"/dev/sd{letter}" for letter in "abcdef"[: rng.randrange(1, 7)])
    stripe = rng.choice([None, RAID5_768K, Stripe(64 * KIB, 4)])
    below = {path: device(path, rng.randrange(GIB, 4 * GIB), stripe=stripe) for path in paths}
    align = rng.choice([None, "auto", MIB, 64 * KIB])
    wishes = [PvWanted(path, rng.choice([None, 100 * KIB, 2 * MIB]), align) for path in paths]
    pvs = [plan_pv(None, wish, below[wish.path]).predicted for wish in wishes]
    for wish, pv in zip(wishes, pvs):
        assert not plan_pv(pv, wish, below[wish.path]).changed
    group_wish = VgWanted("v", paths, rng.choice([None, MIB, 3 * MIB, 4 * MIB]), rng.choice([None, (), ("x",)]))
    vg = plan_vg(None, group_wish, pvs, below).predicted
    members: t.Sequence[PvState] = members_after(pvs, vg)
    assert not plan_vg(vg, group_wish, members, below).changed
    wish_lv = random_wish(rng)
    try:
        made = plan_lv(None, wish_lv, vg, members, below).predicted
    except PlanRefused:
        return
    vg, members = vg_after_lv(vg, members, made)
    again = plan_lv(made, wish_lv, vg, members, below)
    assert not again.changed and again.predicted == made
