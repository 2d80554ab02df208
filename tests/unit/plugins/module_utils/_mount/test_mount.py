# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
import subprocess

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import MountState, MountWanted
from ansible_collections.plumbline.storage.plugins.module_utils._mount.plan import plan_mount, plan_unmount
from ansible_collections.plumbline.storage.plugins.module_utils._mount.unit import (
    check_mount_path,
    is_own_text,
    unit_name,
    unit_text,
)

UUID = "11111111-2222-4333-8444-555555555555"
WANTED = MountWanted("/srv/data", UUID, "defaults", "pl_stack_s")
TEXT = unit_text(WANTED)
MOUNTED = MountState("/srv/data", TEXT, True, "/dev/dm-0", is_directory=True, exists=True, empty=False)
# Names as systemd-escape -p --suffix=mount of systemd 252 gave them.
NAMES = {
    "/srv/data": "srv-data.mount",
    "/srv/my-data": "srv-my\\x2ddata.mount",
    "/srv/.hidden/a b": "srv-.hidden-a\\x20b.mount",
    "/.top": "\\x2etop.mount",
    "/mnt/ä": "mnt-\\xc3\\xa4.mount",
    "/mnt/x@y": "mnt-x\\x40y.mount",
    "/a_b:c.d": "a_b:c.d.mount",
}


@pytest.mark.parametrize("path", NAMES)
def test_unit_names(path: str) -> None:
    assert unit_name(path) == NAMES[path]


@pytest.mark.runs_programs
@pytest.mark.skipif(shutil.which("systemd-escape") is None, reason="no systemd-escape here")
@pytest.mark.parametrize("path", NAMES)
def test_unit_names_are_those_of_systemd(path: str) -> None:
    argv = ["systemd-escape", "-p", "--suffix=mount", path]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip() == unit_name(path)


def test_the_unit_names_the_file_system_by_uuid() -> None:
    assert f"What=/dev/disk/by-uuid/{UUID}\n" in TEXT
    assert "Where=/srv/data\n" in TEXT
    assert "Where=/srv/50%%\n" in unit_text(WANTED._replace(path="/srv/50%"))


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("srv/data", "defaults", "absolute path"),
        ("/srv/../etc", "defaults", "absolute path"),
        ("/srv/data/", "defaults", "absolute path"),
        ("/", "defaults", "belongs to the system"),
        ("/var", "defaults", "belongs to the system"),
        ("/proc/x", "defaults", "belongs to the system"),
        ("/srv/data", "noatime\nExecStart=/bin/sh", "mount_options"),
    ],
)
def test_places_that_cannot_be_meant(path: str, options: str, words: str) -> None:
    with pytest.raises(PlanRefused, match=words):
        check_mount_path(path, options)


def summaries(state: MountState, wanted: MountWanted = WANTED, device: str | None = "/dev/dm-0") -> list[str]:
    return [" ".join(step.argv[:2]) for step in plan_mount(state, wanted, device).steps]


def test_a_mount_is_written_enabled_and_started() -> None:
    part = "/etc/systemd/system/.srv-data.mount.part"
    plan = plan_mount(MountState("/srv/data"), WANTED, None)
    assert [" ".join(step.argv) for step in plan.steps] == [
        f"tee {part}",
        f"sync {part}",
        f"mv {part} /etc/systemd/system/srv-data.mount",
        "systemctl daemon-reload",
        "systemctl enable srv-data.mount",
        "systemctl start srv-data.mount",
    ]
    assert plan.steps[0].stdin == TEXT
    assert plan.steps[-1].awaits == (f"/dev/disk/by-uuid/{UUID}",)


def test_a_mount_that_is_there_needs_nothing() -> None:
    assert not plan_mount(MOUNTED, WANTED, "/dev/dm-0").changed


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (MOUNTED._replace(enabled=False), ["systemctl enable"]),
        (MOUNTED._replace(device=None, empty=True), ["udevadm trigger", "systemctl start"]),
    ],
)
def test_only_what_is_missing_is_done(state: MountState, expected: list[str]) -> None:
    assert summaries(state) == expected


@pytest.mark.parametrize("text", ["", "\0\0\0", TEXT.replace("defaults", "noatime")])
def test_other_options_or_a_torn_file_are_written_anew(text: str) -> None:
    assert summaries(MOUNTED._replace(unit_text=text))[-1] == "systemctl reload"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (MountState("/srv/data", "[Mount]\nWhat=/dev/sda1\n"), "is not of this stack"),
        (MountState("/srv/data", TEXT.replace("pl_stack_s", "pl_stack_other")), "is not of this stack"),
        (MountState("/srv/data", in_fstab=True), "/etc/fstab names /srv/data too"),
        (MountState("/srv/data", device="/dev/sda1", is_directory=True, exists=True), "/dev/sda1 is mounted there"),
        (MountState("/srv/data", exists=True), "is no directory"),
        (MountState("/srv/data", exists=True, is_directory=True, empty=False), "holds files"),
    ],
)
def test_what_others_have_is_left_alone(state: MountState, words: str) -> None:
    with pytest.raises(PlanRefused) as refusal:
        plan_mount(state, WANTED, "/dev/dm-0")
    assert words in refusal.value.message


def test_unmounting_ends_with_nothing_left() -> None:
    assert [" ".join(step.argv[:2]) for step in plan_unmount(MOUNTED, WANTED.owner).steps] == [
        "systemctl stop", "systemctl disable", "rm -f", "sync /etc/systemd/system", "systemctl daemon-reload",
    ]  # fmt: skip
    assert not plan_unmount(MountState("/srv/data"), WANTED.owner).changed


def test_a_mount_in_use_is_not_taken_away() -> None:
    with pytest.raises(PlanRefused, match=r"in use by process 7 \(postgres\)"):
        plan_unmount(MOUNTED._replace(users=("process 7 (postgres)",)), WANTED.owner)


def test_the_mount_of_another_stack_is_not_taken_away() -> None:
    with pytest.raises(PlanRefused, match="not of this stack"):
        plan_unmount(MOUNTED, "pl_stack_other")


@pytest.mark.parametrize(("text", "own"), [(TEXT, True), ("", True), ("[Mount]\n", False)])
def test_whose_unit_it_is(text: str, own: bool) -> None:
    assert is_own_text(text, WANTED.owner) is own
