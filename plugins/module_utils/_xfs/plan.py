# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how an XFS file system comes to be, changes or goes. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.change import plan_change
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.fields import managed_fields, manages_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.make import (
    check_device,
    check_trial,
    mkfs_step,
    predicted,
    shown_shape,
    wanted_stripe,
    wipe_step,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import (
    OtherContent,
    Trial,
    XfsState,
    XfsWanted,
)

__all__ = ["plan_xfs", "plan_xfs_absent"]

XfsContent = t.Union[XfsState, OtherContent, None]


def plan_xfs(
    state: XfsContent,
    wanted: XfsWanted,
    below: DeviceGeometry,
    trial: Trial | None = None,
    log_content: OtherContent | None = None,
    log_dirty: bool = False,
) -> Plan:
    """The plan that makes the file system, or sets what can be set; empty when it is as wanted.

    C(trial) is what mkfs.xfs says it would make, where it was asked; C(log_content) what an external log's device holds.
    Raises PlanRefused when an existing file system differs in what cannot change, or the device cannot hold one.
    """
    if isinstance(state, XfsState):
        return _keep(state, wanted, below, log_dirty)
    check_device(wanted, below)
    check_trial(wanted, trial)
    stripe = wanted_stripe(wanted, below)
    steps = tuple(wipe_step(content) for content in (state, log_content) if isinstance(content, OtherContent))
    made = predicted(wanted, stripe, below, trial)
    return Plan(
        steps=(*steps, mkfs_step(wanted, stripe, below)),
        after=managed_fields(made, wanted, created=True),
        warnings=(*stripe.warnings, *_trial_warning(trial), *_assumed_warning(wanted, below)),
        predicted=made,
        assumed_parent=below.assumed,
    )


def _trial_warning(trial: Trial | None) -> tuple[str, ...]:
    return (trial.warning,) if trial is not None and trial.warning else ()


def _assumed_warning(wanted: XfsWanted, below: DeviceGeometry) -> tuple[str, ...]:
    if not below.assumed:
        return ()
    return (f"{wanted.device} does not exist yet; it is taken as planned, and su and sw are derived once it is there",)


def plan_xfs_absent(state: XfsContent, wanted: XfsWanted, log_content: OtherContent | None = None) -> Plan:
    """The plan that wipes the file system; empty when the device has none. Raises PlanRefused when it is mounted."""
    if isinstance(state, XfsState):
        _check_removable(state, wanted)
    elif not (isinstance(state, OtherContent) and "xfs" in state.kinds):
        return Plan(predicted=state)
    steps = [
        Step(
            ("wipefs", "-a", wanted.device),
            f"wipe the XFS on {wanted.device}",
            writes=(wanted.device,),
            removes=(f"xfs:{wanted.device}",),
            retries=3,
        )
    ]
    if log_content is not None and log_content.kinds == ("xfs_external_log",):
        steps.append(wipe_step(log_content))
    return Plan(steps=tuple(steps), before=managed_fields(state, wanted, created=True), predicted=None)


def _check_removable(state: XfsState, wanted: XfsWanted) -> None:
    if state.mounted:
        where = f"at {', '.join(state.mounted_at)}" if state.mounted_at else "in another mount namespace"
        raise PlanRefused(f"the XFS on {wanted.device} was to be removed, but it is mounted {where}; unmount it first")
    if wanted.uuid is not None and wanted.uuid.lower() != state.uuid:
        raise PlanRefused(
            f"the XFS with UUID {wanted.uuid} was to be removed from {wanted.device}, but there is one with UUID "
            f"{state.uuid}; nothing was changed. Leave uuid out to remove whichever is there"
        )


# State field, wish, option, and whether values are sizes: what can only be chosen at creation.
_FIXED: tuple[tuple[str, str, str, bool], ...] = (
    ("block_bytes", "block_bytes", "block_size", True),
    ("sector_bytes", "sector_bytes", "sector_size", True),
    ("inode_bytes", "inode_bytes", "inode_size", True),
    ("ag_bytes", "ag_bytes", "agsize", True),
    ("log_sunit_bytes", "log_su_bytes", "log_su", True),
    ("log_bytes", "log_bytes", "log_size", True),
)


def _keep(state: XfsState, wanted: XfsWanted, below: DeviceGeometry, log_dirty: bool) -> Plan:
    """An existing file system is never made again: what differs for good is refused, what can change is set."""
    different = [
        *_differences(state, wanted),
        *_group_difference(state, wanted),
        *_log_difference(state, wanted),
        *_geometry_difference(state, wanted, below),
    ]
    if different:
        raise DriftFound(
            f"{wanted.device} already holds an XFS (UUID {state.uuid}) that differs in what cannot change: "
            f"{'; '.join(different)}. Nothing was changed; ask for what it has, or remove it first (state: absent)"
        )
    return plan_change(state, wanted, below, log_dirty)


def _differences(state: XfsState, wanted: XfsWanted) -> list[str]:
    found = []
    for field, wish, option, is_size in _FIXED:
        asked, has = getattr(wanted, wish), getattr(state, field)
        if asked is not None and has is not None and asked != has:
            show = format_size if is_size else str
            found.append(f"{option} was asked as {show(asked)} and is {show(has)}")
    if wanted.uuid is not None and not wanted.change_uuid and state.uuid not in (None, wanted.uuid.lower()):
        found.append(f"uuid was asked as {wanted.uuid.lower()} and is {state.uuid} (change_uuid: true sets it)")
    for name, asked in wanted.features:
        if asked != (name in state.features):
            found.append(f"{name} was asked as {_yes(asked)} and is {_yes(not asked)}")
    return found


def _group_difference(state: XfsState, wanted: XfsWanted) -> list[str]:
    """A file system that grew has more groups of the same size than it was made with; that is no difference."""
    asked, has = wanted.agcount, state.agcount
    if asked is None or has is None or asked == has or (wanted.grow and has > asked):
        return []
    return [f"agcount was asked as {asked} and is {has}"]


def _log_difference(state: XfsState, wanted: XfsWanted) -> list[str]:
    if wanted.log_device is None or state.log_external is None:
        return []
    if not state.log_external:
        return [f"log_device was asked as {wanted.log_device} and the log is internal"]
    if state.log_device not in (None, wanted.log_device):
        return [f"log_device was asked as {wanted.log_device} and is {state.log_device}"]
    return []


def _yes(value: bool) -> str:
    return "true" if value else "false"


def _geometry_difference(state: XfsState, wanted: XfsWanted, below: DeviceGeometry) -> list[str]:
    if not manages_geometry(wanted) or state.sunit_bytes is None or state.swidth_bytes is None:
        return []
    stripe = wanted_stripe(wanted, below, state.block_bytes)
    asked = (stripe.su_bytes, stripe.su_bytes * stripe.sw_units)
    if asked == (state.sunit_bytes, state.swidth_bytes):
        return []
    has = shown_shape(state.sunit_bytes, state.swidth_bytes)
    return [f"stripe geometry was asked as {shown_shape(*asked)} and is {has}"]
