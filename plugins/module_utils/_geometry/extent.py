# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Extents of a logical volume, counted as LVM counts them: rounding, percent, parity, mirror legs, metadata."""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = [
    "DEFAULT_REGION_BYTES",
    "LV_TYPES",
    "ExtentRequest",
    "FreeSpace",
    "LvLayout",
    "extents_of_bytes",
    "largest_extents",
    "metadata_extents",
    "parse_extents",
    "resolve_extents",
]

SECTOR_BYTES = 512
DEFAULT_REGION_BYTES = 2 * 1024 * 1024
# Superblock of the raid target and header of its bitmap, before one bit per region.
_RAID_SUPERBLOCKS_BYTES = 2 * 4096


@dataclasses.dataclass(frozen=True)
class _Traits:
    striped: bool = False
    mirrored: bool = False
    parity: int = 0
    metadata_volumes: bool = False
    log_extents: int = 0
    least_stripes: int = 1


LV_TYPES: dict[str, _Traits] = {
    "linear": _Traits(),
    "striped": _Traits(striped=True, least_stripes=2),
    "mirror": _Traits(mirrored=True, log_extents=1),
    "raid0": _Traits(striped=True, least_stripes=2),
    "raid1": _Traits(mirrored=True, metadata_volumes=True),
    "raid4": _Traits(striped=True, parity=1, metadata_volumes=True, least_stripes=2),
    "raid5": _Traits(striped=True, parity=1, metadata_volumes=True, least_stripes=2),
    "raid6": _Traits(striped=True, parity=2, metadata_volumes=True, least_stripes=3),
    "raid10": _Traits(striped=True, mirrored=True, metadata_volumes=True, least_stripes=2),
}


@dataclasses.dataclass(frozen=True)
class LvLayout:
    """Shape of an LV in LVM's own counts: C(stripes) carry data, without parity; C(mirrors) are additional copies."""

    type: str = "linear"
    stripes: int = 1
    mirrors: int = 0

    @property
    def traits(self) -> _Traits:
        return LV_TYPES[self.type]

    @property
    def images(self) -> int:
        """Areas written side by side, each on a PV of its own."""
        return self.stripes * (self.mirrors + 1) + self.traits.parity

    def problem(self) -> str | None:
        """What is wrong with the counts, as a sentence without its subject; None when they make an LV."""
        traits = self.traits
        if not traits.striped and self.stripes != 1:
            return f"type {self.type} has no stripes, but stripes is {self.stripes}"
        if traits.striped and self.stripes < traits.least_stripes:
            return f"type {self.type} needs at least {traits.least_stripes} stripes, but stripes is {self.stripes}"
        if not traits.mirrored and self.mirrors:
            return f"type {self.type} has no mirrors, but mirrors is {self.mirrors}"
        if traits.mirrored and self.mirrors < 1:
            return f"type {self.type} needs mirrors of at least 1, but mirrors is {self.mirrors}"
        return None


@dataclasses.dataclass(frozen=True)
class ExtentRequest:
    """An asked size: C(kind) is bytes, extents, or a percentage of C(vg), C(free) or C(pvs)."""

    kind: str
    amount: int

    @property
    def is_percent(self) -> bool:
        return self.kind in ("vg", "free", "pvs")

    def lvm_arguments(self) -> tuple[str, ...]:
        """As lvcreate takes it, for an LV in a VG that is only planned."""
        if self.kind == "bytes":
            return ("-L", f"{self.amount}b")
        return ("-l", f"{self.amount}%{self.kind.upper()}" if self.is_percent else str(self.amount))


@dataclasses.dataclass(frozen=True)
class FreeSpace:
    """What an LV can take: free extents of each PV it may use, extents of those PVs and of the VG, the VG's free."""

    free_per_pv: tuple[int, ...]
    pvs_extents: int
    vg_extents: int
    vg_free: int


def parse_extents(text: t.Any) -> ExtentRequest:
    """The option C(extents): a count, or a percentage such as C(100%FREE). Raises PlanRefused."""
    match = re.fullmatch(r"\s*(\d+)\s*(?:%\s*(VG|FREE|PVS))?\s*", str(text), re.IGNORECASE)
    if not match or int(match.group(1)) == 0:
        raise PlanRefused(
            f"extents was given as {text!r}, which is not a number of extents; write a whole number, or a percentage "
            "of VG, FREE or PVS such as 100%FREE"
        )
    amount, of = int(match.group(1)), match.group(2)
    if of and amount > 100:
        raise PlanRefused(f"extents was given as {text!r}; a percentage goes from 1 to 100")
    return ExtentRequest(of.lower() if of else "extents", amount)


def extents_of_bytes(size_bytes: int, extent_bytes: int) -> int:
    """Extents that hold so many bytes, rounded up as LVM does."""
    return -(-size_bytes // extent_bytes)


def metadata_extents(extents_per_image: int, extent_bytes: int, region_bytes: int = DEFAULT_REGION_BYTES) -> int:
    """Extents of one raid metadata volume (rmeta): two superblocks and a bit per region."""
    regions = extents_per_image * extent_bytes // region_bytes
    needed = _RAID_SUPERBLOCKS_BYTES + -(-regions // 8)
    return -(-(-(-needed // SECTOR_BYTES) * SECTOR_BYTES) // extent_bytes)


def resolve_extents(request: ExtentRequest, layout: LvLayout, extent_bytes: int, space: FreeSpace) -> int:
    """Logical extents of the LV that a request makes, a multiple of its stripes.

    Sizes round up to a stripe boundary. Percentages are of physical extents, which mirror legs, parity and metadata
    share; they round down and never ask for more than is there.
    """
    if request.kind == "bytes":
        return _up(extents_of_bytes(request.amount, extent_bytes), layout.stripes)
    if request.kind == "extents":
        return _up(request.amount, layout.stripes)
    base = {"vg": space.vg_extents, "free": space.vg_free, "pvs": space.pvs_extents}[request.kind]
    physical = -(-request.amount * base // 100)
    per_stripe = physical * layout.stripes // layout.images
    wanted = max(per_stripe // layout.stripes * layout.stripes, layout.stripes)
    return min(wanted, largest_extents(layout, extent_bytes, space.free_per_pv))


def largest_extents(layout: LvLayout, extent_bytes: int, free_per_pv: t.Sequence[int]) -> int:
    """Most logical extents of an LV of this shape on PVs with so much free; 0 where none fits.

    Images go to as many PVs side by side, the emptiest first, until too few PVs have space left: with stripes the
    smaller PVs decide.
    """
    if layout.images == 1:
        return sum(free_per_pv)
    rows = _rows(layout.images, free_per_pv)
    if layout.traits.metadata_volumes and rows:
        rows = next((n for n in range(rows, 0, -1) if n + metadata_extents(n, extent_bytes) <= rows), 0)
    elif layout.traits.log_extents and rows and sum(free_per_pv) - rows * layout.images < layout.traits.log_extents:
        rows -= 1
    return rows * layout.stripes


def _rows(images: int, free_per_pv: t.Sequence[int]) -> int:
    left, rows = sorted(free_per_pv, reverse=True), 0
    while len(left) >= images and left[images - 1] > 0:
        step = left[images - 1]
        rows += step
        left = sorted([free - step for free in left[:images]] + left[images:], reverse=True)
    return rows


def _up(extents: int, multiple: int) -> int:
    return -(-extents // multiple) * multiple
