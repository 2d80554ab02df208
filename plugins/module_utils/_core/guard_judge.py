# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Facts in, refusals out. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import (
    Closure,
    HostFacts,
    closure_of,
    containers_of,
    is_ours,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_words import (
    Refusal,
    content_of,
    join_words,
    node_words,
)

__all__ = [
    "KERNEL_USE",
    "Removal",
    "Request",
    "Target",
    "judge_content",
    "judge_disks",
    "judge_use",
    "needs_scan",
    "wanted_disks",
]

KERNEL_USE = "in use by the kernel (an exclusive open is refused)"


class Target(t.NamedTuple):
    """A device that a plan overwrites. C(asked) is what for, such as C(create the array data). C(table_only): of a disk only
    the partition table and free room are written, so that its partitions, and what stands on them, stay."""

    node: BlockNode
    asked: str
    table_only: bool = False


class Removal(t.NamedTuple):
    """What a plan removes: its devices (none when it is not active) and the devices it lies on.

    C(takes_down) is False for what is only content of a device, as a file system. C(empty) is set when that is known,
    C(holds) says in words what it holds beside signatures. C(keeps): it is only stopped, and nothing in it is lost.
    """

    key: str
    products: tuple[BlockNode, ...]
    members: tuple[BlockNode, ...]
    asked: str
    takes_down: bool = True
    empty: bool | None = None
    holds: str | None = None
    keeps: bool = False


class Request(t.NamedTuple):
    """All that a plan asks of existing devices."""

    targets: tuple[Target, ...] = ()
    removals: tuple[Removal, ...] = ()

    def goes_down(self, node: BlockNode) -> bool:
        """True when this active device is taken down by the same plan."""
        down = [removal for removal in self.removals if removal.takes_down]
        return any(product.kernel_name == node.kernel_name for removal in down for product in removal.products)


def judge_use(facts: HostFacts, request: Request) -> list[Refusal]:
    """Refusals that no consent lifts: use, system disks, read-only, disks that cannot be told apart."""
    refusals = []
    if (request.targets or request.removals) and facts.system.unresolved:
        refusals.append(_unresolved(facts))
    for target in request.targets:
        used = _own_use if target.table_only else _use_reasons
        reasons = [
            *_system_reasons(facts, [target.node]),
            *used(facts, request, [target.node]),
            *_kind_reasons(facts, target.node),
        ]
        refusals.extend(_refused(facts, target.asked, target.node, reasons))
    for removal in request.removals:
        reasons = [
            *_system_reasons(facts, [*removal.products, *removal.members]),
            *_use_reasons(facts, request, removal.products, removed=True),
        ]
        refusals.extend(Refusal(f"asked to {removal.asked}, but {reason}.") for reason in dict.fromkeys(reasons))
    return refusals


def _refused(facts: HostFacts, asked: str, node: BlockNode, reasons: t.Iterable[str]) -> list[Refusal]:
    where = node_words(facts, node)
    return [
        Refusal(f"asked to {asked}, which would overwrite {where}, but {reason}.") for reason in dict.fromkeys(reasons)
    ]


def _system_reasons(facts: HostFacts, nodes: t.Iterable[BlockNode]) -> list[str]:
    disks = {disk.kernel_name for node in nodes for disk in facts.tree.disks_under(node)}
    return [
        f"{name} holds {facts.system.holds[name]} of the running system and is never usable"
        for name in sorted(disks)
        if name in facts.system.holds
    ]


def _use_reasons(facts: HostFacts, request: Request, nodes: t.Sequence[BlockNode], removed: bool = False) -> list[str]:
    reasons: list[str] = []
    for top in nodes:
        users = facts.tree.users_of(top)
        # What holds the disk of a partition as a whole holds the partition.
        held = [
            holder
            for lower in facts.tree.below(top)
            if top.kind == "partition"
            for holder in facts.tree.above(lower)
            if holder.kind in ("md", "dm")
        ]
        for node in (top, *users, *held):
            name = "it" if node is top and not removed else node_words(facts, node)
            reasons.extend(f"{name} is {use}" for use in facts.uses.of(node))
            if node is not top and node.kind in ("md", "dm", "bcache", "unknown") and not request.goes_down(node):
                reasons.append(_holder_words(facts, node))
        if top.read_only and not removed:
            reasons.append("it is read-only")
        if not reasons and top.kernel_name in facts.busy and not [user for user in users if request.goes_down(user)]:
            name = "it" if not removed else node_words(facts, top)
            reasons.append(f"{name} is {KERNEL_USE}")
    return reasons


def _own_use(facts: HostFacts, request: Request, nodes: t.Sequence[BlockNode]) -> list[str]:
    """Use of disks as a whole; that of their partitions is none. An exclusive open tells nothing here, since it fails for both."""
    reasons: list[str] = []
    for node in nodes:
        reasons.extend(f"it is {use}" for use in facts.uses.of(node))
        holders = [holder for holder in facts.tree.above(node) if holder.kind != "partition"]
        reasons.extend(_holder_words(facts, holder) for holder in holders if not request.goes_down(holder))
        if node.read_only:
            reasons.append("it is read-only")
    return reasons


def _holder_words(facts: HostFacts, node: BlockNode) -> str:
    if node.kind == "md":
        state = "" if node.size_bytes else ", which is not complete (stop it with mdadm --stop)"
        return f"it is part of the active array {node.kernel_name}{state}"
    if node.is_lvm:
        return f"it is in use by the active logical volume {node_words(facts, node)}"
    if (node.dm_uuid or "").startswith("mpath-"):
        return f"it is a path of the multipath map {node.dm_name}; use /dev/mapper/{node.dm_name}"
    return f"it is in use by {node_words(facts, node)}"


def _kind_reasons(facts: HostFacts, node: BlockNode) -> list[str]:
    reasons = []
    for bottom in facts.tree.disks_under(node):
        disk = facts.disks.get(bottom.kernel_name)
        if disk is None or disk.device_kind == "unknown":
            reasons.append(f"{bottom.kernel_name} is of a kind ({bottom.kind}) whose identity cannot be told")
        elif disk.duplicate_wwn and not _through_multipath(facts, node):
            twins = [other.kernel_name for other in facts.disks.values() if other.wwn == disk.wwn and other is not disk]
            reasons.append(
                f"{join_words(sorted(twins))} shows the same WWN {disk.wwn}: it is one LUN on several paths, "
                "usable only through its multipath map"
            )
    return reasons


def _through_multipath(facts: HostFacts, node: BlockNode) -> bool:
    return any((lower.dm_uuid or "").startswith("mpath-") for lower in (node, *facts.tree.everything_under(node)))


def wanted_disks(facts: HostFacts, closure: Closure) -> list[str]:
    """Kernel names of the disks in a closure that consent does not cover."""
    covered = [name for name, disk in facts.disks.items() if facts.consent.covers(disk)]
    return [name for name in closure.disks if name not in covered]


def needs_scan(facts: HostFacts, request: Request) -> list[BlockNode]:
    """Devices without a signature on unlisted disks: only reading them tells whether they are blank."""
    wanted: dict[str, BlockNode] = {}
    emptied = _emptied(facts, request)
    lost = [removal for removal in request.removals if not removal.keeps]
    products = [product for removal in lost for product in removal.products if product.size_bytes]
    for node in (*(target.node for target in request.targets), *products):
        going = [user for user in facts.tree.users_of(node) if request.goes_down(user)]
        bare = not facts.signatures.get(node.kernel_name) and not going
        if bare and not is_ours(facts, node) and wanted_disks(facts, closure_of(facts, [node])):
            wanted[node.kernel_name] = node
    return [node for name, node in wanted.items() if name not in facts.scans and name not in emptied]


def judge_disks(facts: HostFacts, nodes: t.Sequence[BlockNode], purpose: str, require_consent: bool) -> list[Refusal]:
    """For a run that destroys later: listed, blank or not, unused, and nothing on them that reaches unlisted disks."""
    refusals = []
    if facts.system.unresolved:
        refusals.append(_unresolved(facts))
    for node in nodes:
        opening = f"asked to {purpose} {node_words(facts, node)}"
        uses = [(user, use) for user in (node, *facts.tree.users_of(node)) for use in facts.uses.of(user)]
        reasons = [
            *_system_reasons(facts, [node]),
            *_kind_reasons(facts, node),
            *(f"{'it' if user is node else node_words(facts, user)} is {use}" for user, use in uses),
            *(["it is read-only"] if node.read_only else []),
        ]
        held = [user for user in (node, *facts.tree.users_of(node)) if user.kernel_name in facts.busy]
        if not reasons:
            reasons += [f"{'it' if user is node else node_words(facts, user)} is {KERNEL_USE}" for user in held]
        refusals.extend(Refusal(f"{opening}, but {reason}.") for reason in dict.fromkeys(reasons))
        if require_consent and not reasons:
            refusals.extend(_unlisted(facts, node, opening))
    return refusals


def _unlisted(facts: HostFacts, node: BlockNode, opening: str) -> list[Refusal]:
    closure = closure_of(facts, [node])
    found = _found(facts, closure, ()) or _unrecognised(facts, node)
    own = [disk for disk in facts.tree.disks_under(node) if disk.kernel_name in wanted_disks(facts, closure)]
    holds = f" It holds {join_words(found)}." if found else ""
    if own:
        disks = tuple(facts.disks[disk.kernel_name] for disk in own if disk.kernel_name in facts.disks)
        return [Refusal(f"{opening}, but it is not listed in expendable_disks.{holds}", disks)]
    return _lost(facts, closure, f"{opening}, but it holds {join_words(found)}", [node]) if found else []


def _unresolved(facts: HostFacts) -> Refusal:
    return Refusal(
        f"it cannot be told which disks this system runs on: {facts.system.unresolved}; nothing can be overwritten or "
        "taken down safely."
    )


def judge_content(facts: HostFacts, request: Request) -> list[Refusal]:
    """Refusals for content that is not listed as expendable."""
    refusals = []
    for removal in request.removals:
        if not removal.keeps and not _is_empty(facts, removal):
            refusals.extend(_judge_removal(facts, removal))
    but = _emptied(facts, request)
    for target in request.targets:
        refusals.extend(_judge_target(facts, target, but))
    return refusals


def _unrecognised(facts: HostFacts, node: BlockNode) -> list[str]:
    """Words on data that has no signature, where reading the device showed some."""
    scan = facts.scans.get(node.kernel_name)
    if scan is None or scan.all_zero:
        return []
    return [f"unrecognised data (the first at byte {scan.first_data_offset_bytes})"]


def _judge_target(facts: HostFacts, target: Target, but: t.Container[str]) -> list[Refusal]:
    closure = closure_of(facts, [target.node])
    if target.table_only and not containers_of(facts, target.node):
        # What stands on the partitions stays, so only the disk itself must be listed.
        own = {disk.kernel_name: "" for disk in facts.tree.disks_under(target.node)}
        closure = Closure((target.node,), (), own)
    found = _found(facts, closure, but) or _unrecognised(facts, target.node)
    if not found:
        return []
    here = node_words(facts, target.node)
    opening = f"asked to {target.asked}, which would overwrite {here}, but it holds {join_words(found)}"
    return _lost(facts, closure, opening, [target.node])


def _judge_removal(facts: HostFacts, removal: Removal) -> list[Refusal]:
    nodes = [*removal.products, *removal.members]
    closure = closure_of(facts, nodes)
    found = [words for node in closure.lost for words in content_of(facts, node, but=(removal.key,))]
    words = list(dict.fromkeys([*([removal.holds] if removal.holds else []), *found]))
    what = f"it holds {join_words(words)}" if words else "what it holds cannot be seen or is not blank"
    return _lost(facts, closure, f"asked to {removal.asked}, but {what}", removal.products)


def _found(facts: HostFacts, closure: Closure, but: t.Container[str]) -> list[str]:
    """What lies on the target and on everything that stands on it; where on, when it is not the target itself."""
    words = []
    for position, node in enumerate(closure.lost):
        if is_ours(facts, node):
            continue
        for text in content_of(facts, node, but):
            where = node.kernel_name if node.parent == closure.lost[0].kernel_name else node_words(facts, node)
            words.append(text if position == 0 else f"{text} on {where}")
    return list(dict.fromkeys(words))


def _lost(facts: HostFacts, closure: Closure, opening: str, own: t.Sequence[BlockNode]) -> list[Refusal]:
    """Consent for every disk in the closure, and every member found; else refusals."""
    clauses = [*closure.missing, *_foreign_groups(facts, closure)]
    if any(name in facts.system.holds for name in closure.disks) or any(
        _is_system_pool(facts, key) for key in closure.containers
    ):
        clauses.append("the running system stands on it")
    wanted = wanted_disks(facts, closure)
    strange = [name for name in wanted if name not in facts.disks]
    if strange:
        clauses.append(f"{join_words(strange)} under it cannot be identified")
    unlisted = [facts.disks[name] for name in wanted if name in facts.disks]
    refusals = [Refusal(f"{opening}, and {clause}.") for clause in clauses]
    if unlisted:
        own_disks = {disk.kernel_name for node in own for disk in facts.tree.disks_under(node)}
        others = [disk.shown() for disk in unlisted if disk.kernel_name not in own_disks]
        shared = f"; {join_words(others)} would lose what belongs to it" if others else ""
        verb = " and is not listed as expendable" if len(others) == 1 else " and are not listed as expendable"
        refusals.append(Refusal(f"{opening}{shared}{verb if others else ''}.", tuple(unlisted)))
    return refusals


def _is_system_pool(facts: HostFacts, key: str) -> bool:
    if not key.startswith("zfs:"):
        return False
    names = {m.name for items in facts.memberships.values() for m in items if m.container == key}
    return bool(names & set(facts.system.zfs_pools))


def _foreign_groups(facts: HostFacts, closure: Closure) -> list[str]:
    clauses = []
    for volume in facts.volumes or ():
        if f"vg:{volume.vg_uuid}" not in closure.containers:
            continue
        if volume.shared:
            clauses.append(f"the volume group {volume.vg_name} is shared with other hosts")
        elif volume.system_id and volume.system_id != facts.system_id:
            clauses.append(f"the volume group {volume.vg_name} belongs to another host ({volume.system_id})")
    return list(dict.fromkeys(clauses))


def _is_empty(facts: HostFacts, removal: Removal) -> bool:
    """True for a container that holds nothing: no logical volume, no signature, and no other data where it was read."""
    if removal.empty is not None:
        return removal.empty
    if not removal.products:
        return False
    for product in removal.products:
        if is_ours(facts, product):
            continue
        if not product.size_bytes or facts.signatures.get(product.kernel_name) or facts.tree.above(product):
            return False
        scan = facts.scans.get(product.kernel_name)
        if scan is not None and not scan.all_zero:
            return False
    return True


def _emptied(facts: HostFacts, request: Request) -> frozenset[str]:
    """Containers that the plan takes down and that hold nothing: being a member of one is no content."""
    return frozenset(removal.key for removal in request.removals if not removal.keeps and _is_empty(facts, removal))
