# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The block tree and the identities of disks, read from a copy of a guest's sysfs."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockTree
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import md_uuid_digits, read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures" / "sysfs-6.1"


def unpack(recorded: Path, root: Path) -> str:
    """Lays a recorded sysfs out as files and links. Returns its root."""
    data = json.loads(recorded.read_text())
    for name, content in data["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else base64.b64decode(content["base64"]))
    for name, target in data["links"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (root / target).mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.symlink_to(root / target)
    return str(root)


@pytest.fixture
def tree(tmp_path: Path) -> BlockTree:
    return read_tree(unpack(FIXTURES / "stack.json", tmp_path / "sys"), str(tmp_path / "dev"))


@pytest.fixture
def by_serial(tree: BlockTree, tmp_path: Path) -> dict[str, DiskIdentity]:
    return {str(disk.serial_number): disk for disk in read_disks(tree, str(tmp_path / "dev"))}


def test_relations_of_a_stack(tree: BlockTree, by_serial: dict[str, DiskIdentity]) -> None:
    first = tree.nodes[by_serial["6SJ0000012"].kernel_name]
    part = tree.nodes[first.partitions[0]]
    array = next(node for node in tree.nodes.values() if node.kind == "md")
    volume = next(node for node in tree.nodes.values() if node.is_lvm)
    assert (part.kind, part.parent, part.partition_number, part.partition_start_bytes) == (
        "partition",
        first.kernel_name,
        1,
        1024**2,
    )
    assert tree.users_of(first) == [part, array, volume]
    assert {tree.nodes[node.kernel_name].kind for node in tree.disks_under(volume)} == {"disk"}
    assert len(tree.disks_under(volume)) == 2
    assert (array.md_level, volume.vg_name, volume.lv_name) == ("raid1", "a-b", "l-1")
    assert tree.disks_under(first) == [first]


@pytest.mark.parametrize(
    ("serial", "expected"),
    [
        (
            "WD-WCASJ0000001",
            {
                "transport": "sata",
                "model": "WDC WD10EACS-00D6B1",
                "firmware_revision": "01.01A01",
                "firmware_complete": True,
                "firmware_source": "vpd_pg89",
                "rotation_rate_rpm": 7200,
                "media_type": "rotating",
                "device_kind": "physical_disk",
            },
        ),
        ("WD-WCASJ0000002", {"wwn": "naa.50014ee2ad5d1234", "identity_confidence": "high"}),
        ("S5Y1NJ0R000004", {"media_type": "ssd", "rotation_rate_rpm": 0, "firmware_revision": "SVT02B6Q"}),
        (
            "6SJ0000010",
            {
                "transport": "scsi",
                "vendor": "SEAGATE",
                "model": "ST3300657SS",
                "firmware_revision": "0006",
                "wwn": "naa.5000c50000000010",
                "rotation_rate_rpm": 15000,
                "firmware_complete": True,
            },
        ),
        ("6SJ0000011", {"wwn": None, "identity_confidence": "medium"}),
        ("S4EWNX0R000012", {"transport": "nvme", "namespace_id": 1, "wwn": None, "device_kind": "virtual_disk"}),
        ("virt-000014", {"transport": "virtio", "model": None, "media_type": "unknown", "device_kind": "virtual_disk"}),
    ],
)
def test_identities(by_serial: dict[str, DiskIdentity], serial: str, expected: dict[str, object]) -> None:
    record = by_serial[serial]._asdict()
    assert {name: record[name] for name in expected} == expected


def test_names_to_list_disks_by(by_serial: dict[str, DiskIdentity]) -> None:
    assert by_serial["WD-WCASJ0000002"].names() == ("WD-WCASJ0000002", "naa.50014ee2ad5d1234")
    assert by_serial["S4EWNX0R000012"].names() == ("S4EWNX0R000012/n1",)
    assert by_serial["virt-000014"].names() == ("virt-000014",)


def test_arrays_and_volumes_are_no_disks(tree: BlockTree, by_serial: dict[str, DiskIdentity]) -> None:
    assert {tree.nodes[disk.kernel_name].kind for disk in by_serial.values()} == {"disk"}
    assert all(disk.capacity_bytes for disk in by_serial.values())


@pytest.mark.parametrize("version", ["mdadm-4.2", "mdadm-4.4"])
@pytest.mark.parametrize("case", ["old090", "raid5"])
def test_uuids_of_arrays_are_those_of_mdadm(version: str, case: str) -> None:
    folder = FIXTURES.parent / version
    kernel, said = (
        dict(line.split("=", 1) for line in (folder / f"{case}.{kind}").read_text().splitlines())
        for kind in ("sysfs", "detail-export")
    )
    digits = said["MD_UUID"].replace(":", "")
    assert md_uuid_digits(kernel["uuid"], kernel["metadata_version"], "little") == digits
    assert md_uuid_digits("00000000-0000-0000-0000-000000000000") is None
