# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_lv in a guest: every type and every option, each checked by LVM's own tools and the kernel's."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused
from lvm_probe import GROUP, columns, make_group, remove_volumes

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

MIB = 1024**2
SHAPE = ("segtype", "data_stripes", "stripe_size")


@pytest.fixture(scope="module")
def group(direct: Direct) -> t.Iterator[Direct]:
    """A group of five disks of 512-byte sectors on four buses, 511 extents of 4 MiB each."""
    direct.clean()
    make_group(direct, ("WD-WCASJ0000001", "WD-WCASJ0000002", "6SJ0000008", "S4EWNX0R000012", "virt-000014"))
    yield direct
    direct.clean()


@pytest.fixture()
def vg(group: Direct) -> t.Iterator[Direct]:
    yield group
    remove_volumes(group)


TYPES: list[tuple[dict[str, t.Any], list[str]]] = [
    # 100 MiB on three stripes: 27 extents. A fraction, compared in extents: 0.4g are 102.4 extents, 104 on four stripes.
    ({"type": "striped", "size": "100MiB", "stripes": 3, "alloc": "contiguous"}, ["striped", "3", "65536", "27"]),
    ({"stripes": 4, "stripesize": "128KiB", "size": "0.4g", "tags": ["a", "b"]}, ["striped", "4", "131072", "104"]),
    ({"extents": "20%VG", "readahead": "1MiB"}, ["linear", "1", "0", "511"]),
    ({"type": "raid0_meta", "stripes": 2, "size": "100MiB", "active": False}, ["raid0_meta", "2", "65536", "26"]),
    ({"type": "raid1", "extents": "100%FREE", "mirrors": 1, "nosync": True}, ["raid1", "2", "0", "1021"]),
    ({"type": "mirror", "mirrorlog": "core", "extents": "100%VG", "nosync": True}, ["mirror", "2", "0", "1022"]),
    ({"type": "mirror", "size": "20MiB", "regionsize": "1MiB"}, ["mirror", "2", "0", "5"]),
    ({"type": "raid4", "stripes": 2, "size": "100MiB", "regionsize": "1MiB"}, ["raid4", "2", "65536", "26"]),
    ({"type": "raid5_rs", "stripes": 4, "extents": "100%FREE", "nosync": True}, ["raid5_rs", "4", "65536", "2040"]),
    ({"type": "raid6_nr", "size": "30MiB", "read_only": True}, ["raid6_nr", "3", "65536", "9"]),
    ({"type": "raid10", "size": "100MiB"}, ["raid10", "2", "65536", "26"]),
]


@pytest.mark.parametrize(("options", "expected"), TYPES)
def test_types_and_sizes(vg: Direct, options: dict[str, t.Any], expected: list[str]) -> None:
    lv = four_steps(vg, "lvm_lv", vg=GROUP, name="l", **options)["lv"]
    assert columns(vg, "l", *SHAPE) == expected[:3]
    # The whole volume: it may have several segments.
    assert columns(vg, "l", "lv_size") == [str(int(expected[3]) * 4 * MIB)]
    assert columns(vg, "l", "lv_active")[0] == ("" if options.get("active") is False else "active")
    if "regionsize" in options:
        assert columns(vg, "l", "region_size") == [str(MIB)]
    if options.get("nosync"):
        assert lv["synced_at_creation"] is False
    if "tags" in options:
        assert columns(vg, "l", "lv_tags") == ["a,b"]
    if "alloc" in options:
        assert columns(vg, "l", "lv_allocation_policy") == ["contiguous"]
    if options.get("read_only"):
        assert vg.guest.ssh(f"blockdev --getro /dev/{GROUP}/l") == "1"


def test_settings_of_an_existing_volume(vg: Direct) -> None:
    vg.guest.ssh(f"lvcreate -qy -l 10 --addtag old -n l {GROUP}")
    wish: dict[str, t.Any] = {"readahead": "none", "tags": ["x"], "alloc": "cling", "read_only": True}
    four_steps(vg, "lvm_lv", vg=GROUP, name="l", **wish)
    fields = ("lv_read_ahead", "lv_tags", "lv_allocation_policy", "lv_attr")
    assert columns(vg, "l", *fields) == ["0", "x", "cling", "-rl-a-----"]
    assert vg.guest.ssh(f"blockdev --getra --getro /dev/{GROUP}/l").split() == ["0", "1"]
    four_steps(vg, "lvm_lv", vg=GROUP, name="l", active=False)
    assert not vg.run("lvm_lv", vg=GROUP, name="l", **wish).changed, "of an inactive volume the settings are known, too"
    four_steps(vg, "lvm_lv", vg=GROUP, name="l", readahead="512s", tags=[], read_only=False)
    assert columns(vg, "l", *fields, "lv_active") == ["262144", "", "cling", "-wl-------", ""]
    four_steps(vg, "lvm_lv", vg=GROUP, name="l", readahead="auto", active=True)
    assert columns(vg, "l", "lv_read_ahead", "lv_active") == ["auto", "active"]


def test_what_differs_for_good_is_refused_with_both_values(vg: Direct) -> None:
    disks = vg.paths()
    vg.guest.ssh(f"lvcreate -qy --type striped -i 2 -I 64k -l 10 -n l {GROUP} {disks[0]} {disks[1]}")
    said = refused(
        vg, "lvm_lv", "type is striped, asked for was raid0", "stripes is 2, asked for was 3",
        vg=GROUP, name="l", type="raid0", stripes=3, stripesize="128KiB", devices=[disks[0]],
    )  # fmt: skip
    assert "stripesize is 64KiB, asked for was 128KiB" in said
    assert f"devices is {', '.join(sorted(disks[:2]))}, asked for was {disks[0]}" in said


def test_sizes_that_do_not_fit_are_refused_before_anything(vg: Direct) -> None:
    disks = vg.paths()
    refused(
        vg,
        "lvm_lv",
        "at most 1022 fit",
        vg=GROUP,
        name="l",
        type="striped",
        stripes=2,
        extents="1100",
        devices=disks[:2],
    )
    # What is left of two stripes lies on one device: a striped volume cannot take it.
    vg.guest.ssh(f"lvcreate -qy --type striped -i 2 -l 1000 -n l {GROUP} {disks[0]} {disks[1]}")
    vg.guest.ssh(f"lvcreate -qy -l 11 -n other {GROUP} {disks[1]}")
    four_steps_words = {"vg": GROUP, "name": "l", "extents": "1010", "devices": disks[:2]}
    refused(vg, "lvm_lv", "grows on 2 devices at the same time, and only 1 have free extents", **four_steps_words)
    refused(vg, "lvm_lv", "never shrunk unless shrink: true", vg=GROUP, name="l", extents="100")


def test_percentages_on_a_subset_are_met_and_follow_the_group(vg: Direct) -> None:
    disks = vg.paths()
    wish = {"vg": GROUP, "name": "l", "type": "striped", "stripes": 2, "devices": disks[:2]}
    four_steps(vg, "lvm_lv", extents="50%PVS", **wish)
    assert columns(vg, "l", "lv_size") == [str(512 * 4 * MIB)]
    four_steps(vg, "lvm_lv", extents="100%PVS", **wish)
    assert columns(vg, "l", "lv_size") == [str(1022 * 4 * MIB)]


def test_region_size_and_copies_change_in_place(vg: Direct) -> None:
    vg.guest.ssh(f"lvcreate -qy --type raid1 -m1 -l 4 --nosync -n l {GROUP}")
    refused(vg, "lvm_lv", "nosync", "lvchange --resync", vg=GROUP, name="l", mirrors=2)
    vg.guest.ssh(
        f"lvchange -qy --resync {GROUP}/l; while lvs --noheadings -o sync_percent {GROUP}/l | grep -qv 100.00; do sleep 1; done"
    )
    lv = four_steps(vg, "lvm_lv", vg=GROUP, name="l", regionsize="1MiB", mirrors=2, wait_for_sync=True)["lv"]
    assert lv["sync_percent"] == 100
    assert columns(vg, "l", "region_size", "stripes") == [str(MIB), "3"]
    four_steps(vg, "lvm_lv", vg=GROUP, name="l", mirrors=1)
    assert columns(vg, "l", "stripes") == ["2"]


def test_a_volume_leaves_devices_that_are_still_there(vg: Direct) -> None:
    disks = vg.paths()
    vg.guest.ssh(f"lvcreate -qy --type raid1 -m1 -l 4 --nosync -n r {GROUP} {disks[0]} {disks[1]}")
    vg.guest.ssh(f"lvcreate -qy -l 4 -n l {GROUP} {disks[0]}")
    data = vg.guest.ssh(
        f"dd if=/dev/urandom of=/dev/{GROUP}/l bs=1M count=16 oflag=direct status=none; md5sum < /dev/{GROUP}/l"
    )
    for name in ("r", "l"):
        four_steps(vg, "lvm_lv", vg=GROUP, name=name, leave_devices=[disks[0]])
    left = vg.guest.ssh(f"pvs --noheadings -o lv_name {disks[0]}").strip()
    assert left == ""
    assert vg.guest.ssh(f"md5sum < /dev/{GROUP}/l") == data
    refused(vg, "lvm_lv", "no other device of the group", vg=GROUP, name="l", leave_devices=disks)


def test_waiting_has_a_limit(vg: Direct) -> None:
    with vg.guest.slow_resync():
        said = vg.run("lvm_lv", vg=GROUP, name="l", type="raid1", size="1GiB", wait_for_sync=True, wait_timeout=1)
    assert said.failed and "has not ended within the 1 s of wait_timeout" in said.message
    assert columns(vg, "l", "segtype") == ["raid1"]


def test_pieces_are_where_lvm_says(vg: Direct) -> None:
    lv = vg.run("lvm_lv", vg=GROUP, name="l", type="raid5", stripes=2, size="40MiB", nosync=True)["lv"]
    seen = vg.guest.ssh(
        "pvs --segments --noheadings --units b --nosuffix -o pv_name,pvseg_start,pvseg_size,lv_name,pe_start -S lv_name!="
    )
    rows = [line.split() for line in seen.splitlines()]
    expected = {(row[0], int(row[1]), int(row[2]), row[3].strip("[]"), int(row[4])) for row in rows}
    start = {row[0]: int(row[4]) for row in rows}
    got = {
        (p["device"], p["start_extent"], p["extents"], p["part"], p["start_bytes"] - p["start_extent"] * 4 * MIB)
        for p in lv["pieces"]
    }
    assert got == expected and len(got) == 6 and start
