# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""From a stack's description to one plan: the planners of the layers, each given what the one below will be. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import DriftFound, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import parse_optional_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import ExtentRequest
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import (
    capacity_disks,
    level_name,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv, physical_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    DEFAULT_EXTENT_BYTES,
    LvmState,
    LvState,
    LvWanted,
    PvState,
    PvWanted,
    VgState,
    VgWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv import plan_lv, vg_after_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv import plan_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import (
    combined_create,
    members_after,
    plan_vg,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdState, MdWanted
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import geometry_of as array_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan import plan_md
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import MountState, MountWanted
from ansible_collections.plumbline.storage.plugins.module_utils._mount.plan import plan_mount, plan_unmount
from ansible_collections.plumbline.storage.plugins.module_utils._mount.unit import check_mount_path
from ansible_collections.plumbline.storage.plugins.module_utils._partition.fields import geometry_of as region_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    PartitionWanted,
    TableState,
    find_partition,
    own_table_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan import plan_region
from ansible_collections.plumbline.storage.plugins.module_utils._stack.model import Layer, StackDescription
from ansible_collections.plumbline.storage.plugins.module_utils._stack.names import owner_tag
from ansible_collections.plumbline.storage.plugins.module_utils._stack.record import StackRecord
from ansible_collections.plumbline.storage.plugins.module_utils._stack.size import extent_bytes_of
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import (
    XFS_OPTIONS,
    OtherContent,
    XfsState,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.operation import (
    wanted_from_params as xfs_wanted_from_params,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.plan import plan_xfs

__all__ = ["Built", "World", "compose_layers", "compose_regions", "filesystem_paths", "merge", "region_wanted"]

_REGION_ALIGNMENT_BYTES = 1024**2


@dataclasses.dataclass(frozen=True)
class World:
    """All that a plan needs of the host. C(kernel_paths) leads from planned names to the kernel's, where they exist."""

    disks: tuple[DeviceGeometry, ...] = ()
    tables: tuple[TableState, ...] = ()
    arrays: tuple[MdState, ...] = ()
    lvm: LvmState = dataclasses.field(default_factory=LvmState)
    filesystems: t.Mapping[str, XfsState | OtherContent | None] = dataclasses.field(default_factory=dict)
    mounts: t.Mapping[str, MountState] = dataclasses.field(default_factory=dict)
    kernel_paths: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    mapped: t.Mapping[str, str] = dataclasses.field(default_factory=dict)
    personality_problems: t.Mapping[str, str] = dataclasses.field(default_factory=dict)

    def kernel(self, path: str) -> str:
        return self.kernel_paths.get(path, path)

    def mounted_as(self, path: str) -> str:
        """The kernel's own name, as a mount shows it: C(/dev/dm-0) of a logical volume."""
        return self.mapped.get(path, path)


class Built(t.NamedTuple):
    """A plan for the whole stack, and where each layer is: C(devices) path by layer name, C(top) the uppermost device.

    C(drift) are the differences that were left as they are.
    """

    plan: Plan
    devices: t.Mapping[str, str]
    geometries: t.Mapping[str, DeviceGeometry]
    top: str | None
    filesystem: str | None
    drift: tuple[str, ...] = ()


def region_wanted(record: StackRecord, index: int, disk: str) -> PartitionWanted:
    """The region of one disk of a record, as a partition."""
    seed = hashlib.sha256(f"{record.id}/{record.partitions[index]}".encode()).hexdigest()
    return PartitionWanted(
        disk=disk,
        name=record.partition_name,
        start_bytes=record.region_start_bytes,
        size_bytes=record.region_size_bytes,
        uuid=record.partitions[index],
        table_uuid=own_table_uuid(seed),
        alignment_bytes=_REGION_ALIGNMENT_BYTES,
    )


def compose_regions(record: StackRecord, world: World) -> tuple[Plan, tuple[DeviceGeometry, ...]]:
    """The plan that makes every region, and the regions as devices, existing or planned."""
    plans: list[Plan] = []
    regions: list[DeviceGeometry] = []
    for index, (disk, table) in enumerate(zip(world.disks, world.tables)):
        wanted = region_wanted(record, index, disk.path)
        plan = plan_region(table, wanted, disk)
        found = find_partition(plan.predicted if plan.changed else table, wanted)
        if found is None:
            raise PlanRefused(f"the region of {disk.path} could not be planned")
        plans.append(plan)
        regions.append(region_geometry(found, disk))
    return merge(plans), tuple(regions)


def merge(plans: t.Sequence[Plan]) -> Plan:
    """Several plans as one, in order. The steps of one and the same command on other disks stay apart."""
    steps: list[Step] = []
    for step in (step for plan in plans for step in plan.steps):
        # A layer wipes what shows through it, and the next layer would wipe its new ground once more.
        if not (steps and _wiped(step) and _wiped(step) == _wiped(steps[-1])):
            steps.append(step)
    return Plan(
        steps=tuple(steps),
        before={"layers": [fields for plan in plans for fields in _by_layer(plan.before)]},
        after={"layers": [fields for plan in plans for fields in _by_layer(plan.after)]},
        warnings=tuple(dict.fromkeys(text for plan in plans for text in (*plan.warnings, *plan.pending))),
        assumed_parent=any(plan.assumed_parent for plan in plans),
    )


def _by_layer(fields: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """The fields of a diff one layer at a time, whether they are of one layer or were put together before."""
    if set(fields) == {"layers"}:
        return list(fields["layers"])
    return [dict(fields)] if fields else []


def _wiped(step: Step) -> tuple[str, ...]:
    """The devices that a step wipes whole; none for any other command."""
    return tuple(word for word in step.argv[1:] if word.startswith("/")) if step.argv[0] == "wipefs" else ()


class _Composer:
    """Walks up the layers. Holds what is known so far: plans, devices, and LVM as it will be."""

    def __init__(
        self,
        stack: StackDescription,
        record: StackRecord,
        regions: t.Sequence[DeviceGeometry],
        world: World,
        usable_bytes: int | None,
        tolerant: bool,
    ) -> None:
        self.stack, self.record, self.world, self.usable_bytes = stack, record, world, usable_bytes
        self.tolerant = tolerant
        self.drift: list[str] = []
        self.plans: list[Plan] = []
        self.grounds: dict[str, list[DeviceGeometry]] = {f"disk:{n}": [region] for n, region in enumerate(regions)}
        self.volumes: dict[str, list[PvState]] = {}
        self.groups: dict[str, tuple[VgState, tuple[PvState, ...]]] = {}
        self.devices: dict[str, str] = {}

    def walk(self) -> None:
        """The layers from below; before them, mounts that an earlier description had elsewhere go."""
        for path in self.record.former_mounts:
            self.plans.append(plan_unmount(self.world.mounts.get(path, MountState(path)), self.record.id))
        handlers = {"md": self.md, "pv": self.pv, "vg": self.vg, "lv": self.lv, "xfs": self.xfs}
        for layer in self.stack.layers:
            handlers[layer.kind](layer)

    def _unless_drifted(self, plan: t.Callable[[], Plan]) -> Plan:
        """The plan; where the existing object differs in what cannot change and that is tolerated, a plan of nothing."""
        try:
            return plan()
        except DriftFound as drift:
            if not self.tolerant:
                raise
            self.drift.append(drift.message)
            return Plan()

    def _below(self, layer: Layer) -> list[DeviceGeometry]:
        return [ground for name in layer.on for ground in self.grounds[name]]

    def _is_top(self, layer: Layer) -> bool:
        return all(other.kind == "xfs" for other in self.stack.layers if layer.name in other.on)

    def md(self, layer: Layer) -> None:
        below = self._below(layer)
        wanted = self._md_wanted(layer, below)
        found = self._array(wanted.uuid)
        problem = self.world.personality_problems.get(str(wanted.level))
        if found is None and problem:
            raise PlanRefused(problem)
        plan = self._unless_drifted(lambda: plan_md(found, wanted, below))
        state = found if found is not None and not plan.changed else plan.predicted
        geometry = array_geometry(state, below)
        self._add(layer, plan, geometry._replace(path=self.world.kernel(f"/dev/md/{wanted.name}")))

    def _array(self, uuid: str | None) -> MdState | None:
        """The array itself, before an old member of it that stands apart."""
        same = [array for array in self.world.arrays if array.uuid == uuid]
        return next((array for array in same if array.active), same[0] if same else None)

    def _md_wanted(self, layer: Layer, below: t.Sequence[DeviceGeometry]) -> MdWanted:
        options = layer.options
        level, layout = level_name(options["level"]), options.get("layout")
        sync = str(options.get("initial_sync", "assume_clean"))
        if sync not in ("assume_clean", "resync"):
            raise PlanRefused(f"stack {self.stack.name}: initial_sync is {sync!r}; it is assume_clean or resync")
        size = None
        if self.usable_bytes is not None and self._is_top(layer) and level != "linear":
            size = int(self.usable_bytes / capacity_disks(level, len(below), layout))
        bitmap = options.get("bitmap")
        return MdWanted(
            name=self.record.array_names[layer.name],
            level=level,
            members=tuple(ground.path for ground in below),
            chunk_bytes=parse_optional_size(options.get("chunk"), "chunk"),
            layout=layout,
            metadata=None if options.get("metadata") is None else str(options["metadata"]),
            bitmap="none" if bitmap is None else str(bitmap),
            size_bytes=size,
            data_offset_bytes=parse_optional_size(options.get("data_offset"), "data_offset"),
            homehost="any",
            uuid=self.record.arrays[layer.name],
            assume_clean=sync == "assume_clean",
        )

    def pv(self, layer: Layer) -> None:
        """Only noted here: new PVs are made together with their VG, in one process."""
        self.grounds[layer.name] = self._below(layer)

    def vg(self, layer: Layer) -> None:
        wishes, below = self._pv_wishes(layer)
        name = self.record.groups[layer.name]
        wanted = VgWanted(
            name=name,
            pv_paths=tuple(wish.path for wish in wishes),
            extent_bytes=extent_bytes_of(layer) if "extent_size" in layer.options else DEFAULT_EXTENT_BYTES,
            tags=(owner_tag(self.record.id),),
        )
        present = [self.world.lvm.pv(wish.path) for wish in wishes]
        found = self.world.lvm.vg(name)
        combined = combined_create(wanted, wishes, below) if found is None and not any(present) else None
        pv_plans = [] if combined else [self._pv_plan(pv, wish, below) for pv, wish in zip(present, wishes)]
        pvs = (
            [plan.predicted for plan in pv_plans]
            if pv_plans
            else [plan_pv(None, wish, below[wish.path]).predicted for wish in wishes]
        )
        plan = combined or self._unless_drifted(lambda: plan_vg(found, wanted, pvs, below))
        group = plan.predicted if plan.changed or found is None else found
        members = self.world.lvm.pvs_of(name) if found is not None and not plan.changed else members_after(pvs, group)
        self.plans += [*pv_plans, plan]
        self.groups[layer.name] = (group, tuple(members))
        self.grounds[layer.name] = list(below.values())

    def _pv_plan(self, found: PvState | None, wish: PvWanted, below: t.Mapping[str, DeviceGeometry]) -> Plan:
        plan = self._unless_drifted(lambda: plan_pv(found, wish, below[wish.path]))
        return plan if plan.predicted is not None else plan._replace(predicted=found)

    def _pv_wishes(self, layer: Layer) -> tuple[list[PvWanted], dict[str, DeviceGeometry]]:
        wishes: list[PvWanted] = []
        below: dict[str, DeviceGeometry] = {}
        for name in layer.on:
            options = self.stack.layer(name).options
            alignment = options.get("dataalignment", AUTO)
            for ground in self.grounds[name]:
                below[ground.path] = ground
                wishes.append(
                    PvWanted(
                        path=ground.path,
                        metadata_bytes=parse_optional_size(options.get("metadatasize"), "metadatasize"),
                        alignment=AUTO if alignment == AUTO else parse_optional_size(alignment, "dataalignment"),
                        alignment_offset_bytes=parse_optional_size(
                            options.get("dataalignmentoffset"), "dataalignmentoffset"
                        ),
                    )
                )
        return wishes, below

    def lv(self, layer: Layer) -> None:
        group, pvs = self.groups[layer.on[0]]
        below = {ground.path: ground for ground in self.grounds[layer.on[0]]}
        wanted = self._lv_wanted(layer, group, pvs)
        found = self.world.lvm.lv(group.name, layer.name)
        if found is not None:
            found = physical_lv(self.world.lvm, found)
        plan = self._unless_drifted(lambda: plan_lv(found, wanted, group, pvs, below))
        state: LvState = plan.predicted if plan.changed or found is None else found
        geometry, warnings = geometry_of_lv(state, group, pvs, below)
        if found is None:
            group, pvs = vg_after_lv(group, pvs, state)
            self.groups[layer.on[0]] = (group, pvs)
        plan = plan._replace(warnings=tuple(dict.fromkeys((*plan.warnings, *warnings))))
        self._add(layer, plan, geometry._replace(path=f"/dev/{group.name}/{layer.name}"))

    def _lv_wanted(self, layer: Layer, group: VgState, pvs: t.Sequence[PvState]) -> LvWanted:
        options = layer.options
        asked = parse_optional_size(options.get("size"), "size")
        if asked is None and self._is_top(layer):
            asked = self.usable_bytes
        size = ExtentRequest("free", 100) if asked is None else ExtentRequest("bytes", asked)
        return LvWanted(
            vg=group.name,
            name=layer.name,
            type=None if options.get("type") is None else str(options["type"]),
            size=size,
            stripes=_count(options.get("stripes"), "stripes"),
            stripe_bytes=parse_optional_size(options.get("stripesize"), "stripesize"),
            mirrors=_count(options.get("mirrors"), "mirrors"),
            region_bytes=parse_optional_size(options.get("regionsize"), "regionsize"),
            tags=(owner_tag(self.record.id),),
        )

    def xfs(self, layer: Layer) -> None:
        ground = self._below(layer)[0]
        params = {name: layer.options.get(name) for name in XFS_OPTIONS}
        if params["su"] is None and params["sunit"] is None and params["geometry"] is None:
            params["geometry"] = "auto"
        wanted = xfs_wanted_from_params({**params, "device": ground.path, "uuid": self.record.filesystems[layer.name]})
        plan = self._unless_drifted(lambda: plan_xfs(self.world.filesystems.get(ground.path), wanted, ground))
        self._add(layer, plan, ground)
        self._mount(layer, ground.path)

    def _mount(self, layer: Layer, device: str) -> None:
        wished = layer.options.get("mount")
        if wished is None:
            return
        options = str(layer.options.get("mount_options") or "defaults")
        check_mount_path(str(wished), options)
        wanted = MountWanted(str(wished), self.record.filesystems[layer.name], options, self.record.id)
        state = self.world.mounts.get(wanted.path, MountState(wanted.path))
        self.plans.append(plan_mount(state, wanted, self.world.mounted_as(device)))

    def _add(self, layer: Layer, plan: Plan, geometry: DeviceGeometry) -> None:
        self.plans.append(plan)
        self.grounds[layer.name] = [geometry]
        self.devices[layer.name] = geometry.path


def _count(value: t.Any, option: str) -> int | None:
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        raise PlanRefused(f"{option} was given as {value!r}; write a whole number") from None


def compose_layers(
    stack: StackDescription,
    record: StackRecord,
    regions: t.Sequence[DeviceGeometry],
    world: World,
    usable_bytes: int | None,
    tolerant: bool = False,
) -> Built:
    """The plan for every layer over the regions.

    Raises PlanRefused where a layer cannot be, and DriftFound where an existing one differs in what cannot change, unless
    C(tolerant): then it is left as it is, and told.
    """
    composer = _Composer(stack, record, regions, world, usable_bytes, tolerant)
    composer.walk()
    plan = merge(composer.plans)
    devices = [layer for layer in stack.layers if layer.kind in ("md", "lv")]
    xfs = next((layer for layer in stack.layers if layer.kind == "xfs"), None)
    top = composer.devices[devices[-1].name] if devices else (composer.devices[xfs.name] if xfs else None)
    geometries = {name: grounds[0] for name, grounds in composer.grounds.items() if len(grounds) == 1}
    filesystem = composer.devices[xfs.name] if xfs else None
    return Built(plan, composer.devices, geometries, top, filesystem, tuple(composer.drift))


def filesystem_paths(
    stack: StackDescription, record: StackRecord, regions: t.Sequence[DeviceGeometry]
) -> dict[str, str]:
    """The device of every XFS layer by the name that it has, whether it exists or not."""
    paths = {f"disk:{index}": region.path for index, region in enumerate(regions)}
    for layer in stack.layers:
        if layer.kind == "md":
            paths[layer.name] = f"/dev/md/{record.array_names[layer.name]}"
        elif layer.kind == "lv":
            paths[layer.name] = f"/dev/{record.groups[layer.on[0]]}/{layer.name}"
    return {layer.name: paths[layer.on[0]] for layer in stack.layers if layer.kind == "xfs"}
