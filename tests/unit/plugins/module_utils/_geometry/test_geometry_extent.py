# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Extents of an LV: rounding, percent, what fits."""

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    ExtentRequest,
    FreeSpace,
    LvLayout,
    extents_of_bytes,
    largest_extents,
    metadata_extents,
    parse_extents,
    resolve_extents,
)

MIB = 1024 * 1024
LINEAR = LvLayout()
STRIPED_3 = LvLayout("striped", 3)
RAID5_3 = LvLayout("raid5", 3)
RAID1 = LvLayout("raid1", 1, 1)


def space_of(*free: int) -> FreeSpace:
    return FreeSpace(free, sum(free), sum(free), sum(free))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("100%FREE", ExtentRequest("free", 100)),
        ("50%vg", ExtentRequest("vg", 50)),
        (" 30 % PVS ", ExtentRequest("pvs", 30)),
        ("250", ExtentRequest("extents", 250)),
        (250, ExtentRequest("extents", 250)),
    ],
)
def test_parse_extents(text: object, expected: ExtentRequest) -> None:
    assert parse_extents(text) == expected


@pytest.mark.parametrize("text", ["0", "10GiB", "101%FREE", "0%VG", "-5", "50%", "50%ORIGIN", "1.5"])
def test_parse_extents_refuses(text: str) -> None:
    with pytest.raises(PlanRefused, match="extents was given as"):
        parse_extents(text)


@pytest.mark.parametrize(
    ("size", "layout", "expected"),
    [
        (100 * MIB, LINEAR, 25),
        (1013 * MIB, LINEAR, 254),
        (1, LINEAR, 1),
        (5798205850, LINEAR, 1383),  # 5.4 GiB
        (100 * MIB, STRIPED_3, 27),
        (108 * MIB, STRIPED_3, 27),
        (100 * MIB, RAID5_3, 27),
        (100 * MIB, RAID1, 25),
        (100 * MIB, LvLayout("raid10", 2, 1), 26),
    ],
)
def test_sizes_round_up_to_extents_and_stripes(size: int, layout: LvLayout, expected: int) -> None:
    request = ExtentRequest("bytes", size)
    assert resolve_extents(request, layout, 4 * MIB, space_of(2000, 2000, 2000, 2000)) == expected
    again = ExtentRequest("bytes", expected * 4 * MIB)
    assert resolve_extents(again, layout, 4 * MIB, space_of(0)) == expected


@pytest.mark.parametrize(
    ("percent", "layout", "free", "expected"),
    [
        (100, LINEAR, (255,), 255),
        (50, LINEAR, (255,), 127),
        (100, STRIPED_3, (100, 100, 100), 300),
        # The smaller PV decides.
        (100, STRIPED_3, (100, 100, 50), 150),
        (100, LvLayout("striped", 2), (100, 100, 50), 200),
        # One copy, and one metadata extent with each.
        (100, RAID1, (255, 255), 254),
        (100, RAID5_3, (255, 255, 255, 255), 762),
        (100, LvLayout("mirror", 1, 1), (255, 255), 254),
        (100, LvLayout("mirror", 1, 1), (255, 255, 255), 255),
        (100, LvLayout("raid0", 2), (255, 255), 510),
    ],
)
def test_percent_of_free(percent: int, layout: LvLayout, free: tuple[int, ...], expected: int) -> None:
    assert resolve_extents(ExtentRequest("free", percent), layout, 4 * MIB, space_of(*free)) == expected


def test_percent_of_vg_never_asks_for_more_than_is_free() -> None:
    space = FreeSpace((100,), 255, 255, 100)
    assert resolve_extents(ExtentRequest("vg", 100), LINEAR, 4 * MIB, space) == 100
    assert resolve_extents(ExtentRequest("vg", 10), LINEAR, 4 * MIB, space) == 25
    assert resolve_extents(ExtentRequest("pvs", 20), LINEAR, 4 * MIB, space) == 51


@pytest.mark.parametrize(
    ("layout", "free", "expected"),
    [
        (LINEAR, (3, 4, 5), 12),
        (LINEAR, (), 0),
        (LvLayout("striped", 2), (10,), 0),
        (LvLayout("striped", 2), (10, 7), 14),
        (LvLayout("striped", 2), (10, 7, 2), 18),
        (LvLayout("striped", 4), (10, 10, 10, 0), 0),
        (RAID1, (1, 1), 0),
    ],
)
def test_largest_extents(layout: LvLayout, free: tuple[int, ...], expected: int) -> None:
    assert largest_extents(layout, 4 * MIB, free) == expected


@pytest.mark.parametrize(
    ("extents", "extent", "expected"),
    [(10, 4 * MIB, 1), (1000, 4 * MIB, 1), (1000, 4096, 3), (262144, 64 * 1024, 1), (1 << 20, 64 * 1024, 1)],
)
def test_metadata_extents(extents: int, extent: int, expected: int) -> None:
    assert metadata_extents(extents, extent) == expected


def test_extents_of_bytes_rounds_up() -> None:
    assert extents_of_bytes(4 * MIB, 4 * MIB) == 1
    assert extents_of_bytes(4 * MIB + 1, 4 * MIB) == 2


@pytest.mark.parametrize(
    ("layout", "part"),
    [
        (LvLayout("linear", 2), "has no stripes"),
        (LvLayout("striped", 1), "at least 2 stripes"),
        (LvLayout("raid6", 2), "at least 3 stripes"),
        (LvLayout("striped", 2, 1), "has no mirrors"),
        (LvLayout("raid1", 1, 0), "mirrors of at least 1"),
    ],
)
def test_layouts_that_cannot_be(layout: LvLayout, part: str) -> None:
    assert part in (layout.problem() or "")


@pytest.mark.parametrize(
    ("layout", "images"),
    [(LINEAR, 1), (STRIPED_3, 3), (RAID5_3, 4), (LvLayout("raid6", 3), 5), (RAID1, 2), (LvLayout("raid10", 2, 1), 4)],
)
def test_images(layout: LvLayout, images: int) -> None:
    assert layout.problem() is None
    assert layout.images == images
