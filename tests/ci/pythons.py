# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds interpreters that truly run: a shim of pyenv for a version that is not active does not."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["find_python", "real_directory"]


def _candidates(version: str) -> list[Path]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [Path(folder) / f"python{version}" for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    found += sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True)
    return found


@functools.cache
def find_python(version: str) -> Path | None:
    """The real interpreter of a version such as 3.9, or None."""
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == version:
        return Path(os.path.realpath(sys.executable))
    for path in _candidates(version):
        if not path.is_file():
            continue
        told = subprocess.run(
            [
                path,
                "-c",
                "import os, sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], os.path.realpath(sys.executable))",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        words = told.stdout.split(" ", 1)
        if told.returncode == 0 and words[0] == version:
            return Path(words[1].strip())
    return None


def real_directory(version: str) -> Path | None:
    """The directory with an executable called pythonX.Y, to be put first on PATH."""
    python = find_python(version)
    if python is None:
        return None
    return python.parent if (python.parent / f"python{version}").exists() else None
