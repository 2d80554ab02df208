# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This file is private to the collection.

"""The controller's side of a detached run: one cheap shell command reads status and spool, without starting Python there."""

from __future__ import annotations

import dataclasses
import json
import shlex
import typing as t

__all__ = ["Poll", "parse_poll", "poll_command"]

_MARK = "--plumbline-spool--"
_CHUNK_BYTES = 4 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Poll:
    """What one look brought: the status (None: not there yet), whole spool lines, the next offset, is the runner alive."""

    status: dict[str, t.Any] | None
    observations: list[dict[str, t.Any]]
    next_offset: int
    alive: bool


def poll_command(job: t.Mapping[str, t.Any], offset: int) -> str:
    """Shell text for the target: renews the lease, prints alive, the status, a mark, and the spool from C(offset) bytes on."""
    lease, status, spool = (shlex.quote(str(job[key])) for key in ("lease", "status", "spool"))
    return (
        f"touch {lease}; if kill -0 {int(job['pid'])} 2>/dev/null; then echo alive; else echo gone; fi; "
        f"cat {status} 2>/dev/null; echo; echo {_MARK}; tail -c +{offset + 1} {spool} 2>/dev/null | head -c {_CHUNK_BYTES}"
    )


def parse_poll(stdout: str, offset: int) -> Poll | None:
    """What C(poll_command) printed; None when it is not complete (a broken connection). Pure."""
    # A terminal in between would add carriage returns, which are not in the spool and must not count.
    head, mark, tail = stdout.replace("\r\n", "\n").partition(f"{_MARK}\n")
    lines = head.strip().splitlines()
    if not mark or not lines or lines[0].strip() not in ("alive", "gone"):
        return None
    whole = tail[: tail.rfind("\n") + 1]
    observations = [json.loads(line) for line in whole.splitlines() if line.strip()]
    return Poll(_status("\n".join(lines[1:])), observations, offset + len(whole.encode()), lines[0].strip() == "alive")


def _status(text: str) -> dict[str, t.Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
