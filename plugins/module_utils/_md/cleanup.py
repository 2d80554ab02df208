# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a failed create or assemble leaves, and the steps that take it back. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState, MdSuperblock
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import stop_step, zero_step

__all__ = ["cleanup_steps"]


def cleanup_steps(
    name: str,
    devices: t.Sequence[str],
    known_uuids: t.Container[str],
    arrays: t.Iterable[MdState],
    superblocks: t.Iterable[MdSuperblock],
) -> tuple[Step, ...]:
    """Stops what was assembled of the devices and wipes the superblocks that were written on them.

    C(known_uuids) are those of arrays that were there before the failed step; they are left alone, and so is every
    array with a device that is not among C(devices).
    """
    own = set(devices)
    left = [
        array
        for array in arrays
        if array.members and set(array.member_paths()) <= own and array.uuid not in known_uuids
    ]
    marked = {block.path for block in superblocks if block.path in own and block.uuid not in known_uuids}
    marked |= {path for array in left for path in array.present_paths()}
    steps = [stop_step(array) for array in left]
    if marked:
        steps.append(zero_step(name, sorted(marked)))
    return tuple(steps)
