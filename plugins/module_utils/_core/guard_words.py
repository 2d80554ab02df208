# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The guard's words: what was found, and what to do. Pure."""

from __future__ import annotations

import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, Signature
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import HostFacts
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity

__all__ = [
    "Refusal",
    "advice_for",
    "compose",
    "content_of",
    "join_words",
    "node_words",
    "short_content",
    "signature_words",
]

_KINDS = {
    "swap": "swap space",
    "crypto_LUKS": "a LUKS encrypted volume",
    "gpt": "a partition table (gpt)",
    "PMBR": "a partition table (gpt)",
    "dos": "a partition table (dos)",
    "LVM2_member": "an LVM physical volume",
    "bcache": "a member of a bcache set",
}
_SHORT = {
    "swap": "swap space",
    "crypto_LUKS": "LUKS",
    "gpt": "partition table (gpt)",
    "PMBR": "partition table (gpt)",
    "dos": "partition table (dos)",
    "linux_raid_member": "member of the md array",
    "LVM2_member": "LVM physical volume",
    "zfs_member": "member of the ZFS pool",
}


class Refusal(t.NamedTuple):
    """One sentence, and the disks that would have to be listed to lift it (none: nothing lifts it)."""

    sentence: str
    unlisted: tuple[DiskIdentity, ...] = ()


def compose(refusals: t.Sequence[Refusal]) -> str:
    """All refusals as one text: each sentence once, that nothing was changed, and what to add."""
    sentences = list(dict.fromkeys(refusal.sentence for refusal in refusals))
    disks = {disk.kernel_name: disk for refusal in refusals for disk in refusal.unlisted}
    text = "\n".join(sentences) + " Nothing was changed."
    hopeless = any(not refusal.unlisted for refusal in refusals)
    return text if hopeless or not disks else text + "\n" + advice_for(list(disks.values()))


def advice_for(disks: t.Sequence[DiskIdentity]) -> str:
    """The line that says what to add; a disk that cannot be named is said so."""
    entries = [entry for entry in map(_entry, disks) if entry is not None]
    nameless = [disk.shown() for disk in disks if _entry(disk) is None]
    lines = []
    if entries:
        lines.append(
            f"If {'its' if len(disks) == 1 else 'their'} content may be lost, add {', '.join(entries)} to "
            "expendable_disks of this host."
        )
    if nameless:
        lines.append(f"{join_words(nameless)} cannot be listed: nothing tells it from another disk.")
    return "\n".join(lines)


def _entry(disk: DiskIdentity) -> str | None:
    names = disk.names()
    if names:
        return f'"{names[0]}"'
    if disk.by_path and disk.device_kind not in ("unknown", "loop"):
        return f'{{by_path: "{disk.by_path[0]}", capacity: "{disk.capacity_bytes}B", host: "{disk.host}"}}'
    return None


def signature_words(signature: Signature, group: str | None = None, array: str | None = None) -> str:
    """Such as C(an ext4 file system "home" (UUID 5f0c…))."""
    if signature.type == "LVM2_member" and group:
        return f'a physical volume of the volume group "{group}"'
    if signature.type == "linux_raid_member":
        name = array or signature.label
        known = f' "{name}"' if name else ""
        return f"a member of the md array{known} (UUID {signature.uuid})"
    if signature.type == "zfs_member":
        return f'a member of the ZFS pool "{signature.label}"'
    if signature.type.endswith("_raid_member"):
        return f"a member of a RAID set of the firmware ({signature.type})"
    words = _KINDS.get(signature.type)
    if words is None:
        article = "an" if signature.type[:1].lower() in "aeiox" else "a"
        what = "file system" if signature.usage in (None, "filesystem") else "signature"
        words = f"{article} {signature.type} {what}"
    label = f' "{signature.label}"' if signature.label else ""
    uuid = f" (UUID {signature.uuid})" if signature.uuid else ""
    return words + label + uuid


def content_of(facts: HostFacts, node: BlockNode, but: t.Container[str] = ()) -> list[str]:
    """What signatures on a device say in words, each once, without memberships in the containers of C(but)."""
    words = []
    memberships = facts.memberships.get(node.kernel_name, ())
    array = next((m.name for m in memberships if m.container.startswith("md:")), None)
    volume = facts.volume_on(node)
    for signature in facts.signatures.get(node.kernel_name, ()):
        group = None
        if signature.type == "LVM2_member":
            group = volume.vg_name if volume is not None else None
            if volume is not None and (f"vg:{volume.vg_uuid}" in but or (group is None and f"pv:{node.devno}" in but)):
                continue
        if signature.type == "linux_raid_member" and any(m.container in but for m in memberships):
            continue
        words.append(signature_words(signature, group, array))
    return list(dict.fromkeys(words))


def short_content(facts: HostFacts, node: BlockNode) -> list[str]:
    """As C(content_of), in the few words of a table: C(ext4 "home"), C(partition table (gpt))."""
    memberships = facts.memberships.get(node.kernel_name, ())
    array = next((m.name for m in memberships if m.container.startswith("md:") and m.name), None)
    words = []
    for signature in facts.signatures.get(node.kernel_name, ()):
        label = array if signature.type == "linux_raid_member" else signature.label
        text = _SHORT.get(signature.type, signature.type)
        words.append(f'{text} "{label}"' if label else text)
    return list(dict.fromkeys(words))


def node_words(facts: HostFacts, node: BlockNode) -> str:
    """A device for a sentence: with model and serial number when it is a disk, with its disk when it is a partition."""
    disk = facts.disks.get(node.kernel_name)
    if disk is not None:
        return disk.shown()
    parent = facts.disks.get(node.parent or "")
    if parent is not None:
        return f"{node.kernel_name} on {parent.shown()}"
    if node.is_lvm and node.vg_name:
        return f"{node.vg_name}/{node.lv_name}"
    return f"{node.dm_name} ({node.kernel_name})" if node.dm_name else node.kernel_name


def join_words(words: t.Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
