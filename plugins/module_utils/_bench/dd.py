# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""dd: its argument list and its one line of figures. Pure."""

from __future__ import annotations

import math
import re

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Parsed, Target, Workload
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError

__all__ = ["PARSER_VERSION", "command", "parse", "planned_bytes"]

PARSER_VERSION = 1

# "314572800 bytes (315 MB, 300 MiB) copied, 0.00631315 s, 49.8 GB/s"; below 1000 bytes without the bracket, older
# versions with one unit in it and the word "seconds".
_FIGURES = re.compile(
    r"^(\d{1,18}) bytes? (?:\([^)]*\) )?copied, (\d{1,18}(?:\.\d{1,18})?(?:e[-+]\d{1,3})?) s(?:econds?)?, "
)
_RECORDS = re.compile(r"^(\d+)\+(\d+) records (in|out)$")


def planned_bytes(workload: Workload, target: Target) -> int:
    """How many bytes dd is asked to move: whole blocks within the size asked for and the target's own size."""
    room = max(0, target.size_bytes - workload.offset_bytes)
    size = room if workload.size_bytes is None else min(workload.size_bytes, room)
    return size // workload.bs_bytes * workload.bs_bytes


def command(workload: Workload, target: Target) -> list[str]:
    """dd's argument list: one pass over the target with a count, never a truncation, writes end with fsync."""
    count = planned_bytes(workload, target) // workload.bs_bytes
    argv = ["dd", f"bs={workload.bs_bytes}", f"count={count}"]
    if workload.writes:
        flags = [*(["direct"] if workload.direct else []), *(["seek_bytes"] if workload.offset_bytes else [])]
        offset = [f"seek={workload.offset_bytes}"] if workload.offset_bytes else []
        return [
            *argv,
            "if=/dev/zero",
            f"of={target.path}",
            *offset,
            *_flags("oflag", flags),
            "conv=notrunc,nocreat,fsync",
        ]
    flags = [*(["direct"] if workload.direct else []), *(["skip_bytes"] if workload.offset_bytes else [])]
    offset = [f"skip={workload.offset_bytes}"] if workload.offset_bytes else []
    return [*argv, f"if={target.path}", "of=/dev/null", *offset, *_flags("iflag", flags)]


def _flags(option: str, flags: list[str]) -> list[str]:
    return [f"{option}={','.join(flags)}"] if flags else []


def parse(stdout: str, stderr: str, rc: int | None, workload: Workload, target: Target) -> Parsed:
    """dd's figures from its last status line; raises ParseError when there is none in the C locale."""
    lines = [line.strip() for line in stderr.replace("\r", "\n").splitlines() if line.strip()]
    found = [match for match in map(_FIGURES.match, lines) if match]
    if not found:
        raise ParseError(f"the figures of dd (exit code {rc})", stderr)
    moved, seconds = int(found[-1].group(1)), float(found[-1].group(2))
    if not math.isfinite(seconds):
        raise ParseError("the time that dd took", stderr)
    messages = [line for line in lines if not _FIGURES.match(line) and not _RECORDS.match(line)]
    metrics: dict[str, float] = {"bytes": moved, "duration_seconds": seconds}
    if seconds > 0:
        metrics["throughput_bytes_per_second"] = moved / seconds
        metrics["iops"] = math.ceil(moved / workload.bs_bytes) / seconds
    return Parsed(
        None,
        metrics,
        seconds,
        _problem(rc, moved=moved, seconds=seconds, messages=messages, workload=workload, target=target),
        tuple(messages),
    )


def _problem(
    rc: int | None, *, moved: int, seconds: float, messages: list[str], workload: Workload, target: Target
) -> str | None:
    if rc != 0:
        return f"dd ended with exit code {rc}: {' / '.join(messages[-2:]) or 'it said nothing'}"
    wanted = planned_bytes(workload, target)
    if moved != wanted:
        return f"dd moved {moved} bytes where {wanted} were asked for"
    if not moved or seconds <= 0:
        return "dd moved nothing in a time that can be measured; give a larger size"
    return None
