# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Pure parsers: output of wipefs and pvs, files of procfs, and superblocks that tell of membership."""

from __future__ import annotations

import json
import re
import struct
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import (
    Membership,
    Mount,
    PhysicalVolume,
    Signature,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

__all__ = [
    "HIDDEN_VOLUME",
    "SUPERBLOCK_BYTES",
    "VOLUME_LABEL_BYTES",
    "has_volume_label",
    "md_data_offset",
    "parse_membership",
    "parse_mountinfo",
    "parse_physical_volumes",
    "parse_swaps",
    "parse_wipefs",
    "superblock_start",
]

SUPERBLOCK_BYTES = 4096
# A physical volume's label lies in one of its first four sectors.
VOLUME_LABEL_BYTES = 4 * 512
# What a stopped array holds is not seen by LVM: all arrays that hold a volume are taken as one set.
HIDDEN_VOLUME = Membership("volume in a stopped array:all")
_MD_MAGIC = 0xA92B4EFC
_MD_ROLES_OFFSET = 256
_MD_ROLE_LIMIT = 0xFFFE  # 0xffff is a spare, 0xfffe a failed member
_BTRFS_MAGIC_OFFSET = 0x40
_BTRFS_DEVICES_OFFSET = 0x88
_BCACHE_SET_OFFSET = 56
_BCACHE_MAGIC_OFFSET = 24


def parse_wipefs(text: str) -> dict[str, tuple[Signature, ...]]:
    """Kernel name -> its signatures in order of offset, from C(wipefs -J -O DEVICE,OFFSET,TYPE,USAGE,UUID,LABEL)."""
    if not text.strip():  # some releases print nothing at all when there is no signature
        return {}
    try:
        entries = json.loads(text)["signatures"]
        found: dict[str, list[Signature]] = {}
        for entry in entries:
            signature = Signature(
                type=entry["type"],
                offset_bytes=int(str(entry["offset"]), 0),
                uuid=entry.get("uuid") or None,
                label=entry.get("label") or None,
                usage=entry.get("usage") or None,
            )
            found.setdefault(entry["device"], []).append(signature)
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError("the output of wipefs -J", text) from error
    return {name: tuple(sorted(items, key=lambda item: item.offset_bytes)) for name, items in found.items()}


def superblock_start(signature: Signature) -> int | None:
    """Where to read SUPERBLOCK_BYTES to learn more of a membership; None when the signature alone tells it."""
    shift = {"linux_raid_member": 0, "btrfs": _BTRFS_MAGIC_OFFSET, "bcache": _BCACHE_MAGIC_OFFSET}.get(signature.type)
    return None if shift is None else signature.offset_bytes - shift


def parse_membership(signature: Signature, superblock: bytes | None) -> Membership | None:
    """The container that a signature makes its device a member of; None when it is not a member of anything."""
    if signature.type == "linux_raid_member":
        return _md_membership(signature, superblock or b"")
    if signature.type == "btrfs":
        devices = None
        if superblock is not None and len(superblock) >= _BTRFS_DEVICES_OFFSET + 8:
            devices = struct.unpack_from("<Q", superblock, _BTRFS_DEVICES_OFFSET)[0]
        return Membership(f"btrfs:{signature.uuid}", signature.label, devices)
    if signature.type == "bcache":
        known = superblock is not None and len(superblock) >= _BCACHE_SET_OFFSET + 16
        uuid = (
            superblock[_BCACHE_SET_OFFSET : _BCACHE_SET_OFFSET + 16].hex() if known and superblock else signature.uuid
        )
        return Membership(f"bcache:{uuid}")
    if signature.type == "zfs_member":
        return Membership(f"zfs:{signature.uuid}", signature.label)
    if signature.type == "LVM2_member":
        return Membership(f"pv:{signature.uuid}")
    if signature.type.endswith("_raid_member") or signature.type in ("LVM1_member", "stratis"):
        # Which set it belongs to is not told: all disks with the same kind of metadata are taken as one set.
        return Membership(f"{signature.type}:all")
    return None


def _md_membership(signature: Signature, block: bytes) -> Membership:
    fallback = Membership("md:" + re.sub("[^0-9a-f]", "", (signature.uuid or "").lower()), signature.label)
    if len(block) < SUPERBLOCK_BYTES or struct.unpack_from("<I", block)[0] != _MD_MAGIC:
        return fallback
    if struct.unpack_from("<I", block, 4)[0] == 0:
        words = struct.unpack_from("<1024I", block)
        uuid = "".join(f"{words[i]:08x}" for i in (5, 13, 14, 15))
        active, role = words[34], words[992 + 3]
        return Membership(f"md:{uuid}", None, active, role < words[10], words[38] | words[39] << 32)
    number, events, max_devices = (
        struct.unpack_from("<I", block, 160)[0],
        struct.unpack_from("<Q", block, 200)[0],
        struct.unpack_from("<I", block, 220)[0],
    )
    room = (SUPERBLOCK_BYTES - _MD_ROLES_OFFSET) // 2
    roles = struct.unpack_from(f"<{min(max_devices, room)}H", block, _MD_ROLES_OFFSET)
    own = roles[number] if number < len(roles) else _MD_ROLE_LIMIT
    name = block[32:64].split(b"\0", 1)[0].decode(errors="replace") or None
    return Membership(
        container="md:" + block[16:32].hex(),
        name=name,
        expected_members=len({role for role in roles if role < _MD_ROLE_LIMIT}),
        counts=own < _MD_ROLE_LIMIT,
        events=events,
    )


def md_data_offset(superblock: bytes | None) -> int | None:
    """Bytes from the start of a member to its data, of a version 1 superblock; None when it is none."""
    if superblock is None or len(superblock) < 136:
        return None
    magic, major = struct.unpack_from("<2I", superblock)
    return struct.unpack_from("<Q", superblock, 128)[0] * 512 if (magic, major) == (_MD_MAGIC, 1) else None


def has_volume_label(data: bytes | None) -> bool:
    """True when these first sectors of a device hold the label of an LVM physical volume."""
    return data is not None and any(data[at : at + 8] == b"LABELONE" for at in range(0, len(data), 512))


def parse_physical_volumes(text: str) -> list[PhysicalVolume]:
    """From C(lvm pvs --reportformat json) with the columns that C(read_physical_volumes) asks for."""
    try:
        lines = json.loads(text)["report"][0]["pv"]
        return [
            PhysicalVolume(
                path=line["pv_name"] if line["pv_name"].startswith("/") and not line["pv_missing"] else None,
                uuid=line["pv_uuid"],
                vg_name=line["vg_name"] or None,
                vg_uuid=line["vg_uuid"].replace("-", "") or None,
                vg_lv_count=int(line["lv_count"] or 0),
                vg_missing_count=int(line["vg_missing_pv_count"] or 0),
                shared=bool(line["vg_lock_type"]) and line["vg_lock_type"] != "none",
                system_id=line["vg_systemid"] or None,
            )
            for line in lines
        ]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ParseError("the output of lvm pvs", text) from error


def parse_mountinfo(text: str, namespace_of: str | None = None) -> list[Mount]:
    """Lines of a C(mountinfo) file; lines that are cut short are left out."""
    mounts = []
    for line in text.splitlines():
        head, separator, tail = line.partition(" - ")
        fields, rest = head.split(" "), tail.split(" ")
        if separator and len(fields) >= 5 and len(rest) >= 2:
            options = rest[2] if len(rest) > 2 else ""
            point, source = _unescape(fields[4]), _unescape(rest[1])
            mounts.append(Mount(fields[2], point, rest[0], source, _unescape(options), namespace_of))
    return mounts


def parse_swaps(text: str) -> list[tuple[str, str]]:
    """(path, "partition" or "file") of every line of C(/proc/swaps)."""
    lines = [line.split() for line in text.splitlines()[1:]]
    return [(_unescape(words[0]), words[1]) for words in lines if len(words) >= 2]


def _unescape(text: str) -> str:
    def character(match: t.Match[str]) -> str:
        return chr(int(match.group(1), 8))

    return re.sub(r"\\([0-7]{3})", character, text)
