# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A plan while it is being made: steps so far, and the array as it is after them. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdMember, MdState

__all__ = ["Draft"]


class Draft(t.NamedTuple):
    """C(notes) are sentences for the person, C(pending) those that time may undo. C(path) is the device to give commands.

    C(reshapes): a step begins a reshape, beside which little else can be done. C(more): what is left can only be planned when
    these steps are done.
    """

    after: MdState
    path: str
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    reshapes: bool = False
    more: bool = False

    def then(self, *steps: Step, **changes: t.Any) -> Draft:
        """With more steps, after which these fields of the array are others."""
        return self._replace(
            steps=(*self.steps, *steps),
            after=self.after._replace(**changes) if changes else self.after,
        )

    def noted(self, *notes: str) -> Draft:
        return self._replace(notes=(*self.notes, *notes))

    def waiting(self, *notes: str) -> Draft:
        return self._replace(pending=(*self.pending, *notes))

    def with_member(self, member: MdMember) -> Draft:
        """The array with this device added, or changed where it is there already."""
        rest = tuple(one for one in self.after.members if one.path != member.path)
        return self.then(members=(*rest, member))

    def without_member(self, path: str) -> Draft:
        return self.then(members=tuple(one for one in self.after.members if one.path != path))
