# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Decides how an XFS file system comes to be, changes or goes. Pure."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import (
    MIN_SIZE_BYTES,
    XfsStripe,
    xfs_stripe,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import OtherContent, XfsState, XfsWanted

__all__ = ["managed_fields", "plan_xfs", "plan_xfs_absent", "wanted_stripe"]

_DEFAULT_BLOCK_BYTES = 4096
_MKFS_TIMEOUT_SECONDS = 1800
_UDEV_RETRIES = 3

XfsContent = t.Union[XfsState, OtherContent, None]


def wanted_stripe(wanted: XfsWanted, below: DeviceGeometry) -> XfsStripe:
    """su and sw that the wish means on this device, 0 for none, and warnings where they do not fit the stripe below."""
    derived = xfs_stripe(below, block_bytes=wanted.block_bytes or _DEFAULT_BLOCK_BYTES)
    if wanted.su_bytes is not None and wanted.sw is not None:
        warnings: tuple[str, ...] = ()
        if derived.su_bytes and (derived.su_bytes, derived.sw_units) != (wanted.su_bytes, wanted.sw):
            warnings = (
                f"su {format_size(wanted.su_bytes)} and sw {wanted.sw} are taken as given, but the stripe below "
                f"{wanted.device} is su {format_size(derived.su_bytes)}, sw {derived.sw_units}",
            )
        return XfsStripe(wanted.su_bytes, wanted.sw, warnings=warnings)
    return XfsStripe() if wanted.geometry == "none" else derived


def _manages_geometry(wanted: XfsWanted) -> bool:
    return wanted.geometry is not None or wanted.su_bytes is not None


def managed_fields(state: XfsContent, wanted: XfsWanted) -> dict[str, t.Any]:
    """The managed fields of a file system for the diff; empty when there is none."""
    if not isinstance(state, XfsState):
        return {}
    fields: dict[str, t.Any] = {"device": wanted.device}
    if _manages_geometry(wanted):
        fields.update(sunit_bytes=state.sunit_bytes, swidth_bytes=state.swidth_bytes)
    for field, option, _is_size in _ASKED:
        if getattr(wanted, option) is not None:
            fields[field] = getattr(state, field)
    if wanted.label is not None:
        fields["label"] = state.label
    fields.update({name: name in state.features for name in wanted.features()})
    return fields


def plan_xfs(state: XfsContent, wanted: XfsWanted, below: DeviceGeometry) -> Plan:
    """The plan that makes the file system, or sets what can be set; empty when it is as wanted.

    Raises PlanRefused when an existing file system differs in what cannot change, or the device cannot hold one.
    """
    if isinstance(state, XfsState):
        return _keep(state, wanted, below)
    _check_device(wanted, below)
    stripe = wanted_stripe(wanted, below)
    steps = (_wipe_step(state),) if isinstance(state, OtherContent) else ()
    made = _predicted(wanted, stripe, below)
    return Plan(
        steps=(*steps, _mkfs_step(wanted, stripe, below)),
        after=managed_fields(made, wanted),
        warnings=(*stripe.warnings, *_assumed_warning(wanted, below)),
        predicted=made,
        assumed_parent=below.assumed,
    )


def plan_xfs_absent(state: XfsContent, wanted: XfsWanted) -> Plan:
    """The plan that wipes the file system; empty when the device has none. Raises PlanRefused when it is mounted."""
    if isinstance(state, XfsState):
        if state.mounted_at:
            raise PlanRefused(
                f"the XFS on {wanted.device} was to be removed, but it is mounted at {', '.join(state.mounted_at)}; "
                "unmount it first"
            )
        if wanted.uuid is not None and wanted.uuid.lower() != state.uuid:
            raise PlanRefused(
                f"the XFS with UUID {wanted.uuid} was to be removed from {wanted.device}, but there is one with UUID "
                f"{state.uuid}; nothing was changed. Leave uuid out to remove whichever is there"
            )
    elif not (isinstance(state, OtherContent) and "xfs" in state.kinds):
        return Plan(predicted=state)
    step = Step(
        ("wipefs", "-a", wanted.device),
        f"wipe the XFS on {wanted.device}",
        writes=(wanted.device,),
        removes=(f"xfs:{wanted.device}",),
        retries=_UDEV_RETRIES,
    )
    return Plan(steps=(step,), before=managed_fields(state, wanted), predicted=None)


def _check_device(wanted: XfsWanted, below: DeviceGeometry) -> None:
    if below.size_bytes is not None and below.size_bytes < MIN_SIZE_BYTES:
        raise PlanRefused(
            f"an XFS was asked for on {wanted.device}, which has {format_size(below.size_bytes)}; mkfs.xfs makes none "
            f"below {format_size(MIN_SIZE_BYTES)}, and takes stripe geometry by itself only from 1GiB up"
        )
    block = wanted.block_bytes or _DEFAULT_BLOCK_BYTES
    sector = wanted.sector_bytes or below.logical_sector_bytes
    if sector < below.logical_sector_bytes:
        raise PlanRefused(
            f"sector_size was given as {format_size(sector)}, but {wanted.device} has sectors of "
            f"{format_size(below.logical_sector_bytes)}"
        )
    if sector > block:
        raise PlanRefused(f"block_size {format_size(block)} is smaller than a sector, {format_size(sector)}")
    for option, value in (("su", wanted.su_bytes), ("log_su", wanted.log_su_bytes)):
        if value and value % block:
            raise PlanRefused(
                f"{option} was given as {format_size(value)}, which is not a multiple of the block size, "
                f"{format_size(block)}"
            )


def _assumed_warning(wanted: XfsWanted, below: DeviceGeometry) -> tuple[str, ...]:
    if not below.assumed:
        return ()
    return (f"{wanted.device} does not exist yet; it is taken as planned, and su and sw are derived once it is there",)


def _wipe_step(state: OtherContent) -> Step:
    found = state.note or " and ".join(state.kinds)
    return Step(
        ("wipefs", "-a", state.device), f"wipe {state.device} ({found})", writes=(state.device,), retries=_UDEV_RETRIES
    )


def _mkfs_step(wanted: XfsWanted, stripe: XfsStripe, below: DeviceGeometry) -> Step:
    data: list[str] = []
    if stripe.su_bytes:
        data += [f"su={stripe.su_bytes}", f"sw={stripe.sw_units}"]
    elif not below.assumed or wanted.geometry == "none":
        # Without it mkfs.xfs takes what the device reports, and some disks report nonsense.
        data.append("noalign")
    if wanted.agcount is not None:
        data.append(f"agcount={wanted.agcount}")
    meta = [f"{name}={int(value)}" for name, value in wanted.features().items()]
    meta += [f"uuid={wanted.uuid.lower()}"] if wanted.uuid else []
    argv = ["mkfs.xfs", "-q", "-K"]
    argv += ["-b", f"size={wanted.block_bytes}"] if wanted.block_bytes else []
    argv += ["-s", f"size={wanted.sector_bytes}"] if wanted.sector_bytes else []
    argv += ["-d", ",".join(data)] if data else []
    argv += ["-l", f"su={wanted.log_su_bytes}"] if wanted.log_su_bytes else []
    argv += ["-m", ",".join(meta)] if meta else []
    argv += ["-L", wanted.label] if wanted.label else []
    shape = f"su {format_size(stripe.su_bytes)}, sw {stripe.sw_units}" if stripe.su_bytes else "no stripe geometry"
    if below.assumed and not stripe.su_bytes:
        shape = "stripe geometry still to be derived"
    return Step(
        (*argv, wanted.device),
        f"make an XFS on {wanted.device} with {shape}",
        writes=(wanted.device,),
        timeout_seconds=_MKFS_TIMEOUT_SECONDS,
    )


def _predicted(wanted: XfsWanted, stripe: XfsStripe, below: DeviceGeometry) -> XfsState:
    unknown = below.assumed and not stripe.su_bytes and wanted.geometry != "none"
    return XfsState(
        device=wanted.device,
        uuid=wanted.uuid.lower() if wanted.uuid else None,
        label=wanted.label or "",
        block_bytes=wanted.block_bytes or _DEFAULT_BLOCK_BYTES,
        sector_bytes=wanted.sector_bytes,
        agcount=wanted.agcount,
        sunit_bytes=None if unknown else stripe.su_bytes,
        swidth_bytes=None if unknown else stripe.su_bytes * stripe.sw_units,
        log_sunit_bytes=wanted.log_su_bytes,
        features=tuple(sorted(name for name, value in wanted.features().items() if value)),
    )


# State field, option, and whether values are sizes: what can only be chosen at creation.
_ASKED = (
    ("block_bytes", "block_bytes", True),
    ("sector_bytes", "sector_bytes", True),
    ("agcount", "agcount", False),
    ("log_sunit_bytes", "log_su_bytes", True),
    ("uuid", "uuid", False),
)
_OPTION_NAMES = {
    "block_bytes": "block_size",
    "sector_bytes": "sector_size",
    "log_su_bytes": "log_su",
}


def _keep(state: XfsState, wanted: XfsWanted, below: DeviceGeometry) -> Plan:
    """An existing file system is never made again: what differs for good is refused, the label is set."""
    different = [*_differences(state, wanted), *_geometry_difference(state, wanted, below)]
    if different:
        raise PlanRefused(
            f"{wanted.device} already holds an XFS (UUID {state.uuid}) that differs in what cannot change: "
            f"{'; '.join(different)}. Nothing was changed; ask for what it has, or remove it first (state: absent)"
        )
    if wanted.label is None or wanted.label == state.label:
        fields = managed_fields(state, wanted)
        return Plan(before=fields, after=fields, predicted=state)
    after = dataclasses.replace(state, label=wanted.label)
    return Plan(
        steps=(_label_step(state, wanted.label),),
        before=managed_fields(state, wanted),
        after=managed_fields(after, wanted),
        predicted=after,
    )


def _differences(state: XfsState, wanted: XfsWanted) -> list[str]:
    found = []
    for field, option, is_size in _ASKED:
        asked, has = getattr(wanted, option), getattr(state, field)
        if option == "uuid" and asked is not None:
            asked = asked.lower()
        if asked is None or has is None or asked == has:
            continue
        show = format_size if is_size else str
        found.append(f"{_OPTION_NAMES.get(option, option)} was asked as {show(asked)} and is {show(has)}")
    for name, asked in wanted.features().items():
        if asked != (name in state.features):
            found.append(f"{name} was asked as {_yes(asked)} and is {_yes(not asked)}")
    return found


def _yes(value: bool) -> str:
    return "true" if value else "false"


def _geometry_difference(state: XfsState, wanted: XfsWanted, below: DeviceGeometry) -> list[str]:
    if not _manages_geometry(wanted) or state.sunit_bytes is None or state.swidth_bytes is None:
        return []
    stripe = wanted_stripe(wanted, below)
    asked = (stripe.su_bytes, stripe.su_bytes * stripe.sw_units)
    if asked == (state.sunit_bytes, state.swidth_bytes):
        return []
    has = _shape(state.sunit_bytes, state.swidth_bytes)
    return [f"stripe geometry was asked as {_shape(*asked)} and is {has}"]


def _shape(sunit: int, swidth: int) -> str:
    return f"su {format_size(sunit)}, sw {swidth // sunit}" if sunit else "none"


def _label_step(state: XfsState, label: str) -> Step:
    summary = f"set the label of the XFS on {state.device} to {label!r}"
    if state.mounted_at:
        command = f"label -s {label}" if label else "label -c"
        return Step(("xfs_io", "-c", command, state.mounted_at[0]), summary)
    return Step(("xfs_admin", "-L", label or "--", state.device), summary)
