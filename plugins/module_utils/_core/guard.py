# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The guard: no module overwrites or takes down anything without asking it."""

from __future__ import annotations

import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.signatures import (
    read_memberships,
    read_signatures,
    scan_many,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import devno_of_path
from ansible_collections.plumbline.storage.plugins.module_utils._block.system import read_system_disks
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import (
    HELD_OPEN,
    exclusive_open_fails,
    read_uses,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.volume_groups import (
    local_system_id,
    read_physical_volumes,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_clear import takedown_steps, wipe_steps
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import (
    Closure,
    HostFacts,
    closure_of,
    container_key,
    containers_of,
    is_ours,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_judge import (
    KERNEL_USE,
    Removal,
    Request,
    judge_content,
    judge_disks,
    judge_use,
    needs_scan,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_request import request_of
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_words import Refusal, compose
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disk, read_disks

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["Guard"]

_LVMLOCKD_SOCKET = "/run/lvm/lvmlockd.socket"


class Guard:
    """Judges plans on this host.

    C(ours) are containers of our own, as the ownership record has them, or leavings of our half-done work: C(md:<uuid>), C(vg:<name or uuid>),
    C(partuuid:<uuid>). C(unmatched) are entries of the consent that name no disk of this host: normal in a list for
    many hosts, so it is for the controller to warn when an entry matches nowhere.
    """

    def __init__(self, runner: Runner, consent: Consent, ours: t.Iterable[str] = ()) -> None:
        self.runner, self.consent = runner, consent
        self.ours = frozenset(container_key(name) for name in ours)
        self.warnings: list[str] = []
        self.unmatched: tuple[str, ...] = ()
        self._planned: set[str] = set()
        self._ground: dict[str, BlockNode] = {}
        self._facts: HostFacts | None = None
        self._looked_again = False

    def check(self, plan: Plan) -> None:
        """Raises PlanRefused when the plan would overwrite or take down what it must not. Changes nothing."""
        self._looked_again = False
        if not plan.writes() and not plan.removes() and not plan.stops():
            return
        tree = read_tree()
        ground = {path: tree.node_of(path) for path in plan.writes()}
        self._planned.update(path for path, node in ground.items() if node is None)
        self._ground = {path: node for path, node in ground.items() if node is not None}
        if not self._ground and not plan.removes() and not plan.stops():
            return
        self._facts = self._judge(plan, self._read(tree))

    def before_step(self, step: Step) -> None:
        """The last look before a step: the same disks, and before the first that destroys, the same content too.

        Raises PlanRefused when the ground changed since the check.
        """
        if not step.writes and not step.removes:
            return
        unknown = [path for path in step.writes if path not in self._ground and path not in self._planned]
        if unknown:
            raise PlanRefused(f"internal error: {', '.join(unknown)} was not looked at before; nothing was overwritten")
        for path in step.writes:
            self._same_device(path)
        if not self._looked_again and self._facts is not None:
            self._looked_again = True
            self._same_content(self._facts)

    def check_disks(
        self, paths: t.Sequence[str], require_consent: bool = True, purpose: str = "use"
    ) -> list[DiskIdentity]:
        """For who will destroy later: every disk under these paths must be listed, blank or not, and unused.

        Idle containers on them are allowed when their whole closure is listed. Returns the identities of the disks, in
        order. Raises PlanRefused.
        """
        tree = read_tree()
        nodes = [self._existing(tree, path, purpose) for path in paths]
        everything = [user for node in nodes for user in (node, *tree.users_of(node))]
        leaves = [node for node in everything if not tree.above(node)]
        facts = self._quiet(self._read(tree), leaves, lambda seen: judge_disks(seen, nodes, purpose, False))
        facts = self._with_content(facts, nodes, Request())
        if require_consent:
            # What an unlisted disk holds is told even where no signature says it.
            facts = self._scanned(facts, [node for node in nodes if self._is_bare_and_unlisted(facts, node)])
        _raise(judge_disks(facts, nodes, purpose, require_consent))
        bottom = {disk.kernel_name: disk for node in nodes for disk in tree.disks_under(node)}
        return [facts.disks[name] for name in bottom]

    def closure(self, paths: t.Sequence[str]) -> Closure:
        """What would be lost with these devices: for C(takedown_steps)."""
        tree = read_tree()
        nodes = [self._existing(tree, path, "look at") for path in paths]
        return closure_of(self._with_content(self._read(tree), nodes, Request()), nodes)

    def clear_steps(self, paths: t.Sequence[str]) -> list[Step]:
        """Steps that take down what idles on these disks and wipe them whole. Put them into a plan and C(check) it."""
        tree = read_tree()
        nodes = [self._existing(tree, path, "clear") for path in paths]
        facts = self._with_content(self._read(tree), nodes, Request())
        dirty = [node for node in nodes if facts.signatures.get(node.kernel_name) or tree.above(node)]
        return [*takedown_steps(closure_of(facts, dirty)), *wipe_steps(tree, dirty)]

    def _existing(self, tree: BlockTree, path: str, purpose: str) -> BlockNode:
        node = tree.node_of(path)
        if node is None:
            raise PlanRefused(f"asked to {purpose} {path}, but there is no such block device on this host")
        return node

    def _read(self, tree: BlockTree) -> HostFacts:
        """The facts that need no program: devices, identities, uses, system disks."""
        uses = read_uses(tree)
        disks = {disk.kernel_name: disk for disk in read_disks(tree)}
        self.unmatched = self.consent.unmatched(disks.values())
        return HostFacts(tree, disks, uses, read_system_disks(tree, uses.mounts), self.consent, self.ours)

    def _quiet(
        self, facts: HostFacts, nodes: t.Sequence[BlockNode], judge: t.Callable[[HostFacts], list[Refusal]]
    ) -> HostFacts:
        """Adds what an exclusive open tells, and refuses what is in use. What udev opens for a moment is given time."""

        def busy() -> frozenset[str]:
            return frozenset(node.kernel_name for node in nodes if exclusive_open_fails(node.path))

        facts = facts._replace(busy=busy())
        refusals = judge(facts)
        if any(_may_pass(refusal) for refusal in refusals):
            self.runner.query(["udevadm", "settle", "--timeout=10"], ok=None)
            facts = facts._replace(uses=read_uses(facts.tree), busy=busy())
            refusals = judge(facts)
        _raise(refusals)
        return facts

    def _judge(self, plan: Plan, facts: HostFacts) -> HostFacts:
        request = request_of(plan, facts)
        nodes = [target.node for target in request.targets]
        products = [product for removal in request.removals for product in removal.products]
        facts = self._quiet(facts, [*nodes, *products], lambda seen: judge_use(seen, request))
        members = [member for removal in request.removals for member in removal.members]
        facts = self._with_content(facts, [*nodes, *products, *members], request)
        request = request_of(plan, facts)  # what is stopped is known only now
        facts = self._scanned(facts, needs_scan(facts, request))
        _raise([*judge_use(facts, request), *judge_content(facts, request)])
        return facts

    @staticmethod
    def _scanned(facts: HostFacts, nodes: t.Sequence[BlockNode]) -> HostFacts:
        """The facts with what reading these devices shows."""
        scans = scan_many([node.path for node in nodes])
        by_name = {node.kernel_name: scans[node.path] for node in nodes if node.path in scans}
        return facts._replace(scans={**facts.scans, **by_name})

    def _is_bare_and_unlisted(self, facts: HostFacts, node: BlockNode) -> bool:
        disk = facts.disks.get(node.kernel_name)
        bare = not facts.signatures.get(node.kernel_name) and not facts.tree.above(node)
        return bare and disk is not None and not self.consent.covers(disk)

    def _with_content(self, facts: HostFacts, nodes: t.Sequence[BlockNode], request: Request) -> HostFacts:
        """Adds signatures: of these devices and what stands on them; of all, when a container may reach further."""
        tree = facts.tree
        near = [*nodes, *(up for node in nodes for up in tree.users_of(node))]
        near += [lower for node in nodes if node.kind == "partition" for lower in tree.below(node)]
        facts = self._look(facts, near)
        foreign = [node for node in near if containers_of(facts, node) and not is_ours(facts, node)]
        stopped = not all(_seen_whole(facts, removal) for removal in request.removals)
        if foreign or stopped:
            facts = self._look(facts, [node for node in tree.nodes.values() if not _internal(node)], tolerant=True)
        if self._needs_lvm(facts, near, stopped):
            volumes = tuple(read_physical_volumes(self.runner))
            system_id = local_system_id(self.runner) if any(volume.system_id for volume in volumes) else None
            facts = facts._replace(volumes=volumes, system_id=system_id)
        return facts

    def _needs_lvm(self, facts: HostFacts, near: t.Sequence[BlockNode], removes: bool) -> bool:
        volumes = any(
            membership.container.startswith("pv:")
            for name, memberships in facts.memberships.items()
            for membership in memberships
            if not is_ours(facts, facts.tree.nodes[name])
        )
        hidden = any(
            not key.startswith(("md:", "pv:", "btrfs:")) for node in near for key in containers_of(facts, node)
        )
        locked = any(node.is_lvm for node in near) and os.path.exists(_LVMLOCKD_SOCKET)
        near_volume = any(key.startswith("pv:") for node in near for key in containers_of(facts, node))
        return locked or (volumes and (near_volume or hidden or removes))

    def _look(self, facts: HostFacts, nodes: t.Sequence[BlockNode], tolerant: bool = False) -> HostFacts:
        fresh = {n.kernel_name: n for n in nodes if n.readable and n.kernel_name not in facts.signatures}
        if not fresh:
            return facts
        found = read_signatures(self.runner, [node.path for node in fresh.values()], tolerant=tolerant)
        signatures = {name: found[node.path] for name, node in fresh.items() if node.path in found}
        memberships = {name: read_memberships(fresh[name].path, items) for name, items in signatures.items() if items}
        return facts._replace(
            signatures={**facts.signatures, **signatures},
            memberships={**facts.memberships, **memberships},
        )

    def _same_device(self, path: str) -> None:
        devno = devno_of_path(path)
        node = self._ground.get(path)
        if node is None:
            new = read_tree().numbered(devno) if devno is not None else None
            if new is not None and new.kind == "disk":
                raise PlanRefused(f"{path} did not exist when the plan was made, and is a disk now; it was not touched")
            return
        if devno != node.devno:
            self._same_ground(path, devno, node)
            return
        for disk in self._facts.tree.disks_under(node) if self._facts else ():
            before = self._facts.disks.get(disk.kernel_name) if self._facts else None
            now = read_disk(disk)
            if before is not None and (before.serial_number, before.wwn) != (now.serial_number, now.wwn):
                raise PlanRefused(
                    f"{path} was {before.shown()} when the plan was made and is {now.shown()} now; it was not touched"
                )

    def _same_ground(self, path: str, devno: str | None, before: BlockNode) -> None:
        """A partition or volume that was made anew by this plan may have another number, but not other disks."""
        if devno is None:
            return  # gone: the step itself will say so
        tree = read_tree()
        new = tree.numbered(devno)
        known = self._facts.tree if self._facts else tree
        allowed = {disk.devno for node in self._ground.values() for disk in known.disks_under(node)}
        if new is None or not tree.below(new) or not known.below(before):
            raise PlanRefused(f"{path} is another device than when the plan was made; it was not touched")
        if not {disk.devno for disk in tree.disks_under(new)} <= allowed:
            raise PlanRefused(f"{path} lies on other disks than when the plan was made; it was not touched")

    def _same_content(self, facts: HostFacts) -> None:
        tree = read_tree()
        nodes = []
        for path, before in self._ground.items():
            node = tree.node_of(path)
            if node is None or node.size_bytes != before.size_bytes:
                raise PlanRefused(f"{path} changed since the plan was made; nothing was overwritten")
            nodes.append(node)
        found = read_signatures(self.runner, [node.path for node in nodes if node.readable])
        scanned = [node.path for node in nodes if node.kernel_name in facts.scans]
        scans = scan_many(scanned)
        for node in nodes:
            same = found.get(node.path, ()) == facts.signatures.get(node.kernel_name, ())
            if not same or (node.path in scans and not scans[node.path].all_zero):
                raise PlanRefused(
                    f"the content of {node.kernel_name} changed since the plan was made; nothing was overwritten. Run again."
                )


def _may_pass(refusal: Refusal) -> bool:
    return HELD_OPEN in refusal.sentence or KERNEL_USE in refusal.sentence


def _seen_whole(facts: HostFacts, removal: Removal) -> bool:
    """True when all that a removal touches is known without looking at other devices."""
    if removal.key in facts.ours or not removal.takes_down or removal.empty or removal.keeps:
        return True
    return bool(removal.products) and not removal.key.startswith("vg:")


def _internal(node: BlockNode) -> bool:
    """Parts of logical volumes that LVM hides: their content is that of the volume."""
    name = node.lv_name or ""
    return any(
        part in name for part in ("_rimage_", "_rmeta_", "_mimage_", "_mlog", "_tdata", "_tmeta", "_cdata", "_cmeta")
    )


def _raise(refusals: t.Sequence[Refusal]) -> None:
    if refusals:
        raise PlanRefused(compose(refusals))
