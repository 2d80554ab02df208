# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import subprocess
import sys
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    CommandError,
    PlanRefused,
    StorageError,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab import image as image_module
from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import guest_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import (
    BuiltImage,
    build_image,
    find_image,
    images_of,
    remove_images,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.operate import VmWish, carry_out, describe_lab
from ansible_collections.plumbline.storage.plugins.module_utils._lab.process import kill_process, process_runs
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import parse_vm
from ansible_collections.plumbline.storage.plugins.module_utils._lab.pull import guest_disk_names
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import Accelerator
from ansible_collections.plumbline.storage.plugins.module_utils._lab.record import (
    VmRecord,
    read_record,
    recorded_names,
    write_known_hosts,
    write_record,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.vm import LabVm

PROFILE = {"disks": [{"bus": "sata", "serial": "WD-1"}, {"bus": "scsi", "serial": "S2"}]}


class _Programs(Runner):
    """Stands in for the programs that a build runs: makes their files, fails at the named one."""

    def __init__(self, fail_at: str = "") -> None:
        super().__init__()
        self.fail_at, self.ran, self.pause_seconds = fail_at, 0, 0.0

    def query(self, argv: t.Sequence[str], *_args: t.Any, **_more: t.Any) -> CommandResult:
        return CommandResult(tuple(argv), 0, "", "")

    def change(self, argv: t.Sequence[str], *_args: t.Any, **_more: t.Any) -> CommandResult:
        self.ran += 1
        time.sleep(self.pause_seconds)
        if self.fail_at and self.fail_at in " ".join(argv):
            raise CommandError(argv, 1, "", "I: running apt-get update...\nE: no such suite\n")
        if "mmdebstrap" in argv:
            Path(next(word for word in argv if word.endswith("root.tar"))).touch()
        else:
            directory = Path(argv[-3])
            for name in ("root.img", "vmlinuz", "initrd.img", "packages"):
                (directory / name).touch()
            (directory / "kernel_release").write_text("6.1.0-50-amd64\n")
        return CommandResult(tuple(argv), 0, "", "")


@pytest.fixture(autouse=True)
def _programs_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_module, "require_programs", lambda *_unused: None)
    monkeypatch.setattr(image_module, "_build_mode", lambda: "root")


def test_an_image_is_built_once(tmp_path: Path) -> None:
    wanted, programs = guest_image("debian12"), _Programs()
    assert find_image(wanted, str(tmp_path)) is None
    built = build_image(wanted, str(tmp_path), "http://mirror.example.org/debian", programs)
    assert (built.key, built.kernel_release) == (wanted.key, "6.1.0-50-amd64")
    ran = programs.ran
    assert build_image(wanted, str(tmp_path), None, programs) == built == find_image(wanted, str(tmp_path))
    assert programs.ran == ran
    assert sorted(os.listdir(built.directory)) == ["image.json", "initrd.img", "packages", "root.img", "vmlinuz"]


def test_of_two_builders_the_second_takes_what_the_first_built(tmp_path: Path) -> None:
    slow = [_Programs(), _Programs()]
    for programs in slow:
        programs.pause_seconds = 0.3
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(build_image, guest_image("debian12"), str(tmp_path), "http://m.example.org", programs)
            for programs in slow
        ]
        built = [job.result(10) for job in jobs]
    assert built[0] == built[1]
    assert sorted(programs.ran for programs in slow) == [0, 2]


@pytest.mark.parametrize(
    ("fail_at", "step"), [("mmdebstrap", "installing packages of bookworm"), ("make_file_system", "mkfs.ext4 -d")]
)
def test_a_failed_build_names_its_step_and_leaves_nothing(tmp_path: Path, fail_at: str, step: str) -> None:
    with pytest.raises(StorageError) as failed:
        build_image(guest_image("debian12"), str(tmp_path), "http://mirror.example.org/debian", _Programs(fail_at))
    assert step in failed.value.message
    assert "E: no such suite" in failed.value.message
    assert [name for name in os.listdir(tmp_path / "images") if not name.endswith(".building")] == []


def test_what_a_killed_build_left_is_removed_by_the_next(tmp_path: Path) -> None:
    wanted = guest_image("debian12")
    left = tmp_path / "images" / f".{wanted.key}.tmp-abc" / "root" / "closed"
    left.mkdir(parents=True)
    left.chmod(0o500)
    build_image(wanted, str(tmp_path), "http://mirror.example.org/debian", _Programs())
    assert not (tmp_path / "images" / f".{wanted.key}.tmp-abc").exists()


def test_removing_images_of_one_guest_keeps_the_other(tmp_path: Path) -> None:
    built = [
        build_image(guest_image(g), str(tmp_path), "http://m.example.org", _Programs())
        for g in ("debian12", "debian13")
    ]
    assert images_of("debian12", str(tmp_path)) == [built[0].directory]
    remove_images(images_of("debian12", str(tmp_path)))
    assert images_of("debian12", str(tmp_path)) == []
    assert images_of("debian13", str(tmp_path)) == [built[1].directory]


def _recorded(state_dir: Path, name: str = "lab1", expected: str = "running") -> LabVm:
    directory = state_dir / name
    directory.mkdir(parents=True)
    (directory / "ssh_host_ed25519_key.pub").write_text(f"ssh-ed25519 AAAA{name} {name}\n")
    vm = parse_vm({**PROFILE, "name": name, "host_vars": {"x": [1]}})
    write_record(
        str(directory), VmRecord(vm, "/images/debian13-1", "uuid-1", 4022, Accelerator("tcg", "why"), expected)
    )
    return LabVm(str(state_dir), name)


def test_a_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    vm = _recorded(tmp_path)
    record = read_record(vm.directory)
    assert record is not None
    assert record.vm == parse_vm({**PROFILE, "name": "lab1", "host_vars": {"x": [1]}})
    assert (record.port, record.accelerator) == (4022, Accelerator("tcg", "why"))


def test_a_spoilt_record_is_a_sentence(tmp_path: Path) -> None:
    vm = _recorded(tmp_path)
    Path(vm.directory, "vm.json").write_text("{")
    with pytest.raises(StorageError, match="cannot be read"):
        _ = vm.status


@pytest.mark.parametrize(
    ("expected", "status"), [("running", "dead"), ("stopped", "stopped"), ("power_cut", "power_cut")]
)
def test_a_machine_whose_qemu_is_gone_is_told_from_one_that_was_ended(
    tmp_path: Path, expected: str, status: str
) -> None:
    vm = _recorded(tmp_path, expected=expected)
    assert vm.status == status
    (found,) = describe_lab(str(tmp_path), _NoDisks())["vms"]
    assert found["status"] == status
    assert "disks are kept" in found["summary"]


class _NoDisks(Runner):
    def query(self, argv: t.Sequence[str], *_args: t.Any, **_more: t.Any) -> CommandResult:
        return CommandResult(tuple(argv), 0, '{"snapshots": [{"name": "s1"}]}', "")


def test_another_process_with_the_recorded_number_is_not_the_machine(tmp_path: Path) -> None:
    vm = _recorded(tmp_path)
    Path(vm.directory, "pid").write_text(str(os.getpid()))
    assert (vm.pid, vm.status) == (0, "dead")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "A", "-a"])
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PlanRefused, match="name"):
        LabVm(str(tmp_path), name)


def test_host_keys_of_all_machines_are_kept_under_their_names(tmp_path: Path) -> None:
    _recorded(tmp_path, "b")
    _recorded(tmp_path, "a")
    (tmp_path / "not-a-machine").mkdir()
    assert recorded_names(str(tmp_path)) == ["a", "b"]
    write_known_hosts(str(tmp_path))
    assert (tmp_path / "known_hosts").read_text() == "plumbline-a ssh-ed25519 AAAAa\nplumbline-b ssh-ed25519 AAAAb\n"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (VmWish("stopped"), "no virtual machine lab9"),
        (VmWish("power_cut"), "no virtual machine lab9"),
        (VmWish("running"), "needs image and profile"),
        (VmWish("running", image="/i", profile={"disks": [{"bus": "nvme", "model": "x"}]}), "cannot show a model"),
        (VmWish("stopped", pull_serials=("a",)), "needs state: running"),
        (VmWish("absent", snapshot_name="s"), "state: absent"),
    ],
)
@pytest.mark.parametrize("check_mode", [True, False])
def test_what_cannot_be_is_refused_in_both_modes(tmp_path: Path, wish: VmWish, words: str, check_mode: bool) -> None:
    with pytest.raises(PlanRefused, match=words):
        carry_out(LabVm(str(tmp_path), "lab9"), wish, check_mode)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("wish", "changed", "status"),
    [
        (VmWish("running"), True, "running"),
        (VmWish("running", snapshot_name="s1", snapshot_action="restore"), True, "running"),
        (VmWish("stopped"), False, "stopped"),
        (VmWish("power_cut"), False, "stopped"),
        (VmWish("stopped", snapshot_name="s1"), False, "stopped"),
        (VmWish("stopped", snapshot_name="s2"), True, "stopped"),
        (VmWish("stopped", snapshot_name="s2", snapshot_action="delete"), False, "stopped"),
        (VmWish("stopped", snapshot_name="s1", snapshot_action="delete"), True, "stopped"),
        (VmWish("absent"), True, "absent"),
    ],
)
def test_check_mode_says_what_would_change(tmp_path: Path, wish: VmWish, changed: bool, status: str) -> None:
    _recorded(tmp_path, expected="stopped")
    result = carry_out(LabVm(str(tmp_path), "lab1", _NoDisks()), wish, check_mode=True)
    assert (result["changed"], result["status_before"], result["status"]) == (changed, "stopped", status)
    assert LabVm(str(tmp_path), "lab1").status == "stopped"


def test_restoring_a_snapshot_that_is_not_there_is_refused(tmp_path: Path) -> None:
    _recorded(tmp_path, expected="stopped")
    vm = LabVm(str(tmp_path), "lab1", _NoDisks())
    with pytest.raises(PlanRefused, match=r"no snapshot 's9'; it has s1"):
        carry_out(vm, VmWish("stopped", snapshot_name="s9", snapshot_action="restore"), check_mode=True)


def test_a_machine_with_another_profile_or_image_is_refused(tmp_path: Path) -> None:
    vm = _recorded(tmp_path, expected="stopped")
    other = parse_vm({"name": "lab1", "disks": []})
    with pytest.raises(PlanRefused, match=r"another profile and image \(debian13-1, asked for debian12-2\)"):
        vm.create(other, BuiltImage("/images/debian12-2", "debian12-2", "debian12", "6.1"))


def test_serials_with_blanks_and_disks_without_one_are_read() -> None:
    text = "sda  WD-WCASJ0000001\nsdb\nvda  plumb-root\nnvme0n1 S4 EW\nsdc  WD-WCASJ0000001\n"
    assert guest_disk_names(text) == {"WD-WCASJ0000001": ["sda", "sdc"], "plumb-root": ["vda"], "S4 EW": ["nvme0n1"]}


@pytest.mark.runs_programs
def test_only_the_marked_process_is_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "mark-17"])
    try:
        until = time.monotonic() + 5
        while not process_runs(process.pid, "mark-17") and time.monotonic() < until:
            time.sleep(0.01)
        assert kill_process(process.pid, "mark-18") is False
        assert process.poll() is None
        assert kill_process(process.pid, "mark-17") is True
        assert process.wait(5) == -9
        assert kill_process(process.pid, "mark-17") is False
    finally:
        process.kill()
