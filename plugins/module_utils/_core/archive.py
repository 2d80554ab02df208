# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Keeps the compiled code of this collection on the target. Importing this is enough; modules import it before anything else.

Ansible sends the code of a module as a zip archive of sources, and Python keeps no compiled files of an archive: every task
compiles the same code again (and, by an oversight of zipimport, twice), which takes longer than what most tasks do. So the
compiled code is kept in C(DIRECTORY), as Python does beside installed code in C(__pycache__). Code is taken from there only
when it was compiled from a file of the same name, size and CRC by this Python, and only when nobody but root can have
written it. Whatever is wrong with the kept code, the archive's is compiled as ever.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.machinery
import importlib.util
import marshal
import os
import stat
import sys
import types
import typing as t
import zipimport
import zlib

__all__ = ["DIRECTORY", "KeptCode", "keep_code"]

DIRECTORY = "/var/cache/plumbline"
_OURS = "ansible_collections/plumbline/storage/"
# In zipimport's table of an archive: size and CRC of a file before it was compressed.
_SIZE, _CRC = 3, 7

Entry = tuple[int, int, bytes]  # size and CRC of the source, and its marshalled code


def module_name(path: str) -> str:
    """The dotted name of a file in an archive."""
    return path[: -len(".py")].replace(os.sep, ".").removesuffix(".__init__")


class _KeptLoader(importlib.machinery.SourcelessFileLoader):
    """For compiled code that does not lie in a file of its own."""

    def __init__(self, name: str, origin: str, code: bytes) -> None:
        super().__init__(name, origin)
        self._code = code

    def get_code(self, fullname: str) -> types.CodeType:
        return t.cast("types.CodeType", marshal.loads(self._code))


class KeptCode:
    """Finds and loads modules of one archive by their kept code. C(files) is zipimport's table of the archive."""

    def __init__(self, archive: str, files: t.Mapping[str, t.Any], directory: str, owner: int = 0) -> None:
        self.archive, self.directory, self.owner = archive, directory, owner
        self.path = os.path.join(directory, f"{sys.implementation.cache_tag}.code")
        self.sources = {
            module_name(path): (path, files[path][_SIZE], files[path][_CRC]) for path in files if _is_ours(path)
        }
        self.known = self._load()
        self.fresh: dict[str, Entry] = {}
        self._last: tuple[str, types.CodeType] | None = None

    # --- importing ------------------------------------------------------------------------------------------------

    def find_spec(self, name: str, path: t.Any = None, target: t.Any = None) -> importlib.machinery.ModuleSpec | None:
        """For the import system: None where the code is not kept, so that zipimport finds it."""
        source, entry = self.sources.get(name), self.known.get(name)
        if source is None or entry is None or entry[:2] != source[1:]:
            return None
        origin = os.path.join(self.archive, source[0])
        spec = importlib.machinery.ModuleSpec(name, _KeptLoader(name, origin, entry[2]), origin=origin)
        spec.has_location = True
        if origin.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(origin)]
        return spec

    def compile(
        self, pathname: str, source: bytes, compiler: t.Callable[[str, bytes], types.CodeType]
    ) -> types.CodeType:
        """In place of zipimport's own function: compiles once what zipimport asks for twice, and notes it."""
        if self._last is None or self._last[0] != pathname:
            self._last = (pathname, compiler(pathname, source))
            name = module_name(os.path.relpath(pathname, self.archive))
            if name in self.sources:
                self.fresh[name] = (*self.sources[name][1:], marshal.dumps(self._last[1]))
        return self._last[1]

    # --- the file -------------------------------------------------------------------------------------------------

    def _load(self) -> dict[str, Entry]:
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as stream:
                if not all(map(self._is_trusted, (os.fstat(stream.fileno()), os.lstat(self.directory)))):
                    return {}
                head, content = stream.read(len(_head(b""))), stream.read()
        except OSError:
            return {}
        return t.cast("dict[str, Entry]", marshal.loads(content)) if head == _head(content) else {}

    def _is_trusted(self, status: os.stat_result) -> bool:
        return status.st_uid == self.owner and not status.st_mode & 0o022 and not stat.S_ISLNK(status.st_mode)

    def save(self) -> None:
        """Adds what was compiled by this run; a cache that cannot be written costs time only."""
        if not self.fresh:
            return
        temporary = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as stream:
                content = marshal.dumps({**self.known, **self.fresh})
                stream.write(_head(content) + content)
            os.replace(temporary, self.path)


def _head(content: bytes) -> bytes:
    """What such a file begins with: the kind of code, and a sum by which a file that was cut off is known."""
    return importlib.util.MAGIC_NUMBER + zlib.crc32(content).to_bytes(4, "little")


def _is_ours(path: str) -> bool:
    return path.startswith(_OURS) and path.endswith(".py")


def keep_code() -> KeptCode | None:
    """Begins to use and to keep compiled code. None where this is not root, not an archive, or not the zipimport that is known."""
    importer: t.Any = zipimport  # neither the function nor the table is part of its interface
    loader, compiler = globals().get("__loader__"), getattr(importer, "_compile_source", None)
    if os.geteuid() != 0 or not isinstance(loader, zipimport.zipimporter) or compiler is None:
        return None
    files = getattr(importer, "_zip_directory_cache", {}).get(loader.archive)
    if not files:
        return None
    kept = KeptCode(loader.archive, files, DIRECTORY)
    importer._compile_source = lambda pathname, source: kept.compile(pathname, source, compiler)
    sys.meta_path.insert(0, kept)
    atexit.register(kept.save)
    return kept


keep_code()
