# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""An XFS file system as wanted and as found. Sizes in bytes."""

from __future__ import annotations

import typing as t

__all__ = ["FEATURES", "XFS_OPTIONS", "OtherContent", "Trial", "XfsState", "XfsWanted"]

# Features that can be asked for at creation by the word of mkfs.xfs, and the option of mkfs.xfs that holds the word.
FEATURES = {
    "crc": "-m",
    "finobt": "-m",
    "inobtcount": "-m",
    "reflink": "-m",
    "rmapbt": "-m",
    "bigtime": "-m",
    "sparse": "-i",
    "nrext64": "-i",
    "exchange": "-i",
    "parent": "-n",
}
# The options that shape a file system when it is made, but for its identity and other devices.
XFS_OPTIONS = (
    *("geometry", "su", "sw", "sunit", "swidth", "log_su", "log_size", "sector_size", "block_size", "inode_size"),
    *("agcount", "agsize", "label"),
    *FEATURES,
)


class XfsWanted(t.NamedTuple):
    """The wish. None is not managed; at creation it is what mkfs.xfs takes, but C(geometry) is then C(auto).

    C(su_bytes) and C(sw) are given together, and then C(geometry) is None. C(features) holds those that were asked for or
    against, by the words of C(FEATURES). C(change_uuid): another UUID is a wish, not another file system.
    """

    device: str
    geometry: str | None = None
    su_bytes: int | None = None
    sw: int | None = None
    log_su_bytes: int | None = None
    log_bytes: int | None = None
    log_device: str | None = None
    sector_bytes: int | None = None
    block_bytes: int | None = None
    inode_bytes: int | None = None
    agcount: int | None = None
    ag_bytes: int | None = None
    label: str | None = None
    uuid: str | None = None
    change_uuid: bool = False
    grow: bool = False
    features: tuple[tuple[str, bool], ...] = ()


class XfsState(t.NamedTuple):
    """What the superblock says, or the kernel of a mounted one. In a prediction None stands for what only mkfs.xfs will decide.

    C(sunit_bytes) and C(swidth_bytes) are 0 without stripe geometry; C(data_blocks) count blocks of C(block_bytes).
    C(log_device) is known of a mounted file system only. C(mounted_elsewhere): mounted in another mount namespace.
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
    log_external: bool | None = None
    log_device: str | None = None
    features: tuple[str, ...] = ()
    mounted_at: tuple[str, ...] = ()
    mounted_elsewhere: bool = False

    @property
    def size_bytes(self) -> int | None:
        """The size of the data section, None in a prediction."""
        return self._bytes(self.data_blocks)

    @property
    def ag_bytes(self) -> int | None:
        """The size of one allocation group; the last one may be smaller."""
        return self._bytes(self.agblocks)

    @property
    def log_bytes(self) -> int | None:
        return self._bytes(self.log_blocks)

    @property
    def mounted(self) -> bool:
        return bool(self.mounted_at) or self.mounted_elsewhere

    def _bytes(self, blocks: int | None) -> int | None:
        return None if blocks is None or self.block_bytes is None else blocks * self.block_bytes


class OtherContent(t.NamedTuple):
    """The device holds no usable XFS but something with a signature. C(kinds) are their names, C(note) says more.

    An XFS whose making was cut short, or whose superblock is damaged, is such content too, of kind C(xfs).
    """

    device: str
    kinds: tuple[str, ...]
    note: str = ""


class Trial(t.NamedTuple):
    """What mkfs.xfs said when it was asked what it would make (C(-N)): the file system, or why it makes none.

    C(warning) is what it does not like of a file system that it would make.
    """

    would_make: XfsState | None = None
    refusal: str = ""
    warning: str = ""
