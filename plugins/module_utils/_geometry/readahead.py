# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The readahead that the kernel and LVM set when nobody asks for another, in bytes per layer."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import level_name, md_stripe

__all__ = ["KERNEL_DEFAULT_BYTES", "lv_readahead_bytes", "md_readahead_bytes"]

# VM_READAHEAD_PAGES of the kernel: what a plain disk gets.
KERNEL_DEFAULT_BYTES = 128 * 1024


def md_readahead_bytes(level: str | int, raid_devices: int, chunk_bytes: int | None, layout: str | None = None) -> int:
    """Readahead of a new md array in bytes: two full stripes, at least the kernel's default."""
    stripe = md_stripe(level, raid_devices, chunk_bytes, layout)
    return KERNEL_DEFAULT_BYTES if stripe is None else max(KERNEL_DEFAULT_BYTES, 2 * stripe.full_bytes)


def lv_readahead_bytes(
    segment_type: str,
    stripes: int,
    stripe_size_bytes: int | None,
    mirrors: int = 0,
    below_bytes: t.Sequence[int | None] = (),
) -> int:
    """Readahead in bytes of an LV with readahead C(auto).

    C(stripes) counts data stripes. An LV without stripes takes the largest readahead below it; one with stripes
    forgets what lies below and takes two rounds over all its images: parity is counted, unlike in md.
    """
    images = _images(segment_type, stripes, mirrors)
    if stripes <= 1 and segment_type in ("linear", "striped", "raid1", "mirror"):
        return max([KERNEL_DEFAULT_BYTES, *(value for value in below_bytes if value)])
    return max(KERNEL_DEFAULT_BYTES, 2 * images * (stripe_size_bytes or 0))


def _images(segment_type: str, stripes: int, mirrors: int) -> int:
    if segment_type == "linear":
        return 1
    if segment_type in ("striped", "raid1", "mirror"):
        return stripes
    level = level_name(segment_type.split("_", maxsplit=1)[0])
    extra = {"raid4": 1, "raid5": 1, "raid6": 2}.get(level, 0)
    return stripes * (mirrors + 1) if level == "raid10" else stripes + extra
