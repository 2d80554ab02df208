# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.yaml_words import restore_on


@pytest.mark.parametrize(
    "value", [{True: "disks"}, json.loads(json.dumps({True: "disks"})), {"True": "disks"}, {"on": "disks"}]
)
def test_the_key_on_comes_back_at_any_depth(value: dict[object, str]) -> None:
    assert restore_on({"layers": [{"md": value}]}) == {"layers": [{"md": {"on": "disks"}}]}


def test_values_stay() -> None:
    assert restore_on({"direct": True, "cold": [True, "true"]}) == {"direct": True, "cold": [True, "true"]}
