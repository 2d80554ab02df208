# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What every module of a single layer can do."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes of modules that run the course of read, plan, guard, apply, verify."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Predicts the same change, difference and refusals as a real run, without changing anything.
    support: full
  diff_mode:
    description: Shows the managed fields before and after.
    support: full
  idempotent:
    description: A second run changes nothing.
    support: full
  platform:
    description: Where it runs.
    platforms: linux
    support: full
"""
