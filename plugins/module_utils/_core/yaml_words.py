# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""YAML 1.1 reads the bare key C(on) as true; descriptions use that word, so it is put back. Pure."""

from __future__ import annotations

import typing as t

__all__ = ["restore_on"]

_TRUE_KEYS = (True, "true", "True")


def restore_on(value: t.Any) -> t.Any:
    """The value with every key that YAML or JSON made of C(on) called C(on) again, at any depth."""
    if isinstance(value, t.Mapping):
        return {"on" if key in _TRUE_KEYS else key: restore_on(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [restore_on(entry) for entry in value]
    return value
