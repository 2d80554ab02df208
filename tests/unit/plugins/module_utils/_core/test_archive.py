# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled code that is kept between tasks: used when it is of the same source and trusted, never otherwise."""

from __future__ import annotations

import importlib.util
import os
import types
import zipfile
import zipimport
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.archive import KeptCode

PACKAGE = "ansible_collections/plumbline/storage/probe"
NAME = "ansible_collections.plumbline.storage.probe"


class Payload:
    """An archive as Ansible sends it, what is kept of it, and how often something was compiled."""

    def __init__(self, directory: Path, text: str = "VALUE = 1\n", archive: str = "payload.zip") -> None:
        self.path = directory / archive
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive_file:
            archive_file.writestr(f"{PACKAGE}/__init__.py", "")
            archive_file.writestr(f"{PACKAGE}/part.py", text)
            archive_file.writestr("ansible/module_utils/basic.py", "FOREIGN = 1\n")
        self.importer = zipimport.zipimporter(str(self.path))
        self.kept = KeptCode(
            str(self.path),
            zipimport._zip_directory_cache[str(self.path)],
            str(directory / "cache"),
            os.geteuid(),
        )
        self.compiled: list[str] = []

    def _compile(self, pathname: str, source: bytes) -> types.CodeType:
        self.compiled.append(pathname)
        return compile(source, pathname, "exec")

    def load(self, *files: str) -> None:
        """As zipimport does it, which asks for every file twice."""
        for file in files:
            for _unused in range(2):
                source = self.importer.get_data(os.path.join(self.path, file))
                self.kept.compile(os.path.join(self.path, file), source, self._compile)


FILES = (f"{PACKAGE}/__init__.py", f"{PACKAGE}/part.py", "ansible/module_utils/basic.py")


@pytest.fixture()
def cache(tmp_path: Path) -> Path:
    """The file, as a first task leaves it."""
    first = Payload(tmp_path)
    assert first.kept.find_spec(f"{NAME}.part") is None
    first.load(*FILES)
    assert len(first.compiled) == 3, "each once"
    first.kept.save()
    return Path(first.kept.path)


def executed(kept: KeptCode, name: str) -> types.ModuleType | None:
    spec = kept.find_spec(name)
    if spec is None:
        return None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def test_the_next_task_compiles_nothing(cache: Path, tmp_path: Path) -> None:
    second = Payload(tmp_path, archive="other_temporary_name.zip")
    module, package = executed(second.kept, f"{NAME}.part"), executed(second.kept, NAME)
    assert module is not None and package is not None
    assert module.VALUE == 1
    assert module.__file__ == f"{second.path}/{PACKAGE}/part.py"
    assert package.__path__ == [f"{second.path}/{PACKAGE}"], "what is not kept is found in the archive"
    assert module.__package__ == NAME
    before = cache.read_bytes()
    second.kept.save()
    assert cache.read_bytes() == before
    assert [oct(path.stat().st_mode & 0o777) for path in (cache, cache.parent)] == ["0o600", "0o700"]
    assert os.listdir(cache.parent) == [cache.name]


def test_only_code_of_this_collection_is_kept(cache: Path, tmp_path: Path) -> None:
    assert set(Payload(tmp_path).kept.known) == {NAME, f"{NAME}.part"}


def test_another_source_is_compiled_and_replaces_the_old_code(cache: Path, tmp_path: Path) -> None:
    changed = Payload(tmp_path, "VALUE = 2\n", "changed.zip")
    assert executed(changed.kept, f"{NAME}.part") is None
    assert executed(changed.kept, NAME) is not None
    changed.load(f"{PACKAGE}/part.py")
    changed.kept.save()
    module = executed(Payload(tmp_path, "VALUE = 2\n", "again.zip").kept, f"{NAME}.part")
    assert module is not None and module.VALUE == 2


@pytest.mark.parametrize(
    "case", ["cut off", "empty", "garbage", "other Python", "file of others", "directory of others", "link"]
)
def test_code_that_is_not_trusted_is_not_loaded(cache: Path, tmp_path: Path, case: str) -> None:
    content = cache.read_bytes()
    if case == "file of others":
        cache.chmod(0o620)
    elif case == "directory of others":
        cache.parent.chmod(0o777)
    elif case == "link":
        (tmp_path / "elsewhere").write_bytes(content)
        cache.unlink()
        cache.symlink_to(tmp_path / "elsewhere")
    else:
        shown = {
            "cut off": content[:-5],
            "empty": b"",
            "garbage": b"\0" * 999,
            "other Python": b"\1\2\3\4" + content[4:],
        }
        cache.write_bytes(shown[case])
    assert executed(Payload(tmp_path).kept, f"{NAME}.part") is None


def test_code_of_another_owner_is_not_loaded(cache: Path, tmp_path: Path) -> None:
    payload = Payload(tmp_path)
    files = zipimport._zip_directory_cache[str(payload.path)]
    assert KeptCode(str(payload.path), files, str(cache.parent), os.geteuid() + 1).known == {}


def test_where_nothing_can_be_kept_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the directory should be")
    payload = Payload(tmp_path)
    payload.load(f"{PACKAGE}/part.py")
    payload.kept.save()
    assert (tmp_path / "cache").read_text() == "a file where the directory should be"
