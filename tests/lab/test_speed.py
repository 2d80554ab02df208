# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules cost beside a shell script of the same commands and beside tasks that do nothing, in one boot.

Needs a guest of the profile four_sata. The figures are printed: run pytest with -s to see them.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from guest import Guest, play

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

SERIALS = [f"WD-WCASJ000000{number}" for number in (1, 2, 3, 4)]
REPEATS = 3
SHELL_BUILD = """
mdadm --create /dev/md/speed --run --homehost=any --assume-clean --bitmap=none -l5 -c256 -n4 {disks}
pvcreate -qy --dataalignment 768k /dev/md/speed; vgcreate -qy -s 12m speed /dev/md/speed
lvcreate -qy -Wn -L 1200m -n data speed; mkfs.xfs -q -f -d su=256k,sw=3 /dev/speed/data; udevadm settle
"""
SHELL_REMOVE = """
wipefs -qa /dev/speed/data; vgremove -qffy speed; pvremove -qffy /dev/md/speed
mdadm --stop /dev/md/speed; mdadm --zero-superblock {disks}; udevadm settle
"""


@dataclasses.dataclass(frozen=True)
class Seconds:
    """Medians of wall clock times."""

    pings: float
    shell_build: float
    build: float
    unchanged: float
    stack_unchanged: float
    stack_build: float


def tasks_of(disks: t.Sequence[str]) -> list[dict[str, t.Any]]:
    own = "plumbline.storage."
    return [
        {f"{own}md_array": {"name": "speed", "level": 5, "chunk": "256KiB", "devices": list(disks), "bitmap": "none", "assume_clean": True}},
        {f"{own}lvm_pv": {"device": "/dev/md/speed"}},
        {f"{own}lvm_vg": {"name": "speed", "devices": ["/dev/md/speed"], "extent_size": "12MiB"}},
        {f"{own}lvm_lv": {"vg": "speed", "name": "data", "size": "1200MiB"}},
        {f"{own}xfs_filesystem": {"device": "/dev/speed/data"}},
    ]  # fmt: skip


def stack_task(state: str = "present") -> dict[str, t.Any]:
    layers = [
        {"md": {"level": 5, "chunk": "256KiB"}}, {"pv": {}}, {"vg": {"extent_size": "12MiB"}}, {"lv": {"size": "1200MiB"}}, {"xfs": {}},
    ]  # fmt: skip
    args = {
        "name": "speed",
        "state": state,
        "disks": SERIALS,
        "region": {"start": "1MiB", "size": "1GiB"},
        "layers": layers,
    }
    return {"plumbline.storage.storage_stack": args}


@pytest.fixture(scope="module")
def seconds(guest: Guest, tmp_path_factory: pytest.TempPathFactory) -> Seconds:
    directory = tmp_path_factory.mktemp("speed")

    def timed(tasks: list[dict[str, t.Any]], changed: bool | None = None) -> float:
        path: Path = directory / "play.yml"
        named = [{"name": f"Task {number}", **task} for number, task in enumerate(tasks)]
        # What an earlier repetition wrote is still there, outside every signature.
        defaults = {"group/plumbline.storage.storage": {"expendable_disks": SERIALS}}
        path.write_text(
            yaml.safe_dump([{"hosts": "lab", "gather_facts": False, "module_defaults": defaults, "tasks": named}])
        )
        begin = time.monotonic()
        played = play(str(path), guest)
        took = time.monotonic() - begin
        assert played.code == 0, played.text
        if changed is not None:
            assert f"changed={len(tasks) if changed else 0} " in played.text, played.text
        return took

    def median(work: t.Callable[[], float]) -> float:
        return statistics.median(work() for _unused in range(REPEATS))

    disks = [guest.device(serial) for serial in SERIALS]
    names = {"disks": " ".join(disks)}

    def shell() -> float:
        begin = time.monotonic()
        guest.ssh(SHELL_BUILD.format(**names))
        took = time.monotonic() - begin
        guest.ssh(SHELL_REMOVE.format(**names))
        return took

    def build() -> float:
        took = timed(tasks_of(disks), changed=True)
        guest.ssh(SHELL_REMOVE.format(**names))
        return took

    def stack_build() -> float:
        took = timed([stack_task()], changed=True)
        timed([stack_task("absent")], changed=True)
        return took

    pings = median(lambda: timed([{"ansible.builtin.ping": {}}] * 5))
    measured: dict[str, float] = {"shell_build": median(shell), "build": median(build)}
    timed(tasks_of(disks))
    measured["unchanged"] = median(lambda: timed(tasks_of(disks), changed=False))
    guest.ssh(SHELL_REMOVE.format(**names))
    measured["stack_build"] = median(stack_build)
    timed([stack_task()])
    measured["stack_unchanged"] = median(lambda: timed([stack_task()], changed=False))
    timed([stack_task("absent")])
    result = Seconds(pings=pings, **measured)
    print("\n" + "\n".join(f"{name:<16} {value:5.1f} s" for name, value in dataclasses.asdict(result).items()))
    return result


def test_building_costs_little_more_than_a_script_and_the_tasks(seconds: Seconds) -> None:
    assert seconds.build <= 1.5 * seconds.shell_build + seconds.pings


def test_an_unchanged_run_costs_little_more_than_pings(seconds: Seconds) -> None:
    assert seconds.unchanged <= 1.3 * seconds.pings


def test_an_unchanged_stack_costs_less_than_half_of_its_single_tasks(seconds: Seconds) -> None:
    assert seconds.stack_unchanged <= 0.4 * seconds.unchanged
