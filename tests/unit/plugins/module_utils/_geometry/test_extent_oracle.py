# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arithmetic of extents against what lvcreate made in a guest (tests/fixtures/record/lvm_extents.py)."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import (
    ExtentRequest,
    FreeSpace,
    LvLayout,
    largest_extents,
    metadata_extents,
    parse_extents,
    resolve_extents,
)

FIXTURES = Path(__file__).parents[4] / "fixtures"
# On devices of unlike size LVM may let an image of a raid go on on another device; a percentage takes what certainly fits.
UNLIKE = ("odd", "unequal")


def cases() -> t.Iterator[t.Any]:
    for path in sorted(FIXTURES.glob("lvm-*/extents.json")):
        recorded = json.loads(path.read_text(encoding="utf-8"))
        for made in recorded["made"]:
            words = (
                made["group"],
                made["type"],
                made["request"],
                *(f"{key}{made[key]}" for key in ("stripes", "mirrors") if key in made),
            )
            yield pytest.param(recorded["groups"][made["group"]], made, id=f"{recorded['lvm']}-{'-'.join(words)}")


def request_of(text: str) -> ExtentRequest:
    return ExtentRequest("bytes", parse_size(text, "size", whole=False)) if text[-1] in "mg" else parse_extents(text)


def layout_of(made: dict[str, t.Any]) -> LvLayout:
    log = 0 if made.get("mirrorlog") == "core" else None
    return LvLayout(made["type"], made.get("stripes", 1), made.get("mirrors", 0), log)


def space_of(group: dict[str, t.Any], made: dict[str, t.Any]) -> FreeSpace:
    total, free = group["pv_extents"], list(group["pv_extents"])
    if "other" in made:
        free[made["other"][0]] -= made["other"][1]
    chosen = made.get("pvs", range(len(total)))
    return FreeSpace(tuple(free[n] for n in chosen), sum(total[n] for n in chosen), sum(total), sum(free))


def test_enough_was_recorded() -> None:
    assert len(list(cases())) >= 50


@pytest.mark.parametrize(("group", "made"), list(cases()))
def test_extents_are_those_that_lvm_makes(group: dict[str, t.Any], made: dict[str, t.Any]) -> None:
    layout, space, request = layout_of(made), space_of(group, made), request_of(made["request"])
    ours = resolve_extents(request, layout, group["extent_bytes"], space)
    most = largest_extents(layout, group["extent_bytes"], space.free_per_pv)
    if "error" in made:
        # A size that LVM refuses does not fit, or is a percentage that it cannot place and ours is smaller.
        assert ours > most or ours == 0 or (request.is_percent and layout.traits.metadata_volumes)
    elif request.is_percent and layout.traits.metadata_volumes and made["group"] in UNLIKE:
        assert 0 < ours <= made["extents"] <= most
    else:
        assert ours == made["extents"] <= most


@pytest.mark.parametrize(("group", "made"), [case for case in cases() if case.values[1].get("region_bytes")])
def test_metadata_volumes_are_as_large_as_lvm_makes_them(group: dict[str, t.Any], made: dict[str, t.Any]) -> None:
    layout = layout_of(made)
    rows = made["extents"] // layout.stripes
    expected = metadata_extents(rows, group["extent_bytes"], made["region_bytes"])
    if layout.traits.metadata_volumes:
        assert made["metadata"] == [expected] * layout.images
    else:
        assert made["metadata"] == [1] * layout.log
