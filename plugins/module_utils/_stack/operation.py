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
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    DriftFound,
    PlanRefused,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.lock import host_lock
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size, parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._mount.read import read_mount
from ansible_collections.plumbline.storage.plugins.module_utils._stack.build import StackBuilder, fresh_uuid
from ansible_collections.plumbline.storage.plugins.module_utils._stack.compose import (
    Built,
    World,
    compose_layers,
    merge,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Region, StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import (
    disk_identity,
    mounts_of,
    new_record,
    stack_id,
    with_mounts_of,
)
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
from ansible_collections.plumbline.storage.plugins.module_utils._stack.settings import settings_plan
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
        return _present(_read_wish(record_id, params), runner, consent)


def _absent(record_id: str, runner: Runner, consent: Consent) -> dict[str, t.Any]:
    """Removes what the record names; a stack that nobody recorded is not ours and not touched."""
    record = read_record(record_id)
    if record is None:
        return _result(record_id, Plan(), False, [])
    builder = StackBuilder(runner, consent)
    plan = builder.plan_removal(record) if runner.check_mode else builder.remove(record)
    return _result(record_id, plan, True, builder.warnings)


class _Wish(t.NamedTuple):
    """What was asked for, resolved against this host."""

    record_id: str
    params: t.Mapping[str, t.Any]
    disks: tuple[DiskIdentity, ...]
    stack: StackDescription
    region: Region

    def new_record(self) -> StackRecord:
        uuids = [fresh_uuid() for _unused in self.disks]
        return new_record(self.record_id, self.stack, self.disks, self.region, uuids, fresh_uuid)

    def usable_bytes(self, record: StackRecord) -> int | None:
        """The size that was asked for; None leaves each layer all that is below it."""
        asked = parse_optional_size(self.params.get("usable_size"), "usable_size")
        if asked is None:
            return None
        return common_usable_bytes([self.stack], [record.region_size_bytes] * len(self.disks), asked)


def _read_wish(record_id: str, params: t.Mapping[str, t.Any]) -> _Wish:
    names = params["disks"] or []
    if not names:
        raise PlanRefused(
            f"stack {params['name']} needs its disks; name them under disks by serial number or WWN, in quotes"
        )
    disks = named_disks(names, read_disks(read_tree()))
    stack = parse_stack({key: params[key] for key in ("name", "layers", "settings") if params.get(key)}, len(disks))
    return _Wish(record_id, params, tuple(disks), stack, parse_region(params["region"]))


def _present(wish: _Wish, runner: Runner, consent: Consent) -> dict[str, t.Any]:
    found = read_record(wish.record_id)
    try:
        if found is not None:
            _refuse_other_ground(wish, found)
        return _follow(wish, runner, consent, found)
    except DriftFound as drift:
        if wish.params["on_drift"] != "rebuild" or wish.params["state"] != "present" or found is None:
            raise
        return _rebuild(wish, runner, consent, found, drift)


def _follow(wish: _Wish, runner: Runner, consent: Consent, found: StackRecord | None) -> dict[str, t.Any]:
    """Brings the stack to the description, or in check mode plans it."""
    stack = wish.stack
    record = with_mounts_of(stack, found) if found else wish.new_record()
    builder = StackBuilder(runner, consent, wish.disks, tolerant=wish.params["on_drift"] == "warn")
    builder.warnings += _idle_disks(wish)
    usable = wish.usable_bytes(record)
    if runner.check_mode or wish.params["state"] == "verified":
        return _planned(stack, record, builder, usable, wish.params["state"])
    # What cannot stand on the regions is refused before they are made.
    regions, ground_changed = builder.ensure_regions(
        record, lambda planned: builder.compose(stack, record, planned, usable)
    )
    if found is None:
        write_record(record)
    built, changed = builder.build(stack, record, regions, usable)
    if (found is not None and record.mounts != found.mounts) or record.former_mounts:
        # Read again: the settings that there were before have been added to it.
        record = dataclasses.replace(read_record(record.id) or record, mounts=record.mounts, former_mounts=())
        write_record(record)
    return _result(record.id, builder.applied(), changed or ground_changed, builder.warnings, stack, built, record)


def _rebuild(wish: _Wish, runner: Runner, consent: Consent, found: StackRecord, drift: DriftFound) -> dict[str, t.Any]:
    """Removes the stack with all that is in it and builds it as described. Every disk of both must be listed for that."""
    _refuse_unlisted(wish, consent, found, drift)
    stack, record = wish.stack, wish.new_record()
    usable = wish.usable_bytes(record)
    remover, builder = StackBuilder(runner, consent), StackBuilder(runner, consent, wish.disks)
    ground, regions = builder.plan_blank_ground(record)
    # What cannot be is refused before anything is lost. The places of the old mounts will be free by then.
    places = set(mounts_of(stack).values()) - set(found.mounts.values())
    world = World(mounts={place: read_mount(place) for place in places})
    planned = compose_layers(stack, record, regions, world, usable)
    plan = merge([remover.plan_removal(found), ground, planned.plan])
    warning = f"{drift.message}; as on_drift: rebuild asks, it is removed and built anew"
    if runner.check_mode:
        return _result(record.id, plan, True, [warning], stack, planned, record)
    removed = remover.remove(found)
    regions, _unused = builder.ensure_regions(record)
    built, _unused_too = builder.build(stack, record, regions, usable)
    warnings = [warning, *remover.warnings, *builder.warnings]
    return _result(record.id, merge([removed, builder.applied()]), True, warnings, stack, built, record)


def _refuse_unlisted(wish: _Wish, consent: Consent, found: StackRecord, drift: DriftFound) -> None:
    """Raises PlanRefused when a disk of the old or of the new stack is not listed as expendable."""
    old = [disk for disk in read_disks(read_tree()) for entry in found.disks if set(disk.names()) & set(entry["names"])]
    disks = {disk.devno: disk for disk in (*old, *wish.disks)}.values()
    unlisted = [disk.shown() for disk in disks if not consent.covers(disk)]
    if unlisted:
        raise PlanRefused(
            f"{drift.message}. on_drift: rebuild would remove the stack {found.id} with everything in it and build it anew, but "
            f"{', '.join(unlisted)} is not listed in expendable_disks. Nothing was changed"
        )


def _idle_disks(wish: _Wish) -> list[str]:
    """A sentence where disks were named that no layer stands on."""
    used = {ground for layer in wish.stack.layers for ground in layer.on}
    idle = [disk.shown() for index, disk in enumerate(wish.disks) if f"disk:{index}" not in used]
    name = wish.stack.name
    return [f"no layer of stack {name} stands on {', '.join(idle)}; only the region is made there"] if idle else []


def _refuse_other_ground(wish: _Wish, found: StackRecord) -> None:
    """Raises DriftFound when the stack was built on other disks or regions, or of other layers."""
    asked = [tuple(disk_identity(disk)["names"]) for disk in wish.disks]
    has = [tuple(entry["names"]) for entry in found.disks]
    differing = []
    if not all(set(one) & set(other) for one, other in zip(asked, has)) or len(asked) != len(has):
        differing.append(f"its disks are {_listed(has)}, asked for were {_listed(asked)}")
    is_, want = Region(found.region_start_bytes, found.region_size_bytes), wish.region
    if is_ != want:
        differing.append(f"its region is {_place(is_)}, asked for was {_place(want)}")
    for kind, names in found.layer_names().items():
        wanted = [layer.name for layer in wish.stack.layers if layer.kind == kind]
        if set(names) != set(wanted):
            differing.append(f"its {kind} layers are {_words(names)}, asked for were {_words(wanted)}")
    if differing:
        raise DriftFound(
            f"stack {found.id} exists, and {'; '.join(differing)}. Nothing was changed; remove it first (state: absent), give this one "
            "another name, or have it built anew (on_drift: rebuild)"
        )


def _place(region: Region) -> str:
    return f"{format_size(region.size_bytes)} from {format_size(region.start_bytes)}"


def _words(names: t.Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _listed(names: t.Sequence[tuple[str, ...]]) -> str:
    return ", ".join(each[0] if each else "?" for each in names)


def _planned(
    stack: StackDescription, record: StackRecord, builder: StackBuilder, usable: int | None, state: str
) -> dict[str, t.Any]:
    """The plan of the whole chain, nothing assumed: every layer is planned on what the one below will be."""
    ground, regions = builder.plan_ground(record)
    built = builder.compose(stack, record, regions, usable)
    plan = merge([ground, built.plan])
    if not built.plan.changed:  # else its devices do not exist yet
        plan = merge([plan, settings_plan(builder.differing_settings(stack, built))])
    if state == "verified":
        left = [step.summary for step in plan.steps]
        if left:
            raise VerifyFailed(f"stack {record.id} is not as described; still to do: {'; '.join(left)}")
    return _result(record.id, plan, plan.changed, builder.warnings, stack, built, record)


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
        "filesystems": dict(record.filesystems),
        "mounts": dict(record.mounts),
        "devices": dict(built.devices),
        "geometry": {name: _geometry(each) for name, each in built.geometries.items()},
        "arrays": dict(record.arrays),
        "groups": dict(record.groups),
        "partitions": list(record.partitions),
    }


def _geometry(device: DeviceGeometry) -> dict[str, t.Any]:
    values = device._asdict()
    values.pop("assumed")
    return {**values, "stripe": None if device.stripe is None else device.stripe._asdict()}
