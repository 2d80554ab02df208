# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stripe arithmetic against what the kernel and mkfs.xfs showed for the same arrays and LVs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry import stripe as S
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import (
    first_aligned,
    is_aligned,
    misalignment,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.readahead import (
    lv_readahead_bytes,
    md_readahead_bytes,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import xfs_stripe

K = 1024
G = 1024**3

# level, members, chunk KiB, layout, io_min, io_opt, readahead sectors, mkfs.xfs sunit/swidth in 4 KiB blocks
MD = [
    ("raid0", 4, 64, None, 65536, 262144, 1024, 16, 64),
    ("raid0", 3, 96, None, 98304, 294912, 1152, 24, 72),
    ("raid4", 4, 64, None, 65536, 196608, 768, 16, 48),
    ("raid5", 4, 256, None, 262144, 786432, 3072, 64, 192),
    ("raid5", 4, 512, None, 524288, 1572864, 6144, 128, 384),
    ("raid6", 6, 128, None, 131072, 524288, 2048, 32, 128),
    ("raid10", 4, 128, "n2", 131072, 262144, 1024, 32, 64),
    ("raid10", 4, 128, None, 131072, 262144, 1024, 32, 64),
    ("raid10", 5, 128, "n2", 131072, 655360, 2560, 32, 160),
    ("raid10", 6, 128, "n3", 131072, 262144, 1024, 32, 64),
    ("raid10", 4, 128, "f2", 131072, 524288, 2048, 32, 128),
    ("raid10", 4, 128, "o2", 131072, 524288, 2048, 32, 128),
    ("raid1", 2, None, None, 512, 0, 256, 0, 0),
    ("linear", 2, None, None, 512, 0, 256, 0, 0),
]


@pytest.mark.parametrize("row", MD)
def test_md_rows(row: tuple[str, int, int | None, str | None, int, int, int, int, int]) -> None:
    level, count, chunk, layout, io_min, io_opt, ra, sunit, swidth = row
    chunk_bytes = chunk and chunk * K
    stripe = S.md_stripe(level, count, chunk_bytes, layout)
    assert (stripe.full_bytes if stripe else 0) == io_opt
    assert (stripe.unit_bytes if stripe else 512) == io_min
    assert md_readahead_bytes(level, count, chunk_bytes, layout) == ra * 512
    found = xfs_stripe(DeviceGeometry("/dev/md0", 2 * G, stripe=stripe))
    assert (found.su_bytes // 4096, found.su_bytes * found.sw_units // 4096) == (sunit, swidth)
    assert found.warnings == ()


# segment type, stripes, mirrors, stripe size KiB, io_opt, readahead sectors
LVS = [
    ("striped", 4, 0, 64, 262144, 1024),
    ("raid0", 4, 0, 64, 262144, 1024),
    ("raid10", 2, 1, 64, 262144, 1024),
    ("raid5_ls", 3, 0, 64, 196608, 1024),
    ("raid4", 3, 0, 64, 196608, 1024),
    ("raid1", 1, 1, None, 0, 256),
    ("mirror", 1, 1, None, 0, 256),
    ("linear", 1, 0, None, 0, 256),
]


@pytest.mark.parametrize("row", LVS)
def test_lv_rows_on_disks(row: tuple[str, int, int, int | None, int, int]) -> None:
    segment, stripes, mirrors, size, io_opt, ra = row
    disks = [DeviceGeometry(f"/dev/sd{letter}", 4 * G) for letter in "abcd"]
    found, warnings = S.lv_stripe(S.lv_stripe_units(segment, stripes, mirrors), size and size * K, disks)
    assert (found.full_bytes if found else 0) == io_opt
    assert found is None or found.unit_bytes == 64 * K
    assert warnings == ()
    assert lv_readahead_bytes(segment, stripes, size and size * K, mirrors) == ra * 512


def test_linear_lv_has_what_lies_below() -> None:
    array = DeviceGeometry("/dev/md0", 2 * G, stripe=Stripe(256 * K, 3))
    assert S.lv_stripe(1, None, [array]) == (Stripe(256 * K, 3), ())
    assert lv_readahead_bytes("linear", 1, None, below_bytes=[3072 * 512]) == 3072 * 512


@pytest.mark.parametrize(
    ("size", "full", "unit", "width"),
    [(64, 768, 64, 12), (128, 768, 128, 6), (256, 1536, 128, 12), (512, 3072, 128, 24)],
)
def test_striped_lv_over_two_raid5_of_4x128k(size: int, full: int, unit: int, width: int) -> None:
    arrays = [DeviceGeometry(path, 2 * G, stripe=Stripe(128 * K, 3)) for path in ("/dev/md0", "/dev/md1")]
    found, warnings = S.lv_stripe(2, size * K, arrays)
    assert found == Stripe(unit * K, width)
    assert found.full_bytes == full * K
    assert warnings == ()
    assert lv_readahead_bytes("striped", 2, size * K, below_bytes=[768 * K] * 2) == max(128 * K, 4 * size * K)


def test_stripe_sizes_of_which_neither_divides_the_other_warn() -> None:
    arrays = [DeviceGeometry(path, 2 * G, stripe=Stripe(96 * K, 3)) for path in ("/dev/md0", "/dev/md1")]
    found, warnings = S.lv_stripe(2, 64 * K, arrays)
    assert found is not None
    assert found.full_bytes == 2 * 576 * K
    assert found.unit_bytes == 32 * K
    assert "64KiB" in warnings[0]
    assert "96KiB" in warnings[0]


def test_unlike_devices_below_warn_and_name_each() -> None:
    below = [DeviceGeometry("/dev/md0", G, stripe=Stripe(64 * K, 3)), DeviceGeometry("/dev/sdx", G)]
    found, warnings = S.lv_stripe(2, 64 * K, below)
    assert found == Stripe(64 * K, 2)
    assert "/dev/md0 64KiB x 3" in warnings[0]
    assert "/dev/sdx none" in warnings[0]
    assert S.lv_stripe(1, None, below)[0] is None


def test_md_over_md_composes_alike() -> None:
    raid5 = [DeviceGeometry(f"/dev/md{n}", G, stripe=Stripe(64 * K, 2)) for n in range(2)]
    assert S.compose_stripe(S.md_stripe("raid0", 2, 64 * K), raid5) == (Stripe(64 * K, 4), ())
    assert S.compose_stripe(S.md_stripe("raid1", 2, None), raid5) == (Stripe(64 * K, 2), ())


@pytest.mark.parametrize(
    ("level", "count", "layout", "capacity", "disks"),
    [
        ("0", 4, None, 4, 4),
        (1, 3, None, 1, 0),
        ("raid4", 5, None, 4, 4),
        (5, 3, None, 2, 2),
        ("6", 4, None, 2, 2),
        ("raid10", 4, "n2", 2, 2),
        ("raid10", 5, "n2", Fraction(5, 2), 5),
        ("raid10", 4, "f2", 2, 4),
        ("raid10", 6, "o3", 2, 6),
        ("linear", 3, None, 3, 0),
    ],
)
def test_two_numbers_per_level(
    level: str | int, count: int, layout: str | None, capacity: int | Fraction, disks: int
) -> None:
    assert S.capacity_disks(level, count, layout) == capacity
    assert S.stripe_disks(level, count, layout) == disks


@pytest.mark.parametrize(
    ("level", "chunk", "words"),
    [
        ("raid5", 96 * K, ["raid5", "96KiB", "power of two", "64KiB"]),
        ("raid6", 2 * K, ["power of two", "4KiB"]),
        ("raid10", 0, ["power of two"]),
        ("raid4", 3 * K, ["raid4", "4KiB"]),
        ("raid0", 6 * K, ["raid0", "multiple of 4KiB"]),
        ("raid0", 0, ["multiple of 4KiB"]),
        ("raid1", 64 * K, ["raid1", "no chunk", "leave it out"]),
        ("linear", 64 * K, ["no chunk"]),
    ],
)
def test_impossible_chunks_are_refused(level: str, chunk: int, words: list[str]) -> None:
    with pytest.raises(PlanRefused) as caught:
        S.check_chunk(level, chunk)
    assert all(word in caught.value.message for word in words)


@pytest.mark.parametrize(
    ("level", "chunk"),
    [("raid5", 4 * K), ("raid5", 512 * K), ("raid0", 96 * K), ("raid0", 4 * K), ("raid10", 64 * K), ("raid1", None)],
)
def test_possible_chunks_pass(level: str, chunk: int | None) -> None:
    S.check_chunk(level, chunk)


def test_page_size_counts() -> None:
    with pytest.raises(PlanRefused, match="64KiB"):
        S.check_chunk("raid5", 4 * K, page_bytes=64 * K)


@pytest.mark.parametrize(
    ("level", "count", "layout", "needed"),
    [
        ("raid0", 1, None, 2),
        ("raid1", 1, None, 2),
        ("raid4", 2, None, 3),
        ("raid5", 2, None, 3),
        ("raid6", 3, None, 4),
        ("raid10", 2, "n3", 3),
    ],
)
def test_too_few_members_are_refused(level: str, count: int, layout: str | None, needed: int) -> None:
    with pytest.raises(PlanRefused, match=f"at least {needed}"):
        S.check_device_count(level, count, layout)
    S.check_device_count(level, needed, layout)


@pytest.mark.parametrize("level", ["7", "raid2", "stripe", "", "5.0"])
def test_unknown_levels_are_refused(level: str) -> None:
    with pytest.raises(PlanRefused, match="raid5"):
        S.level_name(level)


def test_layout_words() -> None:
    assert S.normalise_layout("raid5", "ls") == "left-symmetric"
    assert S.normalise_layout("raid10", "near") == "n2"
    assert S.normalise_layout("raid0", None) is None
    for level, layout in (("raid5", "n2"), ("raid0", "n2"), ("raid10", "left-symmetric"), ("raid10", "n0")):
        with pytest.raises(PlanRefused, match="layout"):
            S.normalise_layout(level, layout)


def test_offsets_on_a_grid() -> None:
    assert first_aligned(1, 768 * K) == 768 * K
    assert first_aligned(768 * K, 768 * K) == 768 * K
    assert first_aligned(5, None) == 5
    assert not is_aligned(1024 * K, 768 * K)
    assert is_aligned(1536 * K, 768 * K)
    assert is_aligned(7, None)
    assert misalignment(1024 * K, 768 * K) == 256 * K


def test_xfs_limits() -> None:
    stripe = Stripe(256 * K, 3)
    small = xfs_stripe(DeviceGeometry("/dev/md0", 1020 * 1024**2, stripe=stripe))
    assert (small.su_bytes, small.sw_units) == (0, 0)
    assert "1GiB" in small.warnings[0]
    exact = xfs_stripe(DeviceGeometry("/dev/md0", G, stripe=stripe))
    assert (exact.su_bytes, exact.sw_units, exact.log_unit_bytes) == (256 * K, 3, 256 * K)
    wide = xfs_stripe(DeviceGeometry("/dev/md0", G, stripe=Stripe(512 * K, 3)))
    assert wide.log_unit_bytes == 32 * K
    off = xfs_stripe(DeviceGeometry("/dev/md0", G, stripe=stripe, offset_bytes=256 * K))
    assert (off.su_bytes, len(off.warnings)) == (256 * K, 1)
    assumed = xfs_stripe(DeviceGeometry("/dev/md0", None, stripe=stripe, assumed=True))
    assert assumed.su_bytes == 256 * K
