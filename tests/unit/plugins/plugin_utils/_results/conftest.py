# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import importlib.util
import pathlib
import sys
import types

import pytest


@pytest.fixture(scope="session")
def simulated() -> types.ModuleType:
    """The simulator beside this file (importmode=importlib puts no test directory on the path)."""
    pytest.importorskip("numpy")
    name = "plumbline_simulate"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name("simulate.py"))
        if spec is None or spec.loader is None:
            raise RuntimeError("simulate.py is missing")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
