# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsers of what the guard reads, on output and superblocks of a Debian 12 guest."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import (
    Membership,
    Mount,
    PhysicalVolume,
    Signature,
)
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import (
    has_volume_label,
    md_data_offset,
    parse_membership,
    parse_mountinfo,
    parse_physical_volumes,
    parse_swaps,
    parse_wipefs,
    superblock_start,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
TOOLS = FIXTURES / "util-linux-2.38.1"
MD_UUID = "48e6b929be6a8c025f640867c00fa5d0"
RAID = Signature("linux_raid_member", 4096, "48e6b929-be6a-8c02-5f64-0867c00fa5d0", "any:t", "raid")


def block(name: str) -> bytes:
    return (FIXTURES / "superblocks-6.1" / f"{name}.bin").read_bytes()


def test_wipefs_of_many_devices() -> None:
    found = parse_wipefs((TOOLS / "wipefs_many.json").read_text())
    assert {name: sorted({one.type for one in items}) for name, items in found.items()} == {
        "md127": ["LVM2_member"],
        "sdb": ["btrfs"],
        "sdc": ["btrfs"],
        "sdd": ["vfat"],
        "sdd1": ["vfat"],
        "sde": ["ext4"],
        "sdf": ["PMBR", "gpt"],
        "sdf1": ["linux_raid_member"],
        "sdh": ["swap"],
        "sdi": ["PMBR", "gpt"],
        "sdi1": ["linux_raid_member"],
        "vdb": ["bcache"],
    }
    assert found["sde"] == (Signature("ext4", 0x438, "9b34f1cd-1939-4f71-bea1-9d4c2c28a72e", "home one", "filesystem"),)
    assert [one.offset_bytes for one in found["sdf"]] == [0x1FE, 0x200, 0x1FFFFE00]


def test_wipefs_of_a_blank_disk_and_of_an_old_array() -> None:
    assert parse_wipefs((TOOLS / "wipefs_blank.json").read_text()) == {}
    assert parse_wipefs("") == {}
    old = parse_wipefs((TOOLS / "wipefs_md_0_90.json").read_text())["sdf1"]
    assert [(one.type, one.uuid) for one in old] == [("linux_raid_member", "f7ff7e83-113f-1850-4d57-75a809d4eac2")]


@pytest.mark.parametrize("text", ["not JSON", "{}", '{"signatures": [{"device": "sda"}]}', '{"signatures": 7}'])
def test_other_output_of_wipefs_is_an_error(text: str) -> None:
    with pytest.raises(ParseError, match="wipefs"):
        parse_wipefs(text)


def test_an_md_superblock_tells_members_and_events() -> None:
    assert superblock_start(RAID) == 4096
    membership = parse_membership(RAID, block("md12"))
    assert membership is not None
    assert (membership.container, membership.name) == (f"md:{MD_UUID}", "any:t")
    assert (membership.expected_members, membership.counts) == (2, True)
    assert md_data_offset(block("md12")) == 1024**2


def test_a_spare_and_a_failed_member_do_not_count() -> None:
    data = bytearray(block("md12"))
    number = struct.unpack_from("<I", data, 160)[0]
    struct.pack_into("<H", data, 256 + 2 * number, 0xFFFE)
    membership = parse_membership(RAID, bytes(data))
    assert membership is not None
    assert (membership.expected_members, membership.counts) == (1, False)


def test_an_old_md_superblock() -> None:
    # Made by hand after md_p.h: two of two members active, this one in slot 1, 7 events.
    words = [0] * 1024
    words[0], words[10], words[34], words[38], words[992 + 3] = 0xA92B4EFC, 2, 2, 7, 1
    words[5], words[13], words[14], words[15] = 0xF7FF7E83, 0x113F1850, 0x4D5775A8, 0x09D4EAC2
    membership = parse_membership(RAID, struct.pack("<1024I", *words))
    assert membership == Membership("md:f7ff7e83113f18504d5775a809d4eac2", None, 2, True, 7)
    assert md_data_offset(struct.pack("<1024I", *words)) is None


@pytest.mark.parametrize("data", [None, b"", bytes(4096)])
def test_a_superblock_that_cannot_be_read_still_names_its_array(data: bytes | None) -> None:
    assert parse_membership(RAID, data) == Membership(f"md:{MD_UUID}", "any:t")


def test_btrfs_tells_its_number_of_devices() -> None:
    signature = Signature("btrfs", 0x10040, "2758", None, "filesystem")
    assert superblock_start(signature) == 0x10000
    assert parse_membership(signature, block("btrfs")) == Membership("btrfs:2758", None, 2)


def test_bcache_tells_its_set() -> None:
    signature = Signature("bcache", 0x1018, "81eaada7-a526-4967-acd2-085a68de7445", None, "other")
    assert superblock_start(signature) == 4096
    membership = parse_membership(signature, block("bcache"))
    assert membership is not None
    assert membership.container == f"bcache:{block('bcache')[56:72].hex()}"
    assert "81eaada7" not in membership.container


@pytest.mark.parametrize(
    ("signature", "container"),
    [
        (Signature("zfs_member", 1, "1234", "tank"), "zfs:1234"),
        (Signature("LVM2_member", 1, "pv-1"), "pv:pv-1"),
        (Signature("isw_raid_member", 1), "isw_raid_member:all"),
        (Signature("ext4", 1, "u"), None),
        (Signature("gpt", 1), None),
    ],
)
def test_memberships_by_signature_alone(signature: Signature, container: str | None) -> None:
    membership = parse_membership(signature, None)
    assert (membership.container if membership else None) == container


def test_a_volume_label_is_found_in_any_of_the_first_sectors() -> None:
    assert has_volume_label(bytes(512) + b"LABELONE" + bytes(1000))
    assert not has_volume_label(bytes(100) + b"LABELONE" + bytes(1000))
    assert not has_volume_label(None)


def test_physical_volumes() -> None:
    assert parse_physical_volumes((FIXTURES / "lvm-2.03.16/pvs.json").read_text()) == [
        PhysicalVolume(
            "/dev/md127", "gW37wh-AHuY-7q3W-UDa2-kk12-AULH-O1hhqR", "a-b", "MsTaM2vcRbfL53tUyoHIgUp4eryjsXg5", 1
        )
    ]


def test_missing_shared_and_foreign_volumes() -> None:
    line = json.loads((FIXTURES / "lvm-2.03.16/pvs.json").read_text())["report"][0]["pv"][0]
    line.update(
        pv_name="[unknown]", pv_missing="missing", vg_missing_pv_count="1", vg_lock_type="sanlock", vg_systemid="x"
    )
    volume = parse_physical_volumes(json.dumps({"report": [{"pv": [line]}]}))[0]
    assert (volume.path, volume.vg_missing_count, volume.shared, volume.system_id) == (None, 1, True, "x")


@pytest.mark.parametrize("text", ["", "{}", '{"report": [{"pv": [{}]}]}'])
def test_other_output_of_pvs_is_an_error(text: str) -> None:
    with pytest.raises(ParseError, match="pvs"):
        parse_physical_volumes(text)


def test_mountinfo_with_blanks_in_names() -> None:
    mounts = parse_mountinfo((TOOLS / "mountinfo.txt").read_text(), "process 7 (fio)")
    assert Mount("254:0", "/", "ext4", "/dev/vda", "rw", "process 7 (fio)") in mounts
    assert Mount("8:64", "/mnt/a b", "ext4", "/dev/sde", "rw", "process 7 (fio)") in mounts


def test_swaps() -> None:
    assert parse_swaps((TOOLS / "swaps.txt").read_text()) == [("/dev/sdh", "partition")]
