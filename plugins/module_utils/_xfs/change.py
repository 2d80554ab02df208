# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What can change in an XFS that is there: label, UUID, size. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._core.udev import look_again_step
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import grown_blocks
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.fields import managed_fields
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import XfsState, XfsWanted

__all__ = ["needs_clean_log", "plan_change"]


def needs_clean_log(state: XfsState, wanted: XfsWanted) -> bool:
    """Whether something is due that the tools do only to an unmounted file system with nothing left to replay."""
    return not state.mounted and (_label_due(state, wanted) or _uuid_due(state, wanted))


def plan_change(state: XfsState, wanted: XfsWanted, below: DeviceGeometry, log_dirty: bool) -> Plan:
    """The plan that sets label, UUID and size; empty when they are as wanted."""
    steps: list[Step] = []
    after = state
    if log_dirty and needs_clean_log(state, wanted):
        raise PlanRefused(
            f"the label or UUID of the XFS on {state.device} was to change, but its log holds changes of a mount that did "
            "not end in order; mount it and unmount it once, which replays them, and try again"
        )
    if _label_due(state, wanted):
        steps.append(_label_step(state, wanted))
        if state.mounted_at:
            # Set through the mount: udev, which makes the links in /dev/disk, does not notice by itself.
            steps.append(look_again_step(state.device, "the label"))
        after = after._replace(label=wanted.label or "")
    if _uuid_due(state, wanted):
        steps.append(_uuid_step(state, wanted))
        features = set(after.features) | ({"metauuid"} if "crc" in after.features else set())
        after = after._replace(uuid=(wanted.uuid or "").lower(), features=tuple(sorted(features)))
    blocks = _blocks_due(state, wanted, below)
    if blocks is not None:
        steps.append(_grow_step(state, blocks))
        groups = -(-blocks // state.agblocks) if state.agblocks else None
        after = after._replace(data_blocks=blocks, agcount=groups)
    return Plan(
        steps=tuple(steps),
        before=managed_fields(state, wanted),
        after=managed_fields(after, wanted),
        predicted=after,
    )


def _label_due(state: XfsState, wanted: XfsWanted) -> bool:
    return wanted.label is not None and wanted.label != state.label


def _uuid_due(state: XfsState, wanted: XfsWanted) -> bool:
    return wanted.change_uuid and wanted.uuid is not None and wanted.uuid.lower() != state.uuid


def _log_words(state: XfsState, wanted: XfsWanted) -> tuple[str, ...]:
    """Where the log is, which xfs_admin must know: without it, it fails half way."""
    if not state.log_external:
        return ()
    if wanted.log_device is None:
        raise PlanRefused(
            f"the label or UUID of the XFS on {state.device} was to change, but its log is on a device of its own, which must be "
            "named while it is not mounted; give log_device, or mount it and change the label then"
        )
    return (wanted.log_device,)


def _label_step(state: XfsState, wanted: XfsWanted) -> Step:
    label = wanted.label or ""
    summary = f"set the label of the XFS on {state.device} to {label!r}"
    if state.mounted_at:
        command = f"label -s {label}" if label else "label -c"
        return Step(("xfs_io", "-c", command, state.mounted_at[0]), summary)
    if state.mounted_elsewhere:
        raise PlanRefused(
            f"the label of the XFS on {state.device} was to become {label!r}, but it is mounted in another mount namespace; "
            "unmount it there first"
        )
    return Step(("xfs_admin", "-L", label or "--", state.device, *_log_words(state, wanted)), summary)


def _uuid_step(state: XfsState, wanted: XfsWanted) -> Step:
    uuid = (wanted.uuid or "").lower()
    if state.mounted:
        where = f"at {', '.join(state.mounted_at)}" if state.mounted_at else "in another mount namespace"
        raise PlanRefused(
            f"the UUID of the XFS on {state.device} was to change from {state.uuid} to {uuid}, but it is mounted {where}; "
            "unmount it first"
        )
    argv = ("xfs_admin", "-U", uuid, state.device, *_log_words(state, wanted))
    return Step(argv, f"set the UUID of the XFS on {state.device} to {uuid}")


def _blocks_due(state: XfsState, wanted: XfsWanted, below: DeviceGeometry) -> int | None:
    """The size in blocks to grow to, None when there is nothing to grow."""
    if not wanted.grow or below.size_bytes is None or not state.block_bytes or not state.agblocks:
        return None
    has = state.data_blocks or 0
    if below.size_bytes // state.block_bytes < has:
        raise PlanRefused(
            f"the XFS on {state.device} was to grow to its device, but it has {format_size(has * state.block_bytes)} and the "
            f"device only {format_size(below.size_bytes)}: the device was made smaller below it, and XFS cannot shrink. "
            "Make the device as large as it was before anything is written"
        )
    blocks = grown_blocks(below.size_bytes, state.block_bytes, state.agblocks, has)
    if blocks <= has:
        return None
    if not state.mounted_at:
        where = "mounted in another mount namespace only" if state.mounted_elsewhere else "not mounted"
        raise PlanRefused(
            f"the XFS on {state.device} was to grow from {format_size(has * state.block_bytes)} to "
            f"{format_size(blocks * state.block_bytes)}, but it is {where}, and XFS grows only while it is mounted; mount it "
            "first"
        )
    return blocks


def _grow_step(state: XfsState, blocks: int) -> Step:
    size = format_size(blocks * (state.block_bytes or 0))
    return Step(
        ("xfs_growfs", "-D", str(blocks), state.mounted_at[0]),
        f"grow the XFS on {state.device} (mounted at {state.mounted_at[0]}) to {size}",
    )
