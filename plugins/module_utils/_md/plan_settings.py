# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What can change in place at once, without moving data: bitmap, consistency policy, marks, readahead, configuration. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.readahead import md_readahead_bytes
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import md_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._md.config import (
    check_path_free,
    config_steps,
    initramfs_step,
    is_listed,
    text_with,
    text_without,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.draft import Draft
from ansible_collections.plumbline.storage.plugins.module_utils._md.member_steps import write_mostly_step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdConfig,
    MdMember,
    MdNamed,
    MdState,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import (
    array_path,
    bitmap_step,
    policy_step,
    readahead_step,
)

__all__ = ["change_settings", "configure", "degraded_notes", "stale_notes", "unconfigure"]


def change_settings(draft: Draft, wanted: MdWanted, named: MdNamed) -> Draft:
    """Policy, bitmap, marks and readahead; while the array is being reshaped, only what does not disturb that."""
    draft = _change_journal(draft, named)
    draft = _change_policy(draft, wanted)
    draft = _change_marks(draft, named)
    if wanted.readahead_bytes is not None and draft.after.readahead_bytes != wanted.readahead_bytes:
        rounded = wanted.readahead_bytes // SECTOR_BYTES * SECTOR_BYTES
        draft = draft.then(readahead_step(draft.path, wanted.readahead_bytes), readahead_bytes=rounded)
    return draft


def _change_journal(draft: Draft, named: MdNamed) -> Draft:
    state = draft.after
    if named.journal is not None and named.journal.path != state.journal_path:
        raise PlanRefused(
            f"journal is {state.journal_path or 'none'} for the array {state.label}, asked is {named.journal.path}; a "
            "journal is chosen when an array is made and cannot be changed here. Nothing was changed"
        )
    return draft


def _change_policy(draft: Draft, wanted: MdWanted) -> Draft:
    """Bitmap and policy are one choice of three: each is left before the other is entered."""
    state, target = draft.after, _target(draft.after, wanted)
    present = state.consistency_policy
    if target is None or target == present or state.bitmap is None:
        return draft
    if state.reshaping or draft.reshapes:
        return draft.waiting(
            f"the array {state.label} is being reshaped; its consistency policy is changed to {target} later"
        )
    _check_policy_change(state, target)
    here = _at(draft)
    if present == "ppl":
        draft = draft.then(policy_step(here, "resync"), consistency_policy="resync")
    if state.bitmap == "internal" and target != "bitmap":
        draft = draft.then(bitmap_step(here, "none"), bitmap="none", consistency_policy="resync")
    if target == "bitmap":
        return draft.then(bitmap_step(here, "internal"), bitmap="internal", consistency_policy="bitmap")
    if target == "ppl":
        return draft.then(policy_step(here, "ppl"), consistency_policy="ppl")
    return draft


def _target(state: MdState, wanted: MdWanted) -> str | None:
    """The kernel's word for the policy that is asked for; None where nothing is."""
    if wanted.consistency_policy is not None:
        return wanted.consistency_policy
    if wanted.bitmap == "internal":
        return "bitmap"
    return "resync" if wanted.bitmap == "none" and state.bitmap == "internal" else None


def _check_policy_change(state: MdState, target: str) -> None:
    opening = f"consistency_policy is {state.consistency_policy} for the array {state.label}, asked is {target}"
    if "journal" in (state.consistency_policy, target):
        raise PlanRefused(
            f"{opening}; a journal is chosen when an array is made and cannot be changed here. Nothing was changed"
        )
    if target != "ppl":
        return
    if state.level != "raid5" or state.metadata == "0.90":
        raise PlanRefused(f"{opening}; only raid5 with metadata 1.0 or newer has it. Nothing was changed")
    offsets = [member.data_offset_bytes for member in state.members if member.data_offset_bytes is not None]
    if state.metadata in ("1.1", "1.2") and offsets and not _has_ppl_room(state, min(offsets)):
        raise PlanRefused(
            f"{opening}, but the {format_size(min(offsets))} before its data do not hold one: it needs 1MiB for each member "
            "there, which only an array made with ppl is sure to have. Nothing was changed"
        )


def _has_ppl_room(state: MdState, offset: int) -> bool:
    """mdadm looks for 1 MiB behind the superblock that the data has not begun to use."""
    return offset >= 4 * 1024 * 1024 or (state.metadata == "1.1" and offset > 3 * 1024 * 1024)


def _at(draft: Draft) -> MdState:
    """The state under the path that commands use: an array assembled by this plan has no kernel name yet."""
    return draft.after._replace(kernel_name=draft.path[len("/dev/") :])


def _change_marks(draft: Draft, named: MdNamed) -> Draft:
    if named.write_mostly is None:
        return draft
    state = draft.after
    if state.level != "raid1":
        raise PlanRefused(
            f"write_mostly was given, but the array {state.label} is {state.level}, and only raid1 has it"
        )
    strangers = [path for path in named.write_mostly if state.member(path) is None]
    if strangers:
        raise PlanRefused(f"write_mostly names {', '.join(strangers)}, which is no member of the array {state.label}")
    for member in state.members:
        asked = member.path in named.write_mostly
        if asked == member.write_mostly or not member.works:
            continue
        if not state.kernel_name:
            return draft._replace(more=True)  # the marks are set through the kernel's name of the array
        words = [word for word in member.state.split(",") if word != "write_mostly"] + (
            ["write_mostly"] if asked else []
        )
        marked = MdMember(member.path, member.devno, member.slot, ",".join(words), member.size_bytes)
        draft = draft.then(write_mostly_step(state, member.path, asked)).with_member(marked)
    return draft


def configure(draft: Draft, wanted: MdWanted, config: MdConfig | None) -> Draft:
    """The ARRAY line, then the initial ramdisk that must know it."""
    state = draft.after
    if config is None or not state.uuid:
        return draft
    text, path = config.text, array_path(wanted.name)
    if wanted.config is True:
        check_path_free(config, state.uuid, path)
        new = text_with(text, state.uuid, path, state.metadata)
    elif wanted.config is False and is_listed(text, state.uuid):
        new = text_without(text, state.uuid)
    else:
        new = text or ""
    if new != (text or ""):
        draft = draft.then(*config_steps(config, new, f"the array {state.label}"), config=bool(wanted.config))
    return _with_initramfs(draft, wanted, config, new != (text or ""))


def _with_initramfs(draft: Draft, wanted: MdWanted, config: MdConfig, changed: bool) -> Draft:
    if not wanted.update_initramfs or not (changed or config.initramfs_stale):
        return draft
    return draft.then(initramfs_step(config), initramfs_stale=False)


def unconfigure(draft: Draft, wanted: MdWanted, config: MdConfig | None) -> tuple[Draft, Draft]:
    """For a removal: the draft without the line, which comes first, and an empty one with the ramdisk, which comes last.

    When a run is cut between the two, the file is newer than the ramdisk, and the next run sees that.
    """
    last = Draft(draft.after, draft.path)
    if config is None or wanted.config is None:
        return draft, last
    listed = draft.after.uuid is not None and is_listed(config.text, draft.after.uuid)
    if listed:
        new = text_without(config.text, str(draft.after.uuid))
        draft = draft.then(*config_steps(config, new, f"without the array {draft.after.label}"), config=False)
    return draft, _with_initramfs(last, wanted, config, listed)


def degraded_notes(state: MdState) -> tuple[str, ...]:
    """What a person must know of an array that lacks a member."""
    faulty = [member.path for member in state.members if member.role == "faulty"]
    notes = []
    if state.missing_slots:
        rebuilding = [member.path for member in state.members if member.role == "spare"]
        hope = (
            f"; {', '.join(rebuilding)} steps in" if rebuilding else "; list a blank device in its place to rebuild it"
        )
        notes.append(
            f"the array {state.label} is degraded: {len(state.missing_slots)} of its {state.raid_devices} members "
            f"{'is' if len(state.missing_slots) == 1 else 'are'} missing{hope}"
        )
    if faulty:
        notes.append(f"the kernel marked {', '.join(faulty)} of the array {state.label} as faulty")
    return tuple(notes)


def stale_notes(state: MdState, members: t.Sequence[DeviceGeometry]) -> tuple[str, ...]:
    """Some kernels keep the stripe of before a reshape as io_opt, and the readahead that was made of it."""
    stripe = md_stripe(state.level, state.raid_devices, state.chunk_bytes, state.layout) if state.level else None
    if stripe is None or state.busy or not members or any(device.stripe for device in members):
        return ()
    shown = state.optimal_io_bytes
    if not shown or shown == stripe.full_bytes or any(member.optimal_io_bytes for member in state.members):
        return ()
    right = md_readahead_bytes(state.level, state.raid_devices, state.chunk_bytes, state.layout)
    return (
        f"the kernel still shows the stripe of before a reshape for {state.path}: io_opt is {format_size(shown)} where "
        f"{format_size(stripe.full_bytes)} is right, so that tools that ask it (mkfs.xfs) align to the wrong size; it is "
        f"right again after the array was stopped and assembled. Its readahead is {format_size(state.readahead_bytes)}; two "
        f"full stripes are {format_size(right)}, set readahead to have it so",
    )
