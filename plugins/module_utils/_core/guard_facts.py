# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What the guard knows of a host when it judges, and the closure of what would be lost. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import (
    BlankScan,
    BlockNode,
    BlockTree,
    Membership,
    PhysicalVolume,
    Signature,
    SystemDisks,
    Uses,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import HIDDEN_VOLUME
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity

__all__ = ["Closure", "HostFacts", "closure_of", "container_key", "is_ours"]


class HostFacts(t.NamedTuple):
    """Facts by kernel name. C(volumes) is None when LVM was not asked, C(signatures) lacks devices not looked at."""

    tree: BlockTree
    disks: t.Mapping[str, DiskIdentity]
    uses: Uses
    system: SystemDisks
    consent: Consent
    ours: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()
    signatures: t.Mapping[str, tuple[Signature, ...]] = {}
    memberships: t.Mapping[str, tuple[Membership, ...]] = {}
    scans: t.Mapping[str, BlankScan] = {}
    volumes: tuple[PhysicalVolume, ...] | None = None
    system_id: str | None = None

    def volume_on(self, node: BlockNode) -> PhysicalVolume | None:
        """The physical volume on a device, by LVM's own word or by the UUID in its label."""
        uuids = {m.container[3:] for m in self.memberships.get(node.kernel_name, ()) if m.container.startswith("pv:")}
        for volume in self.volumes or ():
            here = volume.path is not None and self.tree.devno_of(volume.path) == node.devno
            if here or volume.uuid in uuids:
                return volume
        return None


class Closure(t.NamedTuple):
    """What goes when some devices are overwritten: C(lost) nodes (the targets and all that stands on them), the
    containers that lose a member, and every disk that something of it lies on: kernel name -> the container, or "".

    C(missing) are clauses on containers whose members could not all be found.
    """

    lost: tuple[BlockNode, ...]
    containers: tuple[str, ...]
    disks: t.Mapping[str, str]
    missing: tuple[str, ...] = ()


def container_key(name: str) -> str:
    """One form for C(md:), C(vg:) and C(partuuid:) names: UUIDs of arrays without separators and in lower case."""
    prefix, _colon, rest = name.partition(":")
    if prefix == "md" and not rest.startswith("/"):
        return "md:" + re.sub("[^0-9a-f]", "", rest.lower())
    if prefix == "vg" and re.fullmatch(r"\w{6}(-\w{4}){5}-\w{6}", rest):
        return "vg:" + rest.replace("-", "")
    return f"partuuid:{rest.lower()}" if prefix == "partuuid" else name


def is_ours(facts: HostFacts, node: BlockNode) -> bool:
    """True for a container or partition of our own, what stands only on such, a bare member of one, a disk of such only."""
    return _stands_on_ours(facts, node) or _bare_member_of_ours(facts, node) or _has_only_ours(facts, node)


def _stands_on_ours(facts: HostFacts, node: BlockNode) -> bool:
    keys = {f"md:{node.md_uuid}", f"vg:{node.vg_name}", f"vg:{node.vg_uuid}", f"partuuid:{node.partition_uuid}"}
    if keys & facts.ours:
        return True
    below = facts.tree.below(node)
    return bool(below) and all(is_ours(facts, lower) for lower in below)


def _has_only_ours(facts: HostFacts, node: BlockNode) -> bool:
    """A disk with nothing but a GPT whose partitions are all ours: the table was made for them."""
    parts = [facts.tree.nodes[name] for name in node.partitions if name in facts.tree.nodes]
    types = {signature.type for signature in facts.signatures.get(node.kernel_name, ())}
    return (
        bool(parts)
        and bool(types)
        and types <= {"gpt", "PMBR"}
        and all(f"partuuid:{part.partition_uuid}" in facts.ours for part in parts)
    )


def _bare_member_of_ours(facts: HostFacts, node: BlockNode) -> bool:
    signatures = facts.signatures.get(node.kernel_name, ())
    members = [signature.type in ("linux_raid_member", "LVM2_member") for signature in signatures]
    if not members or not all(members):
        return False
    keys = {key for key in containers_of(facts, node) if key != HIDDEN_VOLUME.container}
    names = {f"vg:{volume.vg_name}" for volume in [facts.volume_on(node)] if volume is not None}
    return bool(keys) and all(key in facts.ours or (key.startswith("vg:") and names & facts.ours) for key in keys)


def containers_of(facts: HostFacts, node: BlockNode) -> list[str]:
    """Containers that a device is a member of. A volume in a group is C(vg:<uuid>); one that LVM does not know C(pv:<uuid>)."""
    members = facts.memberships.get(node.kernel_name, ())
    in_array = any(m.container.startswith("md:") for m in members)
    active_array = any(holder.kind == "md" and holder.size_bytes for holder in facts.tree.above(node))
    found = []
    for key in [membership.container for membership in members]:
        if key == HIDDEN_VOLUME.container and (active_array or _stands_on_ours(facts, node)):
            continue
        if not key.startswith("pv:"):
            found.append(key)
            continue
        volume = facts.volume_on(node)
        if facts.volumes is None and _stands_on_ours(facts, node):
            continue  # what stands on ours is ours, so LVM was not asked
        if volume is None:
            # Under md 1.0 and 0.90 the label of the volume in the array shows through on the member.
            found.extend([] if in_array else [key])
        elif volume.vg_uuid:
            found.append(f"vg:{volume.vg_uuid}")
    return list(dict.fromkeys(found))


def closure_of(facts: HostFacts, targets: t.Iterable[BlockNode]) -> Closure:
    """From the targets up to everything that uses them, then down to all members of the containers met on the way."""
    lost: dict[str, BlockNode] = {}
    containers: dict[str, tuple[BlockNode, ...]] = {}
    queue = list(targets)
    extra = [lower for target in queue if target.kind == "partition" for lower in facts.tree.below(target)]
    while queue:
        node = queue.pop(0)
        if node.kernel_name in lost:
            continue
        lost[node.kernel_name] = node
        queue.extend(facts.tree.above(node))
        # A partition of a disk that is itself a member of something is part of that, too.
        for key in [key for part in (node, *extra) for key in containers_of(facts, part)]:
            if key not in containers:
                containers[key] = _members(facts, key)
                queue.extend(_products(facts, key))
    disks: dict[str, str] = {}
    for node in lost.values():
        _add_disks(facts, disks, node, "")
    for key, members in containers.items():
        for member in members:
            _add_disks(facts, disks, member, key)
    missing = [clause for key, members in containers.items() for clause in _missing(facts, key, members)]
    return Closure(tuple(lost.values()), tuple(containers), disks, tuple(missing))


def _products(facts: HostFacts, key: str) -> list[BlockNode]:
    nodes = facts.tree.nodes.values()
    return [node for node in nodes if key in (f"md:{node.md_uuid}", f"vg:{node.vg_uuid}")]


def _members(facts: HostFacts, key: str) -> tuple[BlockNode, ...]:
    members = {node.kernel_name: node for node in facts.tree.nodes.values() if key in containers_of(facts, node)}
    if key == HIDDEN_VOLUME.container:
        groups = {f"vg:{volume.vg_uuid}" for volume in facts.volumes or () if volume.vg_missing_count}
        members.update({node.kernel_name: node for group in groups for node in _members(facts, group)})
    return tuple(
        node for node in members.values() if not any(upper.kernel_name in members for upper in facts.tree.above(node))
    )


def _add_disks(facts: HostFacts, disks: dict[str, str], node: BlockNode, key: str) -> None:
    if is_ours(facts, node):
        return
    below = facts.tree.below(node)
    if not below:
        disks.setdefault(node.kernel_name, key)
    for lower in below:
        _add_disks(facts, disks, lower, key)


def _missing(facts: HostFacts, key: str, members: t.Sequence[BlockNode]) -> list[str]:
    if key in facts.ours or (members and all(is_ours(facts, member) for member in members)):
        return []  # what a killed run of ours left half made
    if key.startswith("pv:"):
        return [f"LVM does not report the physical volume {key[3:]}, so its volume group is not known"]
    if key.startswith("vg:"):
        volumes = [volume for volume in facts.volumes or () if f"vg:{volume.vg_uuid}" == key]
        count = max((volume.vg_missing_count for volume in volumes), default=0)
        return [f"the volume group {volumes[0].vg_name} misses {count} of its physical volumes"] if count else []
    if any(node.kind == "md" and node.size_bytes for node in _products(facts, key)):
        return []  # it runs, so that what it lacks are old copies: nothing else is lost with the members that were found
    own = [m for node in members for m in facts.memberships.get(node.kernel_name, ()) if m.container == key]
    truest = max(own, key=lambda membership: membership.events, default=None)
    if truest is None or truest.expected_members is None:
        return []
    found = sum(membership.counts for membership in own)
    if found >= truest.expected_members:
        return []
    name = f' "{truest.name}"' if truest.name else ""
    kind = {"md": "array", "btrfs": "btrfs file system"}.get(key.split(":", 1)[0], "container")
    return [f"the {kind}{name} ({key}) has {truest.expected_members} members, of which only {found} were found"]
