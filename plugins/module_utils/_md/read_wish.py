# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads all that a plan for one array needs: the array meant, its devices, what they carry, the configuration file."""

from __future__ import annotations

import glob
import os
import shutil
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.config import is_listed
from ansible_collections.plumbline.storage.plugins.module_utils._md.find import (
    arrays_of_superblocks,
    find_array,
    find_others,
    find_pieces,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdConfig,
    MdNamed,
    MdReading,
    MdState,
    MdSuperblock,
    MdWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.read import (
    personality_problem,
    read_arrays,
    read_superblocks,
    scan_devices,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.record import work_begun
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import array_path

__all__ = ["read_config", "read_md", "with_superblocks"]

_CONFIG_FILES = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
_RAMDISKS = ("/boot/initrd.img-*", "/boot/initramfs-*.img")
_SEARCH_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"


class _Devices(t.NamedTuple):
    """The devices of a wish; C(gone) are paths that name nothing."""

    members: tuple[DeviceGeometry, ...]
    spares: tuple[DeviceGeometry, ...]
    journal: DeviceGeometry | None
    gone: tuple[str, ...]

    def paths(self) -> list[str]:
        named = (*self.members, *self.spares, *([self.journal] if self.journal else []))
        return [device.path for device in named if not device.assumed]


def read_md(
    runner: Runner, wanted: MdWanted, check_mode: bool = False, missing_ok: bool = False, tree: BlockTree | None = None
) -> MdReading:
    """Everything a plan for one array needs. Queries only.

    C(missing_ok) passes over devices that do not exist (for a removal). Raises PlanRefused for a missing disk.
    """
    tree = read_tree() if tree is None else tree
    arrays = [with_superblocks(runner, array) for array in read_arrays(runner, tree)]
    devices = _read_devices(runner, wanted, check_mode, tree)
    if devices.gone and not missing_ok:
        _refuse_gone(devices, find_array(arrays, wanted, devices.paths()))
    paths = devices.paths()
    array = find_array(arrays, wanted, paths)
    superblocks = _read_loose_superblocks(runner, wanted, arrays, array, paths)
    if array is None or not array.active:
        taken = {path for one in arrays for path in one.member_paths()}
        arrays += arrays_of_superblocks(block for block in superblocks if block.path not in taken)
        array = _joined(find_array(arrays, wanted, paths), arrays)
    elif superblocks:
        array = array._replace(event_count=_events(superblocks, array))
    config = read_config() if wanted.config is not None or wanted.update_initramfs else None
    return MdReading(
        array=_with_config(array, wanted, config),
        members=devices.members,
        spares=devices.spares,
        others=find_others(arrays, array, paths),
        pieces=find_pieces(arrays, array),
        superblocks=superblocks,
        personality_problem=_level_problem(runner, wanted, array),
        named=MdNamed(devices.journal, _write_mostly(wanted, tree), superblocks),
        config=config,
        begun=work_begun(array.uuid) if array is not None else None,
    )


def _read_devices(runner: Runner, wanted: MdWanted, check_mode: bool, tree: BlockTree) -> _Devices:
    gone: list[str] = []

    def geometry(path: str) -> DeviceGeometry | None:
        if tree.node_of(path) is None:
            try:
                return read_device_geometry(path, check_mode, runner, tree)
            except PlanRefused:
                gone.append(path)
                return None
        return read_device_geometry(path, check_mode, runner, tree)

    members, spares = (
        tuple(device for device in map(geometry, paths) if device is not None)
        for paths in (wanted.members, wanted.spares or ())
    )
    journal = geometry(wanted.journal) if wanted.journal else None
    return _Devices(members, spares, journal, tuple(gone))


def _refuse_gone(devices: _Devices, array: MdState | None) -> t.NoReturn:
    """A missing disk always fails; where it was a member, the sentence says how the array is."""
    named = f"{', '.join(devices.gone)} was named, but there is no such block device on this host"
    if array is None or not array.active or not array.missing_slots:
        raise PlanRefused(f"{named}. Nothing was changed")
    raise PlanRefused(
        f"{named}. The array {array.label} runs degraded on {', '.join(array.present_paths())}: {len(array.missing_slots)} of its "
        f"{array.raid_devices} members is missing. Nothing was changed; list a blank device in its place to have it rebuilt"
    )


def _read_loose_superblocks(
    runner: Runner, wanted: MdWanted, arrays: t.Sequence[MdState], array: MdState | None, paths: t.Sequence[str]
) -> tuple[MdSuperblock, ...]:
    """What the devices carry that no running array holds; beside a member, which tells how far the array is."""
    if array is not None and array.active:
        loose = [path for path in paths if array.member(path) is None]
        witness = [member.path for member in array.members if member.role == "active"][:1]
        return read_superblocks(runner, [*loose, *witness]) if loose else ()
    taken = {path for one in arrays if one.active for path in one.member_paths()}
    held = [path for one in arrays if one is array for path in one.present_paths()]
    loose = [path for path in (*paths, *held) if path not in taken]
    if not paths:
        loose += [path for path in scan_devices(runner, wanted.uuid, wanted.name) if path not in taken]
    return read_superblocks(runner, list(dict.fromkeys(loose)))


def _events(superblocks: t.Sequence[MdSuperblock], array: MdState) -> int:
    members = set(array.member_paths())
    return max((block.event_count for block in superblocks if block.path in members), default=0)


def with_superblocks(runner: Runner, array: MdState) -> MdState:
    """An inactive array has no level in sysfs: what it is stands on its members."""
    if array.active or not array.members:
        return array
    found = arrays_of_superblocks(read_superblocks(runner, array.present_paths()), array.kernel_name)
    return found[0]._replace(path=array.path) if len(found) == 1 else array


def _joined(array: MdState | None, arrays: t.Sequence[MdState]) -> MdState | None:
    """One view of an array that is not running: the members held by an inactive assembly and the free ones together."""
    if array is None or array.active:
        return array
    parts = [one for one in arrays if one.uuid == array.uuid]
    members = {member.path: member for one in parts for member in one.members}
    slots = {member.slot for member in members.values() if member.slot is not None}
    kernel_name = next((one.kernel_name for one in parts if one.kernel_name), "")
    return array._replace(
        kernel_name=kernel_name,
        members=tuple(sorted(members.values(), key=lambda each: (each.slot is None, each.slot or 0, each.path))),
        degraded=max(0, array.raid_devices - len(slots)),
        event_count=max(one.event_count for one in parts),
    )


def _write_mostly(wanted: MdWanted, tree: BlockTree) -> tuple[str, ...] | None:
    if wanted.write_mostly is None:
        return None
    nodes = [(path, tree.node_of(path)) for path in wanted.write_mostly]
    return tuple(node.path if node is not None else path for path, node in nodes)


def _level_problem(runner: Runner, wanted: MdWanted, array: MdState | None) -> str | None:
    """Asked before a level is used for the first time: at creation, and before a change of level."""
    if not wanted.level or (array is not None and array.level == wanted.level):
        return None
    return personality_problem(runner, wanted.level)


def _with_config(array: MdState | None, wanted: MdWanted, config: MdConfig | None) -> MdState | None:
    if array is None or config is None:
        return array
    listed = is_listed(config.text, array.uuid, array_path(wanted.name) if wanted.config else None)
    return array._replace(config=listed, initramfs_stale=config.initramfs_stale)


def read_config() -> MdConfig:
    """mdadm's configuration file where this distribution has it, and what makes the initial ramdisk."""
    there = [path for path in _CONFIG_FILES if os.path.exists(path)]
    place = (
        there[0]
        if there
        else next((p for p in _CONFIG_FILES[:1] if os.path.isdir(os.path.dirname(p))), _CONFIG_FILES[1])
    )
    path = os.path.realpath(place)
    argv: tuple[str, ...] | None = None
    if shutil.which("update-initramfs", path=_SEARCH_PATH):
        argv = ("update-initramfs", "-u", "-k", "all")
    elif shutil.which("dracut", path=_SEARCH_PATH):
        argv = ("dracut", "--force", "--regenerate-all")
    return MdConfig(path, _content(path), argv, _is_newer(path))


def _content(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _is_newer(path: str) -> bool:
    """Whether the file was changed after the initial ramdisk of some kernel was made."""
    try:
        return any(os.stat(path).st_mtime > os.stat(name).st_mtime for name in _ramdisks())
    except OSError:
        return False


def _ramdisks() -> list[str]:
    """Those of kernels that are installed: copies and what removed kernels left are made anew by nobody."""
    found = []
    for pattern in _RAMDISKS:
        start, end = pattern.split("*")
        for name in glob.glob(pattern):
            if os.path.isdir(f"/lib/modules/{name[len(start) : len(name) - len(end)]}"):
                found.append(name)
    return found
