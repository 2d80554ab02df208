# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The options of xfs_filesystem as an Operation."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import (
    format_size,
    parse_optional_size,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.change import needs_clean_log
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.make import check_device, trial_argv
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import (
    FEATURES,
    OtherContent,
    Trial,
    XfsState,
    XfsWanted,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.plan import plan_xfs, plan_xfs_absent
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.read import (
    read_log_dirty,
    read_signatures_of,
    read_trial,
    read_xfs,
)

__all__ = ["XfsOperation", "XfsRead", "wanted_from_params", "xfs_operation", "xfs_result"]

_AG_LEAST_BYTES, _AG_LIMIT_BYTES = 16 * 1024**2, 1024**4
_UUID = re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_LABEL = re.compile(r"^[A-Za-z0-9_.:+@-]{0,12}$")


class XfsRead(t.NamedTuple):
    """What is on the device, and the device; C(below) None where it was not needed.

    C(trial): what mkfs.xfs would make of a device without an XFS. C(log_content): what the device for an external log holds.
    """

    content: XfsState | OtherContent | None
    below: DeviceGeometry | None
    trial: Trial | None = None
    log_content: OtherContent | None = None
    log_dirty: bool = False


def wanted_from_params(params: t.Mapping[str, t.Any]) -> XfsWanted:
    """The options, checked and typed; raises PlanRefused."""
    _check_types(params)
    su, sw = _stripe(params)
    if su is not None and params.get("geometry"):
        raise PlanRefused(
            f"geometry: {params['geometry']} and a stripe by su or sunit were both given; give one of them"
        )
    wanted = XfsWanted(
        device=params["device"],
        geometry=params.get("geometry"),
        su_bytes=su,
        sw=sw,
        log_su_bytes=parse_optional_size(params.get("log_su"), "log_su"),
        log_bytes=parse_optional_size(params.get("log_size"), "log_size"),
        log_device=params.get("log_device"),
        sector_bytes=_power_of_two(params.get("sector_size"), "sector_size", 512, 32768),
        block_bytes=_power_of_two(params.get("block_size"), "block_size", 1024, 65536),
        inode_bytes=_power_of_two(params.get("inode_size"), "inode_size", 256, 2048),
        agcount=params.get("agcount"),
        ag_bytes=parse_optional_size(params.get("agsize"), "agsize"),
        label=params.get("label"),
        uuid=params.get("uuid"),
        change_uuid=bool(params.get("change_uuid")),
        grow=bool(params.get("grow")),
        features=tuple((name, params[name]) for name in FEATURES if params.get(name) is not None),
    )
    _check_names(wanted)
    _check_groups(wanted)
    return wanted


def _check_types(params: t.Mapping[str, t.Any]) -> None:
    """In a stack the values come as they were written."""
    for name in ("sw", "agcount"):
        value = params.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise PlanRefused(f"{name} was given as {value!r}; it is a count, a whole number without a unit or quotes")
    for name in FEATURES:
        if params.get(name) not in (None, True, False):
            raise PlanRefused(f"{name} was given as {params[name]!r}; it can be true or false")


def _check_names(wanted: XfsWanted) -> None:
    if wanted.uuid is not None and not _UUID.match(wanted.uuid):
        raise PlanRefused(
            f"uuid was given as {wanted.uuid!r}, which is not a UUID such as 2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11"
        )
    if wanted.label is not None and not _LABEL.match(wanted.label):
        raise PlanRefused(
            f"label was given as {wanted.label!r}; an XFS label has at most 12 letters, digits or any of _.:+@-"
        )
    if wanted.agcount is not None and wanted.agcount < 1:
        raise PlanRefused(f"agcount was given as {wanted.agcount}; a file system has at least one allocation group")
    if wanted.change_uuid and wanted.uuid is None:
        raise PlanRefused("change_uuid was given without uuid; give the UUID that the file system shall have")
    if wanted.log_device is not None and os.path.realpath(wanted.log_device) == os.path.realpath(wanted.device):
        raise PlanRefused(
            f"log_device was given as {wanted.log_device}, which is the device of the file system itself; leave it out for a "
            "log inside the file system"
        )


def _check_groups(wanted: XfsWanted) -> None:
    if wanted.ag_bytes is None:
        return
    if wanted.agcount is not None:
        raise PlanRefused("agcount and agsize say the same in two ways; give one of them")
    if not _AG_LEAST_BYTES <= wanted.ag_bytes < _AG_LIMIT_BYTES:
        raise PlanRefused(
            f"agsize was given as {format_size(wanted.ag_bytes)}; an allocation group has at least "
            f"{format_size(_AG_LEAST_BYTES)} and less than {format_size(_AG_LIMIT_BYTES)}"
        )


def _stripe(params: t.Mapping[str, t.Any]) -> tuple[int | None, int | None]:
    """su in bytes and sw, whichever pair of options was given."""
    su, sw = parse_optional_size(params.get("su"), "su"), params.get("sw")
    sunit, swidth = (parse_optional_size(params.get(name), name) for name in ("sunit", "swidth"))
    for one, other, names in ((su, sw, "su and sw"), (sunit, swidth, "sunit and swidth")):
        if (one is None) != (other is None):
            raise PlanRefused(f"{names} make sense only together; give both or neither")
    if su is not None and sunit is not None:
        raise PlanRefused("su with sw and sunit with swidth say the same in two ways; give one of them")
    if sunit is not None and swidth is not None:
        if sunit <= 0 or swidth % sunit or swidth <= 0:
            raise PlanRefused(f"swidth {format_size(swidth)} is not a multiple of sunit {format_size(sunit)}")
        su, sw = sunit, swidth // sunit
    if su is not None and (su <= 0 or (sw or 0) < 1):
        raise PlanRefused(f"su {format_size(su)} with sw {sw} is no stripe; for none give geometry: none")
    return su, sw


def _power_of_two(text: t.Any, option: str, low: int, high: int) -> int | None:
    size = parse_optional_size(text, option)
    if size is not None and (size < low or size > high or size & (size - 1)):
        raise PlanRefused(
            f"{option} was given as {text}; it must be a power of two from {format_size(low)} to {format_size(high)}"
        )
    return size


class XfsOperation:
    """Read, plan and result of one file system."""

    def __init__(self, wanted: XfsWanted, present: bool) -> None:
        self.wanted, self.present = wanted, present

    def read(self, runner: Runner) -> XfsRead:
        """In check mode a device that does not exist yet is taken as planned."""
        below, wanted = None, self.wanted
        if self.present:
            below = read_device_geometry(wanted.device, runner.check_mode)
        content = _named_as_asked(read_xfs(runner, wanted.device), wanted)
        log_content = None
        if wanted.log_device is not None and not (self.present and isinstance(content, XfsState)):
            log_content = self._read_log(runner, wanted.log_device)
        found = XfsRead(content, below, log_content=log_content)
        if below is None or below.assumed:
            return found
        if isinstance(content, XfsState):
            if not needs_clean_log(content, wanted):
                return found
            dirty = read_log_dirty(runner, wanted.device, wanted.log_device)
            return found._replace(log_dirty=dirty)
        check_device(wanted, below)
        if wanted.log_device is not None and not os.path.exists(wanted.log_device):
            return found  # planned only: mkfs.xfs cannot be asked yet
        return found._replace(trial=read_trial(runner, trial_argv(wanted, below, content)))

    def _read_log(self, runner: Runner, device: str) -> OtherContent | None:
        if read_device_geometry(device, runner.check_mode).assumed:
            return None
        return read_signatures_of(runner, device)

    def plan(self, state: XfsRead) -> Plan:
        """The plan; its prediction is an XfsRead."""
        if self.present and state.below is not None:
            plan = plan_xfs(state.content, self.wanted, state.below, state.trial, state.log_content, state.log_dirty)
        else:
            plan = plan_xfs_absent(state.content, self.wanted, state.log_content)
        return plan._replace(predicted=XfsRead(plan.predicted, state.below))

    def result(self, state: XfsRead) -> dict[str, t.Any]:
        return {"filesystem": xfs_result(state.content)}


def _named_as_asked(content: XfsState | OtherContent | None, wanted: XfsWanted) -> XfsState | OtherContent | None:
    """The log's device by the name of the wish where it is the same one."""
    if not isinstance(content, XfsState) or content.log_device is None or wanted.log_device is None:
        return content
    if os.path.realpath(content.log_device) != os.path.realpath(wanted.log_device):
        return content
    return content._replace(log_device=wanted.log_device)


def xfs_result(content: XfsState | OtherContent | None) -> dict[str, t.Any] | None:
    """The file system as a person gets it, None when there is none."""
    if not isinstance(content, XfsState):
        return None
    sunit, swidth = content.sunit_bytes, content.swidth_bytes
    return {
        **content._asdict(),
        "features": list(content.features),
        "mounted_at": list(content.mounted_at),
        "size_bytes": content.size_bytes,
        "ag_bytes": content.ag_bytes,
        "log_bytes": content.log_bytes,
        "sw": swidth // sunit if sunit and swidth is not None else sunit,
        "real_device": os.path.realpath(content.device),
    }


def xfs_operation(params: t.Mapping[str, t.Any]) -> XfsOperation:
    """An Operation from the options of xfs_filesystem; raises PlanRefused for options that cannot be."""
    return XfsOperation(wanted_from_params(params), params["state"] == "present")
