# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the named stages one after the other, all of them even when one fails, and counts.

usage: .venv/bin/python tests/run.py [STAGE ...]        without a name: every stage
"""

from __future__ import annotations

import sys
import time
import traceback
import typing as t

from ci.lint import lint
from ci.outcome import Outcome, say
from ci.sanity import sanity
from ci.script import script
from ci.unit import unit, unit_oldest

STAGES: dict[str, t.Callable[[], Outcome]] = {
    "unit": unit,
    "unit-oldest": unit_oldest,
    "lint": lint,
    "sanity": sanity,
    "molecule": lambda: script("molecule", timeout=2400),
    "compare": lambda: script("compare", timeout=2400),
}


def run_stage(name: str) -> tuple[Outcome, float]:
    """What a stage counted, and how many seconds it took; an error in the stage itself is one failure."""
    say(f"\n=== {name}")
    begin = time.monotonic()
    try:
        outcome = STAGES[name]()
    except Exception:
        traceback.print_exc()
        outcome = Outcome(failed=1, notes=(f"failed: the stage {name} broke off",))
    return outcome, time.monotonic() - begin


def main(names: t.Sequence[str]) -> int:
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        say(f"there is no stage {', '.join(unknown)}; choose from {', '.join(STAGES)}")
        return 2
    rows = {name: run_stage(name) for name in names or STAGES}
    total = sum((outcome for outcome, _seconds in rows.values()), Outcome())
    say(f"\n{'stage':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, (outcome, seconds) in rows.items():
        say(f"{name:<14}{outcome.passed:>8}{outcome.failed:>8}{outcome.skipped:>9}{seconds:>9.0f}")
    for note in total.notes:
        say(note)
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    say(f"{total.passed} passed, {total.failed} failed{skipped}")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
