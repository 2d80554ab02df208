# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Goes on in the background after the module has answered, and outlives the connection."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["detach"]

_CLOSE_FROM = 3
_CLOSE_LIMIT = 4096


def detach(main: t.Callable[[], None], log_path: str) -> int:
    """Runs C(main) in a process of its own and returns that process's id to the caller at once.

    Everything that C(main) needs must be imported before: the file that the module was started from vanishes when
    the caller ends. The new process has its own session, no inherited descriptor, standard output and error on the
    log, and leaves without the interpreter's clean-up, which belongs to the caller. Raises StorageError when it
    cannot be started.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _first_child(main, log_path, reader, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    if not said.isdigit():
        raise StorageError(
            f"the background process could not be started; see {log_path}: {said.decode(errors='replace')}"
        )
    return int(said)


def _first_child(main: t.Callable[[], None], log_path: str, reader: int, writer: int) -> t.NoReturn:
    """Leads a new session and ends, so that the grandchild can never get a terminal and belongs to init."""
    try:
        os.close(reader)
        os.setsid()
        if os.fork() == 0:
            _daemon(main, log_path, writer)
    except BaseException as error:
        os.write(writer, repr(error).encode())
        os._exit(1)
    os._exit(0)


def _daemon(main: t.Callable[[], None], log_path: str, writer: int) -> t.NoReturn:
    code = 1
    try:
        os.chdir("/")
        os.umask(0o077)
        _redirect(log_path, keep=writer)
        os.write(writer, str(os.getpid()).encode())
        os.close(writer)
        main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _redirect(log_path: str, keep: int) -> None:
    os.makedirs(os.path.dirname(log_path), mode=0o700, exist_ok=True)
    for descriptor in range(_CLOSE_FROM, _CLOSE_LIMIT):
        if descriptor != keep:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(nothing)
    os.close(log)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
