# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Extents of a logical volume, counted as LVM counts them: rounding, percent, parity, mirror legs, metadata."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = [
    "DEFAULT_REGION_BYTES",
    "LV_TYPES",
    "LV_TYPE_NAMES",
    "ExtentRequest",
    "FreeSpace",
    "LvLayout",
    "canonical_type",
    "certain_extents",
    "extents_of_bytes",
    "largest_extents",
    "lv_family",
    "metadata_extents",
    "more_extents",
    "parse_extents",
    "resolve_extents",
]

SECTOR_BYTES = 512
DEFAULT_REGION_BYTES = 2 * 1024 * 1024
# Superblock of the raid target and header of its bitmap, before one bit per region.
_RAID_SUPERBLOCKS_BYTES = 2 * 4096


class _Traits(t.NamedTuple):
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
    "raid0_meta": _Traits(striped=True, metadata_volumes=True, least_stripes=2),
    "raid1": _Traits(mirrored=True, metadata_volumes=True),
    "raid4": _Traits(striped=True, parity=1, metadata_volumes=True, least_stripes=2),
    "raid5": _Traits(striped=True, parity=1, metadata_volumes=True, least_stripes=2),
    "raid6": _Traits(striped=True, parity=2, metadata_volumes=True, least_stripes=3),
    "raid10": _Traits(striped=True, mirrored=True, metadata_volumes=True, least_stripes=2),
}

# What the variants of parity and of copies are called: where parity lies, and in which order the data go on.
_VARIANTS = {
    "raid5": ("raid5_ls", "raid5_la", "raid5_rs", "raid5_ra", "raid5_n"),
    "raid6": ("raid6_zr", "raid6_nr", "raid6_nc", "raid6_ls_6", "raid6_rs_6", "raid6_la_6", "raid6_ra_6", "raid6_n_6"),
    "raid10": ("raid10_near",),
}
LV_TYPE_NAMES = tuple(name for family in LV_TYPES for name in (family, *_VARIANTS.get(family, ())))


def lv_family(name: str) -> str:
    """The type of which a name is a variant: C(raid5) for C(raid5_ls); the name itself where it is none."""
    return next((family for family, variants in _VARIANTS.items() if name in variants), name)


def canonical_type(name: str) -> str:
    """The variant that LVM makes when the family is asked for: C(raid5) is C(raid5_ls)."""
    return _VARIANTS.get(name, (name,))[0]


class LvLayout(t.NamedTuple):
    """Shape of an LV in LVM's own counts: C(stripes) carry data, without parity; C(mirrors) are additional copies.

    C(log_extents) of None is what the type has; a mirror with its log in memory has 0.
    """

    type: str = "linear"
    stripes: int = 1
    mirrors: int = 0
    log_extents: int | None = None

    @property
    def traits(self) -> _Traits:
        return LV_TYPES[lv_family(self.type)]

    @property
    def log(self) -> int:
        """Extents of the log of a mirror."""
        return self.traits.log_extents if self.log_extents is None else self.log_extents

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


class ExtentRequest(t.NamedTuple):
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


class FreeSpace(t.NamedTuple):
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

    Sizes round up to a stripe boundary. Percentages are of physical extents: they round down, copies share them, parity and
    metadata come on top (so LVM counts), and the result rounds up to a stripe boundary and is cut to what
    certainly fits.
    """
    if request.kind == "bytes":
        return _up(extents_of_bytes(request.amount, extent_bytes), layout.stripes)
    if request.kind == "extents":
        return _up(request.amount, layout.stripes)
    base = {"vg": space.vg_extents, "free": space.vg_free, "pvs": space.pvs_extents}[request.kind]
    logical = request.amount * base // 100 // (layout.mirrors + 1)
    wanted = max(_up(logical, layout.stripes), layout.stripes)
    return min(wanted, certain_extents(layout, extent_bytes, space.free_per_pv))


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
    elif layout.log and rows and sum(free_per_pv) - rows * layout.images < layout.log:
        rows -= 1
    return rows * layout.stripes


def certain_extents(layout: LvLayout, extent_bytes: int, free_per_pv: t.Sequence[int]) -> int:
    """Most logical extents that LVM gives without fail; 0 where none fits.

    The images of a raid go on on other PVs that have none of them yet, as many as there are images; LVM does not find every other
    way, and gives up where it does not.
    """
    most = largest_extents(layout, extent_bytes, free_per_pv)
    if not layout.traits.metadata_volumes:
        return most
    left = sorted(free_per_pv, reverse=True)
    last = layout.images - 1
    rows = sum(left[first + last] for first in range(0, len(left) - last, layout.images))
    return min(most, largest_extents(layout, extent_bytes, (rows,) * layout.images))


def more_extents(layout: LvLayout, free_per_pv: t.Sequence[int]) -> int:
    """Most logical extents by which an LV of this shape can grow: its metadata and its log are there already."""
    if layout.images == 1:
        return sum(free_per_pv)
    return _rows(layout.images, free_per_pv) * layout.stripes


def _rows(images: int, free_per_pv: t.Sequence[int]) -> int:
    left, rows = sorted(free_per_pv, reverse=True), 0
    while len(left) >= images and left[images - 1] > 0:
        step = left[images - 1]
        rows += step
        left = sorted([free - step for free in left[:images]] + left[images:], reverse=True)
    return rows


def _up(extents: int, multiple: int) -> int:
    return -(-extents // multiple) * multiple
