# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of at most 50 lines, files of at most 500, every function of the plugins typed, a licence in every file."""

from __future__ import annotations

import ast
import functools
import typing as t
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "plugins").rglob("*.py"), *(ROOT / "tests" / "ci").glob("*.py"), ROOT / "tests" / "run.py"])
FUNCTION_LINES = 50
FILE_LINES = 500
DOCUMENTATION = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
FORBIDDEN_CALLS = {"eval", "exec", "breakpoint"}


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def code_lines(path: Path) -> int:
    """Lines of a file without the documentation of a module."""
    total = len(path.read_text(encoding="utf-8").splitlines())
    for node in tree(path).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in DOCUMENTATION
        ):
            total -= lines_of(node)
    return total


def offenders(paths: t.Iterable[Path], judge: t.Callable[[Path], object]) -> dict[str, object]:
    """What the judge finds wrong, by file."""
    return {path.relative_to(ROOT).as_posix(): found for path in paths if (found := judge(path))}


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 50


def test_functions_are_short() -> None:
    def long(path: Path) -> dict[str, int]:
        return {node.name: lines_of(node) for node in functions(path) if lines_of(node) > FUNCTION_LINES}

    assert offenders(FILES, long) == {}


def test_files_are_short() -> None:
    assert offenders(FILES, lambda path: code_lines(path) if code_lines(path) > FILE_LINES else 0) == {}


def test_functions_are_typed() -> None:
    assert offenders(FILES, lambda path: [node.name for node in functions(path) if node.returns is None]) == {}


def test_every_file_names_its_licence() -> None:
    line = "SPDX-License-Identifier: GPL-3.0-or-later"
    assert offenders(FILES, lambda path: line not in path.read_text(encoding="utf-8")[:500]) == {}


def test_no_assert_and_no_evaluated_text() -> None:
    def bad(path: Path) -> list[int]:
        return [
            node.lineno
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Assert)
            or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS)
        ]

    assert offenders([path for path in FILES if "plugins" in path.parts], bad) == {}
