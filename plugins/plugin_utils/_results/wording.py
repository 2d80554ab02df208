# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Words and numbers for people: metrics with their unit, percents, sizes, and the names of stacks and workloads."""

from __future__ import annotations

import dataclasses
import typing as t

__all__ = [
    "Metric",
    "format_bytes",
    "format_percent",
    "format_value",
    "higher_is_better",
    "join_words",
    "metric_of",
    "sentence",
    "stack_title",
    "workload_title",
]


@dataclasses.dataclass(frozen=True)
class Metric:
    """How a metric is shown: value times C(factor), in C(unit); C(noun) names it in a chart."""

    unit: str
    factor: float
    noun: str


_METRICS = {
    "throughput_bytes_per_second": Metric("MB/s", 1e-6, "throughput"),
    "iops": Metric("IOPS", 1.0, "operations per second"),
}


def higher_is_better(metric: str) -> bool:
    """True for rates; False for durations, latencies and shares of the processor."""
    if metric.endswith("_per_second") or "iops" in metric or "throughput" in metric:
        return True
    return not metric.endswith(("_seconds", "_fraction", "_per_gigabyte"))


def metric_of(name: str, typical: float | None = None) -> Metric:
    """How to show a metric; C(typical) is a value of it, by which the unit of times is chosen."""
    if name in _METRICS:
        return _METRICS[name]
    plain = name.replace("_", " ")
    if name.endswith("_bytes_per_second"):
        return Metric("MB/s", 1e-6, plain.removesuffix(" bytes per second"))
    if name.endswith("_seconds"):
        noun = plain.removesuffix(" seconds")
        if typical is not None and typical < 1e-3:
            return Metric("µs", 1e6, noun)
        return Metric("ms", 1e3, noun) if typical is not None and typical < 1 else Metric("s", 1.0, noun)
    if name.endswith("_fraction"):
        return Metric("%", 100.0, plain.removesuffix(" fraction"))
    return Metric("", 1.0, plain)


def format_value(value: float | None, metric: Metric) -> str:
    """Three to four significant digits, without the unit."""
    if value is None:
        return "-"
    shown = value * metric.factor
    if abs(shown) >= 1000:
        return f"{shown:,.0f}"
    return f"{shown:.1f}" if abs(shown) >= 10 else f"{shown:.2f}" if abs(shown) >= 1 else f"{shown:.3g}"


def format_percent(fraction: float) -> str:
    """A share as C(38) or C(2.4): one decimal below ten."""
    percent = abs(fraction) * 100
    return f"{percent:.0f}" if percent >= 9.95 else f"{percent:.1f}".removesuffix(".0")


def format_bytes(size: float) -> str:
    """A size such as C(1.5 MiB) or C(128 KiB)."""
    for unit, power in (("TiB", 4), ("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if size >= 1024**power:
            return f"{size / 1024**power:.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{size:.0f} B"


def join_words(words: t.Sequence[str], last: str = "and") -> str:
    """C(a), C(a and b), C(a, b and c)."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def sentence(text: str) -> str:
    """The text with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def stack_title(run: dict[str, t.Any], name: str) -> str:
    """The title a stack was given, else its name."""
    found: dict[str, t.Any] = next((s for s in run["stacks"] if s["name"] == name), {})
    return str(found.get("title") or name)


def _plain_access(workload: dict[str, t.Any]) -> str | None:
    access = str(workload.get("rw") or workload.get("access") or "")
    kinds = {
        "read": "reads",
        "write": "writes",
        "randread": "random reads",
        "randwrite": "random writes",
        "rw": "mixed reads and writes",
        "readwrite": "mixed reads and writes",
        "randrw": "random reads and writes",
        "rewrite": "rewrites",
    }
    return kinds.get(access)


def workload_title(run: dict[str, t.Any], name: str) -> str:
    """A workload in words, such as C(direct reads): its title, else from its access, else its name.

    Two workloads that would read alike are told apart by their names.
    """
    own = _workload_words(next((w for w in run["workloads"] if w["name"] == name), {"name": name}))
    alike = [w for w in run["workloads"] if w["name"] != name and _workload_words(w) == own]
    return f"{own} ({name})" if alike and own != name else own


def _workload_words(workload: dict[str, t.Any]) -> str:
    if workload.get("title"):
        return str(workload["title"])
    access = _plain_access(workload)
    if access is None or workload.get("tool") not in ("fio", "dd"):
        return str(workload["name"])
    if workload.get("direct") in (True, "true", "yes", 1):
        return f"direct {access}"
    return f"buffered {access}"
