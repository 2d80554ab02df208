# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A workload as typed data, where it runs, and what a tool's run gave."""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.sizes import format_size, parse_size
from ansible_collections.plumbline.storage.plugins.module_utils._core.yaml_words import restore_on

__all__ = [
    "FILESYSTEM",
    "TOP_DEVICE",
    "Parsed",
    "Target",
    "Workload",
    "parse_seconds",
    "parse_workload",
    "parse_workloads",
]

TOP_DEVICE = "top_device"
FILESYSTEM = "filesystem"
_NOT_YET = ("each_disk", "all_disks", "memory")
_TOOLS = ("fio", "dd")
_FIO_ACCESS = ("read", "write", "randread", "randwrite", "rw", "readwrite", "randrw")
_DD_ACCESS = ("read", "write")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
_SECONDS = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?\s*$")
_UNITS = {None: 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_COMMON = {"name", "tool", "on", "bs", "direct", "size", "offset", "cold", "primary_metric", "timeout"}
_KEYS = {
    "fio": _COMMON | {"rw", "runtime", "ramp", "iodepth", "numjobs", "ioengine", "seed"},
    "dd": _COMMON | {"access"},
}
_DEFAULT_METRIC = "throughput_bytes_per_second"


@dataclasses.dataclass(frozen=True)
class Workload:
    """One thing to measure. C(access) is fio's C(rw) or dd's C(read)/C(write); sizes in bytes, times in seconds.

    C(cold) true empties every cache before the run and makes the run invalid when the disks read less than it did.
    C(runtime_seconds) None means that the run ends after C(size_bytes).
    """

    name: str
    tool: str
    on: str
    access: str
    bs_bytes: int
    direct: bool
    runtime_seconds: float | None = None
    ramp_seconds: float = 0.0
    size_bytes: int | None = None
    offset_bytes: int = 0
    iodepth: int = 1
    numjobs: int = 1
    ioengine: str = "libaio"
    seed: int = 1
    cold: bool = False
    primary_metric: str = _DEFAULT_METRIC
    timeout_seconds: float | None = None

    @property
    def writes(self) -> bool:
        return self.access not in ("read", "randread")

    @property
    def reads_sequentially(self) -> bool:
        return self.access == "read"

    @property
    def on_filesystem(self) -> bool:
        return self.on == FILESYSTEM

    def expected_seconds(self) -> float | None:
        """How long the tool will run when its length is given as a time."""
        return None if self.runtime_seconds is None else self.runtime_seconds + self.ramp_seconds


@dataclasses.dataclass(frozen=True)
class Target:
    """What a tool opens: a block device or a file, and how many bytes of it may be used."""

    path: str
    size_bytes: int


@dataclasses.dataclass(frozen=True)
class Parsed:
    """A tool's own figures. C(io_seconds): how long it moved data, ramp included; C(problem) makes the run invalid."""

    tool_version: str | None
    metrics: t.Mapping[str, float]
    io_seconds: float
    problem: str | None = None
    messages: tuple[str, ...] = ()


def parse_seconds(value: t.Any, option: str) -> float:
    """Seconds of C(30s), C(2m), C(500ms) or a bare number of seconds; raises PlanRefused."""
    match = None if isinstance(value, bool) else _SECONDS.match(str(value))
    if not match:
        raise PlanRefused(
            f"{option} was given as {value!r}, which is not a time; write a number and a unit, such as 30s"
        )
    return float(match.group(1)) * _UNITS[match.group(2)]


def parse_workloads(values: t.Sequence[t.Mapping[str, t.Any]]) -> list[Workload]:
    """Typed workloads in the order given; raises PlanRefused for an empty list or two of one name."""
    workloads = [parse_workload(value) for value in values]
    if not workloads:
        raise PlanRefused("no workload was given; name at least one, such as {name: seq_read, tool: fio, rw: read, …}")
    names = [workload.name for workload in workloads]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanRefused(
            f"two workloads are called {twice[0]}; names must differ, observations are told apart by them"
        )
    return workloads


def parse_workload(value: t.Mapping[str, t.Any]) -> Workload:
    """One typed workload from the mapping that a person wrote; raises PlanRefused naming the workload and the key."""
    if not isinstance(value, t.Mapping):
        raise PlanRefused(f"a workload was given as {value!r}; it must be a mapping with name, tool and on")
    value = restore_on(value)
    name = value.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise PlanRefused(
            f"a workload is called {name!r}; a name is needed: letters, digits, '_', '-' and '.', at most 64"
        )
    tool = value.get("tool")
    if tool not in _TOOLS:
        raise PlanRefused(f"workload {name} names the tool {tool!r}; known tools: {', '.join(_TOOLS)}")
    unknown = sorted(str(key) for key in value if key not in _KEYS[tool])
    if unknown:
        raise PlanRefused(
            f"workload {name} has {unknown[0]!r}, which {tool} workloads do not take; "
            f"known: {', '.join(sorted(_KEYS[tool]))}"
        )
    return _fio_workload(name, value) if tool == "fio" else _dd_workload(name, value)


def _fio_workload(name: str, value: t.Mapping[str, t.Any]) -> Workload:
    common = _common(name, value, access=_choice(name, "rw", value.get("rw", "read"), _FIO_ACCESS))
    runtime = _optional_seconds(name, "runtime", value)
    if runtime is None and common["size_bytes"] is None:
        raise PlanRefused(f"workload {name} says neither how long nor how much; give runtime (such as 30s) or size")
    if runtime is not None and runtime < 1:
        raise PlanRefused(f"workload {name} has a runtime of {runtime:g} s; fio counts whole seconds, give at least 1s")
    return Workload(
        **common,
        runtime_seconds=runtime,
        ramp_seconds=_optional_seconds(name, "ramp", value) or 0.0,
        iodepth=_count(name, "iodepth", value.get("iodepth", 1)),
        numjobs=_count(name, "numjobs", value.get("numjobs", 1)),
        ioengine=_choice(name, "ioengine", value.get("ioengine", "libaio"), ("libaio", "psync")),
        seed=_count(name, "seed", value.get("seed", 1)),
    )


def _dd_workload(name: str, value: t.Mapping[str, t.Any]) -> Workload:
    common = _common(name, value, access=_choice(name, "access", value.get("access", "read"), _DD_ACCESS))
    size, bs = common["size_bytes"], common["bs_bytes"]
    if size is not None and size < bs:
        raise PlanRefused(
            f"workload {name} has a size of {format_size(size)}, less than one block of {format_size(bs)}; "
            "nothing would be moved"
        )
    return Workload(**common)


def _common(name: str, value: t.Mapping[str, t.Any], access: str) -> dict[str, t.Any]:
    direct = _flag(name, "direct", value.get("direct", False))
    bs_bytes = parse_size(value.get("bs", "1MiB"), f"bs of workload {name}")
    if bs_bytes < 512 or bs_bytes > 1024**3:
        raise PlanRefused(f"workload {name} has a block size of {format_size(bs_bytes)}; give 512B to 1GiB")
    if direct and bs_bytes % 512:
        raise PlanRefused(f"workload {name} is direct, but its block size {bs_bytes}B is no multiple of 512B")
    size, offset = value.get("size"), value.get("offset")
    metric = value.get("primary_metric", _DEFAULT_METRIC)
    if not isinstance(metric, str):
        raise PlanRefused(
            f"workload {name} has primary_metric {metric!r}; give the name of a metric, such as {_DEFAULT_METRIC}"
        )
    return {
        "name": name,
        "tool": value["tool"],
        "on": _where(name, value.get("on", TOP_DEVICE)),
        "access": access,
        "bs_bytes": bs_bytes,
        "direct": direct,
        "size_bytes": None if size is None else parse_size(size, f"size of workload {name}"),
        "offset_bytes": 0 if offset is None else parse_size(offset, f"offset of workload {name}"),
        "cold": _flag(name, "cold", value.get("cold", False)),
        "primary_metric": metric,
        "timeout_seconds": _optional_seconds(name, "timeout", value),
    }


def _where(name: str, on: t.Any) -> str:
    if on in _NOT_YET:
        raise PlanRefused(
            f"workload {name} runs on {on}, which this version cannot do yet; "
            f"use {TOP_DEVICE}, {FILESYSTEM} or the name of a layer"
        )
    if not isinstance(on, str) or not _NAME.match(on):
        raise PlanRefused(f"workload {name} has on {on!r}; use {TOP_DEVICE}, {FILESYSTEM} or the name of a layer")
    return on


def _choice(name: str, key: str, value: t.Any, choices: t.Sequence[str]) -> str:
    if value not in choices:
        raise PlanRefused(f"workload {name} has {key} {value!r}; known: {', '.join(choices)}")
    return str(value)


def _count(name: str, key: str, value: t.Any) -> int:
    number = int(value) if isinstance(value, str) and value.isdigit() else value
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 2**31:
        raise PlanRefused(f"workload {name} has {key} {value!r}; give a whole number from 1")
    return number


def _flag(name: str, key: str, value: t.Any) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    result = value if isinstance(value, bool) else words.get(str(value).lower())
    if result is None:
        raise PlanRefused(f"workload {name} has {key} {value!r}; give true or false")
    return result


def _optional_seconds(name: str, key: str, value: t.Mapping[str, t.Any]) -> float | None:
    return None if value.get(key) is None else parse_seconds(value[key], f"{key} of workload {name}")
