# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One observation as data. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Workload

__all__ = ["SCHEMA_VERSION", "Measured", "ObservationContext", "build_observation", "moment", "observation_id"]

SCHEMA_VERSION = 1


@dataclasses.dataclass(frozen=True)
class ObservationContext:
    """Which run, stack and block the observations belong to. C(position) is the first workload's in its block, from 1.

    C(max_attempts) 2 repeats an invalid run once, after the others.
    """

    run_id: str
    experiment: str
    host: str
    stack: str
    block: int = 1
    position: int = 1
    factors: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    stack_seconds: t.Mapping[str, float] = dataclasses.field(default_factory=dict)
    max_attempts: int = 2


@dataclasses.dataclass
class Measured:
    """What one run gave so far. Filled step by step, so that a run that breaks off leaves what was seen."""

    started_at: float = 0.0
    ended_at: float = 0.0
    command: t.Sequence[str] = ()
    tool_version: str | None = None
    parser_version: int = 0
    metrics: dict[str, float] = dataclasses.field(default_factory=dict)
    members: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    gate_before: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    gate_after: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    problem: str | None = None

    def invalid(self, reason: str | None) -> None:
        """Keeps the first reason."""
        if self.problem is None:
            self.problem = reason


def observation_id(context: ObservationContext, workload: str, attempt: int) -> str:
    """The same run of the same workload always has the same id: 32 hexadecimal digits."""
    parts = (context.run_id, context.host, str(context.block), context.stack, workload, str(attempt))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def moment(seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds."""
    milliseconds = round(seconds * 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03d}Z"


def build_observation(
    context: ObservationContext,
    workload: Workload,
    *,
    position: int,
    attempt: int,
    measured: Measured,
    fingerprint: t.Mapping[str, t.Any],
) -> dict[str, t.Any]:
    """The observation in the form of docs/observation.md; a missing primary metric makes it invalid."""
    if workload.primary_metric not in measured.metrics:
        known = ", ".join(sorted(measured.metrics)) or "none"
        measured.invalid(f"the primary metric {workload.primary_metric} was not measured; measured: {known}")
    return {
        "schema_version": SCHEMA_VERSION,
        "observation_id": observation_id(context, workload.name, attempt),
        "run_id": context.run_id,
        "experiment": context.experiment,
        "host": context.host,
        "block": context.block,
        "position": position,
        "stack": context.stack,
        "factors": dict(context.factors),
        "workload": workload.name,
        "attempt": attempt,
        "valid": measured.problem is None,
        "invalid_reason": measured.problem,
        "started_at": moment(measured.started_at),
        "ended_at": moment(measured.ended_at),
        "tool": workload.tool,
        "tool_version": measured.tool_version,
        "parser_version": measured.parser_version,
        "metrics": measured.metrics,
        "primary_metric": workload.primary_metric,
        "members": measured.members,
        "gates": {"before": measured.gate_before, "after": measured.gate_after},
        "fingerprint": {key: fingerprint.get(key) for key in ("layers", "host")},
        "settings_hash": fingerprint.get("settings_hash"),
        "disks_hash": fingerprint.get("disks_hash"),
        "command": list(measured.command),
        "raw_output": {"stdout": measured.stdout, "stderr": measured.stderr, "exit_code": measured.exit_code},
        "stack_seconds": dict(context.stack_seconds),
    }
