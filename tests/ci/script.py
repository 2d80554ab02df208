# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages that are scripts of their own: they need virtual machines of the lab."""

from __future__ import annotations

import typing as t

from ci.outcome import ROOT, Outcome, capture, counts_of, environment, one

__all__ = ["script"]


def script(name: str, timeout: float, arguments: t.Sequence[str] = (), **variables: str) -> Outcome:
    """Runs tests/ci/NAME.sh with arguments and environment variables.

    Its last line of the form C(3 passed, 1 failed) is counted; without one the exit code is one test.
    """
    path = ROOT / "tests" / "ci" / f"{name}.sh"
    env = environment(ANSIBLE_CONFIG=str(ROOT / "ansible.cfg"), **variables)
    code, lines = capture(["sh", str(path), *arguments], timeout, env=env)
    outcome = counts_of(lines) or Outcome()
    if code and not outcome.failed:
        outcome += one(f"{name}, exit code {code}", False)
    elif not outcome.passed and not outcome.failed:
        outcome += one(name, True)
    return outcome
