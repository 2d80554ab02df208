# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What differs between two stacks besides what the experiment varied on purpose, read from their fingerprints."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import format_bytes

__all__ = ["Difference", "differences_of", "flat_layers", "stack_declaration", "top_device"]

Layer = dict[str, t.Any]


@dataclasses.dataclass(frozen=True)
class Difference:
    """One setting that is not the same; C(where) and C(baseline_where) name the layers. C(cure) is a command or None."""

    field: str
    where: str
    value: str
    baseline_where: str
    baseline_value: str
    cure: str | None = None

    def text(self) -> str:
        """Such as C(readahead, 128 KiB on the LV, 1.5 MiB on md)."""
        return f"{self.field}, {self.value} on {self.where}, {self.baseline_value} on {self.baseline_where}"


LAYER_WORDS = {
    "xfs": "XFS",
    "lv": "the LV",
    "vg": "the VG",
    "pv": "the PV",
    "md": "md",
    "partition": "the partition",
    "disk": "the disks",
    "host": "the host",
}

# Settings of the topmost block device that somebody can set and that change how fast it is, most telling first.
_QUEUE_FIELDS = (
    "readahead",
    "max_sectors",
    "scheduler",
    "nr_requests",
    "write_cache",
    "wbt",
    "nomerges",
    "rq_affinity",
)
_CANONICAL = {"read_ahead_bytes": "readahead", "max_sectors_bytes": "max_sectors", "wbt_lat_usec": "wbt"}
# Sections of a layer in a fingerprint; their fields have names that do not clash.
_SECTIONS = ("queue.", "md.", "dm.", "xfs.", "disk.")
# Never an explanation: identity, names, moments, and what follows from size or layers.
_IGNORED = frozenset(
    (
        *("name", "names", "uuid", "path", "paths", "device"),
        *("devices", "kernel_name", "serial", "serial_number", "serial_numbers", "wwn"),
        *("id", "by_path", "major", "minor", "kind", "on"),
        *("vg_name", "lv_name", "label", "hostname", "boot_id", "uptime_seconds"),
        *("size_bytes", "segments", "settings_hash", "disks_hash", "memory_total_bytes", "capacity_bytes"),
        *("component_bytes",),
    )
)
# These follow from the declared layout; they are a finding only when both stacks declare the same one.
_FOLLOWS_LAYOUT = frozenset(
    (
        *("sunit_bytes", "swidth_bytes", "agcount", "agsize_bytes", "log_bytes", "log_sunit_bytes"),
        *(
            "minimum_io_bytes",
            "optimal_io_bytes",
            "alignment_offset_bytes",
            "data_offset_bytes",
            "pe_start_bytes",
            "start_offset_bytes",
        ),
        *("stripe_bytes", "stripes", "segment_type", "layout", "raid_disks", "chunk_bytes"),
        *("discard_granularity", "preread_bypass_threshold", "consistency_policy"),
    )
)
# mkfs.xfs derives these from the size; LVM rounds a volume to whole extents, and so much is no finding.
_ROUGHLY = frozenset(("agsize_bytes", "log_bytes"))
_LAYOUT_OPTIONS = ("level", "chunk", "layout", "type", "stripes", "stripesize", "mirrors", "on", "devices")


def _flatten(value: t.Any, prefix: str = "") -> t.Iterator[tuple[str, t.Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        if all(not isinstance(item, (dict, list, tuple)) for item in value):
            yield prefix, value[0] if len(value) == 1 else ", ".join(str(item) for item in value)
    elif value is not None:
        yield prefix, value


def _canonical(key: str, value: t.Any) -> tuple[str, t.Any]:
    last = key.rsplit(".", 1)[-1]
    if last in _CANONICAL:
        return _CANONICAL[last], value
    return key.split(".", 1)[1] if key.startswith(_SECTIONS) else key, value


def layer_kind(layer: Layer) -> str:
    """The kind of a fingerprint's layer: C(xfs), C(lv), C(md), C(disk) and so on."""
    return str(layer.get("kind") or layer.get("layer") or layer.get("type") or "?")


def flat_layers(fingerprint: dict[str, t.Any]) -> list[tuple[str, dict[str, t.Any]]]:
    """Kind and settings of every layer from the top, settings as one level of names; sizes of queue limits in bytes."""
    flat = []
    for layer in fingerprint.get("layers") or []:
        fields: dict[str, t.Any] = {}
        for key, value in _flatten(layer):
            name, plain = _canonical(key, value)
            if not set(name.split(".")) & _IGNORED:
                fields.setdefault(name, plain)
        flat.append((layer_kind(layer), fields))
    return flat


def top_device(fingerprint: dict[str, t.Any]) -> tuple[str, dict[str, t.Any]] | None:
    """Kind and settings of the topmost block device (the file system has no readahead of its own)."""
    return next(((kind, fields) for kind, fields in flat_layers(fingerprint) if "readahead" in fields), None)


def stack_declaration(stack: dict[str, t.Any]) -> dict[str, t.Any]:
    """What the design sets for a stack: C(layout) as a comparable text, and the names of all options and settings."""
    layout, options = [], set()
    for layer in stack.get("layers") or []:
        kind, given = _layer_options(layer)
        options |= {f"{kind}.{name}" for name, value in given.items() if value is not None}
        chosen = {name: given[name] for name in _LAYOUT_OPTIONS if given.get(name) not in (None, "linear")}
        if chosen:
            layout.append(f"{kind} {sorted(chosen.items(), key=str)}")
    settings = stack.get("settings") or {}
    names = {name for name, value in settings.items()} | {
        inner for value in settings.values() if isinstance(value, dict) for inner in value
    }
    return {"layout": layout, "options": options, "settings": names}


def _layer_options(layer: t.Any) -> tuple[str, dict[str, t.Any]]:
    """A layer of the design in either form: C({md: {…}}) or C({kind: md, …})."""
    if "kind" in layer:
        options = layer.get("options")
        return str(layer["kind"]), dict(options if isinstance(options, dict) else layer)
    kind, given = next(iter(layer.items()))
    return str(kind), dict(given or {})


def _is_declared(kind: str, field: str, own: dict[str, t.Any], baseline: dict[str, t.Any]) -> bool:
    bare = field.rsplit(".", 1)[-1]
    aliases = {bare, bare.removesuffix("_bytes"), bare.removesuffix("_kb"), f"{bare}_kb"}
    if aliases & (own["settings"] | baseline["settings"]):
        return True
    return any(f"{kind}.{alias}" in own["options"] | baseline["options"] for alias in aliases)


def differences_of(
    fingerprint: dict[str, t.Any],
    baseline: dict[str, t.Any],
    declared: dict[str, t.Any],
    baseline_declared: dict[str, t.Any],
) -> list[Difference]:
    """Settings in which a stack and the baseline differ though the design did not ask for it, most telling first."""
    if not fingerprint or not baseline:
        return []
    found = _top_differences(fingerprint, baseline, declared, baseline_declared)
    same_layout = declared["layout"] == baseline_declared["layout"]
    mine, theirs = _by_kind(flat_layers(fingerprint)), _by_kind(flat_layers(baseline))
    told = {(d.field, d.where) for d in found}
    for kind in [k for k in mine if k in theirs]:
        for field in dict.fromkeys([*mine[kind], *theirs[kind]]):
            # Only the topmost readahead is in effect, and that was looked at above.
            if field == "readahead" or _is_declared(kind, field, declared, baseline_declared):
                continue
            if not same_layout and field.rsplit(".", 1)[-1] in _FOLLOWS_LAYOUT:
                continue
            own, other = mine[kind].get(field, "none"), theirs[kind].get(field, "none")
            words = LAYER_WORDS.get(kind, kind)
            if not _alike(field, own, other) and (_words(field), words) not in told:
                found.append(Difference(_words(field), words, _show(field, own), words, _show(field, other)))
    found += _host_differences(fingerprint.get("host") or {}, baseline.get("host") or {})
    return found


def _alike(field: str, own: t.Any, other: t.Any) -> bool:
    if field in _ROUGHLY and isinstance(own, int) and isinstance(other, int):
        return abs(own - other) <= 0.05 * max(own, other)
    return bool(own == other)


def _words(field: str) -> str:
    return field.removesuffix("_bytes").replace("_", " ").replace(".", " ").replace("max sectors", "largest request")


def _show(field: str, value: t.Any) -> str:
    in_bytes = field in ("readahead", "max_sectors") or field.endswith("_bytes")
    return format_bytes(value) if in_bytes and isinstance(value, int) else str(value)


def _by_kind(layers: list[tuple[str, dict[str, t.Any]]]) -> dict[str, dict[str, t.Any]]:
    """Settings per kind of layer; where several layers of a kind disagree, all their values."""
    gathered: dict[str, dict[str, list[t.Any]]] = {}
    for kind, fields in layers:
        for name, value in fields.items():
            values = gathered.setdefault(kind, {}).setdefault(name, [])
            if value not in values:
                values.append(value)
    return {
        kind: {
            name: values[0] if len(values) == 1 else ", ".join(sorted(_show(name, v) for v in values))
            for name, values in fields.items()
        }
        for kind, fields in gathered.items()
    }


def _top_differences(
    fingerprint: dict[str, t.Any],
    baseline: dict[str, t.Any],
    declared: dict[str, t.Any],
    baseline_declared: dict[str, t.Any],
) -> list[Difference]:
    mine, theirs = top_device(fingerprint), top_device(baseline)
    if mine is None or theirs is None:
        return []
    found = []
    for field in _QUEUE_FIELDS:
        own, other = mine[1].get(field), theirs[1].get(field)
        if own is None or other is None or own == other:
            continue
        if not _is_declared(mine[0], field, declared, baseline_declared):
            where, other_where = (LAYER_WORDS.get(kind, kind) for kind in (mine[0], theirs[0]))
            cure = _readahead_cure(mine[0], own, theirs[0], other) if field == "readahead" else None
            found.append(Difference(_words(field), where, _show(field, own), other_where, _show(field, other), cure))
    return found


def _readahead_cure(kind: str, own: t.Any, baseline_kind: str, other: t.Any) -> str | None:
    """The command that lifts the smaller readahead to the larger one; None when they are of the same order."""
    if not isinstance(own, int) or not isinstance(other, int) or max(own, other) < 2 * min(own, other):
        return None
    low_kind = kind if own < other else baseline_kind
    sectors = max(own, other) // 512
    if low_kind == "lv":
        return f"lvchange --readahead {sectors} vg/lv"
    device = {"md": "/dev/md/name"}.get(low_kind, "/dev/name")
    return f"blockdev --setra {sectors} {device}"


def _host_differences(mine: dict[str, t.Any], theirs: dict[str, t.Any]) -> list[Difference]:
    own, other = dict(_flatten(mine)), dict(_flatten(theirs))
    words = LAYER_WORDS["host"]
    return [
        Difference(_words(name), words, str(own.get(name, "none")), words, str(other.get(name, "none")))
        for name in dict.fromkeys([*own, *other])
        if own.get(name) != other.get(name) and not set(name.split(".")) & _IGNORED
    ]
