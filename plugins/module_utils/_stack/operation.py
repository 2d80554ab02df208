# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What the module storage_stack does: one stack is built, verified or removed in one process."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import Consent, parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, VerifyFailed
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._stack.build import StackBuilder, fresh_uuid
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import Built, compose_layers, merge
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import disk_identity, new_record, stack_id
from ansible_collections.plumbline.storage.plugins.module_utils._stack.parse import (
    check_name,
    parse_region,
    parse_stack,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import (
    StackRecord,
    read_record,
    write_record,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.select import named_disks
from ansible_collections.plumbline.storage.plugins.module_utils._stack.size import common_usable_bytes

__all__ = ["run_stack"]


def run_stack(params: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """The module's result. Raises StorageError."""
    runner = Runner(check_mode)
    consent = parse_consent(params["expendable_disks"])
    record_id = stack_id(check_name(params["experiment"], "the experiment"), check_name(params["name"], "the stack"))
    with host_lock(f"stack {record_id}", enabled=not check_mode and params["state"] != "verified"):
        if params["state"] == "absent":
            return _absent(record_id, runner, consent)
        return _present(record_id, params, runner, consent)


def _absent(record_id: str, runner: Runner, consent: Consent) -> dict[str, t.Any]:
    """Removes what the record names; a stack that nobody recorded is not ours and not touched."""
    record = read_record(record_id)
    if record is None:
        return _result(record_id, Plan(), False, [])
    builder = StackBuilder(runner, consent)
    plan = builder.plan_removal(record) if runner.check_mode else builder.remove(record)
    return _result(record_id, plan, True, builder.warnings)


def _present(record_id: str, params: t.Mapping[str, t.Any], runner: Runner, consent: Consent) -> dict[str, t.Any]:
    names = params["disks"] or []
    if not names:
        raise PlanRefused(
            f"stack {params['name']} needs its disks; name them under disks by serial number or WWN, in quotes"
        )
    disks = named_disks(names, read_disks(read_tree()))
    stack = parse_stack({key: params[key] for key in ("name", "layers", "settings") if params.get(key)}, len(disks))
    record, known = _record(record_id, params, stack, disks)
    builder = StackBuilder(runner, consent, disks)
    usable = _usable_bytes(params, stack, record, len(disks))
    if runner.check_mode or params["state"] == "verified":
        return _planned(stack, record, builder, usable, params["state"])
    regions, ground_changed = builder.ensure_regions(record)
    if not known:
        write_record(record)
    built, changed = builder.build(stack, record, regions, usable)
    return _result(record_id, builder.applied(), changed or ground_changed, builder.warnings, stack, built, record)


def _usable_bytes(
    params: t.Mapping[str, t.Any], stack: StackDescription, record: StackRecord, count: int
) -> int | None:
    """The size that was asked for; None leaves each layer all that is below it."""
    asked = parse_optional_size(params.get("usable_size"), "usable_size")
    return None if asked is None else common_usable_bytes([stack], [record.region_size_bytes] * count, asked)


def _record(
    record_id: str, params: t.Mapping[str, t.Any], stack: StackDescription, disks: t.Sequence[DiskIdentity]
) -> tuple[StackRecord, bool]:
    """The record of an earlier run, whose UUIDs count, or a new one; a stack on other disks or regions is refused."""
    region = parse_region(params["region"])
    found = read_record(record_id)
    if found is None:
        return new_record(record_id, stack, disks, region, [fresh_uuid() for _unused in disks], fresh_uuid), False
    asked = [tuple(disk_identity(disk)["names"]) for disk in disks]
    has = [tuple(entry["names"]) for entry in found.disks]
    differing = []
    if not all(set(one) & set(other) for one, other in zip(asked, has)) or len(asked) != len(has):
        differing.append(f"its disks are {_listed(has)}, asked for were {_listed(asked)}")
    place = (found.region_start_bytes, found.region_size_bytes)
    if place != (region.start_bytes, region.size_bytes):
        differing.append(
            f"its region is {place} bytes (start, size), asked for was {(region.start_bytes, region.size_bytes)}"
        )
    if {layer.name for layer in stack.layers if layer.kind == "md"} != set(found.arrays) or (
        {layer.name for layer in stack.layers if layer.kind == "vg"} != set(found.groups)
    ):
        differing.append("it has other layers")
    if differing:
        raise PlanRefused(
            f"stack {record_id} exists, and {'; '.join(differing)}. Nothing was changed; remove it first (state: absent), or give this one "
            "another name"
        )
    return found, True


def _listed(names: t.Sequence[tuple[str, ...]]) -> str:
    return ", ".join(each[0] if each else "?" for each in names)


def _planned(
    stack: StackDescription, record: StackRecord, builder: StackBuilder, usable: int | None, state: str
) -> dict[str, t.Any]:
    """The plan of the whole chain, nothing assumed: every layer is planned on what the one below will be."""
    ground, regions = builder.plan_ground(record)
    built = compose_layers(stack, record, regions, builder.read_layers(record, stack), usable)
    plan = merge([ground, built.plan])
    settings = [] if built.plan.changed else builder.differing_settings(stack, built)
    if state == "verified":
        left = [step.summary for step in plan.steps] + [
            f"{each.name} of {each.device} is {now}" for _unused, each, now in settings
        ]
        if left:
            raise VerifyFailed(f"stack {record.id} is not as described; still to do: {'; '.join(left)}")
    return _result(record.id, plan, plan.changed or bool(settings), builder.warnings, stack, built, record)


def _result(
    record_id: str,
    plan: Plan,
    changed: bool,
    warnings: t.Sequence[str],
    stack: StackDescription | None = None,
    built: Built | None = None,
    record: StackRecord | None = None,
) -> dict[str, t.Any]:
    return {
        "changed": changed,
        "commands": plan.commands(),
        "diff": {"before": dict(plan.before), "after": dict(plan.after)},
        "warnings": list(dict.fromkeys([*warnings, *plan.warnings])),
        "stack": _described(record_id, stack, built, record),
    }


def _described(
    record_id: str, stack: StackDescription | None, built: Built | None, record: StackRecord | None
) -> dict[str, t.Any] | None:
    """The stack as a person gets it: devices by layer, and the stripe that each layer was given."""
    if stack is None or built is None or record is None:
        return None
    return {
        "id": record_id,
        "top_device": built.top or built.filesystem,
        "filesystem_device": built.filesystem,
        "filesystem_uuid": record.filesystem,
        "devices": dict(built.devices),
        "geometry": {name: _geometry(each) for name, each in built.geometries.items()},
        "arrays": dict(record.arrays),
        "groups": dict(record.groups),
        "partitions": list(record.partitions),
    }


def _geometry(device: DeviceGeometry) -> dict[str, t.Any]:
    values = dataclasses.asdict(device)
    values.pop("assumed")
    return values
