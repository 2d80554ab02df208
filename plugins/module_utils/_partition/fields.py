# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A partition as the layer above sees it, and as the diff shows it. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._geometry.align import misalignment
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionState,
    PartitionWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.parse import partition_node

__all__ = ["geometry_of", "managed_fields"]


def geometry_of(state: PartitionState, disk: DeviceGeometry) -> DeviceGeometry:
    """The partition as the layer above sees it: the disk's sectors and stripe, begun at the partition's start."""
    full = disk.stripe.full_bytes if disk.stripe else None
    return disk._replace(
        path=state.path or partition_node(disk.path, state.number),
        size_bytes=state.size_bytes,
        offset_bytes=misalignment(disk.offset_bytes + state.start_bytes, full),
    )


def managed_fields(part: PartitionState | None, wanted: PartitionWanted) -> dict[str, t.Any]:
    """The managed fields of a partition for the diff; empty when it does not exist."""
    if part is None:
        return {}
    fields: dict[str, t.Any] = {"disk": wanted.disk, "name": part.name}
    if wanted.start_bytes is not None:
        fields["start_bytes"] = part.start_bytes
    if wanted.size_bytes is not None or wanted.resize:
        fields["size_bytes"] = part.size_bytes
    if wanted.uuid is not None:
        fields["uuid"] = part.uuid
    if wanted.type_guid is not None:
        fields["type"] = part.type_guid
    return fields
