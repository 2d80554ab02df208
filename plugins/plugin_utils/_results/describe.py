# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A host's disks and a stack's layers in words, from their fingerprint."""

from __future__ import annotations

import collections
import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.confounders import flat_layers, layer_kind
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import HostSummary, StackInfo
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import format_bytes

__all__ = ["VIRTUAL_REMARK", "DrawnLayer", "disks_text", "drawn_layers", "has_virtual_disks", "region_text"]

VIRTUAL_REMARK = "Virtual disks: no seek, no rotation; RAID5 reads look better than on real disks."
_VIRTUAL_WORDS = ("qemu", "kvm", "virtual", "vmware", "vbox", "xen", "bochs", "hyper-v")
_BUSES = {"sata": "SATA", "ata": "SATA", "sas": "SAS", "scsi": "SCSI", "nvme": "NVMe", "virtio": "virtio", "usb": "USB"}


@dataclasses.dataclass(frozen=True)
class DrawnLayer:
    """One box of the drawing: what it is, its geometry in short words, and how many of it stand side by side."""

    kind: str
    title: str
    facts: tuple[str, ...]
    count: int = 1


def _disks(host: HostSummary) -> list[dict[str, t.Any]]:
    """The disks under the host's stacks, each once."""
    seen: dict[str, dict[str, t.Any]] = {}
    for stack in host.stacks:
        for layer in stack.fingerprint.get("layers") or []:
            disk = layer.get("disk")
            if isinstance(disk, dict):
                seen.setdefault(str(disk.get("serial_number") or disk.get("wwn") or layer.get("name")), disk)
    return list(seen.values())


def _decimal(size: float) -> str:
    for unit, power in (("TB", 4), ("GB", 3), ("MB", 2)):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size:.0f} B"


def disks_text(host: HostSummary) -> str:
    """Such as C(4 x WDC WD10EACS (SATA, 1 TB)); empty when nothing is known."""
    kinds: collections.Counter[str] = collections.Counter()
    for disk in _disks(host):
        bus = str(disk.get("transport") or "")
        facts = [_BUSES.get(bus.lower(), bus)] if bus else []
        facts += [_decimal(disk["capacity_bytes"])] if disk.get("capacity_bytes") else []
        model = str(disk.get("model") or "disks of unknown model").strip()
        kinds[f"{model} ({', '.join(facts)})" if facts else model] += 1
    return ", ".join(f"{count} x {name}" for name, count in kinds.items())


def region_text(host: HostSummary) -> str:
    """Such as C(first 10 GiB of each); empty when the stacks stand on whole disks or differ."""
    regions = {
        (layer.get("start_bytes"), layer.get("size_bytes"))
        for stack in host.stacks
        for layer in stack.fingerprint.get("layers") or []
        if layer_kind(layer) == "partition" and layer.get("size_bytes")
    }
    if len(regions) != 1:
        return ""
    start, size = regions.pop()
    if (start or 0) <= 4 * 1024**2:
        return f"first {format_bytes(size)} of each"
    return f"{format_bytes(size)} from {format_bytes(start)} on of each"


def has_virtual_disks(host: HostSummary) -> bool:
    """True when the host says that it is a virtual machine, by its own word, its processor or its disks."""
    for stack in host.stacks:
        facts = stack.fingerprint.get("host") or {}
        said = facts.get("virtualization", facts.get("virtual"))
        if said not in (None, False, "", "none"):
            return True
        if any(word in str(facts.get("cpu_model") or "").lower() for word in _VIRTUAL_WORDS):
            return True
    return any(word in str(disk.get("model") or "").lower() for disk in _disks(host) for word in _VIRTUAL_WORDS)


def _size_fact(label: str, value: t.Any) -> list[str]:
    return [f"{label} {format_bytes(value)}"] if isinstance(value, int) and value else []


def _readahead(fields: dict[str, t.Any]) -> list[str]:
    return _size_fact("readahead", fields.get("readahead"))


def _xfs(fields: dict[str, t.Any]) -> DrawnLayer:
    unit, width = fields.get("sunit_bytes") or 0, fields.get("swidth_bytes") or 0
    facts = [f"su {format_bytes(unit)}, sw {width // unit}"] if unit else ["no stripe geometry"]
    facts += [f"{fields['agcount']} allocation groups"] if fields.get("agcount") else []
    return DrawnLayer("xfs", "XFS", tuple(facts))


def _lv(fields: dict[str, t.Any]) -> DrawnLayer:
    stripes = fields.get("stripes") or 1
    title = f"LV striped over {stripes}" if stripes > 1 else f"LV {fields.get('segment_type') or ''}".strip()
    facts = _size_fact("stripe size", fields.get("stripe_bytes")) if stripes > 1 else []
    facts += _size_fact("extents", fields.get("extent_bytes"))
    facts += _size_fact("data from", fields.get("pe_start_bytes")) + _readahead(fields)
    return DrawnLayer("lv", title, tuple(facts))


def _md(fields: dict[str, t.Any]) -> DrawnLayer:
    level = str(fields.get("level") or "").upper()
    facts = _size_fact("chunk", fields.get("chunk_bytes"))
    facts += [f"{fields['raid_disks']} disks"] if fields.get("raid_disks") else []
    facts += [f"bitmap {fields['bitmap']}"] if fields.get("bitmap") else []
    facts += _size_fact("data from", fields.get("data_offset_bytes")) + _readahead(fields)
    return DrawnLayer("md", f"md {level}".strip(), tuple(facts))


def _partition(fields: dict[str, t.Any]) -> DrawnLayer:
    size = [format_bytes(fields["size_bytes"])] if fields.get("size_bytes") else []
    return DrawnLayer("partition", "region", (" ".join([*size, *_size_fact("from", fields.get("start_bytes"))]),))


def _disk(fields: dict[str, t.Any]) -> DrawnLayer:
    title = str(fields.get("model") or "disk").strip()
    facts = [str(fields[name]) for name in ("firmware_revision", "scheduler") if fields.get(name)]
    return DrawnLayer("disk", title, tuple(facts + _readahead(fields)))


def _plain(kind: str, fields: dict[str, t.Any]) -> DrawnLayer:
    return DrawnLayer(kind, kind, tuple(_readahead(fields)))


_DRAW: dict[str, t.Callable[[dict[str, t.Any]], DrawnLayer]] = {
    "xfs": _xfs,
    "lv": _lv,
    "md": _md,
    "partition": _partition,
    "disk": _disk,
}


def drawn_layers(stack: StackInfo) -> list[DrawnLayer]:
    """The stack's layers from the top; layers that are alike and stand side by side become one with a count."""
    drawn: list[DrawnLayer] = []
    raw = stack.fingerprint.get("layers") or []
    for (kind, fields), layer in zip(flat_layers(stack.fingerprint), raw):
        if kind == "partition":
            fields["size_bytes"] = layer.get("size_bytes")
        box = _DRAW[kind](fields) if kind in _DRAW else _plain(kind, fields)
        for place, earlier in enumerate(drawn):
            if dataclasses.replace(earlier, count=1) == box:
                drawn[place] = dataclasses.replace(earlier, count=earlier.count + 1)
                break
        else:
            drawn.append(box)
    return drawn
