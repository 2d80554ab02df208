# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import (
    parse_experiment,
    parse_margin,
    parse_region,
    parse_stack,
)

MIB = 1024**2


def stack(*layers: t.Any, **more: t.Any) -> dict[str, t.Any]:
    return {"name": "s", "layers": list(layers), **more}


@pytest.mark.parametrize(
    ("layers", "ground"),
    [
        ([{"md": {"level": 5}}, {"xfs": {}}], [("disk:0", "disk:1", "disk:2", "disk:3"), ("md",)]),
        (
            [{"md": {"level": 5}}, {"pv": None}, {"vg": {}}, {"lv": {}}, {"xfs": {}}],
            [("disk:0", "disk:1", "disk:2", "disk:3"), ("md",), ("pv",), ("vg",), ("lv",)],
        ),
        (
            [{"pv": {}}, {"vg": {}}, {"lv": {"type": "striped"}}],
            [("disk:0", "disk:1", "disk:2", "disk:3"), ("pv",), ("vg",)],
        ),
        (
            [
                {"md": {"name": "a", "on": "disks[0:2]", "level": 1}},
                {"md": {"name": "b", "on": "disks[2:4]", "level": 1}},
                {"pv": {"on": ["a", "b"]}},
                {"vg": {}},
                {"lv": {"type": "striped"}},
            ],
            [("disk:0", "disk:1"), ("disk:2", "disk:3"), ("a", "b"), ("pv",), ("vg",)],
        ),
        (
            [
                {"pv": {"on": "disks[3]"}},
                {"vg": {}},
                {"lv": {}},
                {"lv": {"on": "vg"}},
                {"xfs": {"on": "lv"}},
                {"xfs": {"on": "lv2"}},
            ],
            [("disk:3",), ("pv",), ("vg",), ("vg",), ("lv",), ("lv2",)],
        ),
        (
            [
                {"md": {"name": "a", "on": "disks[0:2]", "level": 1}},
                {"md": {"name": "b", "on": "disks[2:4]", "level": 1}},
                {"md": {"name": "c", "on": ["a", "b"], "level": 0}},
                {"xfs": {}},
            ],
            [("disk:0", "disk:1"), ("disk:2", "disk:3"), ("a", "b"), ("c",)],
        ),
    ],
)
def test_every_layer_finds_its_ground(layers: list[t.Any], ground: list[tuple[str, ...]]) -> None:
    assert [layer.on for layer in parse_stack(stack(*layers), 4).layers] == ground


def test_two_arrays_without_on_both_carry_the_pv() -> None:
    parsed = parse_stack(
        stack(
            {"md": {"on": "disks[0:2]", "level": 1}},
            {"md": {"on": "disks[2:4]", "level": 1}},
            {"pv": {}},
            {"vg": {}},
            {"lv": {}},
        ),
        4,
    )
    assert parsed.layers[2].on == ("md", "md2")


LVM = [{"pv": {}}, {"vg": {}}, {"lv": {}}]


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([*LVM, {"md": {"level": 1, "on": ["lv", "disks[0]"]}}], "an array over logical volumes is not built"),
        ([*LVM, {"pv": {"on": "lv", "name": "inner"}}], "a physical volume inside a logical volume is not built"),
        ([{"pv": {}}, {"lv": {"on": "pv"}}], "put a layer vg over the physical volumes"),
        ([{"md": {"level": 5}}, {"vg": {"on": "md"}}], "put a layer pv between"),
        ([{"md": {"level": 5}}, {"xfs": {}}, {"pv": {"on": "xfs"}}], "pv can stand on disk, md"),
        ([{"pv": {}}], "nothing stands on layer pv; add a layer vg"),
        ([{"pv": {}}, {"vg": {}}], "nothing stands on layer vg; add a layer lv"),
        ([{"md": {"level": 5}}, {"xfs": {}}, {"xfs": {"on": "md"}}], "layer md was given to xfs and xfs2"),
        ([{"md": {"level": 1, "on": "disks[0:2]"}}, {"xfs": {"on": "disks[1]"}}], "disk 1 was given to md and xfs"),
        (
            [*LVM, {"lv": {"on": "vg"}}, {"xfs": {"on": "lv", "mount": "/srv/a"}}, {"xfs": {"on": "lv2", "mount": "/srv/a"}}],
            "mounts two file systems on /srv/a",
        ),
    ],
)  # fmt: skip
def test_what_cannot_stand_there_is_refused_with_a_reason(layers: list[t.Any], words: str) -> None:
    with pytest.raises(PlanRefused) as refusal:
        parse_stack(stack(*layers), 4)
    assert words in refusal.value.message


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (stack({"zfs": {}}), ["zfs", "md, pv, vg, lv, xfs"]),
        (stack({"md": {}}), ["no level"]),
        (stack({"md": {"level": 5, "chunks": "1k"}}), ["chunks", "chunk"]),
        (stack({"md": {"level": 5, "on": "disks[2:9]"}}), ["disks[2:9]", "4 disks"]),
        (stack({"lv": {}}), ["needs a layer vg"]),
        (stack({"pv": {"on": "nowhere"}}), ["nowhere"]),
        (stack({"xfs": {}}), ["one device", "4"]),
        (stack({"md": {"level": 0}, "xfs": {}}), ["one kind per layer"]),
        (stack({"md": {"level": 0, "name": "a"}}, {"md": {"level": 0, "name": "a"}}), ["two layers named a"]),
        (stack(settings={"colour": {"lv": 1}}), ["colour", "readahead"]),
        (stack(settings={"readahead": {"lv": "256s"}}), ["the layer lv"]),
        ({"name": "a b", "layers": []}, ["a b"]),
        ({"name": "s", "layer": []}, ["layer"]),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(value: dict[str, t.Any], words: list[str]) -> None:
    with pytest.raises(PlanRefused) as refusal:
        parse_stack(value, 4)
    assert all(word in refusal.value.message for word in words)


def test_readahead_setting_becomes_bytes() -> None:
    parsed = parse_stack(
        stack({"md": {"level": 0}}, settings={"readahead": {"md": "256s"}, "scheduler": {"disks": "none"}}), 4
    )
    assert parsed.settings == {"md": {"readahead": 131072}, "disks": {"scheduler": "none"}}


def test_region_needs_units() -> None:
    assert parse_region({"start": "1MiB", "size": "2GiB"}).size_bytes == 2048 * MIB
    with pytest.raises(PlanRefused, match="without a unit"):
        parse_region({"start": "1MiB", "size": 100})
    with pytest.raises(PlanRefused, match="write it as"):
        parse_region("10GiB")


@pytest.mark.parametrize(("text", "fraction"), [("3%", 0.03), ("2.5 %", 0.025), (0.03, 0.03)])
def test_margin(text: t.Any, fraction: float) -> None:
    assert parse_margin(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["0%", "60%", "x", None])
def test_margin_refused(text: t.Any) -> None:
    with pytest.raises(PlanRefused):
        parse_margin(text)


LOAD = {"name": "w", "tool": "fio"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stacks": []}, "no stacks"),
        ({"workloads": []}, "no workloads"),
        ({"stacks": [stack(), stack()]}, "two stacks"),
        ({"workloads": [LOAD, LOAD]}, "two workloads"),
        ({"design": {"baseline": "t"}}, "design.baseline is t"),
        ({"design": {"blocks": 0}}, "design.blocks is 0"),
        ({"design": {"blocks": "many"}}, "whole numbers"),
        ({"usable_size": 8}, "without a unit"),
    ],
)
def test_experiment_refused(change: dict[str, t.Any], words: str) -> None:
    good = {"name": "e", "stacks": [stack()], "workloads": [LOAD], "design": {"blocks": 2}}
    assert parse_experiment(good, 4).design.baseline == "s"
    with pytest.raises(PlanRefused, match=words):
        parse_experiment({**good, **change}, 4)
