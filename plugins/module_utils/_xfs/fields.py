# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What of a file system is managed, as the diff shows it. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState, XfsWanted

__all__ = ["managed_fields", "manages_geometry"]

# State field and the wish that manages it.
_FIELDS = (
    ("block_bytes", "block_bytes"),
    ("sector_bytes", "sector_bytes"),
    ("inode_bytes", "inode_bytes"),
    ("agcount", "agcount"),
    ("ag_bytes", "ag_bytes"),
    ("log_sunit_bytes", "log_su_bytes"),
    ("log_bytes", "log_bytes"),
    ("log_external", "log_device"),
    ("uuid", "uuid"),
    ("label", "label"),
)


def manages_geometry(wanted: XfsWanted) -> bool:
    """Whether an existing file system's stripe is compared."""
    return wanted.geometry is not None or wanted.su_bytes is not None


def managed_fields(state: XfsState | OtherContent | None, wanted: XfsWanted, created: bool = False) -> dict[str, t.Any]:
    """The managed fields of a file system for the diff; empty when there is none.

    C(created): it comes or goes, so that its stripe, which has a default then, is part of it.
    """
    if not isinstance(state, XfsState):
        return {}
    fields: dict[str, t.Any] = {"device": wanted.device}
    if created or manages_geometry(wanted):
        fields.update(sunit_bytes=state.sunit_bytes, swidth_bytes=state.swidth_bytes)
    fields.update({field: getattr(state, field) for field, wish in _FIELDS if getattr(wanted, wish) is not None})
    if wanted.grow:
        fields["size_bytes"] = state.size_bytes
    fields.update({name: name in state.features for name, _unused in wanted.features})
    return fields
