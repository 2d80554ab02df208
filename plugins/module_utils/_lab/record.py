# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What is kept about a machine in its directory, and the host keys of all machines of a lab."""

from __future__ import annotations

import dataclasses
import json
import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import DiskProfile, VmProfile
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import Accelerator

__all__ = ["VmRecord", "read_record", "recorded_names", "write_known_hosts", "write_record"]

_FILE = "vm.json"


@dataclasses.dataclass(frozen=True)
class VmRecord:
    """A made machine. C(expected) is what it should be doing: running, stopped or power_cut."""

    vm: VmProfile
    image: str
    uuid: str
    port: int = 0
    accelerator: Accelerator | None = None
    expected: str = "stopped"
    console_offset: int = 0

    def changed(self, **values: t.Any) -> VmRecord:
        """A record with some values changed."""
        return dataclasses.replace(self, **values)


def _from_json(found: dict[str, t.Any]) -> VmRecord:
    vm = dict(found.pop("vm"))
    vm["disks"] = tuple(DiskProfile(**disk) for disk in vm["disks"])
    accelerator = found.pop("accelerator")
    return VmRecord(
        vm=VmProfile(**vm), accelerator=None if accelerator is None else Accelerator(**accelerator), **found
    )


def read_record(directory: str) -> VmRecord | None:
    """The record of a machine's directory, None when there is none; raises StorageError when it cannot be read."""
    path = os.path.join(directory, _FILE)
    try:
        with open(path) as source:
            return _from_json(json.load(source))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(
            f"the record {path} of a virtual machine cannot be read ({error}); end its QEMU and remove {directory}"
        ) from error


def write_record(directory: str, record: VmRecord) -> None:
    """Replaces the record at once or not at all."""
    temporary = os.path.join(directory, f".{_FILE}.new")
    with open(temporary, "w") as target:
        json.dump(dataclasses.asdict(record), target, indent=1)
    os.rename(temporary, os.path.join(directory, _FILE))


def recorded_names(state_dir: str) -> list[str]:
    """Names of the machines recorded in a lab's directory, sorted."""
    try:
        return sorted(name for name in os.listdir(state_dir) if os.path.exists(os.path.join(state_dir, name, _FILE)))
    except FileNotFoundError:
        return []


def write_known_hosts(state_dir: str) -> None:
    """Writes the lab's own file of host keys, one line for each machine, under a name that no port change touches."""
    lines = []
    for name in recorded_names(state_dir):
        with open(os.path.join(state_dir, name, "ssh_host_ed25519_key.pub")) as source:
            lines.append(f"plumbline-{name} {' '.join(source.read().split()[:2])}\n")
    temporary = os.path.join(state_dir, ".known_hosts.new")
    with open(temporary, "w") as target:
        target.writelines(lines)
    os.rename(temporary, os.path.join(state_dir, "known_hosts"))
