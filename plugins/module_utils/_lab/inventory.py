# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The inventory of a lab as YAML text. Pure."""

from __future__ import annotations

import dataclasses
import json
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import DiskProfile, VmProfile

__all__ = ["SshAccess", "expendable_entries", "host_vars", "inventory_text", "ssh_options"]


@dataclasses.dataclass(frozen=True)
class SshAccess:
    """How to reach one machine from this one."""

    port: int
    key_file: str
    known_hosts_file: str
    host_key_alias: str


def ssh_options(access: SshAccess) -> list[str]:
    """ssh's options that know the machine by its own host key, whatever port it has now."""
    return [
        *("-o", f"UserKnownHostsFile={access.known_hosts_file}", "-o", "GlobalKnownHostsFile=/dev/null"),
        *("-o", f"HostKeyAlias={access.host_key_alias}", "-o", "StrictHostKeyChecking=yes"),
        *("-o", "IdentitiesOnly=yes", "-o", "UpdateHostKeys=no"),
    ]


def _entry(disk: DiskProfile) -> str:
    """The identity by which the collection knows a disk: an NVMe controller's serial alone is not one."""
    if disk.bus == "nvme":
        return f"{disk.serial}/n1"
    return disk.serial if disk.serial is not None else f"naa.{disk.wwn:016x}"


def expendable_entries(vm: VmProfile) -> list[str]:
    """What a host's C(expendable_disks) lists: the disks marked so, each once; the root disk is never among them."""
    return list(dict.fromkeys(_entry(disk) for disk in vm.disks if disk.expendable))


def _quoted(argument: str) -> str:
    return "'" + argument.replace("'", "'\\''") + "'" if any(c in argument for c in " '\"\\$`") else argument


def host_vars(vm: VmProfile, access: SshAccess) -> dict[str, t.Any]:
    """The variables of one machine; those of its profile win."""
    return {
        "ansible_host": "127.0.0.1",
        "ansible_port": access.port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": access.key_file,
        "ansible_ssh_common_args": " ".join(_quoted(option) for option in ssh_options(access)),
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_pipelining": True,
        "expendable_disks": expendable_entries(vm),
        **vm.host_vars,
    }


def _scalar(value: t.Any) -> str:
    # JSON is YAML: a quoted text stays the text that it is.
    return json.dumps(value)


def _mapping_lines(values: t.Mapping[str, t.Any], indent: int) -> list[str]:
    lines = []
    for key, value in values.items():
        blank = " " * indent
        if isinstance(value, (list, tuple)) and value:
            lines.append(f"{blank}{key}:")
            lines += [f"{blank}  - {_scalar(item)}" for item in value]
        elif isinstance(value, dict) and value:
            lines.append(f"{blank}{key}:")
            lines += _mapping_lines(value, indent + 2)
        else:
            lines.append(f"{blank}{key}: {_scalar(value)}")
    return lines


def inventory_text(hosts: t.Mapping[str, t.Mapping[str, t.Any]]) -> str:
    """A YAML inventory with the machines in the group C(lab); C(plumbline_lab) tells reports that disks are virtual."""
    tree = {
        "lab": {
            "hosts": {name: dict(values) for name, values in hosts.items()},
            "vars": {"plumbline_lab": True},
        }
    }
    return (
        "\n".join(["# Virtual machines of the lab. Written by lab_up, removed by lab_down.", *_mapping_lines(tree, 0)])
        + "\n"
    )
