# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""How an XFS is made: what is checked before, the command, and what it will be. Pure."""

from __future__ import annotations

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import (
    MIN_SIZE_BYTES,
    XfsStripe,
    xfs_log_unit_bytes,
    xfs_stripe,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import (
    FEATURES,
    OtherContent,
    Trial,
    XfsState,
    XfsWanted,
)

__all__ = [
    "check_device",
    "check_trial",
    "mkfs_step",
    "predicted",
    "shown_shape",
    "trial_argv",
    "wanted_stripe",
    "wipe_step",
]

DEFAULT_BLOCK_BYTES = 4096
_MKFS_TIMEOUT_SECONDS = 1800


def wanted_stripe(wanted: XfsWanted, below: DeviceGeometry, block_bytes: int | None = None) -> XfsStripe:
    """su and sw that the wish means on this device, 0 for none, and warnings where they do not fit the stripe below."""
    derived = xfs_stripe(below, block_bytes=wanted.block_bytes or block_bytes or DEFAULT_BLOCK_BYTES)
    if wanted.su_bytes is not None and wanted.sw is not None:
        warnings: tuple[str, ...] = ()
        if derived.su_bytes and (derived.su_bytes, derived.sw_units) != (wanted.su_bytes, wanted.sw):
            warnings = (
                f"su {format_size(wanted.su_bytes)} and sw {wanted.sw} are taken as given, but the stripe below "
                f"{wanted.device} is su {format_size(derived.su_bytes)}, sw {derived.sw_units}",
            )
        elif derived.su_bytes:
            warnings = derived.warnings
        return XfsStripe(wanted.su_bytes, wanted.sw, warnings=warnings)
    return XfsStripe() if wanted.geometry == "none" else derived


def check_device(wanted: XfsWanted, below: DeviceGeometry) -> None:
    """Raises PlanRefused for what mkfs.xfs could not make of this device."""
    if below.size_bytes is not None and below.size_bytes < MIN_SIZE_BYTES:
        raise PlanRefused(
            f"an XFS was asked for on {wanted.device}, which has {format_size(below.size_bytes)}; mkfs.xfs makes none "
            f"below {format_size(MIN_SIZE_BYTES)}, and takes stripe geometry by itself only from 1GiB up"
        )
    block = wanted.block_bytes or DEFAULT_BLOCK_BYTES
    sector = wanted.sector_bytes or below.logical_sector_bytes
    if sector < below.logical_sector_bytes:
        raise PlanRefused(
            f"sector_size was given as {format_size(sector)}, but {wanted.device} has sectors of "
            f"{format_size(below.logical_sector_bytes)}"
        )
    if sector > block:
        raise PlanRefused(f"block_size {format_size(block)} is smaller than a sector, {format_size(sector)}")
    if wanted.inode_bytes and wanted.inode_bytes > block // 2:
        raise PlanRefused(
            f"inode_size was given as {format_size(wanted.inode_bytes)}, but a block of {format_size(block)} must hold "
            "two inodes at least"
        )
    _check_multiples(wanted, wanted_stripe(wanted, below), block, wanted.sector_bytes or below.physical_sector_bytes)


def _check_multiples(wanted: XfsWanted, stripe: XfsStripe, block: int, sector: int) -> None:
    log_unit = wanted.log_su_bytes or xfs_log_unit_bytes(stripe.su_bytes, block, sector)
    rules = (
        ("su", wanted.su_bytes, block, "the block size"),
        ("log_su", wanted.log_su_bytes, block, "the block size"),
        ("agsize", wanted.ag_bytes, block, "the block size"),
        ("agsize", wanted.ag_bytes, stripe.su_bytes, "the stripe unit"),
        ("log_size", wanted.log_bytes, block, "the block size"),
        ("log_size", wanted.log_bytes, log_unit, "the log's stripe unit"),
    )
    for option, value, grid, what in rules:
        if value and grid and value % grid:
            raise PlanRefused(
                f"{option} was given as {format_size(value)}, which is not a multiple of {what}, {format_size(grid)}"
            )


def _mkfs_argv(wanted: XfsWanted, stripe: XfsStripe, below: DeviceGeometry) -> list[str]:
    data: list[str] = []
    if stripe.su_bytes:
        data += [f"su={stripe.su_bytes}", f"sw={stripe.sw_units}"]
    elif not below.assumed or wanted.geometry == "none":
        # Without it mkfs.xfs takes what the device reports, and some disks report nonsense.
        data.append("noalign")
    data += _words(("agcount", wanted.agcount), ("agsize", wanted.ag_bytes))
    log = _words(("logdev", wanted.log_device), ("su", wanted.log_su_bytes), ("size", wanted.log_bytes))
    groups: dict[str, list[str]] = {
        "-b": _words(("size", wanted.block_bytes)),
        "-s": _words(("size", wanted.sector_bytes)),
        "-d": data,
        "-l": log,
        "-m": [],
        "-i": _words(("size", wanted.inode_bytes)),
        "-n": [],
    }
    for name, value in wanted.features:
        groups[FEATURES[name]].append(f"{name}={int(value)}")
    groups["-m"] += _words(("uuid", wanted.uuid and wanted.uuid.lower()))
    argv = [word for option, words in groups.items() if words for word in (option, ",".join(words))]
    return [*argv, *(("-L", wanted.label) if wanted.label else ()), wanted.device]


def _words(*pairs: tuple[str, object]) -> list[str]:
    return [f"{name}={value}" for name, value in pairs if value is not None]


def mkfs_step(wanted: XfsWanted, stripe: XfsStripe, below: DeviceGeometry) -> Step:
    """The step that makes the file system; without force, so that mkfs.xfs itself refuses content that nobody saw."""
    shape = f"su {format_size(stripe.su_bytes)}, sw {stripe.sw_units}" if stripe.su_bytes else "no stripe geometry"
    if below.assumed and not stripe.su_bytes:
        shape = "stripe geometry still to be derived"
    return Step(
        ("mkfs.xfs", "-q", "-K", *_mkfs_argv(wanted, stripe, below)),
        f"make an XFS on {wanted.device} with {shape}",
        writes=(wanted.device, *((wanted.log_device,) if wanted.log_device else ())),
        timeout_seconds=_MKFS_TIMEOUT_SECONDS,
    )


def trial_argv(wanted: XfsWanted, below: DeviceGeometry, content: OtherContent | None) -> list[str]:
    """The command that tells what would be made and writes nothing. What is there now is no matter to it: a plan wipes that first,
    with consent, or nothing is done."""
    force = ["-f"] if content is not None or wanted.log_device else []
    return ["mkfs.xfs", "-N", *force, "-K", *_mkfs_argv(wanted, wanted_stripe(wanted, below), below)]


def check_trial(wanted: XfsWanted, trial: Trial | None) -> None:
    """Raises PlanRefused when mkfs.xfs said that it will not make such a file system."""
    if trial is not None and trial.refusal:
        raise PlanRefused(
            f"such an XFS cannot be made on {wanted.device}: {trial.refusal}. Nothing was changed; ask for something else"
        )


def predicted(wanted: XfsWanted, stripe: XfsStripe, below: DeviceGeometry, trial: Trial | None) -> XfsState:
    """What the command will make."""
    uuid = wanted.uuid.lower() if wanted.uuid else None
    if trial is not None and trial.would_make is not None:
        return trial.would_make._replace(uuid=uuid, label=wanted.label or "")
    unknown = below.assumed and not stripe.su_bytes and wanted.geometry != "none"
    block = wanted.block_bytes or DEFAULT_BLOCK_BYTES
    return XfsState(
        device=wanted.device,
        uuid=uuid,
        label=wanted.label or "",
        block_bytes=block,
        sector_bytes=wanted.sector_bytes,
        inode_bytes=wanted.inode_bytes,
        agcount=wanted.agcount,
        agblocks=_blocks(wanted.ag_bytes, block),
        log_blocks=_blocks(wanted.log_bytes, block),
        sunit_bytes=None if unknown else stripe.su_bytes,
        swidth_bytes=None if unknown else stripe.su_bytes * stripe.sw_units,
        log_sunit_bytes=wanted.log_su_bytes,
        log_external=wanted.log_device is not None,
        features=tuple(sorted(name for name, value in wanted.features if value)),
    )


def _blocks(size_bytes: int | None, block_bytes: int) -> int | None:
    return None if size_bytes is None else size_bytes // block_bytes


def wipe_step(state: OtherContent) -> Step:
    """Takes the signatures off, which mkfs.xfs would refuse."""
    found = state.note or " and ".join(state.kinds)
    return Step(("wipefs", "-a", state.device), f"wipe {state.device} ({found})", writes=(state.device,), retries=3)


def shown_shape(sunit_bytes: int, swidth_bytes: int) -> str:
    """A stripe in words."""
    return f"su {format_size(sunit_bytes)}, sw {swidth_bytes // sunit_bytes}" if sunit_bytes else "none"
