# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This file is private to the collection.

"""What a person sees while an experiment runs: one line per host."""

from __future__ import annotations

import sys
import time
import typing as t

from ansible.utils.display import Display

__all__ = ["ProgressPrinter", "figure_text", "left_text", "progress_line"]

_PLAIN_INTERVAL_SECONDS = 15


def figure_text(metric: str | None, value: float | None) -> str:
    """The last figure with its unit, short: C(81 MB/s)."""
    if metric is None or value is None:
        return ""
    if metric.endswith("bytes_per_second"):
        return f"{value / 1e6:.0f} MB/s" if value >= 1e7 else f"{value / 1e6:.2f} MB/s"
    if metric == "iops":
        return f"{value:.0f} IOPS"
    if metric.endswith("_seconds"):
        return f"{value * 1000:.2f} ms"
    return f"{value:.4g}"


def left_text(seconds: float | None) -> str:
    """An estimate for people: minutes above 90 s."""
    if seconds is None:
        return ""
    return f"about {round(seconds / 60)} min left" if seconds > 90 else f"about {max(1, round(seconds))} s left"


def progress_line(host: str, status: t.Mapping[str, t.Any], now: float) -> str:
    """One line of UX form from a status of the target and the present time (Unix seconds)."""
    done, total = int(status.get("done", 0)), int(status.get("total", 0))
    what = str(status.get("workload") or status.get("phase") or "")
    figure = figure_text(status.get("last_metric"), status.get("last_value"))
    block = f"block {status['block']}/{status['blocks']}" if status.get("block") else ""
    left = left_text(_seconds_left(status, now))
    tail = f"{done} of {total} done" + (f", {left}" if left and done < total else "")
    return f"{host}  {block:<11}  {status.get('stack') or '':<16} {what:<15} {figure:>11}    {tail}".rstrip()


def _seconds_left(status: t.Mapping[str, t.Any], now: float) -> float | None:
    done, total = int(status.get("done", 0)), int(status.get("total", 0))
    begun = status.get("begun_at")
    if not done or begun is None:
        return None
    done_at = float(status.get("last_done_at") or now)
    rate = max(0.0, done_at - float(begun)) / done
    return max(0.0, rate * (total - done) - max(0.0, now - done_at))


class ProgressPrinter:
    """Prints progress of one host: rewritten in place for a single host on a terminal, else a plain line now and then."""

    def __init__(self, host: str, alone: bool) -> None:
        self.host = host
        self.in_place = alone and sys.stdout.isatty()
        self._display = Display()
        self._shown_at = 0.0
        self._shown = ""

    def show(self, status: t.Mapping[str, t.Any]) -> None:
        """Shows a status when it is time to."""
        now = time.time()
        line = progress_line(self.host, status, now)
        if self.in_place:
            self._display.display(f"\r\x1b[K{line}", newline=False, screen_only=True)
            self._shown = line
        elif line != self._shown and now - self._shown_at >= _PLAIN_INTERVAL_SECONDS:
            self._display.display(line)
            self._shown, self._shown_at = line, now

    def close(self) -> None:
        """Leaves the cursor on a new line."""
        if self.in_place and self._shown:
            self._display.display("", screen_only=True)
