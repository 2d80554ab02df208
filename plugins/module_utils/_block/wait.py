# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Waits for device nodes: a program may end before udev has made the link to what it brought."""

from __future__ import annotations

import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["wait_for_nodes"]

_POLL_SECONDS = 0.05


def wait_for_nodes(paths: t.Sequence[str], seconds: float = 60) -> None:
    """Returns when all are there; raises StorageError naming those that did not come in time."""
    end = time.monotonic() + seconds
    while True:
        missing = [path for path in paths if not os.path.exists(path)]
        if not missing:
            return
        if time.monotonic() >= end:
            raise StorageError(
                f"{', '.join(missing)} did not appear within {seconds:g} s after it was made; udev may be stuck "
                "(udevadm settle shows), or another program took the device down"
            )
        time.sleep(_POLL_SECONDS)
