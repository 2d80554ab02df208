# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the named stages one after the other, all of them even when one fails, and counts.

usage: .venv/bin/python tests/run.py [STAGE ...]        without a name: those of make test, and with CI=true one further part
       .venv/bin/python tests/run.py --full             every stage there is
"""

from __future__ import annotations

import functools
import os
import sys
import time
import traceback
import typing as t

from ci.lab_parts import PARTS, SLICES, part_of_the_hour, run_part
from ci.lint import lint
from ci.outcome import Outcome, say
from ci.sanity import sanity
from ci.script import script
from ci.unit import unit, unit_oldest


def molecule(guest: str, other: str) -> Outcome:
    """The whole stack in one guest and the chain of single modules in the other."""
    first = script("molecule", 2400, ["default"], GUEST=guest)
    return first + script("molecule", 2400, ["modules"], GUEST=other)


STAGES: dict[str, t.Callable[[], Outcome]] = {
    "unit": unit,
    "unit-oldest": unit_oldest,
    "lint": lint,
    "sanity": sanity,
    "molecule": lambda: molecule("debian12", "debian13"),
    "molecule-crossed": lambda: molecule("debian13", "debian12"),
    **{name: functools.partial(run_part, part) for name, part in PARTS.items()},
}
TEST = ("unit", "unit-oldest", "lint", "sanity", "molecule", "compare")


def stages_of(arguments: t.Sequence[str]) -> t.Sequence[str]:
    """The names of the stages to run, in order."""
    if list(arguments) == ["--full"]:
        return [*TEST, "molecule-crossed", *(part.name for part in SLICES)]
    if arguments:
        return arguments
    return [*TEST, part_of_the_hour().name] if os.environ.get("CI") == "true" else TEST


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
    names = stages_of(names)
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        say(f"there is no stage {', '.join(unknown)}; choose from {', '.join(STAGES)}")
        return 2
    rows = {name: run_stage(name) for name in names}
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
