# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def vg_backup() -> str:
    """LVM's text backup of a VG on md, as recorded."""
    return (Path(__file__).resolve().parents[4] / "fixtures" / "lvm-2.03.16" / "vg_backup_on_md.txt").read_text()
