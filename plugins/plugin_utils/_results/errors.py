# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Errors of everything that happens to results on the controller; each message is a sentence."""

from __future__ import annotations

__all__ = ["ResultsError", "StoreError"]


class StoreError(Exception):
    """Results cannot be stored, read or written; the message says what to do."""


class ResultsError(StoreError):
    """Stored results cannot be analysed as the design asks."""
