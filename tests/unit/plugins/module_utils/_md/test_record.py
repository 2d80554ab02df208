# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of work that was begun."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.plumbline.storage.plugins.module_utils._md.record import begin_work, end_work, work_begun

UUID = "11111111:22222222:33333333:44444444"


def test_begun_and_ended(tmp_path: Path) -> None:
    place = str(tmp_path / "arrays")
    assert work_begun(UUID, place) is None
    begin_work(UUID, "data", "create", place)
    assert work_begun(UUID.upper().replace(":", "-"), place) == "create"
    assert work_begun("9" * 32, place) is None
    begin_work(UUID, "data", "remove", place)
    assert work_begun(UUID, place) == "remove"
    end_work(UUID, place)
    end_work(UUID, place)
    assert work_begun(UUID, place) is None
    assert list((tmp_path / "arrays").iterdir()) == []


def test_a_damaged_note_says_nothing(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"begun": "eat"}'):
        (tmp_path / f"{UUID.replace(':', '')}.json").write_text(text)
        assert work_begun(UUID, str(tmp_path)) is None
    assert work_begun(None, str(tmp_path)) is None
