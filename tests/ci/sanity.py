# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-test sanity without containers, on a copy that lies where ansible-test wants it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ci.outcome import BUILD, ROOT, Outcome, capture, environment, say
from ci.pythons import real_directory

__all__ = ["sanity"]

_COPY = BUILD / "ansible_collections" / "plumbline" / "storage"
_OLDEST = "3.9"
_TIMEOUT_SECONDS = 1200
_RUNNING = re.compile(r'^Running sanity test "([^"]+)"')
_FAILED = re.compile(r"^FATAL: The \d+ sanity test\(s\) listed below")
# ansible-test fetches pip's installer from a host of its own; Python brings the same.
_GET_PIP = "import ensurepip\n\nensurepip.bootstrap(default_pip=True)\n"


def sanity() -> Outcome:
    """All sanity tests on this Python; those that load the target code also on the oldest one where it is found."""
    _copy_tree()
    _provide_pip_installer()
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    outcome = _run(here, [])
    if real_directory(_OLDEST) is None:
        note = f"skipped: sanity tests compile and import on Python {_OLDEST}, which was not found on this machine"
        say(note)
        return outcome + Outcome(skipped=1, notes=(note,))
    return outcome + _run(_OLDEST, ["--test", "compile", "--test", "import"])


def _copy_tree() -> None:
    """The tracked files that make up the collection; its tests, and what they have recorded, have linters of their own."""
    shutil.rmtree(_COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0"):
        source = ROOT / name
        if not name or _is_left_out(name) or not (source.is_file() or source.is_symlink()):
            continue
        target = _COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    # Else ansible-test asks the repository around the copy, which ignores it.
    subprocess.run(["git", "init", "--quiet", str(_COPY)], check=True, capture_output=True)


def _is_left_out(name: str) -> bool:
    folder = name.split("/", 1)[0]
    return folder in (".collections", ".ci") or (folder == "tests" and name != "tests/config.yml")


def _provide_pip_installer() -> None:
    spec = importlib.util.find_spec("ansible_test")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("ansible-test is not installed beside ansible-core; run make setup")
    text = (Path(spec.submodule_search_locations[0]) / "_internal" / "python_requirements.py").read_text("utf-8")
    cache = Path.home() / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in set(re.findall(r"pip='(\d+(?:\.\d+)+)'", text)):
        path = cache / f"get_pip_{version.replace('.', '_')}.py"
        if not path.exists():
            path.write_text(_GET_PIP, "utf-8")


def _run(version: str, tests: list[str]) -> Outcome:
    tools = Path(sys.executable).parent
    paths = [str(folder) for folder in (real_directory(version),) if folder is not None]
    env = environment(ANSIBLE_TEST_PREFER_PODMAN="", LC_ALL="C.UTF-8")
    env["PATH"] = os.pathsep.join([*paths, env["PATH"]])
    argv = [sys.executable, str(tools / "ansible-test"), "sanity", "--python", version, "--color", "no", *tests]
    code, lines = capture(argv, _TIMEOUT_SECONDS, cwd=_COPY, env=env)
    ran = list(dict.fromkeys(match.group(1) for match in map(_RUNNING.match, lines) if match))
    failed = _failed(lines)
    if (code or not ran) and not failed:
        failed = [f"exit code {code}, {len(ran)} tests ran"]
    notes = tuple(f"failed: sanity {name} on Python {version}" for name in failed)
    return Outcome(len(set(ran) - set(failed)), len(failed), 0, notes)


def _failed(lines: list[str]) -> list[str]:
    """The names below ansible-test's closing line, up to the next message."""
    for index, line in enumerate(lines):
        if _FAILED.match(line):
            return [name.strip() for name in lines[index + 1 :] if re.match(r"^[a-z0-9-]+$", name.strip())]
    return []
