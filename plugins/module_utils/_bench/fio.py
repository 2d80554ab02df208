# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""fio: its argument list and its JSON. Pure."""

from __future__ import annotations

import json
import math
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Parsed, Target, Workload
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

__all__ = ["PARSER_VERSION", "command", "fill_command", "parse"]

PARSER_VERSION = 1

_PERCENTILES = (("50.000000", "p50"), ("95.000000", "p95"), ("99.000000", "p99"), ("99.900000", "p99_9"))
_RUNTIME_TOLERANCE_SECONDS = 1.0
_RUNTIME_TOLERANCE = 0.05
_LARGEST = 10**18


def command(workload: Workload, target: Target) -> list[str]:
    """fio's argument list for a workload.

    One process (C(--thread)), so that killing it leaves nothing; a fixed seed; no file is ever created, so that a
    mistyped device is an error; a mounted device is never written.
    """
    argv = [
        "fio",
        f"--name={workload.name}",
        f"--filename={escape_filename(target.path)}",
        f"--rw={workload.access}",
        f"--bs={workload.bs_bytes}",
        f"--direct={int(workload.direct)}",
        f"--ioengine={workload.ioengine}",
        f"--iodepth={workload.iodepth}",
        f"--numjobs={workload.numjobs}",
        "--thread",
        "--group_reporting",
        "--randrepeat=1",
        f"--randseed={workload.seed}",
        "--allow_file_create=0",
        "--allow_mounted_write=0",
        f"--invalidate={int(workload.cold)}",
        f"--offset={workload.offset_bytes}",
        f"--size={_usable_bytes(workload, target)}",
    ]
    if workload.runtime_seconds is not None:
        argv += ["--time_based", f"--runtime={_whole(workload.runtime_seconds)}s"]
        argv += [f"--ramp_time={_whole(workload.ramp_seconds)}s"] if workload.ramp_seconds else []
    if workload.writes:
        argv += ["--end_fsync=1", "--refill_buffers"]
    return [*argv, "--lat_percentiles=1", "--percentile_list=50:95:99:99.9", "--eta=never", "--output-format=json"]


def fill_command(path: str, size_bytes: int, block_bytes: int, seed: int = 1) -> list[str]:
    """Writes an existing, laid-out file in full with random bytes, directly, several requests at a time."""
    return [
        "fio",
        "--name=prepare",
        f"--filename={escape_filename(path)}",
        "--rw=write",
        f"--bs={block_bytes}",
        f"--size={size_bytes}",
        "--direct=1",
        "--ioengine=libaio",
        "--iodepth=4",
        "--thread",
        f"--randseed={seed}",
        "--allow_file_create=0",
        "--fallocate=none",
        "--overwrite=1",
        "--end_fsync=1",
        "--eta=never",
        "--output-format=json",
    ]


def escape_filename(path: str) -> str:
    """A path as fio reads it: a colon separates files unless it is escaped (by-id names of arrays hold one)."""
    return path.replace("\\", "\\\\").replace(":", "\\:")


def _whole(seconds: float) -> int:
    return max(1, math.ceil(seconds))


def _usable_bytes(workload: Workload, target: Target) -> int:
    room = max(0, target.size_bytes - workload.offset_bytes)
    size = room if workload.size_bytes is None else min(workload.size_bytes, room)
    return size // workload.bs_bytes * workload.bs_bytes


def parse(stdout: str, stderr: str, rc: int | None, workload: Workload, target: Target) -> Parsed:
    """fio's figures, summed over its jobs; raises ParseError when the JSON is missing, cut or incomplete."""
    document, messages = _document(stdout, stderr, rc)
    version = document.get("fio version")
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise ParseError("the jobs in the result of fio", stdout)
    sides = [(kind, _side(job, kind)) for job in jobs for kind in ("read", "write")]
    active = [(kind, side) for kind, side in sides if side["total_ios"]]
    metrics, runtime = _metrics([side for _unused, side in active])
    for kind, side in active:
        prefix = "" if len(active) == 1 else f"{kind}_"
        metrics.update(_latency(side, prefix) if len(jobs) == 1 else {})
        metrics.update({f"{kind}_throughput_bytes_per_second": side["bw_bytes"]} if prefix else {})
    errors = [_number(job, "error") for job in jobs]
    problem = _problem(rc, errors=errors, metrics=metrics, runtime=runtime, workload=workload, messages=messages)
    ramp = workload.ramp_seconds if workload.runtime_seconds is not None else 0.0
    return Parsed(
        str(version).replace("fio-", "") if version else None, metrics, runtime + ramp, problem, tuple(messages)
    )


def _document(stdout: str, stderr: str, rc: int | None) -> tuple[dict[str, t.Any], list[str]]:
    """The JSON and the lines around it: fio prints notes and errors before its opening brace."""
    lines = stdout.splitlines()
    starts = [index for index, line in enumerate(lines) if line == "{"]
    ends = [index for index, line in enumerate(lines) if line == "}"]
    messages = [line.strip() for line in stderr.splitlines() if line.strip()]
    if not starts or not ends or ends[-1] < starts[0]:
        said = messages or [line.strip() for line in lines if line.strip()]
        raise ParseError(f"the result of fio (exit code {rc}: {' / '.join(said[-2:]) or 'it said nothing'})", stdout)
    try:
        document = json.loads("\n".join(lines[starts[0] : ends[-1] + 1]))
    except (ValueError, RecursionError):
        raise ParseError("the JSON of fio", stdout) from None
    if not isinstance(document, dict):
        raise ParseError("the JSON of fio", stdout)
    around = lines[: starts[0]] + lines[ends[-1] + 1 :]
    return document, [line.strip() for line in around if line.strip()] + messages


def _number(mapping: t.Mapping[str, t.Any], key: str) -> float:
    value = mapping.get(key)
    # The comparison is also false for NaN; the upper end is beyond any device.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
        raise ParseError(f"{key} in the result of fio", repr(value)[:50])
    return value


def _side(job: t.Mapping[str, t.Any], kind: str) -> dict[str, t.Any]:
    side = job.get(kind)
    if not isinstance(side, dict):
        raise ParseError(f"the {kind} part in the result of fio", str(side))
    figures = {key: _number(side, key) for key in ("io_bytes", "bw_bytes", "iops", "runtime", "total_ios")}
    return {**figures, "lat_ns": side.get("lat_ns"), "clat_ns": side.get("clat_ns")}


def _metrics(active: t.Sequence[t.Mapping[str, t.Any]]) -> tuple[dict[str, float], float]:
    runtime = max((side["runtime"] for side in active), default=0) / 1000
    metrics: dict[str, float] = {
        "bytes": sum(side["io_bytes"] for side in active),
        "throughput_bytes_per_second": sum(side["bw_bytes"] for side in active),
        "iops": sum(side["iops"] for side in active),
        "requests": sum(side["total_ios"] for side in active),
        "duration_seconds": runtime,
    }
    return metrics, runtime


def _latency(side: t.Mapping[str, t.Any], prefix: str) -> dict[str, float]:
    """Latency from submission to completion; percentiles are absent when fio was built or told so."""
    lat = side["lat_ns"]
    if not isinstance(lat, dict):
        raise ParseError("lat_ns in the result of fio", str(lat))
    found = {f"{prefix}latency_{key}_seconds": _number(lat, key) / 1e9 for key in ("mean", "max")}
    percentile = lat.get("percentile")
    if isinstance(percentile, dict):
        for key, short in _PERCENTILES:
            if key in percentile:
                found[f"{prefix}latency_{short}_seconds"] = _number(percentile, key) / 1e9
    return found


def _problem(
    rc: int | None,
    *,
    errors: t.Sequence[float],
    metrics: t.Mapping[str, float],
    runtime: float,
    workload: Workload,
    messages: t.Sequence[str],
) -> str | None:
    said = " / ".join(messages[-2:]) or "it said nothing"
    if rc != 0:
        return f"fio ended with exit code {rc}: {said}"
    if any(errors):
        return f"fio reported error {int(max(errors))}: {said}"
    if not metrics["requests"] or not metrics["throughput_bytes_per_second"]:
        return f"fio moved nothing: {said}"
    if workload.runtime_seconds is not None:
        wanted = _whole(workload.runtime_seconds)
        if abs(runtime - wanted) > max(_RUNTIME_TOLERANCE_SECONDS, wanted * _RUNTIME_TOLERANCE):
            return f"fio ran for {runtime:.1f} s where {wanted} s were asked for"
    return None
