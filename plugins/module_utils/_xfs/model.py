# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""An XFS file system as wanted and as found. Sizes in bytes."""

from __future__ import annotations

import dataclasses

__all__ = ["FEATURES", "OtherContent", "XfsState", "XfsWanted"]

# Features that can be asked for at creation, by the word of mkfs.xfs.
FEATURES = ("reflink", "rmapbt", "bigtime")


@dataclasses.dataclass(frozen=True)
class XfsWanted:
    """The wish. None is not managed; at creation it is what mkfs.xfs takes, but C(geometry) is then C(auto).

    C(su_bytes) and C(sw) are given together, and then C(geometry) is None.
    """

    device: str
    geometry: str | None = None
    su_bytes: int | None = None
    sw: int | None = None
    log_su_bytes: int | None = None
    sector_bytes: int | None = None
    block_bytes: int | None = None
    agcount: int | None = None
    label: str | None = None
    uuid: str | None = None
    reflink: bool | None = None
    rmapbt: bool | None = None
    bigtime: bool | None = None

    def features(self) -> dict[str, bool]:
        """The features that were asked for or against."""
        return {name: getattr(self, name) for name in FEATURES if getattr(self, name) is not None}


@dataclasses.dataclass(frozen=True)
class XfsState:
    """What the superblock says. In a prediction None stands for what only mkfs.xfs will decide.

    C(sunit_bytes) and C(swidth_bytes) are 0 without stripe geometry; C(data_blocks) count blocks of C(block_bytes).
    """

    device: str
    uuid: str | None = None
    label: str = ""
    block_bytes: int | None = None
    sector_bytes: int | None = None
    agcount: int | None = None
    agblocks: int | None = None
    data_blocks: int | None = None
    log_blocks: int | None = None
    inode_bytes: int | None = None
    sunit_bytes: int | None = None
    swidth_bytes: int | None = None
    log_sunit_bytes: int | None = None
    features: tuple[str, ...] = ()
    mounted_at: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int | None:
        """The size of the data section, None in a prediction."""
        return None if self.data_blocks is None or self.block_bytes is None else self.data_blocks * self.block_bytes


@dataclasses.dataclass(frozen=True)
class OtherContent:
    """The device holds no usable XFS but something with a signature. C(kinds) are their names, C(note) says more.

    An XFS whose making was cut short, or whose superblock is damaged, is such content too, of kind C(xfs).
    """

    device: str
    kinds: tuple[str, ...]
    note: str = ""
