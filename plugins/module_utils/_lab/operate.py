# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What the modules of the lab do with one machine or with all of a lab, in check mode too."""

from __future__ import annotations

import dataclasses
import os
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._lab.accelerator import find_accelerator
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import BuiltImage, open_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.inventory import inventory_text
from ansible_collections.plumbline.storage.plugins.module_utils._lab.process import machines_of_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import VmProfile, parse_vm
from ansible_collections.plumbline.storage.plugins.module_utils._lab.pull import present_disks, pull_disks
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import Accelerator
from ansible_collections.plumbline.storage.plugins.module_utils._lab.vm import LabVm, all_vms

__all__ = ["VmWish", "carry_out", "describe_lab"]


@dataclasses.dataclass(frozen=True)
class VmWish:
    """What is asked of one machine."""

    state: str
    image: str | None = None
    profile: t.Mapping[str, t.Any] | None = None
    wait: bool = True
    boot_timeout_seconds: float = 300.0
    accelerator: str = "auto"
    snapshot_name: str | None = None
    snapshot_action: str = "take"
    pull_serials: tuple[str, ...] = ()


def _wanted_vm(vm: LabVm, wish: VmWish) -> VmProfile | None:
    """The machine asked for, None when no profile was given; raises PlanRefused for what the lab cannot do."""
    if wish.profile is None:
        return None
    return parse_vm({**wish.profile, "name": vm.name}, f"the profile of {vm.name}")


def _check_wish(vm: LabVm, wish: VmWish) -> None:
    if wish.pull_serials and wish.state != "running":
        raise PlanRefused(f"pull_disks of {vm.name} needs state: running, not {wish.state}")
    if wish.snapshot_name and wish.state == "absent":
        raise PlanRefused(f"a snapshot of {vm.name} cannot be had together with state: absent")
    if wish.snapshot_name and wish.state == "running" and vm.status == "running":
        raise PlanRefused(
            f"the snapshot {wish.snapshot_name!r} needs {vm.name} powered off, but it runs; use state: stopped or power_cut"
        )
    if vm.status == "absent" and wish.state in ("stopped", "power_cut"):
        raise PlanRefused(f"there is no virtual machine {vm.name} in {vm.state_dir} to be {wish.state}")


def _accelerator(image: BuiltImage, wish: VmWish, runner: Runner) -> Accelerator:
    if wish.accelerator == "auto":
        return find_accelerator(image, runner)
    return Accelerator(wish.accelerator, "asked for")


def _make(vm: LabVm, wish: VmWish, check_mode: bool) -> bool:
    """Makes the machine if it is not there; True if it was, or would be, made."""
    wanted, record = _wanted_vm(vm, wish), vm.record
    if record is None and (wanted is None or wish.image is None):
        raise PlanRefused(
            f"there is no virtual machine {vm.name} in {vm.state_dir}; making one needs image and profile"
        )
    if record is None and check_mode:
        return True
    if wanted is not None or wish.image is not None:
        image = open_image(wish.image or t.cast("t.Any", record).image)
        vm.create(wanted or t.cast("t.Any", record).vm, image)
    return record is None


def _snapshot(vm: LabVm, wish: VmWish, check_mode: bool) -> bool:
    """Takes, restores or deletes the snapshot; True if that changes something."""
    name = wish.snapshot_name
    if name is None:
        return False
    # In check mode a machine that would be made or ended first has no snapshots to look at yet.
    known = vm.snapshots() if vm.status not in ("running", "absent") else []
    there = name in known
    if wish.snapshot_action == "restore":
        if vm.status == "absent" or (not there and vm.status != "running"):
            raise PlanRefused(f"{vm.name} has no snapshot {name!r}; it has {', '.join(known) or 'none'}")
        if not check_mode:
            vm.restore_snapshot(name)
        return True
    if there == (wish.snapshot_action == "take"):
        return False
    if not check_mode:
        if wish.snapshot_action == "take":
            vm.take_snapshot(name)
        else:
            vm.delete_snapshot(name)
    return True


def _run(vm: LabVm, wish: VmWish, check_mode: bool) -> dict[str, t.Any]:
    """For C(running): make, snapshot, boot, wait, pull."""
    changed = _make(vm, wish, check_mode)
    changed = _snapshot(vm, wish, check_mode) or changed
    starts = vm.status != "running"
    if check_mode:
        pulled = [] if starts else present_disks(vm, wish.pull_serials)
        return {"changed": changed or starts or bool(pulled), "pulled": pulled, "boot_seconds": None}
    if starts:
        image = open_image(t.cast("t.Any", vm.record).image)
        vm.start(_accelerator(image, wish, vm.runner))
    seconds = vm.wait_ready(wish.boot_timeout_seconds) if wish.wait or wish.pull_serials else None
    pulled = pull_disks(vm, wish.pull_serials) if wish.pull_serials else []
    return {"changed": changed or starts or bool(pulled), "pulled": pulled, "boot_seconds": seconds}


def _end(vm: LabVm, wish: VmWish, check_mode: bool) -> dict[str, t.Any]:
    """For C(power_cut), C(stopped) and C(absent)."""
    before = vm.status
    changed = before == "running" if wish.state != "absent" else before != "absent"
    if not check_mode:
        act = {"power_cut": vm.power_cut, "stopped": vm.stop, "absent": vm.remove}[wish.state]
        changed = act() or changed
    changed = _snapshot(vm, wish, check_mode) or changed
    return {"changed": changed, "pulled": [], "boot_seconds": None}


def carry_out(vm: LabVm, wish: VmWish, check_mode: bool) -> dict[str, t.Any]:
    """Brings one machine to the wished state; in check mode only says what would change. The module's result."""
    before = vm.status
    _check_wish(vm, wish)
    result = (_run if wish.state == "running" else _end)(vm, wish, check_mode)
    record = vm.record
    accelerator = None if record is None else record.accelerator
    return {
        **result,
        "status_before": before,
        "status": _status_after(vm, wish, result["changed"]) if check_mode else vm.status,
        "accelerator": {} if accelerator is None else dataclasses.asdict(accelerator),
        "directory": vm.directory,
        "console_log": vm.console_log,
        "host_vars": {} if record is None else vm.host_vars(),
        "snapshots": [] if record is None else vm.snapshots(),
    }


def _status_after(vm: LabVm, wish: VmWish, changed: bool) -> str:
    if wish.state in ("stopped", "power_cut") and vm.status != "running":
        return vm.status
    return wish.state if changed else vm.status


def _summary(vm: LabVm, status: str, pid: int) -> str:
    sentences = {
        "running": f"runs as process {pid}",
        "dead": "was left running but its QEMU is gone; its disks are kept",
        "stopped": "is shut down; its disks are kept",
        "power_cut": "had its power cut; its disks are kept",
        "unrecorded": f"runs as process {pid}, but its directory or record was removed",
    }
    return f"{vm.name} in {vm.directory} {sentences[status]}"


def _describe(vm: LabVm, status: str, pid: int) -> dict[str, t.Any]:
    record = vm.record
    accelerator = None if record is None else record.accelerator
    return {
        "name": vm.name,
        "status": status,
        "pid": pid,
        "port": 0 if record is None else record.port,
        "image": "" if record is None else record.image,
        "accelerator": None if accelerator is None else dataclasses.asdict(accelerator),
        "directory": vm.directory,
        "console_log": vm.console_log,
        "snapshots": [] if record is None else vm.snapshots(),
        "summary": _summary(vm, status, pid),
    }


def describe_lab(state_dir: str, runner: Runner) -> dict[str, t.Any]:
    """All machines of a lab with what they do, and an inventory of those that are recorded."""
    state_dir = os.path.abspath(state_dir)
    recorded = all_vms(state_dir, runner)
    names = {vm.name for vm in recorded}
    found = [_describe(vm, vm.status, vm.pid) for vm in recorded]
    for name, pid in sorted(machines_of_directory(state_dir).items()):
        if name not in names:
            found.append(_describe(LabVm(state_dir, name, runner), "unrecorded", pid))
    inventory = inventory_text({vm.name: vm.host_vars() for vm in recorded})
    return {"state_dir": state_dir, "vms": found, "inventory": inventory}
