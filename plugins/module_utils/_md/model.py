# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""md arrays as they are and as they are wanted. Sizes in bytes; UUIDs as mdadm writes them, in four groups."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry

__all__ = [
    "NO_NAMED",
    "MdConfig",
    "MdMember",
    "MdNamed",
    "MdReading",
    "MdState",
    "MdSuperblock",
    "MdWanted",
    "format_md_uuid",
]


def format_md_uuid(text: str) -> str:
    """A UUID in mdadm's form C(5f0c1122:33445566:778899aa:bbccddee), from this or from the form with hyphens."""
    digits = re.sub("[:-]", "", text.strip().lower())
    if not re.fullmatch("[0-9a-f]{32}", digits):
        raise PlanRefused(f"uuid was given as {text!r}; write 32 hexadecimal digits, grouped by colons or hyphens")
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


class MdWanted(t.NamedTuple):
    """The wish. None: of an existing array not managed, at creation the documented default.

    C(members), C(spares), C(journal) and C(write_mostly) are paths as given; C(size_bytes) is what each member
    contributes, C(size_max) all that the smallest has. C(reshape), C(run_degraded) and C(remove_extra_members) are
    consents: without them the like is refused.
    """

    name: str
    level: str | None = None
    members: tuple[str, ...] = ()
    spares: tuple[str, ...] | None = None
    journal: str | None = None
    write_mostly: tuple[str, ...] | None = None
    remove_extra_members: bool = False
    reshape: bool = False
    backup_file: str | None = None
    run_degraded: bool = False
    chunk_bytes: int | None = None
    layout: str | None = None
    metadata: str | None = None
    bitmap: str | None = None
    size_bytes: int | None = None
    size_max: bool = False
    data_offset_bytes: int | None = None
    homehost: str | None = None
    uuid: str | None = None
    assume_clean: bool = False
    readahead_bytes: int | None = None
    consistency_policy: str | None = None
    config: bool | None = None
    update_initramfs: bool = False


class MdMember(t.NamedTuple):
    """A device of an array. C(slot) is its place, None for a spare; C(state) the kernel's words, or C(missing)."""

    path: str
    devno: str = ""
    slot: int | None = None
    state: str = "in_sync"
    size_bytes: int | None = None
    data_offset_bytes: int | None = None
    optimal_io_bytes: int | None = None

    @property
    def role(self) -> str:
        """C(active), C(rebuilding), C(replacement), C(spare), C(journal), C(faulty) or C(missing)."""
        words = self.state.split(",")
        for word in ("missing", "faulty", "journal", "replacement"):
            if word in words:
                return word
        if self.slot is None:
            return "spare"
        return "active" if "in_sync" in words else "rebuilding"

    @property
    def write_mostly(self) -> bool:
        return "write_mostly" in self.state.split(",")

    @property
    def works(self) -> bool:
        """True for a device that holds data of the array, or may step in."""
        return self.role in ("active", "rebuilding", "replacement", "spare")

    @property
    def present(self) -> bool:
        """False for a device that the array still counts but that is gone from the host."""
        return self.state != "missing"


class MdState(t.NamedTuple):
    """An array. C(path) is the name for commands and people; C(kernel_name) is empty where it is not assembled.

    C(active) is false for an array that is assembled but not running, and for one that is only superblocks on its
    members (C(array_state) C(stopped)).
    """

    path: str
    kernel_name: str = ""
    uuid: str | None = None
    name: str | None = None
    homehost: str | None = None
    level: str = ""
    raid_devices: int = 0
    chunk_bytes: int | None = None
    layout: str | None = None
    metadata: str = "1.2"
    bitmap: str | None = None
    component_size_bytes: int | None = None
    array_size_bytes: int | None = None
    data_offset_bytes: int | None = None
    members: tuple[MdMember, ...] = ()
    degraded: int = 0
    sync_action: str | None = None
    array_state: str = "clean"
    active: bool = True
    readahead_bytes: int | None = None
    consistency_policy: str | None = None
    sync_done_sectors: int | None = None
    sync_total_sectors: int | None = None
    sync_speed_bytes_per_second: int | None = None
    reshaping: bool = False
    optimal_io_bytes: int | None = None
    event_count: int = 0
    config: bool | None = None
    initramfs_stale: bool | None = None
    assumed: bool = False

    @property
    def kernel_path(self) -> str:
        """The device node by the kernel's name; C(path) where it is not assembled."""
        return f"/dev/{self.kernel_name}" if self.kernel_name else self.path

    @property
    def label(self) -> str:
        """How a message calls it."""
        return f"{self.name or self.kernel_name or 'without a name'} (UUID {self.uuid or 'unknown'})"

    @property
    def sync_percent(self) -> float | None:
        """How far a resync, recovery or reshape is; None when there is none."""
        if self.sync_done_sectors is None or not self.sync_total_sectors:
            return None
        return round(100 * self.sync_done_sectors / self.sync_total_sectors, 1)

    @property
    def busy(self) -> bool:
        """True while the kernel resyncs, recovers, checks or reshapes."""
        return self.sync_action not in (None, "idle", "frozen") or self.reshaping

    @property
    def missing_slots(self) -> tuple[int, ...]:
        """Places without a device, not even one that is being rebuilt."""
        taken = {member.slot for member in self.members if member.present and member.role != "faulty"}
        return tuple(slot for slot in range(self.raid_devices) if slot not in taken)

    @property
    def journal_path(self) -> str | None:
        return next((member.path for member in self.members if member.role == "journal"), None)

    def member(self, path: str) -> MdMember | None:
        return next((member for member in self.members if member.path == path), None)

    def member_paths(self) -> tuple[str, ...]:
        return tuple(member.path for member in self.members)

    def present_paths(self) -> tuple[str, ...]:
        return tuple(member.path for member in self.members if member.present)


class MdSuperblock(t.NamedTuple):
    """What one device says of the array it is (or was) a member of. C(slot) None: a spare."""

    path: str
    uuid: str
    level: str
    raid_devices: int
    metadata: str
    name: str | None = None
    homehost: str | None = None
    chunk_bytes: int | None = None
    layout: str | None = None
    data_offset_bytes: int | None = None
    component_size_bytes: int | None = None
    array_size_bytes: int | None = None
    bitmap: str | None = None
    slot: int | None = None
    event_count: int = 0
    is_journal: bool = False


class MdNamed(t.NamedTuple):
    """What a wish names beside members and spares, by the kernel's paths, and what the devices carry.

    C(superblocks) are those on devices that are not part of a running array.
    """

    journal: DeviceGeometry | None = None
    write_mostly: tuple[str, ...] | None = None
    superblocks: tuple[MdSuperblock, ...] = ()

    def devices(self) -> tuple[DeviceGeometry, ...]:
        return (self.journal,) if self.journal else ()


NO_NAMED = MdNamed()


class MdConfig(t.NamedTuple):
    """mdadm's configuration file and the initial ramdisk. C(text) None: there is no file yet.

    C(initramfs_argv) is the command that makes the ramdisk anew, None where there is no such program;
    C(initramfs_stale) whether a ramdisk is older than the file.
    """

    path: str
    text: str | None = None
    initramfs_argv: tuple[str, ...] | None = None
    initramfs_stale: bool = False


class MdReading(t.NamedTuple):
    """All that a plan for one array needs of the host.

    C(others) are arrays, assembled or not, that hold a device of the wish but are not the array meant.
    C(pieces) are further assemblies of the same array (a member that came back alone).
    """

    array: MdState | None
    members: tuple[DeviceGeometry, ...] = ()
    spares: tuple[DeviceGeometry, ...] = ()
    others: tuple[MdState, ...] = ()
    pieces: tuple[MdState, ...] = ()
    superblocks: tuple[MdSuperblock, ...] = ()
    personality_problem: str | None = None
    named: MdNamed = NO_NAMED
    config: MdConfig | None = None
    begun: str | None = None

    def devices(self) -> tuple[DeviceGeometry, ...]:
        return (*self.members, *self.spares)

    def as_predicted(self, array: MdState | None) -> t.Any:
        """The reading after the plan's steps."""
        return self._replace(array=array, others=(), pieces=(), superblocks=())
