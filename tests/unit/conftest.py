# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests never start a program: a test that tries to fails."""

from __future__ import annotations

import subprocess
import typing as t

import pytest


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("runs_programs"):
        return

    def refuse(*args: t.Any, **kwargs: t.Any) -> t.NoReturn:
        raise AssertionError(f"a unit test tried to start a program: {args!r}")

    monkeypatch.setattr(subprocess, "Popen", refuse)
