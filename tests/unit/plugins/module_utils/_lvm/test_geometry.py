# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the images of a redundant volume lie when they go on in another place."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import LvLayout
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import (
    geometry_of_lv,
    physical_lv,
    place_lv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    LvmState,
    LvSegment,
    LvState,
    PvState,
    SegmentArea,
    VgState,
)

MIB = 1024**2
VG = VgState("v", "u", MIB, 1000, 500, ("/dev/md0", "/dev/md1", "/dev/md2"))


def on(path: str, start: int) -> SegmentArea:
    return SegmentArea(start, pv_path=path)


def volume(name: str, kind: str, *segments: LvSegment, hidden: bool = False) -> LvState:
    extents = sum(segment.extents for segment in segments)
    return LvState("v", name, f"id-{name}", kind, extents * MIB, extents, segments, hidden=hidden)


def image(number: int, *pieces: tuple[int, SegmentArea]) -> LvState:
    segments, begin = [], 0
    for count, area in pieces:
        segments.append(LvSegment("linear", begin, count, areas=(area,)))
        begin += count
    return volume(f"l_rimage_{number}", "linear", *segments, hidden=True)


def raid1_of(*images: LvState, extents: int = 10) -> LvmState:
    areas = tuple(SegmentArea(0, lv_name=one.name) for one in images)
    top = LvSegment("raid1", 0, extents, stripes=len(images), data_copies=len(images), areas=areas)
    return LvmState(vgs=(VG,), lvs=(volume("l", "raid1", top), *images))


def test_a_segment_is_cut_where_an_image_goes_on_elsewhere() -> None:
    state = raid1_of(
        image(0, (10, on("/dev/md0", 1))),
        image(1, (4, on("/dev/md1", 1)), (3, on("/dev/md2", 7)), (3, on("/dev/md1", 20))),
    )
    lv = physical_lv(state, state.lvs[0])
    assert [(one.start_extent, one.extents) for one in lv.segments] == [(0, 4), (4, 3), (7, 3)]
    assert [one.areas for one in lv.segments] == [
        (on("/dev/md0", 1), on("/dev/md1", 1)),
        (on("/dev/md0", 5), on("/dev/md2", 7)),
        (on("/dev/md0", 8), on("/dev/md1", 20)),
    ]
    assert (lv.mirrors, lv.type) == (1, "raid1")


def test_rows_of_stripes_are_cut_too() -> None:
    images = [
        image(0, (6, on("/dev/md0", 1))),
        image(1, (6, on("/dev/md1", 1))),
        image(2, (2, on("/dev/md2", 1)), (4, on("/dev/md2", 9))),
    ]
    areas = tuple(SegmentArea(0, lv_name=one.name) for one in images)
    top = LvSegment("raid5", 0, 12, stripes=3, data_stripes=2, stripe_bytes=65536, areas=areas)
    lv = physical_lv(LvmState(lvs=(volume("l", "raid5", top), *images)), volume("l", "raid5", top))
    assert [(one.start_extent, one.extents) for one in lv.segments] == [(0, 4), (4, 8)]
    assert lv.segments[1].areas == (on("/dev/md0", 3), on("/dev/md1", 3), on("/dev/md2", 9))


def test_what_is_not_known_stays_as_it_is() -> None:
    lost = raid1_of(image(0, (10, on("/dev/md0", 1))), image(1, (4, on("/dev/md1", 1))))
    assert physical_lv(lost, lost.lvs[0]).segments[0].areas[1] == SegmentArea(0, lv_name="l_rimage_1")
    plain = volume("l", "linear", LvSegment("linear", 0, 5, areas=(on("/dev/md0", 3),)))
    assert physical_lv(LvmState(lvs=(plain,)), plain).segments == plain.segments


def test_a_later_piece_off_the_stripe_is_warned_of() -> None:
    below = {path: DeviceGeometry(path, 2000 * MIB, stripe=Stripe(65536, 3)) for path in VG.pv_paths}
    pvs = [PvState(path, path, 3 * MIB, MIB, vg_name="v", extent_count=300) for path in VG.pv_paths]
    good = raid1_of(
        image(0, (9, on("/dev/md0", 3))), image(1, (6, on("/dev/md1", 3)), (3, on("/dev/md2", 6))), extents=9
    )
    lv = physical_lv(good, good.lvs[0])
    assert geometry_of_lv(lv, VG, pvs, below)[1] == ()
    segments = (good.lvs[2].segments[0]._replace(), LvSegment("linear", 6, 3, areas=(on("/dev/md2", 7),)))
    bad = good._replace(lvs=(*good.lvs[:2], good.lvs[2]._replace(segments=segments)))
    assert "lie differently" in geometry_of_lv(physical_lv(bad, bad.lvs[0]), VG, pvs, below)[1][0]


def test_only_where_an_image_begins_is_a_metadata_volume() -> None:
    # As lvcreate placed a raid1 of 8599 extents on six PVs of 4095 extents each.
    names = [f"/dev/sd{letter}" for letter in "abcdef"]
    pvs = [PvState(name, None, MIB, MIB, extent_count=4095, free_ranges=((0, 4095),)) for name in names]
    placed = place_lv(LvLayout("raid1", 1, 1), 8599, 4 * MIB, pvs)
    assert [(one.start_extent, one.extents, one.areas) for one in placed] == [
        (0, 4094, (on("/dev/sda", 1), on("/dev/sdb", 1))),
        (4094, 4095, (on("/dev/sdc", 0), on("/dev/sdd", 0))),
        (8189, 410, (on("/dev/sde", 0), on("/dev/sdf", 0))),
    ]
