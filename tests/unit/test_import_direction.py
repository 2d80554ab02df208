# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies point one way: model <- parse <- read, model <- plan; decisions know nothing of the system."""

from __future__ import annotations

import ast
import functools
import typing as t
from pathlib import Path

PLUGINS = Path(__file__).parents[2] / "plugins"
UTILS = PLUGINS / "module_utils"
PREFIX = "ansible_collections.plumbline.storage.plugins.module_utils."
FILES = sorted(PLUGINS.rglob("*.py"))
MODULES = sorted((PLUGINS / "modules").glob("*.py"))

SYSTEM = {"os", "subprocess", "shutil", "socket", "fcntl", "ctypes", "ansible"}
# A package's pure files. In _core, _bench, _lab and _stack the name of a file says less, so only these are meant there.
PURE_STEMS = ("model", "parse", "plan", "geometry", "size", "order", "check")
PROGRAM_RUNNERS = {"_core/command.py"}
# Leaves its parent by fork, to go on after the connection has ended; it starts no program.
FORKS = {"_bench/detach.py"}
KNOWS_ANSIBLE_MODULE = {"_core/module.py"}


def relative(path: Path) -> str:
    return path.relative_to(UTILS).as_posix() if UTILS in path.parents else path.relative_to(PLUGINS).as_posix()


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> set[str]:
    """Full names of everything a file imports, also inside functions and under TYPE_CHECKING."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own(names: set[str]) -> set[str]:
    """The files of module_utils among imported names, as package/file."""
    short = {name[len(PREFIX) :] for name in names if name.startswith(PREFIX)}
    return {"/".join(name.split(".")[:2]) for name in short}


def is_pure(path: Path) -> bool:
    if UTILS not in path.parents:
        return False
    package = path.parent.name
    if package == "_geometry":
        return True
    return path.stem in PURE_STEMS or path.stem.startswith("plan_")


def test_there_is_something_to_look_at() -> None:
    assert len([path for path in FILES if is_pure(path)]) > 15
    assert len(MODULES) > 4


PURE = [path for path in FILES if is_pure(path)]


def offenders(paths: t.Iterable[Path], judge: t.Callable[[Path], set[str]]) -> dict[str, set[str]]:
    """What the judge finds wrong, by file."""
    return {relative(path): found for path in paths if (found := judge(path))}


def test_decisions_know_nothing_of_the_system() -> None:
    assert offenders(PURE, lambda path: {name.split(".")[0] for name in imports_of(path)} & SYSTEM) == {}


def test_decisions_do_not_import_readers() -> None:
    def readers(path: Path) -> set[str]:
        return {name for name in own(imports_of(path)) if name.split("/")[-1].split("_")[0] in ("read", "operation")}

    assert offenders(PURE, readers) == {}


def test_models_import_only_models_and_arithmetic() -> None:
    allowed = ("_geometry/", "_core/errors", "_core/sizes", "_core/yaml_words")

    def others(path: Path) -> set[str]:
        return {name for name in own(imports_of(path)) if not name.endswith("/model") and not name.startswith(allowed)}

    assert offenders([path for path in PURE if path.stem == "model"], others) == {}


def test_parsers_import_no_planner() -> None:
    def planners(path: Path) -> set[str]:
        return {
            name for name in own(imports_of(path)) if name.split("/")[-1].startswith("plan") and name != "_core/plan"
        }

    assert offenders([path for path in PURE if path.stem == "parse"], planners) == {}


def starting_calls(path: Path) -> set[str]:
    """What a file uses that starts a program or a process: subprocess, or names of os."""
    found = {"subprocess"} & {name.split(".")[0] for name in imports_of(path)}
    names = {
        node.attr
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    starters = ("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp")
    return found | {name for name in names if name in starters or name.startswith(("exec", "spawn"))}


def test_one_place_runs_programs() -> None:
    def starts(path: Path) -> set[str]:
        return starting_calls(path) - ({"fork"} if relative(path) in FORKS else set())

    assert offenders([path for path in FILES if relative(path) not in PROGRAM_RUNNERS], starts) == {}


def test_only_modules_know_ansible_module() -> None:
    def knows(path: Path) -> set[str]:
        return {name for name in imports_of(path) if name.startswith("ansible.module_utils.basic")}

    others = [path for path in FILES if path not in MODULES and relative(path) not in KNOWS_ANSIBLE_MODULE]
    assert offenders(others, knows) == {}


def test_target_code_needs_the_standard_library_only() -> None:
    foreign = {"yaml", "jmespath", "sqlalchemy", "numpy", "scipy", "altair", "jsonschema", "jinja2"}

    def needs(path: Path) -> set[str]:
        names = imports_of(path)
        return {name for name in names if name.split(".")[0] in foreign or ".plugins.plugin_utils" in name}

    assert offenders([path for path in FILES if UTILS in path.parents], needs) == {}


def test_the_test_itself_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "plan.py"
    bad.write_text("def f():\n    import os.path\n    from subprocess import run\n", encoding="utf-8")
    assert {"os.path", "subprocess", "subprocess.run"} <= imports_of(bad)
    assert starting_calls(bad) == {"subprocess"}
    spawn = tmp_path / "spawn.py"
    spawn.write_text("import os\nos.execv('/bin/true', [])\n", encoding="utf-8")
    assert starting_calls(spawn) == {"execv"}
