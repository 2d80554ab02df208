# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests: all of them on this Python, those of the target code also on the oldest that targets may have."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

from ci.outcome import BUILD, ROOT, Outcome, call, one, say
from ci.pythons import find_python

__all__ = ["unit", "unit_oldest"]

OLDEST = "3.9"
TARGET_TESTS = ("tests/unit/plugins/module_utils", "tests/unit/plugins/modules")
_TIMEOUT_SECONDS = 900


def unit() -> Outcome:
    """Every unit test on the Python that runs this."""
    return _pytest(Path(sys.executable), [], "unit")


def unit_oldest() -> Outcome:
    """The target code's tests on Python 3.9, counted as skipped where there is none."""
    python = find_python(OLDEST)
    tests = [path for path in TARGET_TESTS if (ROOT / path).is_dir()]
    if python is None:
        note = f"skipped: unit tests of the target code on Python {OLDEST}, which was not found on this machine"
        say(note)
        return Outcome(skipped=1, notes=(note,))
    ready = _environment(python)
    if ready is None:
        return one(f"an environment with pytest for Python {OLDEST}", False)
    return _pytest(ready, tests, "unit-oldest")


def _environment(python: Path) -> Path | None:
    """The interpreter of a virtual environment with pytest and Ansible's module side; made when missing."""
    folder = BUILD / f"python{OLDEST}"
    ready = folder / "bin" / "python"
    if not (folder / "complete").exists():
        say(f"making an environment with pytest for Python {OLDEST} in {folder.relative_to(ROOT)}")
        make = call([str(python), "-m", "venv", "--clear", str(folder)], 300)
        pip = [
            str(ready),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "pytest>=8,<9",
            "PyYAML>=6,<7",
        ]
        if make or call(pip, 600):
            return None
        (folder / "complete").touch()
    _link_ansible(folder)
    return ready


def _link_ansible(folder: Path) -> None:
    """ansible-core itself needs a newer Python; what it sends to targets does not, and modules import that part."""
    import ansible

    link = folder / "lib" / f"python{OLDEST}" / "site-packages" / "ansible"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(Path(ansible.__file__).parent)


def _pytest(python: Path, paths: list[str], name: str) -> Outcome:
    report = BUILD / f"pytest-{name}.xml"
    BUILD.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    argv = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *paths]
    code = call(argv, _TIMEOUT_SECONDS)
    outcome = _counts(report) if report.exists() else Outcome()
    if code and not outcome.failed:
        outcome += one(f"pytest ({name}), exit code {code}", False)
    return outcome


def _counts(report: Path) -> Outcome:
    total = Outcome()
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        count = {key: int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped")}
        bad = count["failures"] + count["errors"]
        total += Outcome(count["tests"] - bad - count["skipped"], bad, count["skipped"])
    return total
