# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests in here need a guest: PLUMBLINE_LAB_INVENTORY names the inventory that lab_up wrote."""

from __future__ import annotations

import os
import sys
import typing as t
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from direct import Direct
from guest import Guest

# Of the profile many_buses: two of each bus that tests may write to, in this order.
TEST_DISKS = (
    "WD-WCASJ0000001", "WD-WCASJ0000002", "Z1N0000005", "Z1N0000006", "6SJ0000008", "6SJ0000009",
    "K4G0000010", "K4G0000011", "S4EWNX0R000012", "S4EWNX0R000013", "virt-000014",
)  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """PLUMBLINE_SHARE=2/4 keeps the second of four shares of the tests, every fourth one."""
    number, shares = (int(word) for word in os.environ.get("PLUMBLINE_SHARE", "1/1").split("/"))
    config.hook.pytest_deselected(items=[item for at, item in enumerate(items) if at % shares != number - 1])
    items[:] = items[number - 1 :: shares]


@pytest.fixture(scope="session")
def guest() -> Guest:
    """The first guest of the lab."""
    path = os.environ.get("PLUMBLINE_LAB_INVENTORY")
    if not path:
        pytest.skip("PLUMBLINE_LAB_INVENTORY names no inventory of a lab")
    return Guest(Path(path))


@pytest.fixture(scope="session")
def direct(guest: Guest) -> t.Iterator[Direct]:
    """The modules of this checkout in a guest of the profile many_buses, over one connection."""
    with Direct(guest, TEST_DISKS) as connection:
        yield connection


@pytest.fixture()
def lab(direct: Direct) -> Direct:
    """As C(direct), with every test disk blank."""
    direct.clean()
    return direct
