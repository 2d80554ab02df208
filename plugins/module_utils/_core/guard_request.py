# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a plan asks of the devices that exist now. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import (
    HostFacts,
    container_key,
    containers_of,
    is_ours,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_judge import Removal, Request, Target
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan

__all__ = ["request_of"]


def request_of(plan: Plan, facts: HostFacts) -> Request:
    """Targets and removals of a plan. Devices that do not exist yet are left out; a removal of what is not active is
    kept, since reading more may show what it lies on."""
    targets: dict[str, Target] = {}
    for path in plan.writes():
        node = facts.tree.node_of(path)
        if node is not None:
            steps = [step for step in plan.steps if path in step.writes]
            table_only = all(step.table_only for step in steps)
            targets.setdefault(node.kernel_name, Target(node, _asked(plan, path), table_only))
    removals = []
    for step in plan.steps:
        for name in step.removes:
            removal = _removal(facts, container_key(name), step.summary)
            removals.append(removal._replace(empty=False) if step.in_the_way else removal)
        for name in step.stops:
            stopped = _removal(facts, container_key(name), step.summary)
            removals.append(stopped._replace(keeps=True))
    return Request(tuple(targets.values()), tuple(removals))


def _asked(plan: Plan, path: str) -> str:
    """The most telling of the steps that overwrite a device: not the wiping that comes before it."""
    summaries = [step.summary for step in plan.steps if path in step.writes]
    return next((text for text in summaries if not text.startswith("wipe")), summaries[0])


def _removal(facts: HostFacts, key: str, asked: str) -> Removal:
    kind, _colon, name = key.partition(":")
    if kind == "md":
        return _md(facts, key, name, asked)
    if kind == "vg":
        return _group(facts, key, name, asked)
    if kind == "lv":
        return _volume(facts, key, name, asked)
    nodes = facts.tree.nodes.values()
    if kind == "partuuid":
        return Removal(key, tuple(node for node in nodes if node.partition_uuid == name), (), asked)
    return _content(facts, kind, name, asked)


def _md(facts: HostFacts, key: str, name: str, asked: str) -> Removal:
    if name.startswith("/"):
        node = facts.tree.node_of(name)
        products = [] if node is None else [node]
        key = key if node is None or node.md_uuid is None else f"md:{node.md_uuid}"
    else:
        products = [node for node in facts.tree.nodes.values() if node.md_uuid == name]
    members = [lower for node in products for lower in facts.tree.below(node)]
    members += [node for node in facts.tree.nodes.values() if key in containers_of(facts, node)]
    return Removal(key, tuple(products), _unique(members), asked)


def _group(facts: HostFacts, key: str, name: str, asked: str) -> Removal:
    volumes = [volume for volume in facts.volumes or () if name in (volume.vg_name, volume.vg_uuid)]
    products = tuple(node for node in facts.tree.nodes.values() if name in (node.vg_name, node.vg_uuid))
    members = [facts.tree.node_of(volume.path) for volume in volumes if volume.path is not None]
    empty, holds = None, None
    if volumes:
        key = f"vg:{volumes[0].vg_uuid}"
        count = volumes[0].vg_lv_count
        empty, holds = count == 0, f"{count} logical volume{'' if count == 1 else 's'}"
    if f"vg:{name}" in facts.ours or key in facts.ours:
        empty = True
    return Removal(key, products, _unique(members), asked, empty=empty, holds=holds)


def _volume(facts: HostFacts, key: str, name: str, asked: str) -> Removal:
    group, _slash, volume = name.partition("/")
    nodes = facts.tree.nodes.values()
    products = tuple(node for node in nodes if node.vg_name == group and node.lv_name == volume)
    if products:
        return Removal(key, products, (), asked)
    whole = _group(facts, f"vg:{group}", group, asked)
    return Removal(key, (), whole.members, asked, empty=True if f"vg:{group}" in facts.ours else None)


def _content(facts: HostFacts, kind: str, path: str, asked: str) -> Removal:
    node = facts.tree.node_of(path) if path.startswith("/") else None
    if node is None:
        return Removal(f"{kind}:{path}", (), (), asked, takes_down=False)
    volume = facts.volume_on(node)
    orphan = kind == "pv" and volume is not None and volume.vg_name is None
    # The key by which an empty physical volume is no content of its device.
    key = f"pv:{node.devno}" if kind == "pv" else f"{kind}:{path}"
    return Removal(key, (node,), (), asked, takes_down=False, empty=True if orphan or is_ours(facts, node) else None)


def _unique(nodes: t.Iterable[BlockNode | None]) -> tuple[BlockNode, ...]:
    return tuple({node.kernel_name: node for node in nodes if node is not None}.values())
