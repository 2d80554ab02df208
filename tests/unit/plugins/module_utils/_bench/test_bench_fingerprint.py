# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints: tables of device-mapper, LVM's backup, packages, and the two hashes."""

from __future__ import annotations

import copy
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.fingerprint import dm_segments, split_dm_tables
from ansible_collections.plumbline.storage.plugins.module_utils._bench.hashes import disks_hash, settings_hash
from ansible_collections.plumbline.storage.plugins.module_utils._bench.host import parse_packages
from ansible_collections.plumbline.storage.plugins.module_utils._bench.lvm_backup import parse_vg_backup
from ansible_collections.plumbline.storage.plugins.module_utils._block.dm_table import parse_dm_table

# Hand-made after the form of `dmsetup table`.
TABLES = "v-l: 0 2457600 linear 9:127 3072\nv-l: 2457600 8192 linear 8:1 2048\nw-s: 0 8192 striped 2 128 8:1 2048 8:17 4096\n"


def fingerprint() -> dict[str, t.Any]:
    disk = {"model": "M", "firmware_revision": "F", "serial_number": "S1", "wwn": None, "capacity_bytes": 7}
    return {
        "layers": [
            {"kind": "xfs", "name": "xfs", "on": ["md127"], "xfs": {"uuid": "u", "agcount": 8}},
            {
                "kind": "md",
                "name": "md127",
                "path": "/dev/md127",
                "on": ["sda", "sdb"],
                "md": {"uuid": "v", "level": "raid5"},
            },
            {"kind": "disk", "name": "sda", "path": "/dev/sda", "queue": {"nr_requests": 64}, "disk": disk},
            {
                "kind": "disk",
                "name": "sdb",
                "path": "/dev/sdb",
                "queue": {"nr_requests": 32},
                "disk": {**disk, "serial_number": "S2"},
            },
        ],
        "host": {"kernel": "6.1", "tools": {"fio": "3.33"}},
    }


def test_tables_by_device() -> None:
    tables = split_dm_tables(TABLES + "No devices found\n")
    assert list(tables) == ["v-l", "w-s"]
    assert tables["v-l"].splitlines() == ["0 2457600 linear 9:127 3072", "2457600 8192 linear 8:1 2048"]


def test_segments_with_their_places() -> None:
    tables = split_dm_tables(TABLES)
    names = {"9:127": "md127", "8:1": "sda1", "8:17": "sdb1"}
    linear = dm_segments(parse_dm_table(tables["v-l"]), names.get)
    assert (linear["segment_type"], linear["stripes"], linear["stripe_bytes"]) == ("linear", 1, None)
    assert linear["start_offset_bytes"] == [3072 * 512]
    assert linear["segments"][1]["areas"] == [{"device": "sda1", "offset_bytes": 2048 * 512}]
    striped = dm_segments(parse_dm_table(tables["w-s"]), names.get)
    assert (striped["segment_type"], striped["stripes"], striped["stripe_bytes"]) == ("striped", 2, 65536)
    assert striped["start_offset_bytes"] == [2048 * 512, 4096 * 512]
    assert dm_segments((), names.get) == {"segment_type": None}


def test_the_same_stack_built_again_hashes_the_same() -> None:
    again = copy.deepcopy(fingerprint())
    again["layers"][0]["xfs"]["uuid"] = "another"
    again["layers"][1].update({"name": "md126", "path": "/dev/md126", "on": ["sdb", "sda"]})
    again["layers"][1]["md"]["uuid"] = "another"
    again["layers"][2]["name"], again["layers"][3]["name"] = "sdb", "sda"
    again["layers"] = [again["layers"][index] for index in (0, 1, 3, 2)]
    assert settings_hash(again) == settings_hash(fingerprint())
    assert disks_hash(again) == disks_hash(fingerprint())


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("layers", 0, "xfs", "agcount"), 4),
        (("layers", 1, "md", "level"), "raid6"),
        (("layers", 3, "queue", "nr_requests"), 64),
        (("host", "kernel"), "6.12"),
        (("host", "tools", "fio"), "3.39"),
    ],
)
def test_another_setting_is_another_hash(where: tuple[t.Any, ...], value: t.Any) -> None:
    changed: t.Any = fingerprint()
    inner = changed
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    assert settings_hash(changed) != settings_hash(fingerprint())
    assert disks_hash(changed) == disks_hash(fingerprint())


@pytest.mark.parametrize("key", ["model", "firmware_revision", "serial_number", "wwn", "capacity_bytes"])
def test_another_disk_is_another_hash_of_disks_only(key: str) -> None:
    changed = fingerprint()
    changed["layers"][2]["disk"] = {**changed["layers"][2]["disk"], key: "other"}
    assert disks_hash(changed) != disks_hash(fingerprint())
    assert settings_hash(changed) == settings_hash(fingerprint())


def test_packages_that_are_installed() -> None:
    # Recorded from dpkg-query of Debian 12; the last two lines are hand-made: removed, and an error line.
    text = "coreutils 9.1-1 ii \nfio 3.33-3 ii \nmdadm 4.2-5 ii \nhdparm 9.65 rc \nno such thing at all\n"
    assert parse_packages(text) == {"coreutils": "9.1-1", "fio": "3.33-3", "mdadm": "4.2-5"}


def test_the_backup_of_a_volume_group(vg_backup: str) -> None:
    found = parse_vg_backup(vg_backup)
    assert len(found["vg_uuid"]) == 32
    assert found["extent_bytes"] == 4 * 1024**2
    assert found["pe_start_bytes"] == [1536 * 1024]
    assert parse_vg_backup("") == {"vg_uuid": None, "extent_bytes": None, "pe_start_bytes": []}
