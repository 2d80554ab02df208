# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The kernel's numbers for md layouts and mdadm's words for them."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

__all__ = ["md_layout_word"]

_PARITY_WORDS = {
    0: "left-asymmetric",
    1: "right-asymmetric",
    2: "left-symmetric",
    3: "right-symmetric",
    4: "parity-first",
    5: "parity-last",
    8: "ddf-zero-restart",
    9: "ddf-N-restart",
    10: "ddf-N-continue",
    16: "left-asymmetric-6",
    17: "right-asymmetric-6",
    18: "left-symmetric-6",
    19: "right-symmetric-6",
    20: "parity-first-6",
}
_OFFSET_BIT = 1 << 16


def md_layout_word(level: str, number: int | None) -> str | None:
    """mdadm's word for the number in sysfs; None where the level has none. Raises ParseError for an unknown one."""
    if level in ("raid5", "raid6") and number is not None:
        if number not in _PARITY_WORDS:
            raise ParseError(f"the layout number {number} of a {level} array")
        return _PARITY_WORDS[number]
    if level != "raid10" or not number:
        return None
    near, far = number & 0xFF, number >> 8 & 0xFF
    if far > 1:
        return f"{'o' if number & _OFFSET_BIT else 'f'}{far}"
    return f"n{near}"
