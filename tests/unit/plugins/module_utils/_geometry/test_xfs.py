# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far an XFS can grow, and when its stripe is used, told or left out."""

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import (
    grown_blocks,
    xfs_log_unit_bytes,
    xfs_stripe,
)

KIB, MIB, GIB = 1024, 1024**2, 1024**3
STRIPE = Stripe(64 * KIB, 3)


@pytest.mark.parametrize(
    ("device_mib", "extra_bytes", "present_mib", "expected_mib"),
    [
        # Groups of 100 MiB.
        (400, 0, 400, 400),
        (400, 4095, 400, 400),
        (404, 0, 400, 400),
        (415, 1048575, 400, 400),
        (416, 0, 400, 416),
        (500, 0, 400, 500),
        (804, 0, 400, 800),
        # The last group is there already, however short.
        (410, 0, 405, 410),
        (404, 0, 402, 404),
        # Never less than there is.
        (402, 0, 402, 402),
    ],
)
def test_grown(device_mib: int, extra_bytes: int, present_mib: int, expected_mib: int) -> None:
    blocks = grown_blocks(device_mib * MIB + extra_bytes, 4096, 100 * 256, present_mib * 256)
    assert blocks == expected_mib * 256


def test_a_block_more_in_the_last_group() -> None:
    assert grown_blocks(405 * MIB + 4096, 4096, 25600, 405 * 256) == 405 * 256 + 1


@pytest.mark.parametrize(
    ("device", "block", "su", "sw", "words"),
    [
        (DeviceGeometry("/dev/x", GIB), 4096, 0, 0, None),
        (DeviceGeometry("/dev/x", GIB, stripe=STRIPE), 4096, 64 * KIB, 3, None),
        (DeviceGeometry("/dev/x", GIB - 1, stripe=STRIPE), 4096, 0, 0, "only from 1GiB up"),
        (DeviceGeometry("/dev/x", GIB, stripe=Stripe(6 * KIB, 3)), 4096, 0, 0, "not a multiple of the block size"),
        (DeviceGeometry("/dev/x", GIB, stripe=Stripe(6 * KIB, 3)), 2048, 6 * KIB, 3, None),
        (DeviceGeometry("/dev/x", GIB, stripe=STRIPE, offset_bytes=KIB), 4096, 64 * KIB, 3, "behind a full stripe"),
    ],
)
def test_stripe(device: DeviceGeometry, block: int, su: int, sw: int, words: str | None) -> None:
    found = xfs_stripe(device, block_bytes=block)
    assert (found.su_bytes, found.sw_units) == (su, sw)
    assert (words is None) == (not found.warnings)
    assert words is None or words in found.warnings[0]


@pytest.mark.parametrize(
    ("su_kib", "sector", "unit_kib"), [(64, 512, 64), (256, 512, 256), (512, 512, 32), (128, 4096, 4), (512, 4096, 4)]
)
def test_log_unit(su_kib: int, sector: int, unit_kib: int) -> None:
    assert xfs_log_unit_bytes(su_kib * KIB, 4096, sector) == unit_kib * KIB
    device = DeviceGeometry("/dev/x", GIB, physical_sector_bytes=sector, stripe=Stripe(su_kib * KIB, 3))
    assert xfs_stripe(device).log_unit_bytes == unit_kib * KIB
