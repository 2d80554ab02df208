# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""From the description a person writes to typed data. Every refusal says what was written, and what can be."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._core.yaml_words import restore_on
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import (
    Design,
    Experiment,
    Layer,
    Region,
    StackDescription,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import XFS_OPTIONS

__all__ = ["LAYER_OPTIONS", "parse_experiment", "parse_region", "parse_stack"]

LAYER_OPTIONS: dict[str, tuple[str, ...]] = {
    "md": ("level", "chunk", "layout", "metadata", "bitmap", "data_offset", "initial_sync"),
    "pv": ("metadatasize", "dataalignment", "dataalignmentoffset"),
    "vg": ("extent_size",),
    "lv": ("type", "stripes", "stripesize", "mirrors", "regionsize", "size"),
    "xfs": (*XFS_OPTIONS, "mount", "mount_options"),
}
SETTINGS = ("readahead", "max_sectors_kb", "scheduler", "nr_requests", "stripe_cache_size", "group_thread_cnt")
# What a layer stands on when it does not say: the nearest layer below of one of these kinds, else the disks.
_GROUND: dict[str, tuple[str, ...]] = {"md": (), "pv": ("md",), "vg": ("pv",), "lv": ("vg",), "xfs": ("lv", "md")}
# What each kind can stand on, and why not on the rest.
_CAN_STAND_ON: dict[str, tuple[str, ...]] = {
    "md": ("disk", "md"), "pv": ("disk", "md"), "vg": ("pv",), "lv": ("vg",), "xfs": ("disk", "md", "lv"),
}  # fmt: skip
_WHY_NOT = {
    (
        "md",
        "lv",
    ): "an array over logical volumes is not built: at boot md looks for its members before LVM has activated them, so the "
    "array comes up degraded or not at all; put md below LVM, or let LVM mirror (type: raid1)",
    (
        "pv",
        "lv",
    ): "a physical volume inside a logical volume is not built: LVM does not look for volumes in its own volumes; add the "
    "disks or arrays to one volume group instead",
    ("lv", "pv"): "a logical volume is made in a volume group; put a layer vg over the physical volumes",
    ("lv", "md"): "a logical volume is made in a volume group; put the layers pv and vg between",
    ("lv", "disk"): "a logical volume is made in a volume group; put the layers pv and vg between",
    ("vg", "md"): "a volume group is made of physical volumes; put a layer pv between",
    ("vg", "disk"): "a volume group is made of physical volumes; put a layer pv between",
}
_EXPERIMENT_KEYS = (
    "name",
    "title",
    "disks",
    "disk_count",
    "at_least",
    "region",
    "usable_size",
    "stacks",
    "workloads",
    "design",
    "choose_idle_of",
)
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$")
_DISKS = re.compile(r"^disks(?:\[(\d+)(?::(\d+))?\])?$")


def check_name(name: t.Any, what: str) -> str:
    """The name, if it can be part of md, VG and file names."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise PlanRefused(
            f"{what} is named {name!r}; use up to 32 letters, digits, _ and -, starting with a letter or digit"
        )
    return name


def parse_region(value: t.Any) -> Region:
    """The region of C({start, size}); both need units."""
    if not isinstance(value, t.Mapping) or set(value) - {"start", "size"} or "size" not in value:
        raise PlanRefused(f"region was given as {value!r}; write it as {{start: 1MiB, size: 10GiB}}")
    return Region(parse_size(value.get("start", "1MiB"), "region.start"), parse_size(value["size"], "region.size"))


def parse_stack(value: t.Mapping[str, t.Any], disk_count: int) -> StackDescription:
    """One stack over C(disk_count) disks. Raises PlanRefused for unknown layers or options, or a missing ground."""
    if not isinstance(value, t.Mapping):
        raise PlanRefused(f"a stack was given as {value!r}; write a mapping with name and layers")
    value = restore_on(value)
    name = check_name(value.get("name"), "a stack")
    unknown = sorted(set(value) - {"name", "title", "layers", "settings"})
    if unknown:
        raise PlanRefused(f"stack {name} has {', '.join(unknown)}; a stack has name, title, layers and settings")
    layers: list[Layer] = []
    for entry in value.get("layers") or []:
        layers.append(_parse_layer(name, entry, layers, disk_count))
    _check_uses(name, layers)
    settings = _parse_settings(name, value.get("settings") or {}, layers)
    return StackDescription(name, str(value.get("title") or name), tuple(layers), settings)


def _parse_layer(stack: str, entry: t.Any, below: t.Sequence[Layer], disk_count: int) -> Layer:
    if not isinstance(entry, t.Mapping) or len(entry) != 1:
        raise PlanRefused(
            f"stack {stack}: a layer was given as {entry!r}; write one kind per layer, such as {{md: {{level: 5}}}}"
        )
    kind, options = next(iter(entry.items()))
    options = options or {}
    if kind not in LAYER_OPTIONS:
        raise PlanRefused(f"stack {stack} has a layer {kind!r}; known layers are {', '.join(LAYER_OPTIONS)}")
    if not isinstance(options, t.Mapping):
        raise PlanRefused(f"stack {stack}: the options of layer {kind} were given as {options!r}; write a mapping")
    unknown = sorted(set(options) - set(LAYER_OPTIONS[kind]) - {"name", "on"})
    if unknown:
        raise PlanRefused(
            f"stack {stack}: layer {kind} has {', '.join(map(str, unknown))}; it can have name, on, {', '.join(LAYER_OPTIONS[kind])}"
        )
    if kind == "md" and "level" not in options:
        raise PlanRefused(f"stack {stack}: layer md has no level; write one, such as level: 5")
    same = sum(layer.kind == kind for layer in below)
    name = check_name(options.get("name", kind if same == 0 else f"{kind}{same + 1}"), f"stack {stack}: a layer")
    if any(layer.name == name for layer in below):
        raise PlanRefused(f"stack {stack} has two layers named {name}; give each its own name")
    on = _ground(stack, kind, options.get("on"), below, disk_count)
    return Layer(kind, name, on, {key: value for key, value in options.items() if key not in ("name", "on")})


def _ground(stack: str, kind: str, on: t.Any, below: t.Sequence[Layer], disk_count: int) -> tuple[str, ...]:
    if on is None:
        named = _nearest(kind, below)
        on = named if named else "disks"
    names: list[str] = []
    for item in [on] if isinstance(on, str) else list(on):
        names.extend(_resolve(stack, kind, str(item), below, disk_count))
    if len(set(names)) != len(names):
        raise PlanRefused(f"stack {stack}: layer {kind} names the same ground twice: {', '.join(names)}")
    for ground in names:
        _check_ground(stack, kind, ground, below)
    if kind in ("lv", "xfs") and len(names) != 1:
        raise PlanRefused(
            f"stack {stack}: layer {kind} stands on one device, but {len(names)} were named; put md or LVM between"
        )
    return tuple(names)


def _check_ground(stack: str, kind: str, ground: str, below: t.Sequence[Layer]) -> None:
    under = "disk" if ground.startswith("disk:") else next(layer.kind for layer in below if layer.name == ground)
    if under in _CAN_STAND_ON[kind]:
        return
    why = _WHY_NOT.get((kind, under), f"{kind} can stand on {', '.join(_CAN_STAND_ON[kind])}")
    raise PlanRefused(f"stack {stack}: layer {kind} was put on {ground} ({under}), but {why}")


def _check_uses(stack: str, layers: t.Sequence[Layer]) -> None:
    """Every device carries one layer, a volume group any number of volumes; a PV or VG alone would carry nothing."""
    kinds = {layer.name: layer.kind for layer in layers}
    users: dict[str, list[str]] = {}
    for layer in layers:
        for ground in layer.on:
            users.setdefault(ground, []).append(layer.name)
    for ground, names in users.items():
        if len(names) > 1 and kinds.get(ground) != "vg":
            what = f"disk {ground[5:]}" if ground.startswith("disk:") else f"layer {ground}"
            raise PlanRefused(
                f"stack {stack}: {what} was given to {' and '.join(names)}; a device carries one layer, so say with on: what each stands on"
            )
    for layer in layers:
        if layer.kind in ("pv", "vg") and layer.name not in users:
            above = "vg" if layer.kind == "pv" else "lv"
            raise PlanRefused(
                f"stack {stack}: nothing stands on layer {layer.name}; add a layer {above} that uses it, or leave it out"
            )
    mounts = [str(layer.options["mount"]) for layer in layers if layer.options.get("mount") is not None]
    if len(set(mounts)) != len(mounts):
        raise PlanRefused(
            f"stack {stack} mounts two file systems on {', '.join(sorted(mounts))}; give each a place of its own"
        )


def _nearest(kind: str, below: t.Sequence[Layer]) -> list[str]:
    wanted = _GROUND[kind]
    if kind in ("lv", "vg") and not any(layer.kind in wanted for layer in below):
        raise PlanRefused(f"a layer {kind} needs a layer {wanted[0]} below it")
    used = {name for layer in below for name in layer.on}
    free = [layer.name for layer in below if layer.kind in wanted and layer.name not in used]
    return free if kind in ("pv", "vg") else free[-1:]


def _resolve(stack: str, kind: str, item: str, below: t.Sequence[Layer], disk_count: int) -> list[str]:
    match = _DISKS.match(item)
    if match:
        first = int(match.group(1) or 0)
        last = int(match.group(2)) if match.group(2) else (first + 1 if match.group(1) else disk_count)
        if last > disk_count or first >= last:
            raise PlanRefused(f"stack {stack}: layer {kind} stands on {item}, but there are {disk_count} disks")
        return [f"disk:{index}" for index in range(first, last)]
    if any(layer.name == item for layer in below):
        return [item]
    raise PlanRefused(
        f"stack {stack}: layer {kind} stands on {item!r}; known are disks and {', '.join(layer.name for layer in below) or 'no layer below'}"
    )


def _parse_settings(stack: str, value: t.Any, layers: t.Sequence[Layer]) -> dict[str, dict[str, t.Any]]:
    settings: dict[str, dict[str, t.Any]] = {}
    for key, by_layer in dict(value).items():
        if key not in SETTINGS:
            raise PlanRefused(f"stack {stack} has the setting {key}; known settings are {', '.join(SETTINGS)}")
        if not isinstance(by_layer, t.Mapping):
            raise PlanRefused(
                f"stack {stack}: setting {key} was given as {by_layer!r}; write it by layer, such as {{lv: 256s}}"
            )
        for layer, setting in by_layer.items():
            if layer != "disks" and not any(known.name == layer for known in layers):
                raise PlanRefused(
                    f"stack {stack}: setting {key} names the layer {layer}, which the stack does not have"
                )
            settings.setdefault(layer, {})[key] = parse_size(setting, key) if key == "readahead" else str(setting)
    return settings


def parse_experiment(value: t.Mapping[str, t.Any], disk_count: int) -> Experiment:
    """The experiment over C(disk_count) disks. Raises PlanRefused for anything that cannot be meant."""
    value = restore_on(value)
    unknown = sorted(str(key) for key in value if key not in _EXPERIMENT_KEYS)
    if unknown:
        raise PlanRefused(f"the experiment has {', '.join(unknown)}; it can have {', '.join(_EXPERIMENT_KEYS)}")
    stacks = tuple(parse_stack(stack, disk_count) for stack in value.get("stacks") or [])
    if not stacks:
        raise PlanRefused("the experiment has no stacks; name at least one under stacks")
    _unique([stack.name for stack in stacks], "stacks")
    workloads = tuple(value.get("workloads") or ())
    if not workloads:
        raise PlanRefused("the experiment has no workloads; name at least one under workloads")
    _unique([check_name(dict(load).get("name"), "a workload") for load in workloads], "workloads")
    return Experiment(
        check_name(value.get("name", "experiment"), "the experiment"),
        parse_region(value.get("region") or {"start": "1MiB", "size": "10GiB"}),
        parse_optional_size(value.get("usable_size"), "usable_size"),
        stacks,
        workloads,
        _parse_design(value.get("design") or {}, stacks),
    )


def _unique(names: t.Sequence[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanRefused(f"two {what} are named {', '.join(twice)}; give each its own name")


def _parse_design(value: t.Mapping[str, t.Any], stacks: t.Sequence[StackDescription]) -> Design:
    baseline = str(value.get("baseline") or stacks[0].name)
    if baseline not in [stack.name for stack in stacks]:
        raise PlanRefused(
            f"design.baseline is {baseline}, but the stacks are {', '.join(stack.name for stack in stacks)}"
        )
    try:
        blocks, seed = int(value.get("blocks", 10)), int(value.get("seed", 20080229))
    except (TypeError, ValueError):
        raise PlanRefused("design.blocks and design.seed must be whole numbers") from None
    if not 1 <= blocks <= 10000:
        raise PlanRefused(f"design.blocks is {blocks}; it must be from 1 to 10000")
    return Design(blocks, seed, baseline, parse_margin(value.get("equivalence_margin", "3%")))


def parse_margin(value: t.Any) -> float:
    """A fraction of C(3%) or 0.03. Raises PlanRefused outside 0 to 50 %."""
    text = str(value).strip()
    try:
        fraction = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise PlanRefused(f"equivalence_margin was given as {value!r}; write it like 3%") from None
    if not 0 < fraction < 0.5:
        raise PlanRefused(f"equivalence_margin is {value}; it must lie between 0 and 50 %, such as 3%")
    return fraction
