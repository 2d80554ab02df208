# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Makes loading this collection's code from Ansible's payload faster. Importing it is enough; it must be the first import.

Ansible sends the code of a module as a zip archive. Python's zipimport compiles every file of one twice, once only to tell the
file's name and once to run it, and keeps neither. Remembering the last one compiled takes a third off the loading.
"""

from __future__ import annotations

import functools
import typing as t
import zipimport

__all__ = ["compile_once"]


def compile_once(importer: t.Any = zipimport) -> bool:
    """Lets zipimport remember the last file that it compiled. False where this Python has it written differently."""
    compiler = getattr(importer, "_compile_source", None)
    if compiler is None:
        return False
    importer._compile_source = functools.lru_cache(maxsize=1)(compiler)
    return True


compile_once()
