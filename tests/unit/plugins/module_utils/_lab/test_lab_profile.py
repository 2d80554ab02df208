# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import parse_profile, parse_vm

PROFILES = Path(__file__).resolve().parents[5] / "playbooks" / "lab_profiles"


def _one_disk(**disk: t.Any) -> dict[str, t.Any]:
    return {"name": "lab1", "disks": [disk]}


@pytest.mark.parametrize(
    ("disk", "words"),
    [
        ({"bus": "ide"}, ["disk 1 of lab1", "ide", "sata, scsi, nvme, virtio"]),
        ({}, ["bus None"]),
        ({"bus": "sata", "colour": "red"}, ["colour", "does not know"]),
        ({"bus": "sata", "logical_sector": "4KiB"}, ["logical_sector of 4096", "only 512"]),
        ({"bus": "sata", "firmware": "123456789"}, ["firmware", "9 characters", "at most 8"]),
        ({"bus": "sata", "model": "x" * 41}, ["model", "at most 40"]),
        ({"bus": "sata", "serial": "x" * 21}, ["serial", "at most 20"]),
        ({"bus": "sata", "vendor": "WDC"}, ["vendor", "ide-hd cannot show"]),
        ({"bus": "scsi", "firmware": "12345"}, ["firmware", "at most 4"]),
        ({"bus": "scsi", "model": "x" * 17}, ["model", "at most 16"]),
        ({"bus": "nvme", "model": "Samsung"}, ["model", "nvme cannot show"]),
        ({"bus": "nvme", "firmware": "1"}, ["firmware", "nvme cannot show"]),
        ({"bus": "nvme", "rotation_rate": 1}, ["rotation_rate", "nvme"]),
        ({"bus": "nvme", "wwn": "0x50014ee2ad5d1234"}, ["wwn", "nvme"]),
        ({"bus": "nvme", "physical_sector": "4KiB"}, ["physical_sector", "nvme"]),
        ({"bus": "virtio", "model": "disk"}, ["model", "virtio-blk"]),
        ({"bus": "virtio", "wwn": "0x50014ee2ad5d1234"}, ["wwn", "virtio-blk"]),
        ({"bus": "virtio", "rotation_rate": 7200}, ["rotation_rate", "virtio-blk"]),
        ({"bus": "sata", "serial": 12345}, ["serial", "quotes"]),
        ({"bus": "sata", "serial": "a,b"}, ["serial", "letters"]),
        ({"bus": "sata", "serial": " a"}, ["serial", "letters"]),
        ({"bus": "sata", "serial": "a\n"}, ["serial", "letters"]),
        ({"bus": "sata", "wwn": 5764824129059301940}, ["wwn", "16 hexadecimal digits"]),
        ({"bus": "sata", "wwn": "0x1234"}, ["wwn", "16 hexadecimal digits"]),
        ({"bus": "sata", "size": 3}, ["size", "without a unit"]),
        ({"bus": "sata", "size": "1000KiB"}, ["size", "at least 1MiB"]),
        ({"bus": "sata", "size": "1048577B"}, ["size", "whole sectors"]),
        ({"bus": "sata", "rotation_rate": 500}, ["rotation_rate", "1025"]),
        ({"bus": "sata", "rotation_rate": True}, ["rotation_rate"]),
        ({"bus": "sata", "physical_sector": "3KiB"}, ["physical_sector", "power of two"]),
        ({"bus": "scsi", "logical_sector": "4KiB", "physical_sector": "512B"}, ["physical_sector", "less than"]),
        ({"bus": "sata", "throughput_limit": "20MB"}, ["throughput_limit", "20MB/s"]),
        ({"bus": "sata", "throughput_limit": 20000000}, ["throughput_limit", "20MB/s"]),
        ({"bus": "sata", "throughput_limit": "20/s"}, ["throughput_limit", "without a unit"]),
        ({"bus": "sata", "throughput_limit": "1B/s"}, ["throughput_limit", "at least"]),
        ({"bus": "sata", "expendable": True}, ["expendable", "no serial"]),
        ({"bus": "sata", "serial": "a", "expendable": "yes"}, ["expendable", "true or false"]),
    ],
)
def test_what_a_bus_cannot_do_is_refused_by_name(disk: dict[str, t.Any], words: list[str]) -> None:
    with pytest.raises(PlanRefused) as refused:
        parse_vm(_one_disk(**disk))
    for word in words:
        assert word in refused.value.message


@pytest.mark.parametrize(
    ("vm", "words"),
    [
        ("lab1", ["must be a mapping"]),
        ({"name": "Lab 1"}, ["name", "small letters"]),
        ({"name": "../etc"}, ["name"]),
        ({"name": ""}, ["name"]),
        ({}, ["name None"]),
        ({"name": "a", "cpus": 0}, ["cpus"]),
        ({"name": "a", "cpus": True}, ["cpus"]),
        ({"name": "a", "memory": "100MiB"}, ["memory", "512MiB"]),
        ({"name": "a", "memory": 2}, ["memory", "without a unit"]),
        ({"name": "a", "disks": {}}, ["disks", "list"]),
        ({"name": "a", "disks": ["sata"]}, ["disk 1 of a", "mapping"]),
        ({"name": "a", "host_vars": []}, ["host_vars", "mapping"]),
        ({"name": "a", "cpu": 2}, ["cpu", "does not know"]),
        ({"name": "a", "disks": [{"bus": "virtio"}] * 21}, ["21", "slots for 20"]),
        ({"name": "a", "disks": [{"bus": "sata", "serial": "x"}] * 2}, ["serial x", "duplicate_serials"]),
    ],
)
def test_a_machine_that_cannot_be_is_refused(vm: t.Any, words: list[str]) -> None:
    with pytest.raises(PlanRefused) as refused:
        parse_vm(vm)
    for word in words:
        assert word in refused.value.message


@pytest.mark.parametrize("profile", [{}, [], {"vms": []}, "lab1", None, {"vms": [{"name": "a"}], "x": 1}])
def test_a_profile_without_machines_is_refused(profile: t.Any) -> None:
    with pytest.raises(PlanRefused):
        parse_profile(profile)


def test_two_machines_of_one_name_are_refused() -> None:
    with pytest.raises(PlanRefused, match="more than one virtual machine named a"):
        parse_profile([{"name": "a"}, {"name": "a"}])


def test_values_are_read_with_their_units() -> None:
    vm = parse_vm(
        _one_disk(
            bus="scsi", size="2048MB", serial="s1", firmware="0006", rotation_rate=15000, logical_sector=4096,
            throughput_limit="20MB/s", wwn="naa.5000C50000000008", vendor="SEAGATE", model="ST3300657SS",
        )
    )  # fmt: skip
    disk = vm.disks[0]
    assert (disk.size_bytes, disk.throughput_limit_bytes) == (2_048_000_000, 20_000_000)
    assert (disk.wwn, disk.logical_sector_bytes, disk.physical_sector_bytes) == (0x5000C50000000008, 4096, None)
    assert (vm.cpus, vm.memory_bytes) == (2, 2 * 1024**3)


@pytest.mark.parametrize(
    ("disk", "expendable"),
    [
        ({"bus": "sata", "serial": "a"}, True),
        ({"bus": "sata", "wwn": "0x50014ee2ad5d1234"}, True),
        ({"bus": "sata", "serial": "a", "expendable": False}, False),
        ({"bus": "sata"}, False),
    ],
)
def test_a_disk_is_expendable_if_it_has_an_identity_and_is_not_marked_otherwise(
    disk: dict[str, t.Any], expendable: bool
) -> None:
    assert parse_vm(_one_disk(**disk)).disks[0].expendable is expendable


def test_duplicate_serials_are_possible_when_meant() -> None:
    vm = parse_vm({"name": "a", "duplicate_serials": True, "disks": [{"bus": "sata", "serial": "x"}] * 2})
    assert [disk.serial for disk in vm.disks] == ["x", "x"]


@pytest.mark.parametrize(
    ("name", "disks"),
    [("four_sata.yml", {"sata": 4}), ("many_buses.yml", {"sata": 7, "scsi": 4, "nvme": 2, "virtio": 1})],
)
def test_the_shipped_profiles_are_good(name: str, disks: dict[str, int]) -> None:
    (vm,) = parse_profile(yaml.safe_load((PROFILES / name).read_text()))
    assert {bus: sum(disk.bus == bus for disk in vm.disks) for bus in disks} == disks
    assert len(vm.disks) == sum(disks.values())
