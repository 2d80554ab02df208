# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to get the wanted XFS, as tables."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import (
    FEATURES,
    OtherContent,
    Trial,
    XfsState,
    XfsWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.plan import plan_xfs, plan_xfs_absent

KIB, MIB, GIB = 1024, 1024**2, 1024**3
UUID = "2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11"
RAID5 = DeviceGeometry("/dev/md0", 6 * GIB, stripe=Stripe(256 * KIB, 3))
PLAIN = DeviceGeometry("/dev/sdb", 8 * GIB)
FOUND = XfsState(
    device="/dev/md0",
    uuid=UUID,
    label="old",
    block_bytes=4096,
    sector_bytes=512,
    agcount=8,
    agblocks=65536,
    data_blocks=524288,
    sunit_bytes=256 * KIB,
    swidth_bytes=768 * KIB,
    log_sunit_bytes=256 * KIB,
    log_blocks=16384,
    log_external=False,
    inode_bytes=512,
    features=("bigtime", "crc", "reflink"),
)


def want(**options: t.Any) -> XfsWanted:
    """A wish; features by their words."""
    features = tuple((name, options.pop(name)) for name in FEATURES if name in options)
    return XfsWanted(device="/dev/md0", features=features, **options)


@pytest.mark.parametrize(
    ("options", "below", "command"),
    [
        ({}, RAID5, "mkfs.xfs -q -K -d su=262144,sw=3 /dev/md0"),
        ({"geometry": "auto"}, RAID5, "mkfs.xfs -q -K -d su=262144,sw=3 /dev/md0"),
        ({"geometry": "none"}, RAID5, "mkfs.xfs -q -K -d noalign /dev/md0"),
        ({}, PLAIN, "mkfs.xfs -q -K -d noalign /dev/md0"),
        ({"su_bytes": 65536, "sw": 2}, PLAIN, "mkfs.xfs -q -K -d su=65536,sw=2 /dev/md0"),
        ({"agcount": 6}, RAID5, "mkfs.xfs -q -K -d su=262144,sw=3,agcount=6 /dev/md0"),
        (
            {"label": "data", "uuid": UUID.upper(), "reflink": False, "rmapbt": True},
            PLAIN,
            f"mkfs.xfs -q -K -d noalign -m reflink=0,rmapbt=1,uuid={UUID} -L data /dev/md0",
        ),
        (
            {"block_bytes": 1024, "sector_bytes": 512, "log_su_bytes": 32768},
            PLAIN,
            "mkfs.xfs -q -K -b size=1024 -s size=512 -d noalign -l su=32768 /dev/md0",
        ),
        (
            {"ag_bytes": 192 * MIB, "log_bytes": 96 * MIB, "log_device": "/dev/sdx", "inode_bytes": 1024},
            RAID5,
            "mkfs.xfs -q -K -d su=262144,sw=3,agsize=201326592 -l logdev=/dev/sdx,size=100663296 -i size=1024 /dev/md0",
        ),
        (
            {"crc": True, "nrext64": True, "sparse": False, "parent": True},
            PLAIN,
            "mkfs.xfs -q -K -d noalign -m crc=1 -i sparse=0,nrext64=1 -n parent=1 /dev/md0",
        ),
        # Below 1 GiB mkfs.xfs derives nothing by itself, and neither does this module; what is given is taken.
        ({}, RAID5._replace(size_bytes=1020 * MIB), "mkfs.xfs -q -K -d noalign /dev/md0"),
        (
            {"su_bytes": 65536, "sw": 3},
            RAID5._replace(size_bytes=1020 * MIB),
            "mkfs.xfs -q -K -d su=65536,sw=3 /dev/md0",
        ),
    ],
)
def test_made_with(options: dict[str, t.Any], below: DeviceGeometry, command: str) -> None:
    plan = plan_xfs(None, want(**options), below)
    assert plan.commands() == [command]
    assert plan.writes() == (("/dev/md0", "/dev/sdx") if "log_device" in options else ("/dev/md0",))
    assert not plan.assumed_parent
    # What was predicted is what is wanted.
    assert not plan_xfs(plan.predicted, want(**options), below).changed


def test_other_content_is_wiped_before_and_both_steps_say_what_they_write() -> None:
    plan = plan_xfs(OtherContent("/dev/md0", ("ext4",)), want(), RAID5)
    assert [step.argv[0] for step in plan.steps] == ["wipefs", "mkfs.xfs"]
    assert all(step.writes == ("/dev/md0",) for step in plan.steps)
    assert "ext4" in plan.steps[0].summary
    assert "-f" not in plan.steps[1].argv


@pytest.mark.parametrize(
    ("options", "below", "words"),
    [
        ({}, PLAIN._replace(size_bytes=299 * MIB), ["299MiB", "300MiB"]),
        ({"sector_bytes": 512}, PLAIN._replace(logical_sector_bytes=4096), ["512B", "4KiB"]),
        ({"block_bytes": 2048}, PLAIN._replace(logical_sector_bytes=4096), ["2KiB", "4KiB"]),
        ({"su_bytes": 6144, "sw": 2}, PLAIN, ["su", "6KiB", "4KiB"]),
        ({"log_su_bytes": 6144}, PLAIN, ["log_su", "6KiB"]),
        ({"ag_bytes": 64 * MIB + 64 * KIB}, RAID5, ["agsize", "stripe unit", "256KiB"]),
        ({"log_bytes": 64 * MIB + 4 * KIB}, RAID5, ["log_size", "log's stripe unit", "256KiB"]),
        ({"log_bytes": 64 * MIB + 4 * KIB, "log_su_bytes": 32 * KIB}, PLAIN, ["log_size", "32KiB"]),
        ({"inode_bytes": 2048, "block_bytes": 2048}, PLAIN, ["inode_size", "2KiB"]),
    ],
)
def test_refused_at_creation(options: dict[str, t.Any], below: DeviceGeometry, words: list[str]) -> None:
    with pytest.raises(PlanRefused) as caught:
        plan_xfs(None, want(**options), below)
    assert all(word in caught.value.message for word in words)


@pytest.mark.parametrize(
    ("options", "below"),
    [
        ({}, RAID5),
        ({}, PLAIN),
        ({"geometry": "auto"}, RAID5),
        ({"su_bytes": 256 * KIB, "sw": 3}, PLAIN),
        ({"label": "old", "uuid": UUID.upper(), "reflink": True, "rmapbt": False, "bigtime": True}, RAID5),
        ({"block_bytes": 4096, "sector_bytes": 512, "agcount": 8, "log_su_bytes": 256 * KIB}, RAID5),
    ],
)
def test_existing_as_wanted_is_left(options: dict[str, t.Any], below: DeviceGeometry) -> None:
    plan = plan_xfs(FOUND, want(**options), below)
    assert not plan.changed
    assert plan.before == plan.after


@pytest.mark.parametrize(
    ("options", "below", "words"),
    [
        ({"geometry": "auto"}, PLAIN, ["none", "su 256KiB, sw 3"]),
        ({"geometry": "none"}, RAID5, ["none", "su 256KiB, sw 3"]),
        ({"su_bytes": 256 * KIB, "sw": 4}, RAID5, ["su 256KiB, sw 4", "su 256KiB, sw 3"]),
        ({"block_bytes": 1024}, RAID5, ["block_size", "1KiB", "4KiB"]),
        ({"sector_bytes": 4096}, RAID5, ["sector_size", "4KiB", "512B"]),
        ({"agcount": 9}, RAID5, ["agcount", "9", "8"]),
        ({"log_su_bytes": 32 * KIB}, RAID5, ["log_su", "32KiB", "256KiB"]),
        ({"reflink": False}, RAID5, ["reflink", "false", "true"]),
        ({"rmapbt": True}, RAID5, ["rmapbt", "true", "false"]),
        ({"uuid": "00000000-0000-4000-8000-000000000000"}, RAID5, ["uuid", UUID, "change_uuid"]),
        ({"ag_bytes": 512 * MIB}, RAID5, ["agsize", "512MiB", "256MiB"]),
        ({"log_bytes": 32 * MIB}, RAID5, ["log_size", "32MiB", "64MiB"]),
        ({"inode_bytes": 1024}, RAID5, ["inode_size", "1KiB", "512B"]),
        ({"log_device": "/dev/sdx"}, RAID5, ["log_device", "/dev/sdx", "internal"]),
        ({"parent": True}, RAID5, ["parent", "true", "false"]),
    ],
)
@pytest.mark.parametrize("mounted", [(), ("/srv",)])
def test_what_cannot_change_is_refused_with_both_values(
    options: dict[str, t.Any], below: DeviceGeometry, words: list[str], mounted: tuple[str, ...]
) -> None:
    with pytest.raises(DriftFound) as caught:
        plan_xfs(FOUND._replace(mounted_at=mounted), want(**options), below)
    assert all(word in caught.value.message for word in words)


@pytest.mark.parametrize(
    ("label", "mounted", "argv"),
    [
        ("new", (), ("xfs_admin", "-L", "new", "/dev/md0")),
        ("", (), ("xfs_admin", "-L", "--", "/dev/md0")),
        ("new", ("/srv",), ("xfs_io", "-c", "label -s new", "/srv")),
        ("", ("/srv",), ("xfs_io", "-c", "label -c", "/srv")),
    ],
)
def test_label_changes_in_place(label: str, mounted: tuple[str, ...], argv: tuple[str, ...]) -> None:
    plan = plan_xfs(FOUND._replace(mounted_at=mounted), want(label=label), RAID5)
    assert plan.steps[0].argv == argv
    assert plan.writes() == ()
    assert [step.argv[:2] for step in plan.steps[1:]] == ([("udevadm", "trigger")] if mounted else [])
    assert (plan.before["label"], plan.after["label"]) == ("old", label)
    assert not plan_xfs(plan.predicted, want(label=label), RAID5).changed


def test_xfs_admin_is_told_where_the_log_is() -> None:
    outside = FOUND._replace(log_external=True)
    plan = plan_xfs(outside, want(label="new", log_device="/dev/sdx"), RAID5)
    assert plan.commands() == ["xfs_admin -L new /dev/md0 /dev/sdx"]
    with pytest.raises(PlanRefused, match="give log_device"):
        plan_xfs(outside, want(label="new"), RAID5)


OTHER_UUID = "00000000-0000-4000-8000-00000000ABCD"


def test_uuid_changes_in_place_on_request() -> None:
    wish = want(uuid=OTHER_UUID, change_uuid=True)
    plan = plan_xfs(FOUND, wish, RAID5)
    assert plan.commands() == [f"xfs_admin -U {OTHER_UUID.lower()} /dev/md0"]
    assert (plan.before["uuid"], plan.after["uuid"]) == (UUID, OTHER_UUID.lower())
    assert "metauuid" in plan.predicted.features
    assert not plan_xfs(plan.predicted, wish, RAID5).changed
    with pytest.raises(PlanRefused, match="mounted at /srv"):
        plan_xfs(FOUND._replace(mounted_at=("/srv",)), wish, RAID5)


@pytest.mark.parametrize("options", [{"label": "new"}, {"uuid": OTHER_UUID, "change_uuid": True}])
def test_a_dirty_log_is_told_before(options: dict[str, t.Any]) -> None:
    with pytest.raises(PlanRefused, match="mount it and unmount it once"):
        plan_xfs(FOUND, want(**options), RAID5, log_dirty=True)
    assert not plan_xfs(FOUND, want(label="old"), RAID5, log_dirty=True).changed
    with pytest.raises(PlanRefused, match="another mount namespace"):
        plan_xfs(FOUND._replace(mounted_elsewhere=True), want(**options), RAID5)


SIX_GIB = 6 * GIB // 4096


@pytest.mark.parametrize(
    ("device_bytes", "blocks"),
    [
        (6 * GIB, SIX_GIB),
        # A tail that makes a whole group more or less: from 16 MiB on it is one, below it is left out.
        (6 * GIB + 16 * MIB, SIX_GIB + 4096),
        (6 * GIB + 16 * MIB - 4096, SIX_GIB),
        (6 * GIB + 100, SIX_GIB),
    ],
)
def test_grows_to_its_device_while_mounted(device_bytes: int, blocks: int) -> None:
    below = RAID5._replace(size_bytes=device_bytes)
    mounted = FOUND._replace(mounted_at=("/srv",))
    plan = plan_xfs(mounted, want(grow=True, agcount=8), below)
    assert plan.commands() == [f"xfs_growfs -D {blocks} /srv"]
    assert (plan.before["size_bytes"], plan.after["size_bytes"]) == (2 * GIB, blocks * 4096)
    assert plan.predicted.agcount == -(-blocks // 65536)
    assert not plan_xfs(plan.predicted, want(grow=True, agcount=8), below).changed
    with pytest.raises(PlanRefused, match="not mounted, and XFS grows only while it is mounted"):
        plan_xfs(FOUND, want(grow=True), below)


@pytest.mark.parametrize("tail", [0, 4096, 16 * MIB - 4096])
def test_nothing_to_grow_is_quiet_also_unmounted(tail: int) -> None:
    assert not plan_xfs(FOUND, want(grow=True), RAID5._replace(size_bytes=2 * GIB + tail)).changed


def test_a_last_group_that_is_there_grows_by_a_block() -> None:
    partial = FOUND._replace(data_blocks=524288 - 1000, mounted_at=("/srv",))
    plan = plan_xfs(partial, want(grow=True), RAID5._replace(size_bytes=2 * GIB - 999 * 4096))
    assert plan.commands() == [f"xfs_growfs -D {524288 - 999} /srv"]


def test_a_device_made_smaller_below_it_is_told() -> None:
    with pytest.raises(PlanRefused, match="cannot shrink"):
        plan_xfs(FOUND, want(grow=True), RAID5._replace(size_bytes=2 * GIB - 4096))


def test_groups_that_came_by_growing_are_no_difference_only_with_grow() -> None:
    assert not plan_xfs(FOUND, want(agcount=4, grow=True), RAID5._replace(size_bytes=2 * GIB)).changed
    with pytest.raises(DriftFound, match="agcount"):
        plan_xfs(FOUND, want(agcount=4), RAID5)


def test_where_the_log_is() -> None:
    outside = FOUND._replace(log_external=True)
    assert not plan_xfs(outside, want(log_device="/dev/sdx"), RAID5).changed
    with pytest.raises(DriftFound, match="log_device was asked as /dev/sdx and is /dev/sdy"):
        plan_xfs(outside._replace(log_device="/dev/sdy"), want(log_device="/dev/sdx"), RAID5)


def test_what_the_trial_says_is_predicted_or_refused() -> None:
    plan = plan_xfs(None, want(label="data"), RAID5, Trial(FOUND._replace(uuid=None)))
    assert (plan.predicted.agcount, plan.predicted.label, plan.predicted.uuid) == (8, "data", None)
    with pytest.raises(PlanRefused, match=r"cannot be made on /dev/md0: mkfs\.xfs says"):
        plan_xfs(OtherContent("/dev/md0", ("ext4",)), want(), RAID5, Trial(refusal="mkfs.xfs says 'no'"))


def test_content_of_the_logs_device_is_wiped_too() -> None:
    plan = plan_xfs(None, want(log_device="/dev/sdx"), RAID5, log_content=OtherContent("/dev/sdx", ("swap",)))
    assert [step.argv[0] for step in plan.steps] == ["wipefs", "mkfs.xfs"]
    assert plan.steps[0].writes == ("/dev/sdx",)
    log = OtherContent("/dev/sdx", ("xfs_external_log",))
    assert plan_xfs_absent(FOUND, want(log_device="/dev/sdx"), log).writes() == ("/dev/md0", "/dev/sdx")
    assert plan_xfs_absent(FOUND, want(log_device="/dev/sdx"), OtherContent("/dev/sdx", ("swap",))).writes() == (
        "/dev/md0",
    )


def test_given_stripe_that_differs_from_below_warns() -> None:
    plan = plan_xfs(None, want(su_bytes=64 * KIB, sw=3), RAID5)
    assert len(plan.warnings) == 1
    assert "256KiB" in plan.warnings[0]
    assert plan_xfs(None, want(su_bytes=256 * KIB, sw=3), RAID5).warnings == ()


def test_planned_parent_is_assumed() -> None:
    below = DeviceGeometry("/dev/vg/lv", None, assumed=True)
    plan = plan_xfs(None, want(), below)
    assert plan.assumed_parent
    assert plan.predicted.sunit_bytes is None
    assert plan.commands() == ["mkfs.xfs -q -K /dev/md0"]
    assert len(plan.warnings) == 1


@pytest.mark.parametrize(
    ("state", "changed"),
    [
        (FOUND, True),
        (OtherContent("/dev/md0", ("xfs",), "cut short"), True),
        (OtherContent("/dev/md0", ("ext4",)), False),
        (None, False),
    ],
)
def test_absent(state: t.Any, changed: bool) -> None:
    plan = plan_xfs_absent(state, want())
    assert plan.changed is changed
    if changed:
        assert plan.commands() == ["wipefs -a /dev/md0"]
        assert (plan.writes(), plan.removes()) == (("/dev/md0",), ("xfs:/dev/md0",))
        assert not plan_xfs_absent(plan.predicted, want()).changed


@pytest.mark.parametrize(
    ("state", "options", "word"),
    [
        (FOUND._replace(mounted_at=("/srv",)), {}, "mounted at /srv"),
        (FOUND._replace(mounted_elsewhere=True), {}, "another mount namespace"),
        (FOUND, {"uuid": "00000000-0000-4000-8000-000000000000"}, UUID),
    ],
)
def test_absent_refused(state: XfsState, options: dict[str, t.Any], word: str) -> None:
    with pytest.raises(PlanRefused, match=word):
        plan_xfs_absent(state, want(**options))
