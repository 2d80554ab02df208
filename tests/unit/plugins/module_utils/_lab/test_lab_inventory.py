# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shlex
import typing as t

import pytest
import yaml
from ansible_collections.plumbline.storage.plugins.module_utils._lab.inventory import (
    SshAccess,
    expendable_entries,
    host_vars,
    inventory_text,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import VmProfile, parse_vm

ACCESS = SshAccess(4022, "/lab dir/id_ed25519", "/lab dir/known_hosts", "plumbline-lab1")


def _vm(*disks: dict[str, t.Any], **more: t.Any) -> VmProfile:
    return parse_vm({"name": "lab1", "disks": list(disks), **more})


@pytest.mark.parametrize(
    ("disk", "entries"),
    [
        ({"bus": "sata", "serial": "WD-1"}, ["WD-1"]),
        ({"bus": "scsi", "serial": "000123", "wwn": "0x5000c50000000008"}, ["000123"]),
        ({"bus": "sata", "wwn": "0x50014ee2ad5d1234"}, ["naa.50014ee2ad5d1234"]),
        ({"bus": "nvme", "serial": "S4"}, ["S4/n1"]),
        ({"bus": "virtio", "serial": "v1"}, ["v1"]),
        ({"bus": "sata", "serial": "WD-1", "expendable": False}, []),
        ({"bus": "sata"}, []),
    ],
)
def test_expendable_disks_are_listed_by_the_identity_they_are_known_by(
    disk: dict[str, t.Any], entries: list[str]
) -> None:
    assert expendable_entries(_vm(disk)) == entries


def test_the_root_disk_is_never_listed() -> None:
    assert expendable_entries(_vm()) == []


def test_two_disks_of_one_serial_are_listed_once() -> None:
    disk = {"bus": "sata", "serial": "x"}
    assert expendable_entries(_vm(disk, disk, duplicate_serials=True)) == ["x"]


def test_the_text_reads_back_as_the_same_variables() -> None:
    values = host_vars(
        _vm({"bus": "sata", "serial": "00012345"}, host_vars={"note": "a: 'b' \"c\" #d", "n": {"x": [1]}}), ACCESS
    )
    read = yaml.safe_load(inventory_text({"lab1": values}))
    assert read["lab"]["hosts"]["lab1"] == values
    assert read["lab"]["vars"] == {"plumbline_lab": True}


def test_a_serial_of_digits_stays_text() -> None:
    read = yaml.safe_load(inventory_text({"lab1": host_vars(_vm({"bus": "sata", "serial": "00012345"}), ACCESS)}))
    assert read["lab"]["hosts"]["lab1"]["expendable_disks"] == ["00012345"]


def test_an_empty_lab_is_an_inventory_too() -> None:
    assert yaml.safe_load(inventory_text({})) == {"lab": {"hosts": {}, "vars": {"plumbline_lab": True}}}


def test_ssh_arguments_survive_a_blank_in_the_path() -> None:
    words = shlex.split(host_vars(_vm(), ACCESS)["ansible_ssh_common_args"])
    assert "UserKnownHostsFile=/lab dir/known_hosts" in words
    assert "HostKeyAlias=plumbline-lab1" in words
    assert "StrictHostKeyChecking=yes" in words


def test_host_vars_of_the_profile_win() -> None:
    values = host_vars(_vm(host_vars={"ansible_user": "me", "expendable_disks": []}), ACCESS)
    assert (values["ansible_user"], values["expendable_disks"], values["ansible_port"]) == ("me", [], 4022)
