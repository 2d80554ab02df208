# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Text of mdadm and of the kernel's md files, parsed. Pure; unknown fields are passed over."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.md_word import md_layout_word
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdMember, MdState, MdSuperblock

__all__ = [
    "array_from_sysfs",
    "parse_examine",
    "parse_export",
    "parse_personalities",
    "parse_scan_devices",
    "split_name",
]

_SECTOR = 512
_MAGIC = "a92b4efc"
_LAYOUT_PREFIX = {"near": "n", "far": "f", "offset": "o"}
_NO_LAYOUT_LEVELS = ("linear", "raid0", "raid1", "raid4")


def parse_export(text: str) -> dict[str, str]:
    """The C(MD_…=…) lines of C(--export) as a mapping; lines of another form are passed over."""
    pairs = (line.split("=", 1) for line in text.splitlines() if re.match(r"^MD_\w+=", line))
    return {pair[0]: pair[1] for pair in pairs}


def split_name(text: str | None) -> tuple[str | None, str | None]:
    """C(homehost:name) as mdadm stores it, into homehost (None: none is stored) and name."""
    if not text:
        return None, None
    text = re.sub(r"\s+\(local to host .*\)$", "", text)
    home, colon, name = text.partition(":")
    return (home, name) if colon else (None, text)


def parse_personalities(mdstat: str) -> frozenset[str]:
    """The levels that the running kernel has loaded, such as C(raid5), from /proc/mdstat."""
    match = re.search(r"^Personalities\s*:(.*)$", mdstat, re.MULTILINE)
    if not match:
        raise ParseError("the line Personalities of /proc/mdstat", mdstat)
    return frozenset(re.findall(r"\[([^\]]+)\]", match.group(1)))


def parse_scan_devices(text: str, uuid: str | None, name: str | None) -> tuple[str, ...]:
    """Devices in C(mdadm --examine --scan --verbose) that may be members of the array of this UUID, else of this name.

    mdadm 4.4 shows no names there, so the devices of an entry without one are among them: what they are stands in
    their superblocks.
    """
    found: list[str] = []
    for entry in re.split(r"(?m)^(?=ARRAY )", text):
        fields = dict(re.findall(r"(?:^|\s)(UUID|name|devices)=(\S+)", entry))
        if fields.get("UUID") == uuid if uuid else split_name(fields.get("name"))[1] in (None, name):
            found.extend(fields.get("devices", "").split(","))
    return tuple(device for device in found if device)


def parse_examine(text: str) -> tuple[MdSuperblock, ...]:
    """The superblocks in the text of C(mdadm --examine DEVICE...); devices without one are passed over."""
    blocks = re.split(r"(?m)^(/\S.*):$", text)
    found = []
    for path, body in zip(blocks[1::2], blocks[2::2]):
        fields = _fields(body)
        if fields.get("Magic") == _MAGIC:
            found.append(_superblock(path, fields, body))
    return tuple(found)


def _fields(body: str) -> dict[str, str]:
    pairs = re.findall(r"(?m)^ *([A-Z][\w -]*?) : (.*)$", body)
    return {key: value.strip() for key, value in pairs}


def _superblock(path: str, fields: t.Mapping[str, str], body: str) -> MdSuperblock:
    uuid = _required(path, fields, "Array UUID", "UUID").split()[0]
    level = _required(path, fields, "Raid Level")
    version = _required(path, fields, "Version")
    homehost, name = split_name(fields.get("Name"))
    old = version.startswith("0.90")
    used = fields.get("Used Dev Size") or fields.get("Avail Dev Size")
    return MdSuperblock(
        path=path,
        uuid=uuid,
        level=level,
        raid_devices=_number(path, "Raid Devices", _required(path, fields, "Raid Devices")),
        metadata="0.90" if old else version,
        name=name,
        homehost=homehost,
        chunk_bytes=_chunk(fields.get("Chunk Size")),
        layout=_layout(level, fields.get("Layout")),
        data_offset_bytes=0 if old or version == "1.0" else _scaled(fields.get("Data Offset"), _SECTOR),
        component_size_bytes=_scaled(used, 1024 if old else _SECTOR),
        array_size_bytes=_scaled(fields.get("Array Size"), 1024),
        bitmap="internal" if "Internal Bitmap" in fields else "none",
        slot=_slot(fields.get("Device Role"), body),
        event_count=_scaled(re.sub(r"^\d+\.", "", fields.get("Events", "0")), 1) or 0,
        is_journal=(fields.get("Device Role") or "").lower() == "journal",
    )


def _required(path: str, fields: t.Mapping[str, str], *names: str) -> str:
    for name in names:
        if fields.get(name):
            return fields[name]
    raise ParseError(f"{names[0]} in what mdadm --examine says of {path}", str(dict(fields)))


def _number(path: str, what: str, text: str) -> int:
    if not text.isdigit():
        raise ParseError(f"{what} in what mdadm --examine says of {path}", text)
    return int(text)


def _scaled(text: str | None, factor: int) -> int | None:
    match = re.match(r"\d+", text or "")
    return int(match.group()) * factor if match else None


def _chunk(text: str | None) -> int | None:
    match = re.match(r"(\d+)([KMG]?)$", text or "")
    return int(match.group(1)) * {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}[match.group(2)] if match else None


def _layout(level: str, text: str | None) -> str | None:
    if not text or level in _NO_LAYOUT_LEVELS:
        return None
    words = dict(re.findall(r"(near|far|offset)=(\d+)", text))
    for word, letter in _LAYOUT_PREFIX.items():
        if int(words.get(word, 0)) > 1:
            return f"{letter}{words[word]}"
    return f"n{words['near']}" if "near" in words else text


def _slot(role: str | None, body: str) -> int | None:
    match = re.match(r"(?:Active|Replacement) device (\d+)", role or "") or re.search(
        r"(?m)^this\s+\d+\s+\d+\s+\d+\s+(\d+)\s+active", body
    )
    return int(match.group(1)) if match else None


def array_from_sysfs(
    kernel_name: str, path: str, values: t.Mapping[str, str], export: t.Mapping[str, str], members: t.Sequence[MdMember]
) -> MdState:
    """An assembled array from its files in sysfs (C(values), by their names below C(md/)) and mdadm's C(--export).

    C(queue/read_ahead_kb), C(queue/optimal_io_size), C(size) (sectors) and C(data_offset) (sectors) are expected among the
    values too.
    """
    level = values.get("level") or export.get("MD_LEVEL", "")
    homehost, name = split_name(export.get("MD_NAME"))
    state = values.get("array_state", "clear")
    chunk, component = _int(values, "chunk_size"), _int(values, "component_size")
    readahead = _int(values, "queue/read_ahead_kb")
    offset = _int(values, "data_offset")
    done, total = _progress(values.get("sync_completed"))
    speed = _int(values, "sync_speed")
    array = MdState(
        path=path,
        kernel_name=kernel_name,
        uuid=export.get("MD_UUID"),
        name=name,
        homehost=homehost,
        level=level,
        raid_devices=_int(values, "raid_disks") or int(export.get("MD_DEVICES", "0")),
        chunk_bytes=chunk or None,
        layout=md_layout_word(level, _int(values, "layout")),
        metadata=values.get("metadata_version") or export.get("MD_METADATA", ""),
        bitmap=_bitmap_word(level, values.get("bitmap/location")),
        component_size_bytes=component * 1024 if component else None,
        array_size_bytes=(_int(values, "size") or 0) * _SECTOR,
        data_offset_bytes=None if offset is None else offset * _SECTOR,
        members=tuple(sorted(members, key=lambda each: (each.slot is None, each.slot or 0, each.path))),
        degraded=_int(values, "degraded") or 0,
        sync_action=values.get("sync_action"),
        array_state=state,
        active=state not in ("clear", "inactive"),
        readahead_bytes=None if readahead is None else readahead * 1024,
        consistency_policy=_policy_word(values.get("consistency_policy")),
        sync_done_sectors=done,
        sync_total_sectors=total,
        sync_speed_bytes_per_second=speed * 1024 if speed and done is not None else None,
        reshaping=values.get("reshape_position", "none") != "none",
        optimal_io_bytes=_int(values, "queue/optimal_io_size"),
    )
    # The kernel's own count comes late where a member was pulled and nothing was written since.
    return array._replace(degraded=max(array.degraded, len(array.missing_slots) if array.active else 0))


def _policy_word(text: str | None) -> str | None:
    """The kernel says C(none) for levels without redundancy."""
    return None if text == "none" else text


def _progress(text: str | None) -> tuple[int | None, int | None]:
    """C(1152 / 131072) in sectors; C(none) and C(delayed) are no figures."""
    match = re.match(r"(\d+) / (\d+)$", text or "")
    return (int(match.group(1)), int(match.group(2))) if match else (None, None)


def _int(values: t.Mapping[str, str], key: str) -> int | None:
    """During a reshape a file shows "new (old)": the first number."""
    match = re.match(r"-?\d+", values.get(key, ""))
    return int(match.group()) if match else None


def _bitmap_word(level: str, location: str | None) -> str | None:
    if location is None:
        return "none" if level in ("raid0", "linear") else None
    if location.startswith(("+", "-")):
        return "internal"
    return location
