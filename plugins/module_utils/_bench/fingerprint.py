# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A stack as data: every layer from the file system to the disks, with the settings that can explain a difference."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.hashes import disks_hash, settings_hash
from ansible_collections.plumbline.storage.plugins.module_utils._bench.host import read_host
from ansible_collections.plumbline.storage.plugins.module_utils._bench.limit import within
from ansible_collections.plumbline.storage.plugins.module_utils._bench.lvm_backup import read_vg_backup
from ansible_collections.plumbline.storage.plugins.module_utils._block.dm_table import DmSegment, parse_dm_table
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import list_names, read_int, read_text
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    ParseError,
    PlanRefused,
    StorageError,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import SECTOR_BYTES
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disk
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.parse import MAGIC, parse_superblock
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.read import read_first_bytes

__all__ = ["dm_segments", "read_fingerprint", "split_dm_tables"]

_QUEUE_NUMBERS = ("nr_requests", "nomerges", "rq_affinity", "wbt_lat_usec", "discard_granularity")
_READ_SECONDS = 60.0
_MD_NUMBERS = (
    "layout",
    "raid_disks",
    "degraded",
    "stripe_cache_size",
    "group_thread_cnt",
    "preread_bypass_threshold",
    "skip_copy",
)


def read_fingerprint(runner: Runner, device_path: str, tree: BlockTree | None = None) -> dict[str, t.Any]:
    """C(layers) from the top of C(device_path) to the disks, C(host), C(settings_hash), C(disks_hash).

    Sizes are bytes. What could not be read is null. Reads sysfs; starts C(dmsetup) when there is a device-mapper
    layer, and once per process the package tool. Raises PlanRefused when the path is no block device.
    """
    tree = read_tree() if tree is None else tree
    top = tree.node_of(device_path)
    if top is None:
        raise PlanRefused(f"{device_path} was named, but there is no such block device on this host")
    nodes = [top, *tree.everything_under(top)]
    tables = _dm_tables(runner) if any(node.kind == "dm" for node in nodes) else {}
    layers = [_layer(node, tree, tables) for node in nodes]
    fingerprint: dict[str, t.Any] = {"layers": [*_filesystem(top), *layers], "host": read_host(runner)}
    return {**fingerprint, "settings_hash": settings_hash(fingerprint), "disks_hash": disks_hash(fingerprint)}


def _layer(node: BlockNode, tree: BlockTree, tables: t.Mapping[str, str]) -> dict[str, t.Any]:
    layer: dict[str, t.Any] = {
        "kind": _kind(node),
        "name": node.dm_name or node.kernel_name,
        "path": node.path,
        "on": [below.kernel_name for below in tree.below(node)],
        "size_bytes": node.size_bytes,
    }
    if node.kind == "partition":
        return {**layer, "start_bytes": node.partition_start_bytes}
    layer["queue"] = _queue(node)
    if node.kind == "md":
        layer["md"] = _md(node)
    elif node.kind == "dm":
        layer["dm"] = _dm(node, tree, tables)
    elif not tree.below(node):
        layer["disk"] = _disk(node)
    return layer


def _kind(node: BlockNode) -> str:
    if node.kind != "dm":
        return node.kind
    prefix = (node.dm_uuid or "").split("-", 1)[0]
    return {"LVM": "lv", "CRYPT": "crypt", "mpath": "multipath"}.get(prefix, "dm")


def _queue(node: BlockNode) -> dict[str, t.Any]:
    queue = os.path.join(node.sysfs_path, "queue")
    scheduler = read_text(os.path.join(queue, "scheduler")) or ""
    active = re.search(r"\[([^\]]+)\]", scheduler)
    return {
        "read_ahead_bytes": _kib(os.path.join(queue, "read_ahead_kb")),
        "max_sectors_bytes": _kib(os.path.join(queue, "max_sectors_kb")),
        "scheduler": active.group(1) if active else scheduler or None,
        "write_cache": read_text(os.path.join(queue, "write_cache")),
        "rotational": node.rotational,
        "minimum_io_bytes": read_int(os.path.join(queue, "minimum_io_size")),
        "optimal_io_bytes": read_int(os.path.join(queue, "optimal_io_size")),
        "alignment_offset_bytes": read_int(os.path.join(node.sysfs_path, "alignment_offset")),
        "logical_sector_bytes": node.logical_sector_bytes,
        "physical_sector_bytes": node.physical_sector_bytes,
        **{name: read_int(os.path.join(queue, name)) for name in _QUEUE_NUMBERS},
    }


def _kib(path: str) -> int | None:
    value = read_int(path)
    return None if value is None else value * 1024


def _md(node: BlockNode) -> dict[str, t.Any]:
    md = os.path.join(node.sysfs_path, "md")
    members = [name for name in list_names(md) if name.startswith("dev-")]
    offsets = {read_int(os.path.join(md, name, "offset")) for name in members}
    return {
        "level": node.md_level,
        "uuid": node.md_uuid,
        "metadata": read_text(os.path.join(md, "metadata_version")),
        "chunk_bytes": read_int(os.path.join(md, "chunk_size")) or None,
        "component_bytes": _kib(os.path.join(md, "component_size")),
        "bitmap": read_text(os.path.join(md, "bitmap/location")),
        "consistency_policy": read_text(os.path.join(md, "consistency_policy")),
        "data_offset_bytes": sorted(offset * SECTOR_BYTES for offset in offsets if offset is not None),
        **{name: read_int(os.path.join(md, name)) for name in _MD_NUMBERS},
    }


def _dm_tables(runner: Runner) -> dict[str, str]:
    try:
        return split_dm_tables(runner.query(["dmsetup", "table"], timeout=20).stdout)
    except StorageError:
        return {}


def split_dm_tables(text: str) -> dict[str, str]:
    """The table of each device from C(dmsetup table) of all: lines of C(name: start size target …). Pure."""
    tables: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(": ")
        if colon:
            tables[name] = f"{tables.get(name, '')}{rest}\n"
    return tables


def _dm(node: BlockNode, tree: BlockTree, tables: t.Mapping[str, str]) -> dict[str, t.Any]:
    try:
        segments = parse_dm_table(tables.get(node.dm_name or "", ""))
    except ParseError:
        segments = ()
    found = dm_segments(segments, lambda devno: getattr(tree.numbered(devno), "kernel_name", None))
    if node.is_lvm and node.vg_name:
        found.update(read_vg_backup(node.vg_name, node.vg_uuid))
    return {**found, "uuid": node.dm_uuid}


def dm_segments(segments: t.Sequence[DmSegment], name_of: t.Callable[[str], str | None]) -> dict[str, t.Any]:
    """C(segment_type), C(stripes), C(stripe_bytes), C(start_offset_bytes) of the first segment; C(segments). Pure."""
    if not segments:
        return {"segment_type": None}
    first = segments[0]
    return {
        "segment_type": first.target if len({segment.target for segment in segments}) == 1 else "mixed",
        "stripes": first.stripe.width_units if first.stripe else 1,
        "stripe_bytes": first.stripe.unit_bytes if first.stripe else None,
        "start_offset_bytes": sorted({area.offset_bytes for area in first.areas}),
        "segments": [
            {
                "target": segment.target,
                "start_bytes": segment.start_bytes,
                "size_bytes": segment.size_bytes,
                "areas": [{"device": name_of(area.devno), "offset_bytes": area.offset_bytes} for area in segment.areas],
            }
            for segment in segments
        ],
    }


def _disk(node: BlockNode) -> dict[str, t.Any]:
    disk = read_disk(node)
    return {
        "model": disk.model,
        "firmware_revision": disk.firmware_revision,
        "serial_number": disk.serial_number,
        "wwn": disk.wwn,
        "capacity_bytes": disk.capacity_bytes,
        "media_type": disk.media_type,
        "transport": disk.transport,
    }


def _filesystem(top: BlockNode) -> list[dict[str, t.Any]]:
    """The XFS on the top device, when there is one; other contents are no layer of ours."""
    try:
        data = within(_READ_SECONDS, f"reading {top.path}", lambda: read_first_bytes(top.path))
        if data[:4] != MAGIC:
            return []
        xfs = parse_superblock(data, top.path)
    except (OSError, ParseError):
        return []
    block = xfs.block_bytes or 0
    return [
        {
            "kind": "xfs",
            "name": xfs.label or "xfs",
            "on": [top.kernel_name],
            "size_bytes": xfs.size_bytes,
            "xfs": {
                "uuid": xfs.uuid,
                "block_bytes": xfs.block_bytes,
                "sector_bytes": xfs.sector_bytes,
                "agcount": xfs.agcount,
                "agsize_bytes": (xfs.agblocks or 0) * block,
                "sunit_bytes": xfs.sunit_bytes,
                "swidth_bytes": xfs.swidth_bytes,
                "log_bytes": (xfs.log_blocks or 0) * block,
                "log_sunit_bytes": xfs.log_sunit_bytes,
                "features": list(xfs.features),
            },
        }
    ]
