# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The planners' arithmetic against the tools, over a grid of stacks on large sparse disks (profile sparse).

geometry_grid.py makes the stacks in the guest. With PLUMBLINE_GRID_ROWS=DIRECTORY every row is kept there as JSON lines.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import typing as t
from pathlib import Path

import pytest
from direct import REMOTE, Direct
from guest import Guest

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

KIB, MIB = 1024, 1024**2
SPARSE_DISKS = tuple(f"ZL2000000{number}" for number in range(1, 9))
Json = dict[str, t.Any]

# One array below everything: level, disks, chunk, layout.
ARRAYS: dict[str, Json] = {
    "raid0-x4-64k": {"level": 0, "disks": 4, "chunk": 64 * KIB},
    "raid0-x3-96k": {"level": 0, "disks": 3, "chunk": 96 * KIB},
    "raid0-x5-128k": {"level": 0, "disks": 5, "chunk": 128 * KIB},
    "raid1-x2": {"level": 1, "disks": 2},
    "raid4-x4-64k": {"level": 4, "disks": 4, "chunk": 64 * KIB},
    "raid5-x3-512k": {"level": 5, "disks": 3, "chunk": 512 * KIB},
    "raid5-x4-64k": {"level": 5, "disks": 4, "chunk": 64 * KIB},
    "raid5-x4-256k": {"level": 5, "disks": 4, "chunk": 256 * KIB},
    "raid5-x8-128k": {"level": 5, "disks": 8, "chunk": 128 * KIB, "layout": "right-asymmetric"},
    "raid6-x5-64k": {"level": 6, "disks": 5, "chunk": 64 * KIB},
    "raid6-x6-128k": {"level": 6, "disks": 6, "chunk": 128 * KIB},
    "raid6-x8-32k": {"level": 6, "disks": 8, "chunk": 32 * KIB},
    "raid10-n2-x4-128k": {"level": 10, "disks": 4, "chunk": 128 * KIB, "layout": "n2"},
    "raid10-n2-x5-128k": {"level": 10, "disks": 5, "chunk": 128 * KIB, "layout": "n2"},
    "raid10-n3-x6-64k": {"level": 10, "disks": 6, "chunk": 64 * KIB, "layout": "n3"},
    "raid10-f2-x4-128k": {"level": 10, "disks": 4, "chunk": 128 * KIB, "layout": "f2"},
    "raid10-o2-x6-256k": {"level": 10, "disks": 6, "chunk": 256 * KIB, "layout": "o2"},
}
# Two arrays below one group, so that stripes of LVM lie over stripes of md.
NESTED: dict[str, Json] = {
    "raid0-x4-64k": {"level": 0, "disks": 4, "chunk": 64 * KIB},
    "raid5-x3-128k": {"level": 5, "disks": 3, "chunk": 128 * KIB},
    "raid5-x4-128k": {"level": 5, "disks": 4, "chunk": 128 * KIB},
    "raid10-n2-x4-64k": {"level": 10, "disks": 4, "chunk": 64 * KIB, "layout": "n2"},
}
AUTO: Json = {"auto": True}
LEFT: Json = {"left_to_pvcreate": True}
ALIGNMENTS: tuple[Json, ...] = (
    AUTO,
    LEFT,
    {"dataalignment": MIB},
    {"dataalignment": 64 * KIB, "metadatasize": 188 * KIB},
    {"dataalignment": 256 * KIB, "dataalignmentoffset": 32 * KIB, "metadatasize": 100 * KIB},
)
EXTENTS = (MIB, 4 * MIB, 384 * KIB)
STRIPE_SIZES = (32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB)
# Of LVM's own over plain disks.
SHAPES: tuple[Json, ...] = (
    {"type": "linear"},
    {"type": "striped", "stripes": 2, "stripesize": 64 * KIB},
    {"type": "striped", "stripes": 3, "stripesize": 128 * KIB},
    {"type": "striped", "stripes": 4, "stripesize": 512 * KIB},
    {"type": "raid0", "stripes": 3, "stripesize": 64 * KIB},
    {"type": "raid1", "mirrors": 1},
    {"type": "raid1", "mirrors": 2},
    {"type": "mirror", "mirrors": 1},
    {"type": "raid4", "stripes": 3, "stripesize": 128 * KIB},
    {"type": "raid5", "stripes": 2, "stripesize": 64 * KIB},
    {"type": "raid5", "stripes": 4, "stripesize": 256 * KIB},
    {"type": "raid6", "stripes": 3, "stripesize": 64 * KIB},
    {"type": "raid10", "stripes": 2, "mirrors": 1, "stripesize": 64 * KIB},
    {"type": "raid10", "stripes": 3, "mirrors": 1, "stripesize": 128 * KIB},
)


def over_one_array(array: Json, first: int) -> Json:
    """Every alignment with two of the extent sizes, by turns; on each two volumes, the second where the first ends."""
    volumes = [{"size": "1100m"}, {"size": "50%FREE"}]
    variants = [
        {"pe": pe, "extent": EXTENTS[(first + at + turn) % len(EXTENTS)], "volumes": volumes}
        for at, pe in enumerate(ALIGNMENTS)
        for turn in (0, 1)
    ]
    return {"arrays": [array], "variants": variants}


def over_two_arrays(array: Json) -> Json:
    striped = [{"type": "striped", "stripes": 2, "stripesize": size, "size": "1200m"} for size in STRIPE_SIZES]
    variants: list[Json] = [{"pe": pe, "extent": 4 * MIB, "volumes": striped, "alone": True} for pe in (AUTO, LEFT)]
    variants.append({"pe": AUTO, "extent": 4 * MIB, "volumes": [{"size": "100%FREE"}]})
    return {"arrays": [array, array], "variants": variants}


def over_disks(extent: int) -> Json:
    """Types of LVM over six disks, by size and in percent. raid6 always syncs, so it stays small."""
    volumes = [
        {**shape, "size": size}
        for shape in SHAPES
        for size in ("1500m", "70%VG", "100%FREE")
        if shape["type"] != "raid6" or size == "1500m"
    ]
    return {"arrays": [], "disks": 6, "variants": [{"pe": AUTO, "extent": extent, "volumes": volumes, "alone": True}]}


GRID: dict[str, Json] = {
    **{f"md-{name}": over_one_array(array, at) for at, (name, array) in enumerate(ARRAYS.items())},
    **{f"nested-{name}": over_two_arrays(array) for name, array in NESTED.items()},
    **{f"disks-{extent // KIB}k": over_disks(extent) for extent in (MIB, 4 * MIB, 32 * MIB)},
}


@pytest.fixture(scope="module")
def sparse(guest: Guest) -> t.Iterator[Direct]:
    with Direct(guest, SPARSE_DISKS) as connection:
        text = Path(__file__).with_name("geometry_grid.py").read_text()
        guest.ssh(f"echo {shlex.quote(text)} > {REMOTE}/geometry_grid.py")
        yield connection


def rows_of(sparse: Direct, name: str) -> list[Json]:
    """Runs one group in the guest; every volume is a row, and so is every array and PV."""
    sparse.clean()
    words = [shlex.quote(json.dumps(GRID[name])), *sparse.paths()]
    text = sparse.guest.ssh(f"python3 {REMOTE}/geometry_grid.py {REMOTE} {' '.join(words)}", timeout=1800)
    directory = os.environ.get("PLUMBLINE_GRID_ROWS")
    if directory:
        Path(directory).mkdir(parents=True, exist_ok=True)
        Path(directory, f"{name}.jsonl").write_text(text + "\n")
    return [json.loads(line) for line in text.splitlines()]


def nested_stripe(array: Json, stripesize: int) -> tuple[int, int]:
    """su and full stripe of two stripes over two arrays, from the definition: the stripes of both must come out even."""
    data_disks = {0: 4, 5: array["disks"] - 1, 10: array["disks"] // 2}[array["level"]]
    return min(array["chunk"], stripesize), 2 * math.lcm(stripesize, array["chunk"] * data_disks)


def test_the_grid_is_large_enough() -> None:
    volumes = [volume for spec in GRID.values() for variant in spec["variants"] for volume in variant["volumes"]]
    assert len(volumes) >= 300


@pytest.mark.parametrize("name", GRID)
def test_the_tools_do_what_was_predicted(sparse: Direct, name: str) -> None:
    rows = rows_of(sparse, name)
    wrong = [json.dumps(row) for row in rows if row["differs"]]
    assert not wrong, f"{len(wrong)} of {len(rows)} rows differ:\n" + "\n".join(wrong)
    volumes = [row for row in rows if row["asked"]["layer"] == "lv"]
    assert len(volumes) == sum(len(variant["volumes"]) for variant in GRID[name]["variants"])
    for row in volumes:
        if row["asked"]["nested"]:
            su, full = nested_stripe(row["asked"]["arrays"][0], row["asked"]["stripesize"])
            assert (row["ours"]["told"]["su"], row["ours"]["told"]["full"]) == (su, full), json.dumps(row)
