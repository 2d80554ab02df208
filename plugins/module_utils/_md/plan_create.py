# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The plan that makes an array. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import compose_stripe, md_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._md.check import check_creatable, unequal_warnings
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdNamed, MdState, MdWanted
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import (
    create_steps,
    predict_created,
    readahead_step,
    stop_step,
    zero_step,
)

__all__ = ["created"]

Devices = t.Sequence[DeviceGeometry]


def created(wanted: MdWanted, members: Devices, spares: Devices, named: MdNamed, others: t.Sequence[MdState]) -> Draft:
    """Take down what idles on the devices (the guard decides whether it may be), then make the array."""
    check_creatable(wanted, members, spares, named)
    after = predict_created(wanted, members, spares, named)
    steps = [*_take_down(others), *create_steps(wanted, after)]
    if wanted.readahead_bytes is not None:
        steps.append(readahead_step(after.path, wanted.readahead_bytes))
    own = md_stripe(after.level, after.raid_devices, after.chunk_bytes, after.layout)
    _unused, composed = compose_stripe(own, members)
    assumed = [device.path for device in (*members, *spares, *named.devices()) if device.assumed]
    notes = [*unequal_warnings(after.level, members), *composed]
    if assumed:
        notes.append(f"{', '.join(assumed)}: not there yet, taken as planned by an earlier task")
    return Draft(after, after.path, tuple(steps), tuple(notes))


def _take_down(others: t.Sequence[MdState]) -> list[Step]:
    steps: list[Step] = []
    for array in others:
        if array.kernel_name:
            steps.append(stop_step(array)._replace(in_the_way=True))
        steps.append(zero_step(array.label, array.present_paths()))
    return steps
