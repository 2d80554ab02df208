# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a failed create leaves, and the steps that take it back. Pure.

The command itself says what is its own: the UUID that it gave, on the devices that it named.
"""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState, MdSuperblock
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import stop_step, zero_step

__all__ = ["cleanup_steps", "created_uuid"]


def created_uuid(step: Step) -> str | None:
    """The UUID that a create gives; None for any other command and for a create that lets mdadm choose."""
    if step.argv[:2] != ("mdadm", "--create"):
        return None
    return next((word.split("=", 1)[1] for word in step.argv if word.startswith("--uuid=")), None)


def cleanup_steps(step: Step, arrays: t.Iterable[MdState], superblocks: t.Iterable[MdSuperblock]) -> tuple[Step, ...]:
    """Stops what was assembled of the devices of a failed create and wipes the superblocks that it wrote on them.

    An array with a device that the command did not name is left alone, and so is every superblock with another UUID.
    """
    own, uuid = set(step.writes), created_uuid(step)
    if uuid is None:
        return ()
    marked = {block.path for block in superblocks if block.path in own and block.uuid == uuid}
    left = [
        array for array in arrays if array.members and set(array.member_paths()) <= own and array.uuid in (uuid, None)
    ]
    marked |= {path for array in left for path in array.present_paths()}
    name = next((word.split("=", 1)[1] for word in step.argv if word.startswith("--name=")), "a failed create")
    steps = [stop_step(array) for array in left]
    if marked:
        steps.append(zero_step(name, sorted(marked)))
    return tuple(steps)
