# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Two hashes over a fingerprint: what is set, and which disks. Pure."""

from __future__ import annotations

import hashlib
import json
import typing as t

__all__ = ["disks_hash", "settings_hash"]

# Identity, names and moments: the same stack built again on the same disks must hash the same.
_NOT_SETTINGS = frozenset(
    (
        "name",
        "path",
        "on",
        "device",
        "uuid",
        "label",
        "disk",
        "devno",
        "kernel_name",
        "serial_number",
        "wwn",
        "slot_order",
    )
)


def settings_hash(fingerprint: t.Mapping[str, t.Any]) -> str:
    """SHA-256 over layers and host without UUIDs, names, times and serial numbers; kernel names may change places."""
    layers = sorted(_canonical(_settings(layer)) for layer in fingerprint.get("layers") or ())
    return _sha256([*layers, _canonical(_settings(fingerprint.get("host") or {}))])


def disks_hash(fingerprint: t.Mapping[str, t.Any]) -> str:
    """SHA-256 over the identity of the disks (model, firmware, serial number, WWN, capacity), in no order."""
    disks = [layer["disk"] for layer in fingerprint.get("layers") or () if layer.get("disk")]
    keys = ("model", "firmware_revision", "serial_number", "wwn", "capacity_bytes")
    return _sha256(sorted(_canonical({key: disk.get(key) for key in keys}) for disk in disks))


def _settings(value: t.Any) -> t.Any:
    if isinstance(value, t.Mapping):
        return {key: _settings(inner) for key, inner in value.items() if key not in _NOT_SETTINGS}
    if isinstance(value, (list, tuple)):
        return [_settings(inner) for inner in value]
    return value


def _canonical(value: t.Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(texts: t.Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
