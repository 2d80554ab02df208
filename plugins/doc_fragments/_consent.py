# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The option by which a person says what may be lost; the same in every module of a single layer."""

from __future__ import annotations


class ModuleDocFragment:
    """Documentation of C(CONSENT_ARGUMENT_SPEC)."""

    DOCUMENTATION = r"""
options:
  expendable_disks:
    description:
      - Serial numbers or WWNs (quoted texts) of disks whose content may be lost. A device that is not blank is only written
        or taken down when every disk below it is listed here; a disk with a partition table is not blank.
      - A disk without a usable serial number is named by C({by_path, capacity, host}).
    type: list
    elements: raw
    default: []
"""
