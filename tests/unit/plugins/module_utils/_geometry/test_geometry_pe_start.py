# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the data of a PV begins: LVM's own test values, and values seen on md arrays."""

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import (
    DeviceTopology,
    PeRequest,
    auto_alignment,
    auto_alignment_offset,
    data_extents,
    effective_alignment,
    pe_start_bytes,
    place_pv,
)

KIB = 1024
DISK = DeviceTopology()
# md RAID5 of four disks with a chunk of 256 KiB: what it reports.
MD_768K = DeviceTopology(md_stripe_bytes=768 * KIB, minimum_io_bytes=256 * KIB, optimal_io_bytes=768 * KIB)


def request_of(
    metadata: int | None = None, align: int | None = None, offset: int | None = None, bootloader: int = 0
) -> PeRequest:
    return PeRequest(
        None if metadata is None else metadata * KIB,
        None if align is None else align * KIB,
        None if offset is None else offset * KIB,
        bootloader * KIB,
    )


# From LVM's own test suite (metadata, dataalignment, offset, bootloader area, data start; KiB).
LVM_SUITE = [
    (None, None, None, 0, 1024),
    (100, None, None, 0, 1024),
    (2044, None, None, 0, 2048),
    (2048, None, None, 0, 3072),
    (2048, 128, None, 0, 2176),
    (2048, 128, 2, 0, 2178),
    (256, 128, None, 0, 384),
    (None, None, None, 256, 2048),
]
# Seen in virtual machines, LVM 2.03.16 and 2.03.31 alike.
SEEN_ON_MD = [
    (None, None, None, 0, 1536),
    (192, None, None, 0, 768),
    (None, 1024, None, 0, 1024),
    (100, 64, None, 0, 128),
    (188, 64, None, 0, 192),
    (192, 64, None, 0, 256),
]


@pytest.mark.parametrize(("metadata", "align", "offset", "bootloader", "expected"), LVM_SUITE)
def test_pe_start_on_disks(
    metadata: int | None, align: int | None, offset: int | None, bootloader: int, expected: int
) -> None:
    assert pe_start_bytes(request_of(metadata, align, offset, bootloader), DISK) == expected * KIB


@pytest.mark.parametrize(("metadata", "align", "offset", "bootloader", "expected"), SEEN_ON_MD)
def test_pe_start_on_md(
    metadata: int | None, align: int | None, offset: int | None, bootloader: int, expected: int
) -> None:
    assert pe_start_bytes(request_of(metadata, align, offset, bootloader), MD_768K) == expected * KIB


def test_metadata_area_fills_what_is_before_the_data() -> None:
    placed = place_pv(PeRequest())
    assert placed.metadata_bytes == 1020 * KIB
    assert placed.metadata_bytes + 4 * KIB == placed.pe_start_bytes
    assert placed.bootloader_start_bytes == 0


def test_bootloader_area_lies_between_metadata_and_data() -> None:
    placed = place_pv(request_of(bootloader=256))
    assert placed.bootloader_start_bytes == 1024 * KIB
    assert placed.pe_start_bytes == 2048 * KIB


@pytest.mark.parametrize("page", [4096, 8192, 65536])
def test_default_is_one_mebibyte_for_every_page_size(page: int) -> None:
    assert pe_start_bytes(PeRequest(page_bytes=page)) == 1024 * KIB


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (DeviceTopology(), (1024 * KIB, 0)),
        (MD_768K, (768 * KIB, 0)),
        # A stripe that divides 1 MiB changes nothing.
        (DeviceTopology(md_stripe_bytes=256 * KIB, optimal_io_bytes=256 * KIB), (1024 * KIB, 0)),
        # raid0 of three disks with a chunk of 96 KiB: the optimal size is looked at last.
        (DeviceTopology(288 * KIB, 96 * KIB, 288 * KIB), (288 * KIB, 0)),
        (DeviceTopology(alignment_offset_bytes=3584), (1024 * KIB, 3584)),
    ],
)
def test_alignment_that_nobody_asked_for(topology: DeviceTopology, expected: tuple[int, int]) -> None:
    assert effective_alignment(PeRequest(), topology) == expected


def test_asked_alignment_and_offset_win_over_the_device() -> None:
    seen = DeviceTopology(768 * KIB, 256 * KIB, 768 * KIB, 3584)
    assert effective_alignment(PeRequest(None, 64 * KIB, 0), seen) == (64 * KIB, 0)


@pytest.mark.parametrize(
    ("stripe", "offset", "alignment", "added"),
    [
        (None, 0, 1024 * KIB, 0),
        (None, 512, 1024 * KIB, 0),
        (Stripe(64 * KIB, 4), 0, 1024 * KIB, 0),
        (Stripe(256 * KIB, 3), 0, 768 * KIB, 0),
        (Stripe(512 * KIB, 4), 0, 2048 * KIB, 0),
        # A partition that begins 256 KiB behind a full stripe: the data must begin 512 KiB behind a multiple.
        (Stripe(256 * KIB, 3), 256 * KIB, 768 * KIB, 512 * KIB),
    ],
)
def test_auto_puts_the_data_on_a_full_stripe(stripe: Stripe | None, offset: int, alignment: int, added: int) -> None:
    below = DeviceGeometry("/dev/md0", 10**10, stripe=stripe, offset_bytes=offset)
    assert (auto_alignment(below), auto_alignment_offset(below)) == (alignment, added)
    start = pe_start_bytes(PeRequest(None, auto_alignment(below), auto_alignment_offset(below)))
    assert start >= 1024 * KIB
    if stripe:
        assert (start + offset) % stripe.full_bytes == 0


def test_data_extents_leaves_out_what_is_no_whole_extent() -> None:
    mib = 1024 * KIB
    assert data_extents(1024 * mib, mib, 4 * mib) == 255
    assert data_extents(mib, mib, 4 * mib) == 0
