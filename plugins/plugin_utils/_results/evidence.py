# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a sceptic asks of a run: order, gates, versions, hashes. Pure, from the observations."""

from __future__ import annotations

import collections
import dataclasses
import typing as t

__all__ = ["Evidence", "GateFact", "evidence_of", "flat"]

# More steps than this are not printed; they stay in the database and the CSV.
_MOST_STEPS = 600
_Observation = dict[str, t.Any]


@dataclasses.dataclass(frozen=True)
class GateFact:
    """One gate and what was seen: a range for numbers, else each value with how often."""

    name: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Of one host. C(order) has one entry per block: its number and the steps as C(stack: workload); empty when too long."""

    order: tuple[tuple[int, tuple[str, ...]], ...]
    gates: tuple[GateFact, ...]
    versions: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    fingerprints: tuple[tuple[str, str, str], ...]


def flat(value: t.Any, prefix: str = "") -> t.Iterator[tuple[str, t.Any]]:
    """Nested data as pairs of a dotted name and a plain value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from flat(inner, f"{prefix}.{place}" if prefix else str(place))
    else:
        yield prefix, value


def evidence_of(observations: t.Sequence[_Observation]) -> Evidence:
    """The evidence of one host's observations, in the order of time."""
    ordered = sorted(observations, key=lambda o: (o["started_at"], o["block"], o["position"]))
    return Evidence(
        order=_order(ordered),
        gates=_gates(ordered),
        versions=_versions(ordered),
        commands=_commands(ordered),
        fingerprints=_fingerprints(ordered),
    )


def _order(ordered: list[_Observation]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    if len(ordered) > _MOST_STEPS:
        return ()
    blocks: dict[int, list[str]] = {}
    for o in ordered:
        again = f" (attempt {o['attempt']})" if o.get("attempt", 1) > 1 else ""
        blocks.setdefault(o["block"], []).append(
            f"{o['stack']}: {o['workload']}{again}{'' if o['valid'] else ' invalid'}"
        )
    return tuple((block, tuple(steps)) for block, steps in sorted(blocks.items()))


def _gates(ordered: list[_Observation]) -> tuple[GateFact, ...]:
    seen: dict[str, dict[str, list[t.Any]]] = {}
    for o in ordered:
        for side in ("before", "after"):
            for name, value in flat((o.get("gates") or {}).get(side) or {}):
                # What is told per device is one gate: the device's name may change from block to block.
                gate = name.split(".", 1)[0]
                seen.setdefault(gate, {"before": [], "after": []})[side].append(value)
    return tuple(
        GateFact(name.replace("_", " "), _seen(sides["before"]), _seen(sides["after"])) for name, sides in seen.items()
    )


def _seen(values: list[t.Any]) -> str:
    if not values:
        return "-"
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) == len(values):
        low, high = min(numbers), max(numbers)
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"
    counted = collections.Counter(_word(v) for v in values)
    if len(counted) == 1:
        return next(iter(counted))
    return ", ".join(f"{value} ({count} times)" for value, count in counted.most_common(4))


def _word(value: t.Any) -> str:
    return (
        {True: "yes", False: "no", None: "not known"}.get(value, str(value))
        if value in (True, False, None)
        else str(value)
    )


def _versions(ordered: list[_Observation]) -> tuple[tuple[str, str], ...]:
    found: dict[str, list[str]] = {}

    def note(name: str, value: t.Any) -> None:
        if value not in (None, "") and str(value) not in found.setdefault(name, []):
            found[name].append(str(value))

    for o in ordered:
        host = (o.get("fingerprint") or {}).get("host") or {}
        for name in ("kernel", "distribution", "cpu_model", "cpu_count", "governor"):
            note(name.replace("_", " "), host.get(name))
        for name, value in (host.get("tools") or {}).items():
            note(name, value)
        note(f"{o.get('tool')} as it ran", o.get("tool_version"))
        note("parser", o.get("parser_version"))
    return tuple((name, ", ".join(values)) for name, values in found.items() if values)


def _commands(ordered: list[_Observation]) -> tuple[tuple[str, str], ...]:
    """The first command of each workload."""
    first: dict[str, str] = {}
    for o in ordered:
        if o.get("command"):
            command = o["command"]
            first.setdefault(o["workload"], command if isinstance(command, str) else " ".join(map(str, command)))
    return tuple(first.items())


def _fingerprints(ordered: list[_Observation]) -> tuple[tuple[str, str, str], ...]:
    """Stack, settings hashes, disks hashes; more than one of a kind means that something changed between builds."""
    seen: dict[str, tuple[list[str], list[str]]] = {}
    for o in ordered:
        settings, disks = seen.setdefault(o["stack"], ([], []))
        for values, key in ((settings, "settings_hash"), (disks, "disks_hash")):
            if o.get(key) and o[key][:16] not in values:
                values.append(o[key][:16])
    return tuple((stack, ", ".join(settings), ", ".join(disks)) for stack, (settings, disks) in seen.items())
