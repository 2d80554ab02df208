# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a disk holds in one phrase, and the list of disks seen."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.describe import (
    content_phrase,
    format_capacity,
    render_disks_seen,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import (
    BlankScan,
    BlockNode,
    BlockTree,
    Membership,
    Signature,
    SystemDisks,
    Uses,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import HostFacts
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity

EXT4 = Signature("ext4", 1080, "5f0c", "home", "filesystem")
RAID = Signature("linux_raid_member", 4096, "0123", None, "raid")


def facts(*nodes: BlockNode, **more: t.Any) -> HostFacts:
    disks = {node.kernel_name: DiskIdentity(node.kernel_name, node.path) for node in nodes if node.kind == "disk"}
    tree = BlockTree({node.kernel_name: node for node in nodes})
    return HostFacts(tree, disks, more.pop("uses", Uses()), more.pop("system", SystemDisks()), Consent(), **more)


def node(name: str, kind: str = "disk", **more: t.Any) -> BlockNode:
    return BlockNode(name, f"/dev/{name}", f"dev-{name}", 2**30, kind, **more)


@pytest.mark.parametrize(
    ("more", "phrase", "usable"),
    [
        ({"signatures": {"sdb": ()}, "scans": {"sdb": BlankScan(2**30)}}, "blank", True),
        ({"signatures": {"sdb": ()}, "scans": {"sdb": BlankScan(2**30, 5)}}, "unrecognised data", True),
        ({}, "could not be read", False),
        ({"signatures": {"sdb": (EXT4,)}}, 'ext4 "home", not mounted', True),
        (
            {"signatures": {"sdb": (EXT4,)}, "uses": Uses({"dev-sdb": ("mounted on /home",)})},
            'ext4 "home", mounted on /home',
            False,
        ),
        ({"system": SystemDisks({"sdb": "/"})}, "holds / (never usable)", False),
        (
            {"signatures": {"sdb": (RAID,)}, "memberships": {"sdb": (Membership("md:0123", "h:data"),)}},
            'member of the md array "h:data"',
            True,
        ),
        ({"signatures": {"sdb": (Signature("gpt", 512), Signature("PMBR", 510))}}, "partition table (gpt)", True),
    ],
)
def test_content_phrase(more: dict[str, t.Any], phrase: str, usable: bool) -> None:
    one = node("sdb")
    assert content_phrase(facts(one, **more), one) == (phrase, usable)


def test_what_lies_in_partitions_and_arrays_is_told() -> None:
    nodes = (
        node("sdb", partitions=("sdb1",)),
        node("sdb1", "partition", parent="sdb", holders=("md127",)),
        node("md127", "md", slaves=("sdb1",)),
    )
    found = facts(*nodes, signatures={"sdb": (Signature("gpt", 512),), "sdb1": (RAID,), "md127": (EXT4,)})
    assert content_phrase(found, nodes[0]) == (
        'partition table (gpt), member of the md array, in it ext4 "home", not mounted',
        True,
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [(1000204886016, "1.0 TB"), (500107862016, "500 GB"), (536870912, "537 MB"), (8001563222016, "8.0 TB"), (0, "0 B")],
)
def test_capacities_as_printed_on_disks(size: int, text: str) -> None:
    assert format_capacity(size) == text


def seen(name: str, content: str, usable: bool, **more: t.Any) -> dict[str, t.Any]:
    disk = DiskIdentity(name, f"/dev/{name}", capacity_bytes=1000204886016, media_type="rotating", host="db7", **more)
    return {**disk.record(), "content": content, "usable": usable, "blank": content == "blank"}


def test_the_list_names_the_way_on() -> None:
    text = render_disks_seen(
        "db7",
        [
            seen("sda", "blank", True, model="WDC WD10EACS-00D6B1", firmware_revision="01.01A01", serial_number="WD-1"),
            seen(
                "sdb", 'ext4 "home", not mounted', True, model="WDC", firmware_revision="01.01B01", serial_number="WD-2"
            ),
            seen("sdc", "holds / (never usable)", False, model="Samsung SSD 870", serial_number="S5Y1"),
            seen(
                "sdd",
                "blank",
                True,
                model="QEMU HARDDISK",
                serial_number="QM00003",
                by_path=("pci-0000:00:1f.2-ata-3",),
            ),
        ],
    )
    assert text.splitlines() == [
        "db7: no disk of this host is listed in expendable_disks, so nothing was changed. Disks seen:",
        '  sda  WDC WD10EACS-00D6B1  01.01A01  "WD-1"     1.0 TB  rotating  blank',
        '  sdb  WDC                  01.01B01  "WD-2"     1.0 TB  rotating  ext4 "home", not mounted',
        '  sdc  Samsung SSD 870      -         "S5Y1"     1.0 TB  rotating  holds / (never usable)',
        '  sdd  QEMU HARDDISK        -         "QM00003"  1.0 TB  rotating  blank',
        "To use some of them, put this into host_vars/db7.yml and run again (their content will be lost):",
        '  expendable_disks: ["WD-1", {by_path: "pci-0000:00:1f.2-ata-3", capacity: "1000204886016B", host: "db7"}]',
    ]


def test_a_disk_with_content_is_never_suggested() -> None:
    text = render_disks_seen("db7", [seen("sdb", 'ext4 "home", not mounted', True, serial_number="WD-2")])
    assert text.endswith('expendable_disks: ["<serial number of a disk whose content may be lost>"]')


def test_a_host_without_a_usable_disk() -> None:
    assert render_disks_seen("db7", []).endswith("No disk was seen.")
    assert render_disks_seen("db7", [seen("sda", "holds / (never usable)", False)]).endswith(
        "None of them can be used."
    )
