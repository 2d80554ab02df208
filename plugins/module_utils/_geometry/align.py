# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Offsets on a grid: pure arithmetic in bytes."""

from __future__ import annotations

__all__ = ["first_aligned", "is_aligned", "misalignment"]


def is_aligned(offset_bytes: int, grid_bytes: int | None) -> bool:
    """Whether the offset is a multiple of the grid; everything is aligned to no grid (None or 0)."""
    return not grid_bytes or offset_bytes % grid_bytes == 0


def first_aligned(offset_bytes: int, grid_bytes: int | None) -> int:
    """The first multiple of the grid at or after the offset, in bytes."""
    if not grid_bytes:
        return offset_bytes
    return -(-offset_bytes // grid_bytes) * grid_bytes


def misalignment(offset_bytes: int, grid_bytes: int | None) -> int:
    """How many bytes the offset lies behind the grid point before it; 0 when aligned or without a grid."""
    return offset_bytes % grid_bytes if grid_bytes else 0
