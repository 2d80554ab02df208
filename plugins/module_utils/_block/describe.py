# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What each disk of a host holds, in one phrase, and the list of disks that a person chooses from."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.signatures import (
    read_memberships,
    read_signatures,
    scan_many,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.system import read_system_disks
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_uses
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import HostFacts
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_words import short_content
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

__all__ = ["content_phrase", "describe_disks", "format_capacity", "render_disks_seen"]


def describe_disks(
    runner: Runner, tree: BlockTree, disks: t.Sequence[DiskIdentity] | None = None
) -> list[dict[str, t.Any]]:
    """One record per disk: its identity, C(content) in one phrase, C(blank), and C(usable): could be used if listed.

    Needs root. One call of wipefs for all; disks without a signature are read at both ends.
    """
    identities = list(read_disks(tree) if disks is None else disks)
    facts = _read_facts(runner, tree, identities)
    described = []
    for disk in identities:
        content, usable = content_phrase(facts, tree.nodes[disk.kernel_name])
        described.append({**disk.record(), "content": content, "usable": usable, "blank": content == "blank"})
    return described


def _read_facts(runner: Runner, tree: BlockTree, disks: t.Sequence[DiskIdentity]) -> HostFacts:
    uses = read_uses(tree)
    system = read_system_disks(tree, uses.mounts)
    free = [tree.nodes[disk.kernel_name] for disk in disks if disk.kernel_name not in system.holds]
    near = {node.kernel_name: node for disk in free for node in (disk, *tree.users_of(disk)) if node.readable}
    found = read_signatures(runner, [node.path for node in near.values()], tolerant=True)
    signatures = {name: found[node.path] for name, node in near.items() if node.path in found}
    memberships = {name: read_memberships(near[name].path, items) for name, items in signatures.items() if items}
    bare = [node for node in free if signatures.get(node.kernel_name) == () and not tree.above(node)]
    scans = scan_many([node.path for node in bare])
    return HostFacts(
        tree,
        {disk.kernel_name: disk for disk in disks},
        uses,
        system,
        Consent(),
        signatures=signatures,
        memberships=memberships,
        scans={node.kernel_name: scans[node.path] for node in bare},
    )


def content_phrase(facts: HostFacts, disk: BlockNode) -> tuple[str, bool]:
    """What a disk holds, and whether it could be used if it were listed. Pure."""
    if disk.kernel_name in facts.system.holds:
        return f"holds {facts.system.holds[disk.kernel_name]} (never usable)", False
    if disk.kernel_name in facts.disks and facts.disks[disk.kernel_name].device_kind == "unknown":
        return f"{disk.kind} device (never usable)", False
    above = facts.tree.users_of(disk)
    held = [short_content(facts, node) for node in (disk, *above) if node.kind not in ("md", "dm")]
    inside = [short_content(facts, node) for node in above if node.kind in ("md", "dm")]
    words = [text for texts in held for text in texts] + [f"in it {text}" for texts in inside for text in texts]
    uses = list(dict.fromkeys(use for node in (disk, *above) for use in facts.uses.of(node)))
    if uses:
        return ", ".join([*dict.fromkeys(words), *uses]), False
    if words:
        quiet = ", not mounted" if any(_is_filesystem(facts, node) for node in (disk, *above)) else ""
        return ", ".join(dict.fromkeys(words)) + quiet, not disk.read_only
    scan = facts.scans.get(disk.kernel_name)
    if disk.kernel_name not in facts.signatures:
        return "could not be read", False
    state = "not read" if scan is None else ("blank" if scan.all_zero else "unrecognised data")
    return (f"{state}, read-only", False) if disk.read_only else (state, True)


def _is_filesystem(facts: HostFacts, node: BlockNode) -> bool:
    return any(one.usage == "filesystem" for one in facts.signatures.get(node.kernel_name, ()))


def format_capacity(capacity_bytes: int) -> str:
    """As it is printed on the disk: C(1.0 TB), C(500 GB)."""
    for unit, power in (("TB", 4), ("GB", 3), ("MB", 2), ("kB", 1)):
        if capacity_bytes >= 1000**power:
            number = capacity_bytes / 1000**power
            return f"{number:.1f} {unit}" if number < 100 else f"{number:.0f} {unit}"
    return f"{capacity_bytes} B"


def render_disks_seen(host: str, disks: t.Sequence[t.Mapping[str, t.Any]]) -> str:
    """The text for a host on which nothing is listed: its disks, and the lines to paste. Pure."""
    shown = [disk for disk in disks if disk["device_kind"] not in ("loop", "unknown") or disk["usable"]]
    lines = _aligned([_row(disk) for disk in shown])
    head = f"{host}: no disk of this host is listed in expendable_disks, so nothing was changed."
    if not shown:
        return f"{head} No disk was seen."
    blank = [entry for entry in (_entry(disk) for disk in shown if disk["usable"] and disk["blank"]) if entry]
    usable = [disk for disk in shown if disk["usable"] and _entry(disk)]
    if not usable:
        return "\n".join([f"{head} Disks seen:", *lines, "None of them can be used."])
    entries = blank or ['"<serial number of a disk whose content may be lost>"']
    return "\n".join(
        [
            f"{head} Disks seen:",
            *lines,
            f"To use some of them, put this into host_vars/{host}.yml and run again (their content will be lost):",
            f"  expendable_disks: [{', '.join(entries)}]",
        ]
    )


def _row(disk: t.Mapping[str, t.Any]) -> list[str]:
    serial = disk["serial_number"]
    return [
        disk["kernel_name"],
        disk["model"] or disk["transport"],
        disk["firmware_revision"] or "-",
        f'"{serial}"' if serial else "-",
        format_capacity(disk["capacity_bytes"]),
        disk["media_type"],
        disk["content"],
    ]


def _aligned(rows: t.Sequence[t.Sequence[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _entry(disk: t.Mapping[str, t.Any]) -> str | None:
    if disk["expendable_names"]:
        return f'"{disk["expendable_names"][0]}"'
    if disk["by_path"]:
        place, size = disk["by_path"][0], disk["capacity_bytes"]
        return f'{{by_path: "{place}", capacity: "{size}B", host: "{disk["host"]}"}}'
    return None
