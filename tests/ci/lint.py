# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Linters and the type checker: each tool counts as one."""

from __future__ import annotations

import sys
from pathlib import Path

from ci.outcome import ROOT, Outcome, call, environment, one

__all__ = ["lint"]

_TIMEOUT_SECONDS = 900
# mypy looks at the collection under its own name, or it would know every file twice.
_COLLECTION = ".collections/ansible_collections/plumbline/storage"


def lint() -> Outcome:
    """ruff, yamllint, ansible-lint, mypy and shellcheck over the project."""
    tools = Path(sys.executable).parent
    total = Outcome()
    for name, argv in {
        "ruff check": ["ruff", "check", "."],
        "ruff format": ["ruff", "format", "--check", "."],
        "yamllint": ["yamllint", "--strict", "."],
        "mypy": ["mypy", f"{_COLLECTION}/plugins"],
        "ansible-lint": ["ansible-lint", "--offline", "--nocolor", "-q"],
    }.items():
        code = call([str(tools / argv[0]), *argv[1:]], _TIMEOUT_SECONDS, env=environment(ANSIBLE_CONFIG="ansible.cfg"))
        total += one(name, code == 0)
    scripts = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.sh"))
    return total + one(
        "shellcheck", call(["shellcheck", "--severity=warning", *scripts, ".ci/run"], _TIMEOUT_SECONDS) == 0
    )
