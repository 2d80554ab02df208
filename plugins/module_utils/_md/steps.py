# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The mdadm commands as steps, and the state that a create leaves. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES, format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.readahead import md_readahead_bytes
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import (
    DEFAULT_CHUNK_BYTES,
    has_chunk,
    is_redundant,
    level_name,
    normalise_layout,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    NO_NAMED,
    MdMember,
    MdNamed,
    MdState,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.size import (
    array_size_bytes,
    available_bytes,
    component_size_bytes,
    concatenated_bytes,
    default_data_offset_bytes,
)

__all__ = [
    "array_path",
    "assemble_step",
    "bitmap_step",
    "create_steps",
    "policy_step",
    "predict_created",
    "readahead_step",
    "stop_step",
    "wipe_content_step",
    "zero_step",
]

_DEFAULT_METADATA = "1.2"
_DEFAULT_HOMEHOST = "any"
_DEFAULT_LAYOUTS = {"raid5": "left-symmetric", "raid6": "left-symmetric", "raid10": "n2"}


def array_path(name: str) -> str:
    """Where udev puts an array of this name."""
    return f"/dev/md/{name}"


def predict_created(
    wanted: MdWanted,
    members: t.Sequence[DeviceGeometry],
    spares: t.Sequence[DeviceGeometry],
    named: MdNamed = NO_NAMED,
) -> MdState:
    """The array that a create makes, documented defaults filled in; sizes None where a member's size is unknown.

    Raises PlanRefused when the members are too small.
    """
    level = level_name(wanted.level or "")
    chunk = (wanted.chunk_bytes or DEFAULT_CHUNK_BYTES) if has_chunk(level) else None
    layout = normalise_layout(level, wanted.layout) or _DEFAULT_LAYOUTS.get(level)
    metadata = wanted.metadata or _DEFAULT_METADATA
    old = metadata == "0.90"
    members = _write_mostly_last(members, named)
    shape = MdState(
        path=array_path(wanted.name),
        uuid=wanted.uuid,
        name=None if old else wanted.name,
        homehost=None if old else wanted.homehost or _DEFAULT_HOMEHOST,
        level=level,
        raid_devices=len(members),
        chunk_bytes=chunk,
        layout=layout,
        metadata=metadata,
        bitmap=_created_bitmap(wanted, level),
        members=_created_members(members, spares, named),
        sync_action="idle" if is_redundant(level) else None,
        readahead_bytes=wanted.readahead_bytes or md_readahead_bytes(level, len(members), chunk, layout),
        consistency_policy=_created_policy(wanted, level),
    )
    return _with_sizes(shape, wanted, members, spares)


def _write_mostly_last(members: t.Sequence[DeviceGeometry], named: MdNamed) -> list[DeviceGeometry]:
    """mdadm marks every device behind the option; the places of a raid1 are all alike."""
    mostly = named.write_mostly or ()
    return sorted(members, key=lambda device: device.path in mostly)


def _created_members(
    members: t.Sequence[DeviceGeometry], spares: t.Sequence[DeviceGeometry], named: MdNamed
) -> tuple[MdMember, ...]:
    found = []
    for slot, device in enumerate(members):
        mostly = ",write_mostly" if device.path in (named.write_mostly or ()) else ""
        found.append(MdMember(device.path, slot=slot, state=f"in_sync{mostly}", size_bytes=device.size_bytes))
    found += [MdMember(device.path, state="spare", size_bytes=device.size_bytes) for device in spares]
    if named.journal is not None:
        found.append(MdMember(named.journal.path, state="journal", size_bytes=named.journal.size_bytes))
    return tuple(found)


def _created_policy(wanted: MdWanted, level: str) -> str | None:
    """What the kernel will call it."""
    if not is_redundant(level):
        return None
    if wanted.journal:
        return "journal"
    default = "bitmap" if _created_bitmap(wanted, level) == "internal" else "resync"
    return wanted.consistency_policy or default


def _created_bitmap(wanted: MdWanted, level: str) -> str:
    if not is_redundant(level) or wanted.journal:
        return "none"
    return wanted.bitmap or ("internal" if wanted.consistency_policy is None else "none")


def _with_sizes(
    shape: MdState, wanted: MdWanted, members: t.Sequence[DeviceGeometry], spares: t.Sequence[DeviceGeometry]
) -> MdState:
    """The array with data offset, what each member contributes, and its size; None where a member's size is unknown."""
    level, chunk, metadata, devices = shape.level, shape.chunk_bytes, shape.metadata, [*members, *spares]
    sizes = [device.size_bytes for device in devices if device.size_bytes is not None]
    ppl = wanted.consistency_policy == "ppl"
    offset = wanted.data_offset_bytes
    if len(sizes) < len(devices):
        return shape._replace(data_offset_bytes=offset, component_size_bytes=wanted.size_bytes)
    if offset is None:
        offset = default_data_offset_bytes(sizes[0], chunk, metadata, ppl)
    room = [available_bytes(size, metadata, offset, ppl) for size in sizes]
    smallest = component_size_bytes(level, room, chunk)
    _check_room(wanted, level, min(sizes), smallest, chunk or 4096)
    if level in ("raid0", "linear"):
        total = concatenated_bytes(room[: len(members)], chunk)
        return shape._replace(data_offset_bytes=offset, array_size_bytes=total)
    component = wanted.size_bytes or smallest
    return shape._replace(
        data_offset_bytes=offset,
        component_size_bytes=component,
        array_size_bytes=array_size_bytes(level, len(members), shape.layout, component, chunk),
    )


def _check_room(wanted: MdWanted, level: str, member_bytes: int, smallest: int, least: int) -> None:
    if smallest < least:
        raise PlanRefused(
            f"the smallest member of {wanted.name} has {format_size(member_bytes)}; behind the superblock "
            f"{format_size(max(0, smallest))} are left, and {level} needs at least {format_size(least)} there"
        )
    if wanted.size_bytes is not None and wanted.size_bytes > smallest:
        raise PlanRefused(
            f"size was given as {format_size(wanted.size_bytes)}, but the smallest member can give at most "
            f"{format_size(smallest)} behind its superblock"
        )


def create_steps(wanted: MdWanted, after: MdState) -> list[Step]:
    """Wipe the members, create, and wipe what an earlier array of the same shape left inside.

    Without the wipes an old file system of the members or of an earlier array would come back to life.
    """
    paths = after.member_paths()
    listed = ", ".join(paths)
    argv = ("mdadm", "--create", after.path, "--run", *_create_options(wanted, after), *_create_devices(after))
    return [
        Step(("wipefs", "--all", *paths), f"wipe signatures from {listed}", writes=paths, retries=2),
        Step(argv, f"create the {after.level} array {wanted.name} on {listed}", writes=paths),
        Step(
            ("wipefs", "--all", after.path),
            f"wipe what an earlier array left inside {wanted.name}",
            retries=2,
            awaits=(after.path,),
        ),
    ]


def _create_devices(after: MdState) -> list[str]:
    words: list[str] = []
    for member in after.members:
        if member.write_mostly and "--write-mostly" not in words:
            words.append("--write-mostly")
        if member.role == "spare" and "--write-mostly" in words and "--readwrite" not in words:
            words.append("--readwrite")
        if member.role != "journal":
            words.append(member.path)
    return words


def _create_options(wanted: MdWanted, after: MdState) -> list[str]:
    spares = sum(member.role == "spare" for member in after.members)
    options = [f"--metadata={after.metadata}", f"--level={after.level}", f"--raid-devices={after.raid_devices}"]
    if after.metadata != "0.90":
        options[:0] = [f"--homehost={after.homehost}", f"--name={wanted.name}"]
    if spares:
        options.append(f"--spare-devices={spares}")
    if after.chunk_bytes:
        options.append(f"--chunk={after.chunk_bytes // 1024}K")
    if wanted.layout and after.layout:
        options.append(f"--layout={after.layout}")
    # mdadm before 4.4 refuses the option for levels that cannot have a bitmap; later ones ask a question without it.
    # Beside a journal 4.2 refuses it too.
    if is_redundant(after.level) and not after.journal_path:
        options.append(f"--bitmap={after.bitmap}")
    if wanted.consistency_policy or wanted.journal:
        options.append(f"--consistency-policy={wanted.consistency_policy or 'journal'}")
    if after.journal_path:
        options.append(f"--write-journal={after.journal_path}")
    if wanted.assume_clean and is_redundant(after.level):
        options.append("--assume-clean")
    if wanted.size_bytes is not None:
        options.append(f"--size={wanted.size_bytes // 1024}K")
    if wanted.data_offset_bytes is not None:
        options.append(f"--data-offset={wanted.data_offset_bytes // 1024}K")
    if wanted.uuid is not None:
        options.append(f"--uuid={wanted.uuid}")
    return options


def assemble_step(name: str, state: MdState, paths: t.Sequence[str], degraded: bool = False) -> Step:
    """Start an array that is only superblocks; nothing is overwritten. C(degraded): also without its missing members."""
    run = ("--run",) if degraded else ()
    argv = ("mdadm", "--assemble", array_path(name), *run, f"--uuid={state.uuid}", *paths)
    without = f" without {state.degraded} of its members" if degraded else ""
    return Step(argv, f"assemble the array {name} from {', '.join(paths)}{without}", retries=1)


def stop_step(state: MdState, keep: bool = False) -> Step:
    """Stop an assembled array; with C(keep) its content stays, so that only its use matters.

    Then it is named by its device: a part of an array that is assembled on its own has the UUID of the whole.
    """
    names = [f"md:{state.uuid}"] if state.uuid else []
    if not state.active or not state.uuid:
        # The kernel does not tell the UUID of an array that is not running, so the device is named too.
        names.append(f"md:{state.kernel_path}")
    return Step(
        ("mdadm", "--stop", state.kernel_path),
        f"stop the array {state.label}",
        removes=() if keep else tuple(names),
        stops=(f"md:{state.kernel_path}",) if keep else (),
        retries=3,
        locks=state.present_paths(),
    )


def zero_step(name: str, paths: t.Sequence[str]) -> Step:
    """Wipe the superblocks of the members at every place where a version of the format keeps them."""
    return Step(
        ("mdadm", "--zero-superblock", *paths),
        f"wipe the md superblocks of {name} from {', '.join(paths)}",
        writes=tuple(paths),
        retries=3,
        locks=tuple(paths),
    )


def wipe_content_step(state: MdState) -> Step:
    """Wipe signatures inside a running array, so that nothing comes back when the same array is made again."""
    return Step(
        ("wipefs", "--all", state.kernel_path),
        f"wipe signatures inside the array {state.label}",
        writes=(state.kernel_path,),
        retries=2,
    )


def readahead_step(path: str, readahead_bytes: int) -> Step:
    """Set the readahead; blockdev takes 512-byte sectors."""
    return Step(
        ("blockdev", "--setra", str(readahead_bytes // SECTOR_BYTES), path),
        f"set the readahead of {path} to {format_size(readahead_bytes)}",
        awaits=(path,),
    )


def policy_step(state: MdState, policy: str) -> Step:
    """Change how a raid5 becomes consistent after a crash, in place."""
    return Step(
        ("mdadm", "--grow", f"--consistency-policy={policy}", state.kernel_path),
        f"set the consistency policy of the array {state.label} to {policy}",
        retries=1,
    )


def bitmap_step(state: MdState, bitmap: str) -> Step:
    """Add or remove the write-intent bitmap in place."""
    return Step(
        ("mdadm", "--grow", f"--bitmap={bitmap}", state.kernel_path),
        f"set the bitmap of the array {state.label} to {bitmap}",
        retries=2,
    )
