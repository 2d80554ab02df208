# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of tests/lab cut into parts of at most a quarter of an hour, each with a guest of its own."""

from __future__ import annotations

import dataclasses
import time

from ci.outcome import Outcome, say
from ci.script import script

__all__ = ["PARTS", "SLICES", "TURNS", "Part", "part_of_the_hour", "run_part"]

_TIMEOUT_SECONDS = 2700
_GUESTS = ("debian12", "debian13")


@dataclasses.dataclass(frozen=True)
class Part:
    """Files of tests/lab in one guest. C(share) is (2, 4) for the second of four shares of their tests."""

    name: str
    guest: str
    tests: tuple[str, ...]
    profile: str = "many_buses"
    share: tuple[int, int] = (1, 1)


def _both(name: str, *tests: str, shares: int = 1, profile: str = "many_buses") -> tuple[Part, ...]:
    """The same tests in both guests, cut into shares."""
    return tuple(part for guest in _GUESTS for part in _shares(name, guest, *tests, shares=shares, profile=profile))


def _shares(name: str, guest: str, *tests: str, shares: int, profile: str = "many_buses") -> tuple[Part, ...]:
    release = guest.removeprefix("debian")
    return tuple(
        Part(f"{name}-{release}" if shares == 1 else f"{name}-{release}-{number}", guest, tests, profile, (number, shares))
        for number in range(1, shares + 1)
    )  # fmt: skip


COMPARE = Part("compare", "debian13", ("test_compare_stacks.py",), profile="four_sata")
# What make test-full runs beyond make test.
SLICES: tuple[Part, ...] = (
    *_both("md", "test_md_array.py", "test_md_array_members.py", "test_md_array_reshape.py", shares=3),
    *_both("pv-vg", "test_disk_partition.py", "test_lvm_pv.py", "test_lvm_vg.py", shares=2),
    *_both(
        "lv", "test_lvm_lv.py", "test_lvm_lv_content.py", "test_lvm_lv_repair.py", "test_lvm_lv_resize.py", shares=2
    ),
    *_both("xfs", "test_xfs_filesystem.py", "test_alignment_proof.py"),
    *_both("stack", "test_storage_stack.py"),
    *_both("destruction", "test_destruction.py", shares=2),
    *_both("grid", "test_geometry_grid.py", shares=3, profile="sparse"),
    *_both("power-cut", "test_power_cut.py", shares=4),
    *_both("speed", "test_speed.py", profile="four_sata"),
    Part("lab-vm", "debian13", ("test_lab_vm.py",), profile="four_sata"),
    *_both("killed", "test_compare_killed.py", profile="four_sata"),
)
# A part joins the turns of CI once it has passed whole; until then make test-full and make test-part run it.
TURNS = ("md-13-1", "md-13-2", "md-13-3", "pv-vg-13-1", "pv-vg-13-2", "lv-13-1", "lv-13-2", "stack-13", "killed-13")
PARTS = {part.name: part for part in (COMPARE, *SLICES)}


def run_part(part: Part) -> Outcome:
    """Boots the guest, runs the tests, removes the guest."""
    return script(
        "lab",
        _TIMEOUT_SECONDS,
        [f"tests/lab/{name}" for name in part.tests],
        GUEST=part.guest,
        PROFILE=part.profile,
        PLUMBLINE_SHARE=f"{part.share[0]}/{part.share[1]}",
    )


def part_of_the_hour(now: float | None = None) -> Part:
    """The part that is due: they take turns by the hour, so that each is seen every few days of work."""
    hours = int((time.time() if now is None else now) // 3600)
    name = TURNS[hours % len(TURNS)]
    say(f"CI=true: {name} is due in this hour, one of {len(TURNS)} parts of make test-full that take turns")
    return PARTS[name]
