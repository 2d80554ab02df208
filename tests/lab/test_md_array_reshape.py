# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""md_array in a guest: arrays that grow and change their level and chunk, with their data."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused
from md_probe import checksum, fill, kernel_name, make, sysfs

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]


# name: how it is made, its devices, what is asked (devices by number), and then: level, devices, chunk, component KiB
CASES: dict[str, tuple[dict[str, t.Any], int, dict[str, t.Any], list[str]]] = {
    "raid5 devices": ({"level": 5, "chunk": "64KiB"}, 3, {"devices": 4}, ["raid5", "4", "65536", "65536"]),
    "raid5 chunk": ({"level": 5, "chunk": "64KiB"}, 3, {"chunk": "128KiB"}, ["raid5", "3", "131072", "65536"]),
    "raid5 size": ({"level": 5, "chunk": "64KiB"}, 3, {"size": "128MiB"}, ["raid5", "3", "65536", "131072"]),
    "raid1 to 5 of three": ({"level": 1}, 2, {"level": 5, "devices": 3}, ["raid5", "3", "65536", "65536"]),
    "raid1 third copy": ({"level": 1}, 2, {"devices": 3}, ["raid1", "3", "0", "65536"]),
    "raid4 to 5": ({"level": 4, "chunk": "64KiB"}, 3, {"level": 5}, ["raid5", "3", "65536", "65536"]),
    "raid5 to 6 and chunk": (
        {"level": 5, "chunk": "64KiB", "bitmap": "none"}, 3, {"level": 6, "devices": 4, "chunk": "128KiB"},
        ["raid6", "4", "131072", "65536"]),
    "raid10 devices": ({"level": 10, "chunk": "64KiB"}, 4, {"devices": 5}, ["raid10", "5", "65536", "65536"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_reshaped_with_its_data(lab: Direct, name: str) -> None:
    options, count, change, seen = CASES[name]
    paths = lab.paths()
    make(lab, devices=paths[:count], **options)
    data = fill(lab)
    wanted = {
        "name": "t_md",
        "devices": paths[: change.get("devices", count)],
        **{k: v for k, v in change.items() if k != "devices"},
    }
    refused(lab, "md_array", "reshape: true", **wanted)
    changed = four_steps(lab, "md_array", reshape=True, wait_for_sync=True, **wanted)
    assert checksum(lab) == data
    files = ("md/level", "md/raid_disks", "md/chunk_size", "md/component_size", "md/degraded", "md/sync_action")
    assert sysfs(lab, kernel_name(lab), *files) == [*seen, "0", "idle"]
    size = int(sysfs(lab, kernel_name(lab), "size")[0]) * 512
    assert changed["array"]["array_size_bytes"] == size
    four_steps(lab, "md_array", name="t_md", state="absent")


def raid0_on_partitions(lab: Direct, count: int, **options: t.Any) -> list[str]:
    """raid0 uses the whole of each member, so small partitions make it quick."""
    paths = lab.paths(4)
    for path in paths:
        lab.guest.ssh(f"printf 'label: gpt\\nstart=1MiB, size=80MiB\\n' | sfdisk -q {path}; udevadm settle")
    parts = [f"{path}1" for path in paths]
    assert lab.run("md_array", name="t_md", devices=parts[:count], chunk="64KiB", **options).changed
    return parts


@pytest.mark.parametrize(("level", "more"), [(5, 1), (10, 2)])
def test_raid0_gains_redundancy(lab: Direct, level: int, more: int) -> None:
    parts = raid0_on_partitions(lab, 2, level=0)
    data = fill(lab)
    # mdadm leaves a degraded raid5 behind when no device is given.
    refused(lab, "md_array", f"needs {more} more device", name="t_md", level=level, reshape=True)
    four_steps(lab, "md_array", name="t_md", level=level, devices=parts[: 2 + more], reshape=True, wait_for_sync=True)
    assert checksum(lab) == data
    assert sysfs(lab, kernel_name(lab), "md/level", "md/degraded") == [f"raid{level}", "0"]


def test_raid10_becomes_raid0(lab: Direct) -> None:
    make(lab, level=10, devices=lab.paths(4), chunk="64KiB", bitmap="internal")
    data = fill(lab)
    four_steps(lab, "md_array", name="t_md", level=0, reshape=True)
    assert checksum(lab) == data
    assert sysfs(lab, kernel_name(lab), "md/level", "md/raid_disks") == ["raid0", "2"]


def test_all_of_the_members(lab: Direct) -> None:
    make(lab, level=1, devices=lab.paths(2), bitmap="none")
    data = fill(lab)
    four_steps(lab, "md_array", name="t_md", size="max", reshape=True)
    component = int(sysfs(lab, kernel_name(lab), "md/component_size")[0])
    assert component > 2 * 1024**2 - 8 * 1024
    assert checksum(lab) == data


REFUSALS: dict[str, tuple[dict[str, t.Any], int, dict[str, t.Any], str]] = {
    "raid5 to 0": ({"level": 5}, 3, {"level": 0}, "cannot become a raid0"),
    "raid5 to 6 without a device": ({"level": 5}, 3, {"level": 6}, "needs 1 more device"),
    "three copies to 5": ({"level": 1}, 3, {"level": 5}, "two devices"),
    "fewer": ({"level": 1}, 3, {"devices": 2}, "never made smaller"),
    "smaller": ({"level": 5}, 3, {"size": "32MiB"}, "never made smaller"),
    "too large": ({"level": 5}, 3, {"size": "3GiB"}, "at most"),
    "chunk off the grid": ({"level": 5, "chunk": "64KiB", "size": "65600KiB"}, 3, {"chunk": "256KiB"}, "no multiple"),
    "far": ({"level": 10, "layout": "f2"}, 3, {"devices": 4}, "near layout"),
    "ppl": ({"level": 5, "consistency_policy": "ppl"}, 3, {"devices": 4}, "cannot be reshaped"),
}


def test_reshapes_that_cannot_be(lab: Direct) -> None:
    paths = lab.paths()
    for name, (options, count, change, words) in REFUSALS.items():
        make(lab, devices=paths[:count], **options)
        wanted = {"name": "t_md", **{key: value for key, value in change.items() if key != "devices"}}
        if "devices" in change:
            wanted["devices"] = paths[: change["devices"]]
        sentence = refused(lab, "md_array", words, reshape=True, **wanted)
        assert "Nothing was changed" in sentence, name
        assert lab.run("md_array", name="t_md", state="absent").changed


def test_a_degraded_array_is_not_reshaped(lab: Direct) -> None:
    paths = lab.paths(4)
    make(lab, level=5, devices=paths[:3])
    lab.guest.ssh(f"mdadm /dev/md/t_md --fail {paths[2]} --remove {paths[2]}; mdadm --zero-superblock {paths[2]}")
    refused(lab, "md_array", "1 of its 3 members are missing", name="t_md", chunk="64KiB", reshape=True)


def test_what_must_wait_is_told(lab: Direct) -> None:
    """Without waiting, one change is begun and the other is named."""
    paths = lab.paths(4)
    make(lab, level=5, devices=paths[:3], chunk="64KiB")
    data = fill(lab)
    wanted = {"name": "t_md", "devices": paths, "chunk": "128KiB", "reshape": True}
    first = lab.run("md_array", **wanted)
    assert first.changed
    assert "this is begun when the reshape that runs has ended; run again then" in str(first["warnings"])
    lab.guest.ssh("mdadm --wait /dev/md/t_md", check=False)
    assert lab.run("md_array", wait_for_sync=True, **wanted).changed
    assert checksum(lab) == data
    assert sysfs(lab, kernel_name(lab), "md/raid_disks", "md/chunk_size") == ["4", "131072"]
