# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The guard: no module overwrites or takes down anything without asking it."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
    from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step

__all__ = ["Guard"]


class Guard:
    """Judges plans on this host. C(ours) are containers of our own: md:<uuid>, vg:<name or uuid>, partuuid:<uuid>."""

    def __init__(self, runner: Runner, consent: Consent, ours: frozenset[str] = frozenset()) -> None:
        self.runner, self.consent, self.ours = runner, consent, ours
        self.warnings: list[str] = []

    def check(self, plan: Plan) -> None:
        """Raises PlanRefused when the plan would overwrite or take down what it must not."""
        self.check_disks([path for path in plan.writes()], purpose="overwrite")

    def before_step(self, step: Step) -> None:
        """The last look before a step. Raises PlanRefused when the ground changed since the check."""

    def check_disks(
        self, paths: t.Sequence[str], require_consent: bool = True, purpose: str = "use"
    ) -> list[DiskIdentity]:
        """Every disk under these paths must be listed, blank or not, and unused. Returns their identities."""
        tree = read_tree()
        disks = {disk.kernel_name: disk for disk in read_disks(tree)}
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            mounted = {line.split()[2] for line in file}
        found = []
        for path in paths:
            node = tree.node_of(path)
            if node is None:
                continue
            for bottom in tree.disks_under(node):
                disk = disks.get(bottom.kernel_name)
                if disk is None or (require_consent and not self.consent.covers(disk)):
                    raise PlanRefused(f"asked to {purpose} {path}, but {bottom.kernel_name} is not in expendable_disks")
                if mounted & {user.devno for user in (bottom, *tree.users_of(bottom))}:
                    raise PlanRefused(f"asked to {purpose} {path}, but {disk.shown()} is mounted")
                found.append(disk)
        return found
