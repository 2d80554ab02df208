# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A stack and an experiment as typed data."""

from __future__ import annotations

import typing as t

__all__ = ["Design", "Experiment", "Layer", "Region", "StackDescription", "Unit"]


class Region(t.NamedTuple):
    """The same part of every disk: one partition, in bytes from the start of the disk."""

    start_bytes: int
    size_bytes: int


class Layer(t.NamedTuple):
    """One layer: C(kind) md, pv, vg, lv or xfs; C(on) names of layers, or C(disk:<index>) for a region."""

    kind: str
    name: str
    on: tuple[str, ...]
    options: t.Mapping[str, t.Any]


class StackDescription(t.NamedTuple):
    """Layers from the disks upwards. C(settings) are queue, md and readahead settings by layer name."""

    name: str
    title: str
    layers: tuple[Layer, ...]
    settings: t.Mapping[str, t.Mapping[str, t.Any]]

    def layer(self, name: str) -> Layer:
        return next(layer for layer in self.layers if layer.name == name)


class Design(t.NamedTuple):
    """How often, in which order, and against what: C(equivalence_margin) is a fraction."""

    blocks: int
    seed: int
    baseline: str
    equivalence_margin: float


class Experiment(t.NamedTuple):
    """A whole experiment. C(workloads) stay mappings: the bench reads them."""

    name: str
    region: Region
    usable_bytes: int | None
    stacks: tuple[StackDescription, ...]
    workloads: tuple[t.Mapping[str, t.Any], ...]
    design: Design


class Unit(t.NamedTuple):
    """One stack in one block, and its workloads in the order they run. C(position) is that of the first one, from 1."""

    block: int
    position: int
    stack: str
    workloads: tuple[str, ...]
