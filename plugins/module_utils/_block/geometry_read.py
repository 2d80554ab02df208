# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The geometry of a device that is there, derived from what lies below it down to the disks.

The kernel's own hints (io_opt) show the top layer only and go stale, so they are not used.
"""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.dm_table import DmSegment, parse_dm_table
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import list_names, read_int, read_text
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.md_word import md_layout_word
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.offset import Piece, beginning_of
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import (
    LEVELS,
    compose_stripe,
    md_stripe,
)

__all__ = ["geometry_of_node", "may_be_planned", "read_device_geometry"]

_SECTOR_BYTES = 512
# First words under /dev that are folders of links or of other devices, so never the name of a VG.
_NOT_A_VG = {"block", "bsg", "bus", "char", "cpu", "disk", "dri", "fd", "input", "mapper", "md", "mqueue", "net", "pts"}
_PARTITION_PATHS = (
    re.compile(r"^(/dev/(?:sd|hd|vd|xvd)[a-z]+)\d+$"),
    re.compile(r"^(/dev/(?:nvme\d+n|mmcblk|md|loop)\d+)p\d+$"),
    re.compile(r"^(/dev/disk/by-[a-z]+/.+)-part\d+$"),
)


def read_device_geometry(
    path: str, check_mode: bool = False, runner: Runner | None = None, tree: BlockTree | None = None
) -> DeviceGeometry:
    """The device behind a path as the layer above sees it; C(path) of the result is the kernel's, as /dev/sda1.

    Raises PlanRefused when it does not exist. In check mode an array, a logical volume or a partition of an existing
    disk that does not exist is taken as planned: C(assumed), sizes unknown, its path as given.
    """
    tree = read_tree() if tree is None else tree
    node = tree.node_of(path)
    if node is None:
        if check_mode and may_be_planned(path, tree):
            return DeviceGeometry(path, None, assumed=True)
        raise PlanRefused(f"{path} was named, but there is no such block device on this host")
    return geometry_of_node(node, tree, runner or Runner(check_mode))


def may_be_planned(path: str, tree: BlockTree) -> bool:
    """Whether a missing path names something that an earlier task may make: never a whole disk."""
    for pattern in _PARTITION_PATHS:
        match = pattern.match(path)
        if match:
            return tree.node_of(match.group(1)) is not None
    if re.match(r"^/dev/(md/[^/]+|md\d+|mapper/[^/]+|disk/by-part(label|uuid)/[^/]+)$", path):
        return True
    match = re.match(r"^/dev/([^/]+)/[^/]+$", path)
    return bool(match and match.group(1) not in _NOT_A_VG)


def geometry_of_node(node: BlockNode, tree: BlockTree, runner: Runner) -> DeviceGeometry:
    """The geometry of a node of the tree; follows md, partitions and device-mapper down to the disks."""
    stripe, offset = _stripe_of(node, tree, runner)
    return DeviceGeometry(
        path=node.path,
        size_bytes=node.size_bytes,
        logical_sector_bytes=node.logical_sector_bytes,
        physical_sector_bytes=node.physical_sector_bytes,
        stripe=stripe,
        offset_bytes=offset,
    )


def _stripe_of(node: BlockNode, tree: BlockTree, runner: Runner) -> tuple[Stripe | None, int]:
    if node.kind == "partition" and node.parent:
        return _partition_stripe(node, tree, runner)
    if node.kind == "md":
        return _md_stripe(node, tree, runner)
    if node.kind == "dm":
        return _dm_stripe(node, tree, runner)
    return None, 0


def _partition_stripe(node: BlockNode, tree: BlockTree, runner: Runner) -> tuple[Stripe | None, int]:
    parent = tree.named(node.parent or "")
    if parent is None:
        return None, 0
    below = geometry_of_node(parent, tree, runner)
    full = below.stripe.full_bytes if below.stripe else None
    return below.stripe, misalignment(below.offset_bytes + (node.partition_start_bytes or 0), full)


def _md_stripe(node: BlockNode, tree: BlockTree, runner: Runner) -> tuple[Stripe | None, int]:
    md = os.path.join(node.sysfs_path, "md")
    level = read_text(os.path.join(md, "level")) or ""
    if level not in LEVELS:
        return None, 0
    layout = md_layout_word(level, _first_int(os.path.join(md, "layout")))
    count, chunk = (_first_int(os.path.join(md, name)) for name in ("raid_disks", "chunk_size"))
    own = md_stripe(level, count, chunk, layout)
    below = [geometry_of_node(each, tree, runner) for each in tree.below(node)]
    stripe, _unused = compose_stripe(own, below)
    offsets = [read_int(os.path.join(md, name, "offset")) for name in list_names(md) if name.startswith("dev-")]
    data_offset = (offsets[0] or 0) * _SECTOR_BYTES if offsets else 0
    pieces = [Piece(0, one.offset_bytes + data_offset, one.stripe) for one in below if one.stripe is not None]
    data_stripes, unit_bytes = (own.width_units, own.unit_bytes) if own else (1, 0)
    return stripe, beginning_of(stripe, pieces, data_stripes, unit_bytes).offset_bytes


def _first_int(path: str) -> int:
    """During a reshape the files of md show "new (old)": the first number is what the array will have."""
    words = (read_text(path) or "0").split()
    return int(words[0]) if words[0].lstrip("-").isdigit() else 0


def _dm_stripe(node: BlockNode, tree: BlockTree, runner: Runner) -> tuple[Stripe | None, int]:
    table = runner.query(["dmsetup", "table", node.dm_name or node.path])
    segments = parse_dm_table(table.stdout)
    below = {
        area.devno: geometry_of_node(device, tree, runner)
        for segment in segments
        for area in segment.areas
        if (device := tree.numbered(area.devno)) is not None
    }
    stripes = {_segment_stripe(segment, below) for segment in segments}
    shapes = {(segment.data_stripes, segment.stripe.unit_bytes if segment.stripe else 0) for segment in segments}
    if len(stripes) != 1 or len(shapes) != 1:
        return None, 0
    (stripe,), ((data_stripes, unit_bytes),) = stripes, shapes
    pieces = [piece for segment in segments for piece in _pieces(segment, below)]
    return stripe, beginning_of(stripe, pieces, data_stripes, unit_bytes).offset_bytes


def _segment_stripe(segment: DmSegment, below: t.Mapping[str, DeviceGeometry]) -> Stripe | None:
    return compose_stripe(segment.stripe, [below[area.devno] for area in segment.areas if area.devno in below])[0]


def _pieces(segment: DmSegment, below: t.Mapping[str, DeviceGeometry]) -> t.Iterator[Piece]:
    for area in segment.areas:
        ground = below.get(area.devno)
        if ground is not None and ground.stripe is not None:
            yield Piece(segment.start_bytes, ground.offset_bytes + area.offset_bytes, ground.stripe)
