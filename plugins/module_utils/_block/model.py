# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Block devices as the kernel has them: nodes, and what stands on what."""

from __future__ import annotations

import dataclasses
import typing as t

__all__ = ["BLANK_PROBE_BYTES", "BlankScan", "BlockNode", "BlockTree", "Signature"]

# This much at each end of a device must be zero before it counts as blank.
BLANK_PROBE_BYTES = 4 * 1024**2


@dataclasses.dataclass(frozen=True)
class BlockNode:
    """One block device. C(slaves) and C(holders) are kernel names of what it stands on and of what stands on it.

    C(kind) is one of disk, partition, md, dm, loop, rom, or the driver's word for what is none of these
    (zram, nbd, rbd, drbd, bcache, zvol, ram). C(parent) is the whole disk of a partition.
    """

    kernel_name: str
    path: str
    devno: str
    size_bytes: int
    kind: str
    parent: str | None = None
    partitions: tuple[str, ...] = ()
    slaves: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    dm_name: str | None = None
    dm_uuid: str | None = None
    md_uuid: str | None = None
    md_level: str | None = None
    md_array_state: str | None = None
    partition_number: int | None = None
    partition_start_bytes: int | None = None
    partition_uuid: str | None = None
    loop_backing_file: str | None = None
    read_only: bool = False
    removable: bool = False
    rotational: bool | None = None
    logical_sector_bytes: int = 512
    physical_sector_bytes: int = 512
    sysfs_path: str = ""

    @property
    def is_lvm(self) -> bool:
        return (self.dm_uuid or "").startswith("LVM-")

    @property
    def vg_name(self) -> str | None:
        """Name of the VG that an active logical volume belongs to, from its device-mapper name."""
        if not self.is_lvm or not self.dm_name:
            return None
        return self.dm_name.replace("--", "\0").split("-", 1)[0].replace("\0", "-")

    @property
    def vg_uuid(self) -> str | None:
        """UUID (32 characters, no hyphens) of the VG that an active logical volume belongs to."""
        return (self.dm_uuid or "")[4:36] if self.is_lvm else None

    @property
    def lv_name(self) -> str | None:
        if not self.is_lvm or not self.dm_name:
            return None
        parts = self.dm_name.replace("--", "\0").split("-", 2)
        return parts[1].replace("\0", "-") if len(parts) > 1 else None


def _nowhere(path: str) -> str | None:
    return None


@dataclasses.dataclass(frozen=True)
class BlockTree:
    """Every block device of a host. C(devno_of) tells the device number ("8:0") behind a path, links followed."""

    nodes: t.Mapping[str, BlockNode]
    devno_of: t.Callable[[str], t.Optional[str]] = dataclasses.field(default=_nowhere, compare=False, repr=False)

    def named(self, kernel_name: str) -> BlockNode | None:
        return self.nodes.get(kernel_name)

    def numbered(self, devno: str | None) -> BlockNode | None:
        """The device with this number, such as "8:0"."""
        return next((node for node in self.nodes.values() if node.devno == devno), None)

    def node_of(self, path: str) -> BlockNode | None:
        """The device behind a path, compared by device number and never by the text. None: no such block device."""
        return self.numbered(self.devno_of(path))

    def below(self, node: BlockNode) -> list[BlockNode]:
        """What it stands on directly: the disk of a partition, the slaves of md and device-mapper."""
        names = [*([node.parent] if node.parent else []), *node.slaves]
        return [self.nodes[name] for name in names if name in self.nodes]

    def above(self, node: BlockNode) -> list[BlockNode]:
        """What stands on it directly: partitions of a disk, and holders."""
        return [self.nodes[name] for name in (*node.partitions, *node.holders) if name in self.nodes]

    def disks_under(self, node: BlockNode) -> list[BlockNode]:
        """The devices at the bottom, each once; the node itself when nothing is below it."""
        return [found for found in (node, *self._all(node, self.below)) if not self.below(found)]

    def users_of(self, node: BlockNode) -> list[BlockNode]:
        """Everything that stands on it, directly or through others, nearest first."""
        return self._all(node, self.above)

    def everything_under(self, node: BlockNode) -> list[BlockNode]:
        """Everything that it stands on, nearest first."""
        return self._all(node, self.below)

    @staticmethod
    def _all(node: BlockNode, near: t.Callable[[BlockNode], list[BlockNode]]) -> list[BlockNode]:
        found: dict[str, BlockNode] = {}
        queue = near(node)
        while queue:
            here = queue.pop(0)
            if here.kernel_name not in found:
                found[here.kernel_name] = here
                queue.extend(near(here))
        return list(found.values())


@dataclasses.dataclass(frozen=True)
class Signature:
    """One entry of C(wipefs -J): C(offset_bytes) is where the magic lies. C(set_uuid) names the container it is a member of."""

    type: str
    offset_bytes: int
    uuid: str | None = None
    label: str | None = None
    usage: str | None = None
    length_bytes: int | None = None


@dataclasses.dataclass(frozen=True)
class BlankScan:
    """Result of reading both ends and samples of a device. C(first_data_offset_bytes) is None when all was zero."""

    size_bytes: int
    first_data_offset_bytes: int | None = None

    @property
    def all_zero(self) -> bool:
        return self.first_data_offset_bytes is None
