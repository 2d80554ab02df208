# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to get the wanted XFS, as tables."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState, XfsWanted
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
    features=("bigtime", "crc", "reflink"),
)


def want(**options: t.Any) -> XfsWanted:
    return XfsWanted(device="/dev/md0", **options)


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
        # Below 1 GiB mkfs.xfs derives nothing by itself, and neither does this module; what is given is taken.
        ({}, dataclasses.replace(RAID5, size_bytes=1020 * MIB), "mkfs.xfs -q -K -d noalign /dev/md0"),
        (
            {"su_bytes": 65536, "sw": 3},
            dataclasses.replace(RAID5, size_bytes=1020 * MIB),
            "mkfs.xfs -q -K -d su=65536,sw=3 /dev/md0",
        ),
    ],
)
def test_made_with(options: dict[str, t.Any], below: DeviceGeometry, command: str) -> None:
    plan = plan_xfs(None, want(**options), below)
    assert plan.commands() == [command]
    assert plan.writes() == ("/dev/md0",)
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
        ({}, dataclasses.replace(PLAIN, size_bytes=299 * MIB), ["299MiB", "300MiB"]),
        ({"sector_bytes": 512}, dataclasses.replace(PLAIN, logical_sector_bytes=4096), ["512B", "4KiB"]),
        ({"block_bytes": 2048}, dataclasses.replace(PLAIN, logical_sector_bytes=4096), ["2KiB", "4KiB"]),
        ({"su_bytes": 6144, "sw": 2}, PLAIN, ["su", "6KiB", "4KiB"]),
        ({"log_su_bytes": 6144}, PLAIN, ["log_su", "6KiB"]),
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
        ({"uuid": "00000000-0000-4000-8000-000000000000"}, RAID5, ["uuid", UUID]),
    ],
)
@pytest.mark.parametrize("mounted", [(), ("/srv",)])
def test_what_cannot_change_is_refused_with_both_values(
    options: dict[str, t.Any], below: DeviceGeometry, words: list[str], mounted: tuple[str, ...]
) -> None:
    with pytest.raises(PlanRefused) as caught:
        plan_xfs(dataclasses.replace(FOUND, mounted_at=mounted), want(**options), below)
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
    plan = plan_xfs(dataclasses.replace(FOUND, mounted_at=mounted), want(label=label), RAID5)
    assert [step.argv for step in plan.steps] == [argv]
    assert plan.writes() == ()
    assert (plan.before["label"], plan.after["label"]) == ("old", label)
    assert not plan_xfs(plan.predicted, want(label=label), RAID5).changed


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
        (dataclasses.replace(FOUND, mounted_at=("/srv",)), {}, "mounted at /srv"),
        (FOUND, {"uuid": "00000000-0000-4000-8000-000000000000"}, UUID),
    ],
)
def test_absent_refused(state: XfsState, options: dict[str, t.Any], word: str) -> None:
    with pytest.raises(PlanRefused, match=word):
        plan_xfs_absent(state, want(**options))
