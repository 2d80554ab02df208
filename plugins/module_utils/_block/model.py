# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Block devices as the kernel has them: nodes, and what stands on what."""

from __future__ import annotations

import typing as t

__all__ = [
    "BlankScan",
    "BlockNode",
    "BlockTree",
    "Membership",
    "Mount",
    "PhysicalVolume",
    "Signature",
    "SystemDisks",
    "Uses",
]


class BlockNode(t.NamedTuple):
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
    suspended: bool = False
    rotational: bool | None = None
    logical_sector_bytes: int = 512
    physical_sector_bytes: int = 512
    sysfs_path: str = ""

    @property
    def readable(self) -> bool:
        """False for what has no content to look at, or would hang whoever reads it."""
        return self.size_bytes > 0 and not self.suspended and self.kind not in ("rom", "ram", "zram", "floppy")

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


class BlockTree(t.NamedTuple):
    """Every block device of a host. C(devno_of) tells the device number ("8:0") behind a path, links followed."""

    nodes: t.Mapping[str, BlockNode]
    devno_of: t.Callable[[str], str | None] = _nowhere

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


class Signature(t.NamedTuple):
    """One entry of C(wipefs -J). C(offset_bytes) is where its magic lies."""

    type: str
    offset_bytes: int
    uuid: str | None = None
    label: str | None = None
    usage: str | None = None


class Membership(t.NamedTuple):
    """That a device is part of a container, as its superblock says.

    C(container) is C(md:<32 digits>), C(btrfs:<uuid>), C(zfs:<pool id>), C(bcache:<set uuid>) or C(pv:<uuid>).
    C(expected_members) is how many members the container had when this superblock was written (None: not told);
    only members with C(counts) count against it. The superblock with the most C(events) is the truest.
    """

    container: str
    name: str | None = None
    expected_members: int | None = None
    counts: bool = True
    events: int = 0


class PhysicalVolume(t.NamedTuple):
    """One line of C(pvs). C(path) is None for a volume that LVM misses; C(vg_name) is None for one in no VG."""

    path: str | None
    uuid: str
    vg_name: str | None = None
    vg_uuid: str | None = None
    vg_lv_count: int = 0
    vg_missing_count: int = 0
    shared: bool = False
    system_id: str | None = None


class BlankScan(t.NamedTuple):
    """Result of reading both ends and samples of a device. C(first_data_offset_bytes) is None when all was zero."""

    size_bytes: int
    first_data_offset_bytes: int | None = None

    @property
    def all_zero(self) -> bool:
        return self.first_data_offset_bytes is None


class Mount(t.NamedTuple):
    """One mounted file system. C(namespace_of) says whose mount namespace it is in; None: the host's own."""

    devno: str
    mount_point: str
    fstype: str
    source: str
    super_options: str = ""
    namespace_of: str | None = None


class Uses(t.NamedTuple):
    """Who uses which block device: device number -> words for a sentence, such as C(mounted on /home)."""

    by_devno: t.Mapping[str, tuple[str, ...]] = {}
    mounts: tuple[Mount, ...] = ()

    def of(self, node: BlockNode) -> tuple[str, ...]:
        return tuple(self.by_devno.get(node.devno, ()))


class SystemDisks(t.NamedTuple):
    """Kernel name of each disk that the running system stands on -> the first thing that does, such as C(/boot).

    C(unresolved) is a sentence's end when the disk of C(/) could not be told: nothing may be destroyed then.
    C(zfs_pools) are pools whose members are system disks too.
    """

    holds: t.Mapping[str, str] = {}
    unresolved: str | None = None
    zfs_pools: tuple[str, ...] = ()
