# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""LVM as it is read, and as it is wanted. In a wish None means: not managed."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import ExtentRequest

__all__ = [
    "AUTO",
    "DEFAULT_EXTENT_BYTES",
    "UNKNOWN_DEVICE",
    "LvSegment",
    "LvState",
    "LvWanted",
    "LvmState",
    "PvRun",
    "PvState",
    "PvWanted",
    "SegmentArea",
    "VgState",
    "VgWanted",
]

AUTO = "auto"
DEFAULT_EXTENT_BYTES = 4 * 1024 * 1024
# What stands in place of a PV that is missing.
UNKNOWN_DEVICE = "[unknown]"


class PvState(t.NamedTuple):
    """A physical volume. C(path) is the kernel's name of the device, C(names) what LVM calls it.

    C(free_ranges) are (first extent, extents) that no LV uses. C(size_bytes) and counts are None where only planned on
    a device of unknown size.
    """

    path: str
    uuid: str | None
    pe_start_bytes: int
    mda_size_bytes: int
    size_bytes: int | None = None
    device_size_bytes: int | None = None
    mda_count: int = 1
    ba_start_bytes: int = 0
    ba_size_bytes: int = 0
    vg_name: str | None = None
    missing: bool = False
    allocatable: bool = True
    extent_count: int | None = None
    allocated_extents: int = 0
    free_ranges: tuple[tuple[int, int], ...] = ()
    tags: tuple[str, ...] = ()
    lvm_name: str = ""
    assumed: bool = False
    label_sector: int | None = None


class VgState(t.NamedTuple):
    """A volume group. C(pv_paths) are kernel names; C(assumed): it exists only in the plan of another task."""

    name: str
    uuid: str | None
    extent_bytes: int
    extent_count: int | None
    free_extents: int | None
    pv_paths: tuple[str, ...] = ()
    lv_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    missing_pv_count: int = 0
    exported: bool = False
    shared: bool = False
    system_id: str | None = None
    foreign: bool = False
    assumed: bool = False

    def unusable(self) -> str | None:
        """Why nothing of it may be changed from this host; None when it may."""
        if self.exported:
            return "is exported (vgimport brings it back)"
        if self.shared:
            return "is shared with other hosts by a lock manager"
        if self.foreign:
            return f"belongs to the host with the system ID {self.system_id!r}"
        return None


class SegmentArea(t.NamedTuple):
    """Where one stripe or image of a segment lies: on a PV, or on a hidden LV of a raid or mirror."""

    start_extent: int
    pv_path: str | None = None
    lv_name: str | None = None


class LvSegment(t.NamedTuple):
    """A run of logical extents with one mapping. C(stripes) counts areas, C(data_stripes) those that carry data."""

    type: str
    start_extent: int
    extents: int
    stripes: int = 1
    data_stripes: int = 1
    stripe_bytes: int = 0
    region_bytes: int = 0
    data_copies: int = 1
    areas: tuple[SegmentArea, ...] = ()


class PvRun(t.NamedTuple):
    """Extents of one PV that belong to an LV; C(part) is the hidden LV through which, as C(data_rimage_0), or None."""

    pv_path: str
    start_extent: int
    extents: int
    part: str | None = None


class LvState(t.NamedTuple):
    """A logical volume. C(readahead) is C(auto) or bytes; C(hidden) LVs are parts of others.

    C(runs) is all that it takes of the PVs, also through hidden LVs; C(roles) are LVM's own words. C(synced) is False for a
    redundant LV that was made without an initial synchronisation.
    """

    vg: str
    name: str
    uuid: str | None
    type: str
    size_bytes: int | None
    extents: int | None
    segments: tuple[LvSegment, ...] = ()
    active: bool = True
    readahead: str | int = AUTO
    kernel_readahead_bytes: int | None = None
    health: str = ""
    sync_action: str = ""
    sync_percent: float | None = None
    tags: tuple[str, ...] = ()
    hidden: bool = False
    opened: bool = False
    suspended: bool = False
    assumed: bool = False
    runs: tuple[PvRun, ...] = ()
    roles: tuple[str, ...] = ()
    read_only: bool = False
    alloc: str = "inherit"
    mirrorlog: str | None = None
    synced: bool = True

    @property
    def path(self) -> str:
        return f"/dev/{self.vg}/{self.name}"

    @property
    def stripes(self) -> int:
        """Data stripes of the first segment, as C(lvcreate -i) counts them."""
        return self.segments[0].data_stripes if self.segments else 1

    @property
    def stripe_bytes(self) -> int:
        return self.segments[0].stripe_bytes if self.segments else 0

    @property
    def region_bytes(self) -> int:
        return self.segments[0].region_bytes if self.segments else 0

    @property
    def mirrors(self) -> int:
        """Copies besides the first, as C(lvcreate -m) counts them."""
        first = self.segments[0] if self.segments else None
        if first is None or not first.type.startswith(("raid1", "mirror")):
            return 0
        return first.stripes // max(first.data_stripes, 1) - 1


class LvmState(t.NamedTuple):
    """All of LVM on a host. Look-ups are by device (kernel name) and by name; a name that is there twice is refused."""

    pvs: tuple[PvState, ...] = ()
    vgs: tuple[VgState, ...] = ()
    lvs: tuple[LvState, ...] = ()

    def pv(self, path: str) -> PvState | None:
        return next((pv for pv in self.pvs if pv.path == path), None)

    def vg(self, name: str) -> VgState | None:
        found = [vg for vg in self.vgs if vg.name == name]
        if len(found) > 1:
            uuids = ", ".join(str(vg.uuid) for vg in found)
            raise PlanRefused(
                f"this host sees {len(found)} volume groups with the name {name} (UUIDs {uuids}), so it is not certain "
                "which one is meant; give one another name with vgrename and its UUID, then run again"
            )
        return found[0] if found else None

    def lv(self, vg: str, name: str) -> LvState | None:
        return next((lv for lv in self.lvs if lv.vg == vg and lv.name == name), None)

    def pvs_of(self, vg: str) -> tuple[PvState, ...]:
        return tuple(pv for pv in self.pvs if pv.vg_name == vg)

    def lvs_of(self, vg: str) -> tuple[LvState, ...]:
        return tuple(lv for lv in self.lvs if lv.vg == vg)


class PvWanted(t.NamedTuple):
    """A PV to be there. C(alignment) is bytes or C(auto); C(metadata_bytes) and C(bootloader_bytes) are floors.

    C(resize): it grows with its device. C(move_data): on removal its extents go to other PVs of its group.
    """

    path: str
    metadata_bytes: int | None = None
    alignment: int | str | None = None
    alignment_offset_bytes: int | None = None
    uuid: str | None = None
    metadata_copies: int | None = None
    bootloader_bytes: int | None = None
    label_sector: int | None = None
    allocatable: bool | None = None
    tags: tuple[str, ...] | None = None
    resize: bool = False
    move_data: bool = False


class VgWanted(t.NamedTuple):
    """A VG to be there; PVs beyond C(pv_paths) are left in it. C(tags) is the whole set.

    C(remove_extra): PVs beyond C(pv_paths) leave it, C(move_data) after their extents went to others. C(remove_missing): PVs
    that are gone are forgotten where no LV needs them.
    """

    name: str
    pv_paths: tuple[str, ...] = ()
    extent_bytes: int | None = None
    tags: tuple[str, ...] | None = None
    remove_extra: bool = False
    move_data: bool = False
    remove_missing: bool = False


class LvWanted(t.NamedTuple):
    """An LV to be there. C(pv_paths) is where it may lie; C(readahead) is C(auto), or bytes.

    C(resizefs): the file system follows the size. C(shrink), C(repair) and C(leave_paths) (PVs that it must no longer use) allow
    what is never done without having been asked for.
    """

    vg: str
    name: str
    type: str | None = None
    size: ExtentRequest | None = None
    stripes: int | None = None
    stripe_bytes: int | None = None
    mirrors: int | None = None
    region_bytes: int | None = None
    readahead: str | int | None = None
    pv_paths: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    active: bool | None = None
    mirrorlog: str | None = None
    alloc: str | None = None
    read_only: bool | None = None
    nosync: bool = False
    resizefs: bool = False
    shrink: bool = False
    repair: bool = False
    leave_paths: tuple[str, ...] = ()
