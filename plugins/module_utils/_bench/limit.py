# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Calls that a hung device could hold for ever, with an end."""

from __future__ import annotations

import threading
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["HungDevice", "within"]

_Result = t.TypeVar("_Result")


class HungDevice(StorageError):
    """Something did not end in time; the run must end, because what follows would wait behind it."""


def within(seconds: float, what: str, call: t.Callable[[], _Result]) -> _Result:
    """The result of C(call), or its error; raises HungDevice when it takes longer.

    It runs in a thread, because a process that waits for a device in the kernel takes no signal. C(call) must not
    start programs: their parent-death signal would go with the thread.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise HungDevice(f"{what} did not end within {seconds:g} s: a device hangs; look at the kernel's log")
    return results[0]
