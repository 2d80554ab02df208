# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blankness: what is read, on ordinary files of odd sizes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.signatures import scan_blank, scan_many
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

MIB = 1024**2


def device(path: Path, size: int, *data_at: int) -> str:
    with path.open("wb") as file:
        file.truncate(size)
        for offset in data_at:
            file.seek(offset)
            file.write(b"x")
    return str(path)


@pytest.mark.parametrize("size", [0, 512, 3 * MIB, 8 * MIB, 8 * MIB + 512, 9 * MIB, 100 * MIB + 512])
def test_zeros_are_blank_at_any_size(tmp_path: Path, size: int) -> None:
    scan = scan_blank(device(tmp_path / "d", size))
    assert (scan.size_bytes, scan.all_zero) == (size, True)


@pytest.mark.parametrize(
    ("size", "offset"),
    [
        (100 * MIB, 0),
        (100 * MIB, 4 * MIB - 1),
        (100 * MIB, 96 * MIB),
        (100 * MIB, 100 * MIB - 1),
        (100 * MIB + 512, 100 * MIB + 511),
        (8 * MIB + 65536, 4 * MIB + 33000),
        (512, 511),
        (8 * MIB + 512, 4 * MIB + 100),
    ],
)
def test_one_byte_is_found_at_the_ends_and_in_small_devices(tmp_path: Path, size: int, offset: int) -> None:
    assert scan_blank(device(tmp_path / "d", size, offset)).first_data_offset_bytes == offset


def test_samples_between_find_a_disk_full_of_data_with_clean_ends(tmp_path: Path) -> None:
    path = device(tmp_path / "d", 100 * MIB)
    with open(path, "r+b") as file:
        file.seek(5 * MIB)
        file.write(os.urandom(90 * MIB))
    assert not scan_blank(path).all_zero


def test_several_are_read_side_by_side(tmp_path: Path) -> None:
    blank, full = device(tmp_path / "a", MIB), device(tmp_path / "b", MIB, 7)
    scans = scan_many([blank, full])
    assert (scans[blank].all_zero, scans[full].first_data_offset_bytes) == (True, 7)
    assert scan_many([]) == {}


def test_what_cannot_be_read_is_not_blank(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="could not open"):
        scan_blank(str(tmp_path / "none"))
