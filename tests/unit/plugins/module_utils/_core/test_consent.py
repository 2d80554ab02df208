# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Consent: which entries are taken, and which disk they name."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import mark_duplicates

SATA = DiskIdentity(
    "sdb",
    "/dev/sdb",
    transport="sata",
    model="WDC WD10EACS-00ZJB0",
    serial_number="WD-WCASJ0000002",
    wwn="naa.50014ee2ad5d1234",
    capacity_bytes=1000204886016,
    by_path=("pci-0000:00:1f.2-ata-2", "pci-0000:00:1f.2-ata-2.0"),
    host="db7.example.org",
)
NVME = DiskIdentity(
    "nvme0n1",
    "/dev/nvme0n1",
    transport="nvme",
    model="SSD",
    serial_number="S4EW",
    namespace_id=1,
    wwn="eui.0025385b71b0a1c3",
)
LOOP = DiskIdentity("loop0", "/dev/loop0", device_kind="loop", loop_backing_file="/srv/disk.img")
MAPPING = {"by_path": "pci-0000:00:1f.2-ata-2", "capacity": "1000204886016B", "host": "db7"}


@pytest.mark.parametrize(
    ("entry", "disk", "covered"),
    [
        ("WD-WCASJ0000002", SATA, True),
        ("  WD-WCASJ0000002 ", SATA, True),
        ("WD-WCASJ000000", SATA, False),
        ("wd-wcasj0000002", SATA, False),
        ("naa.50014ee2ad5d1234", SATA, True),
        ("0x50014ee2ad5d1234", SATA, True),
        ("wwn-0x50014EE2AD5D1234", SATA, True),
        ("50014ee2ad5d1234", SATA, False),
        ("0x50014ee2ad5d1235", SATA, False),
        ("S4EW", NVME, False),
        ("S4EW/n1", NVME, True),
        ("S4EW/n2", NVME, False),
        ("eui.0025385b71b0a1c3", NVME, True),
        ("loop:/srv/disk.img", LOOP, True),
        ("loop:/srv/disk", LOOP, False),
        ("loop:/srv/disk.img (deleted)", LOOP._replace(loop_backing_file="/srv/disk.img (deleted)"), False),
        ("SN1", SATA._replace(device_kind="unknown", serial_number="SN1"), False),
        ("QM00001", SATA._replace(serial_number="QM00001", wwn=None), False),
        ("drive-scsi0", SATA._replace(serial_number="drive-scsi0", wwn=None), False),
        ("0000000000", SATA._replace(serial_number="0000000000", wwn=None), False),
        ("WDC WD10EACS-00ZJB0", SATA._replace(serial_number="WDC WD10EACS-00ZJB0", wwn=None), False),
        (MAPPING, SATA, True),
        ({**MAPPING, "by_path": "/dev/disk/by-path/pci-0000:00:1f.2-ata-2.0"}, SATA, True),
        ({**MAPPING, "host": "db8"}, SATA, False),
        ({**MAPPING, "capacity": "1TB"}, SATA, False),
        ({**MAPPING, "by_path": "pci-0000:00:1f.2-ata-3"}, SATA, False),
    ],
)
def test_covers(entry: t.Any, disk: DiskIdentity, covered: bool) -> None:
    assert parse_consent([entry]).covers(disk) is covered


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (12345, "put it in quotes"),
        (True, "put it in quotes"),
        (None, "put it in quotes"),
        (1.5, "put it in quotes"),
        (["WD-1"], "put it in quotes"),
        ("", "empty entry"),
        ("sdb", "name of a device"),
        ("sdb1", "name of a device"),
        ("nvme0n1", "name of a device"),
        ("/dev/sdb", "name of a device"),
        ("/dev/disk/by-id/wwn-0x50014ee2ad5d1234", "name of a device"),
        ("dm-3", "name of a device"),
        ({"by_path": "pci-1", "capacity": "1TB"}, "lacks host"),
        ({"host": "db7"}, "lacks by_path, capacity"),
        ({**MAPPING, "serial": "x"}, "unknown key serial"),
        ({**MAPPING, "capacity": 1000204886016}, "without a unit"),
    ],
)
def test_refuses_what_could_mean_another_disk(entry: t.Any, says: str) -> None:
    with pytest.raises(PlanRefused, match=says):
        parse_consent([entry])


def test_a_text_is_no_list() -> None:
    with pytest.raises(PlanRefused, match="must be a list"):
        parse_consent("WD-1")


def test_entries_that_match_nothing_are_told() -> None:
    consent = parse_consent(["WD-WCASJ0000002", "OTHER", MAPPING])
    assert consent.unmatched([SATA]) == ("OTHER",)
    assert len(consent.unmatched([LOOP])) == 3


def test_a_serial_number_seen_twice_names_no_disk() -> None:
    first = SATA._replace(wwn=None)
    second = first._replace(kernel_name="sdc", device_path="/dev/sdc", by_path=("pci-2",))
    disks = mark_duplicates([first, second])
    assert [disk.names() for disk in disks] == [(), ()]
    assert parse_consent(["WD-WCASJ0000002"]).covers(disks[0]) is False
    assert [parse_consent([MAPPING]).covers(disk) for disk in disks] == [True, False]


def test_two_paths_of_one_lun_keep_their_name() -> None:
    disks = mark_duplicates([SATA, SATA._replace(kernel_name="sdc")])
    assert [(disk.duplicate_wwn, disk.duplicate_serial) for disk in disks] == [(True, False)] * 2
    assert parse_consent(["WD-WCASJ0000002"]).covers(disks[1]) is True


def test_namespaces_of_one_controller_are_no_duplicates() -> None:
    second = NVME._replace(kernel_name="nvme0n2", namespace_id=2, wwn=None)
    disks = mark_duplicates([NVME._replace(wwn=None), second])
    assert [disk.names() for disk in disks] == [("S4EW/n1",), ("S4EW/n2",)]
