# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""md arrays as they are and as they are wanted. Sizes in bytes; UUIDs as mdadm writes them, in four groups."""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry

__all__ = ["MdMember", "MdReading", "MdState", "MdSuperblock", "MdWanted", "format_md_uuid"]


def format_md_uuid(text: str) -> str:
    """A UUID in mdadm's form C(5f0c1122:33445566:778899aa:bbccddee), from this or from the form with hyphens."""
    digits = re.sub("[:-]", "", text.strip().lower())
    if not re.fullmatch("[0-9a-f]{32}", digits):
        raise PlanRefused(f"uuid was given as {text!r}; write 32 hexadecimal digits, grouped by colons or hyphens")
    return ":".join(digits[start : start + 8] for start in range(0, 32, 8))


@dataclasses.dataclass(frozen=True)
class MdWanted:
    """The wish. None: of an existing array not managed, at creation the documented default.

    C(members) and C(spares) are paths; C(size_bytes) is what each member contributes.
    """

    name: str
    level: str | None = None
    members: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    chunk_bytes: int | None = None
    layout: str | None = None
    metadata: str | None = None
    bitmap: str | None = None
    size_bytes: int | None = None
    data_offset_bytes: int | None = None
    homehost: str | None = None
    uuid: str | None = None
    assume_clean: bool = False
    readahead_bytes: int | None = None
    consistency_policy: str | None = None


@dataclasses.dataclass(frozen=True)
class MdMember:
    """A device of an array. C(slot) is its place, None for a spare; C(state) the kernel's words, or C(missing)."""

    path: str
    devno: str = ""
    slot: int | None = None
    state: str = "in_sync"

    @property
    def present(self) -> bool:
        """False for a device that the array still counts but that is gone from the host."""
        return self.state != "missing"


@dataclasses.dataclass(frozen=True)
class MdState:
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
    assumed: bool = False

    @property
    def kernel_path(self) -> str:
        """The device node by the kernel's name; C(path) where it is not assembled."""
        return f"/dev/{self.kernel_name}" if self.kernel_name else self.path

    @property
    def label(self) -> str:
        """How a message calls it."""
        return f"{self.name or self.kernel_name or 'without a name'} (UUID {self.uuid or 'unknown'})"

    def member_paths(self) -> tuple[str, ...]:
        return tuple(member.path for member in self.members)

    def present_paths(self) -> tuple[str, ...]:
        return tuple(member.path for member in self.members if member.present)


@dataclasses.dataclass(frozen=True)
class MdSuperblock:
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


@dataclasses.dataclass(frozen=True)
class MdReading:
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

    def devices(self) -> tuple[DeviceGeometry, ...]:
        return (*self.members, *self.spares)

    def as_predicted(self, array: MdState | None) -> t.Any:
        """The reading after the plan's steps."""
        return dataclasses.replace(self, array=array, others=(), pieces=(), superblocks=())
