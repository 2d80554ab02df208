# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One virtual machine of a lab: made, started, cut off, booted again on the same disks, and removed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
import typing as t
import uuid

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import CommandResult, Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    CommandError,
    PlanRefused,
    StorageError,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab import snapshot
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import locked, require_programs
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import BuiltImage, open_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.inventory import SshAccess, host_vars, ssh_options
from ansible_collections.plumbline.storage.plugins.module_utils._lab.process import (
    kill_process,
    machines_of_directory,
    process_runs,
    wait_until_gone,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.profile import VmProfile, check_name
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import (
    QEMU,
    Accelerator,
    BootFiles,
    disk_file,
    disk_files,
    vm_argv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qmp import QmpClient
from ansible_collections.plumbline.storage.plugins.module_utils._lab.record import (
    VmRecord,
    read_record,
    recorded_names,
    write_known_hosts,
    write_record,
)

__all__ = ["DEFAULT_BOOT_TIMEOUT_SECONDS", "LabVm", "all_vms"]

DEFAULT_BOOT_TIMEOUT_SECONDS = 300.0
_PROGRAMS = (QEMU, "qemu-img", "ssh", "ssh-keygen")
# What the console says when a boot will not end by itself.
_STUCK = re.compile(r"Kernel panic - not syncing|^\(initramfs\)|You are in (?:emergency|rescue) mode|ALERT! ", re.M)
_CONSOLE_LINES = 15


class LabVm:
    """A machine by its name in a lab's directory; nothing is done before a method is called."""

    def __init__(self, state_dir: str, name: str, runner: Runner | None = None) -> None:
        self.state_dir, self.name = os.path.abspath(state_dir), check_name(name, "a virtual machine")
        self.runner = runner or Runner()
        self.directory = os.path.join(self.state_dir, name)
        self.files = BootFiles("", "")

    # --- what is there

    @property
    def record(self) -> VmRecord | None:
        """What was recorded when the machine was made; None when there is no such machine."""
        return read_record(self.directory)

    def _known(self) -> VmRecord:
        record = self.record
        if record is None:
            raise PlanRefused(f"there is no virtual machine {self.name} in {self.state_dir}; start it with lab_up")
        return record

    @property
    def pid(self) -> int:
        """Process number of its QEMU, 0 when it does not run."""
        record = self.record
        try:
            with open(os.path.join(self.directory, self.files.pid)) as source:
                number = int(source.read().strip() or 0)
        except (OSError, ValueError):
            return 0
        return number if record is not None and process_runs(number, record.uuid) else 0

    @property
    def status(self) -> str:
        """C(absent), C(running), C(stopped), C(power_cut), or C(dead): should be running and is not."""
        record = self.record
        if record is None:
            return "absent"
        if self.pid:
            return "running"
        return "dead" if record.expected == "running" else record.expected

    @property
    def console_log(self) -> str:
        """Path of what the guest wrote to its serial console, over all its boots."""
        return os.path.join(self.directory, self.files.console)

    def console_text(self, start: int = 0) -> str:
        """The console's text from a byte offset on."""
        try:
            with open(self.console_log, "rb") as source:
                source.seek(start)
                return source.read().decode(errors="replace").replace("\r", "")
        except OSError:
            return ""

    @property
    def access(self) -> SshAccess:
        """How ssh reaches the machine."""
        return SshAccess(
            self._known().port,
            os.path.join(self.state_dir, "id_ed25519"),
            os.path.join(self.state_dir, "known_hosts"),
            f"plumbline-{self.name}",
        )

    def host_vars(self) -> dict[str, t.Any]:
        """The machine's inventory variables."""
        return host_vars(self._known().vm, self.access)

    def ssh_argv(self, *command: str) -> list[str]:
        """The ssh command line for a command in the guest, whose shell reads the joined words."""
        access = self.access
        options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "LogLevel=ERROR"]
        where = ["-i", access.key_file, "-p", str(access.port), "root@127.0.0.1"]
        return ["ssh", *options, *ssh_options(access), *where, *command]

    def ssh(self, command: str, ok: t.Container[int] | None = (0,), timeout: float = 120) -> CommandResult:
        """Runs a shell command in the guest as root; raises CommandError for an exit code that is not in C(ok)."""
        return self.runner.change(self.ssh_argv(command), ok=ok, timeout=timeout)

    # --- making and starting

    def create(self, vm: VmProfile, image: BuiltImage) -> None:
        """Makes the machine's directory, keys and disks. One of the same name that differs is refused."""
        record = self.record
        if record is not None:
            self._refuse_other(record, vm, image)
            return
        require_programs(_PROGRAMS, "starting a virtual machine")
        with locked(self.state_dir):
            shutil.rmtree(self.directory, ignore_errors=True)
            os.makedirs(self.directory, mode=0o700)
            self._make_keys()
            self._make_disk(self.files.root, ["-b", image.root, "-F", "raw"])
            for number, disk in enumerate(vm.disks, 1):
                self._make_disk(disk_file(number), [], disk.size_bytes)
            write_record(self.directory, VmRecord(vm, image.directory, str(uuid.uuid4())))
            write_known_hosts(self.state_dir)

    def _refuse_other(self, record: VmRecord, vm: VmProfile, image: BuiltImage) -> None:
        differs = []
        if record.vm != vm:
            differs.append("profile")
        if os.path.basename(record.image) != image.key:
            differs.append(f"image ({os.path.basename(record.image)}, asked for {image.key})")
        if differs:
            raise PlanRefused(
                f"the virtual machine {self.name} in {self.state_dir} is there with another {' and '.join(differs)}; "
                "remove it with lab_down (its disks are lost), or choose another name or lab_dir"
            )

    def _make_keys(self) -> None:
        key = os.path.join(self.state_dir, "id_ed25519")
        generate = ["ssh-keygen", "-q", "-t", "ed25519", "-N", ""]
        if not os.path.exists(key):
            self.runner.change([*generate, "-C", "plumbline lab", "-f", key])
        host_key = os.path.join(self.directory, self.files.host_key)
        self.runner.change([*generate, "-C", self.name, "-f", host_key])
        shutil.copy(f"{key}.pub", os.path.join(self.directory, self.files.authorized_keys))

    def _make_disk(self, name: str, options: t.Sequence[str], size_bytes: int | None = None) -> None:
        size = [] if size_bytes is None else [str(size_bytes)]
        path = os.path.join(self.directory, name)
        self.runner.change(["qemu-img", "create", "-q", "-f", "qcow2", *options, path, *size])

    def start(self, accelerator: Accelerator) -> bool:
        """Boots the machine on its disks, without waiting for it; False when it runs already."""
        record = self._known()
        if self.pid:
            return False
        require_programs(_PROGRAMS, "starting a virtual machine")
        image = open_image(record.image)
        files = BootFiles(image.kernel, image.initrd)
        for attempt in range(3):
            port = record.port if attempt == 0 and _port_is_free(record.port) else _free_port()
            offset = os.path.getsize(self.console_log) if os.path.exists(self.console_log) else 0
            record = record.changed(port=port, accelerator=accelerator, expected="running", console_offset=offset)
            write_record(self.directory, record)
            try:
                argv = vm_argv(record.vm, files, accelerator.name, record.uuid, port)
                self.runner.change(["env", "-C", self.directory, *argv], timeout=60)
                return True
            except CommandError as error:
                # Somebody else may take the port between our look and QEMU's.
                if attempt < 2 and "host forwarding" in error.stderr:
                    continue
                write_record(self.directory, record.changed(expected="stopped"))
                said = error.stderr.strip() or error.message
                raise StorageError(f"QEMU did not start the virtual machine {self.name}: {said}") from error
        return False

    def wait_ready(self, timeout: float = DEFAULT_BOOT_TIMEOUT_SECONDS) -> float:
        """Waits until a command runs in the guest over ssh; returns the seconds. Fails early when the boot is stuck."""
        record, begun = self._known(), time.monotonic()
        while time.monotonic() - begun < timeout:
            if not self.pid:
                raise self._boot_failed("QEMU ended", record)
            stuck = _STUCK.search(self.console_text(record.console_offset))
            if stuck:
                raise self._boot_failed(f"its console says `{stuck.group(0).strip()}`", record)
            if _ssh_greets(record.port) and self._answers():
                return time.monotonic() - begun
            time.sleep(0.2)
        raise self._boot_failed(f"ssh did not answer within {timeout:g} s", record)

    def _answers(self) -> bool:
        """Whether a command runs in the guest, and udev is done with the disks."""
        try:
            return self.runner.query(self.ssh_argv("udevadm settle --timeout=100"), ok=None, timeout=120).rc == 0
        except CommandError:
            return False

    def _boot_failed(self, why: str, record: VmRecord) -> StorageError:
        lines = [line for line in self.console_text(record.console_offset).splitlines() if line.strip()]
        last = "\n".join(lines[-_CONSOLE_LINES:]) or "(nothing)"
        return StorageError(
            f"the virtual machine {self.name} did not boot: {why}. Last lines of {self.console_log}:\n{last}"
        )

    # --- ending

    def power_cut(self) -> bool:
        """Kills QEMU, as if the power went away; False when it did not run."""
        record = self._known()
        killed = kill_process(self.pid, record.uuid)
        if killed or record.expected == "running":
            write_record(self.directory, record.changed(expected="power_cut"))
        return killed

    def stop(self, timeout: float = 90) -> bool:
        """Shuts the guest down in order, raises StorageError if that takes too long. False when it did not run."""
        record, pid = self._known(), self.pid
        if not pid:
            if record.expected == "running":
                write_record(self.directory, record.changed(expected="power_cut"))
            return False
        # The connection may break before the command ends; only QEMU's end counts.
        self.ssh("systemctl poweroff", ok=None)
        if not wait_until_gone(pid, record.uuid, timeout):
            raise StorageError(
                f"the virtual machine {self.name} did not shut down within {timeout:g} s; see {self.console_log}, "
                "or use state: power_cut"
            )
        write_record(self.directory, record.changed(expected="stopped"))
        return True

    def remove(self) -> bool:
        """Ends the machine and removes its disks and everything else of it; False when there was nothing."""
        there = os.path.isdir(self.directory)
        # Found by the files it holds: its record may be gone, as after removing the directory by hand.
        pid = machines_of_directory(self.state_dir).get(self.name, 0)
        killed = kill_process(pid, f"plumbline-{self.name}")
        if there:
            with locked(self.state_dir):
                shutil.rmtree(self.directory)
                write_known_hosts(self.state_dir)
        return there or killed

    # --- disks

    def _powered_off_disks(self, what: str) -> list[str]:
        record = self._known()
        if self.pid:
            raise PlanRefused(f"{what} needs the virtual machine {self.name} powered off, but it runs; stop it first")
        return [os.path.join(self.directory, name) for name in disk_files(record.vm)]

    def snapshots(self) -> list[str]:
        """Names of the snapshots of all disks; empty while the machine runs, when its files cannot be read."""
        return [] if self.pid else snapshot.list_snapshots(self._powered_off_disks("listing snapshots"), self.runner)

    def take_snapshot(self, name: str) -> None:
        """Keeps the present content of all disks, the root disk too, under a name."""
        snapshot.take_snapshot(self._powered_off_disks(f"taking the snapshot {name!r}"), name, self.runner)

    def restore_snapshot(self, name: str) -> None:
        """Puts the content of all disks back to that of a snapshot."""
        snapshot.restore_snapshot(self._powered_off_disks(f"restoring the snapshot {name!r}"), name, self.runner)

    def delete_snapshot(self, name: str) -> bool:
        """Removes a snapshot; False when there was none."""
        paths = self._powered_off_disks(f"deleting the snapshot {name!r}")
        return snapshot.delete_snapshot(paths, name, self.runner)

    def qmp(self) -> QmpClient:
        """A connection to QEMU's control socket."""
        return QmpClient(self.directory, self.files.qmp)


def all_vms(state_dir: str, runner: Runner | None = None) -> list[LabVm]:
    """The machines recorded in a lab's directory, by name."""
    return [LabVm(state_dir, name, runner) for name in recorded_names(state_dir)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _port_is_free(port: int) -> bool:
    if not port:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _ssh_greets(port: int) -> bool:
    """Whether the guest's sshd says its name. QEMU takes the connection long before the guest listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.settimeout(5)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
