# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests in here need a guest: PLUMBLINE_LAB_INVENTORY names the inventory that lab_up wrote."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from guest import Guest


@pytest.fixture(scope="session")
def guest() -> Guest:
    """The first guest of the lab."""
    path = os.environ.get("PLUMBLINE_LAB_INVENTORY")
    if not path:
        pytest.skip("PLUMBLINE_LAB_INVENTORY names no inventory of a lab")
    return Guest(Path(path))
