# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A guest of the lab as tests see it: ssh for independent probes, and plays of this checkout against it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import typing as t
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
# One connection for all commands: making one takes a slow guest most of a second.
_SHARED = ("-o", "ControlMaster=auto", "-o", "ControlPath=/tmp/plumbline-test-%C", "-o", "ControlPersist=60")


@dataclasses.dataclass(frozen=True)
class Guest:
    """One virtual machine, by the inventory that lab_up wrote."""

    inventory: Path
    name: str = "lab1"

    @property
    def variables(self) -> dict[str, t.Any]:
        data = yaml.safe_load(self.inventory.read_text())
        return t.cast("dict[str, t.Any]", data["lab"]["hosts"][self.name])

    def ssh_argv(self, command: str) -> list[str]:
        """The ssh command line that runs a shell command on the guest."""
        values = self.variables
        return [
            "ssh", "-i", values["ansible_ssh_private_key_file"], "-p", str(values["ansible_port"]),
            *values["ansible_ssh_common_args"].split(), "-o", "BatchMode=yes", *_SHARED,
            f"{values['ansible_user']}@{values['ansible_host']}", f"export LC_ALL=C; {command}",
        ]  # fmt: skip

    def ssh(self, command: str, check: bool = True, timeout: float = 180) -> str:
        """What a shell command prints on the guest; none of this collection's code takes part."""
        done = subprocess.run(
            self.ssh_argv(command),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode:
            raise AssertionError(f"{command}: exit code {done.returncode}: {done.stdout} {done.stderr}")
        return done.stdout.strip()

    def disconnect(self) -> None:
        """Forgets the connection that commands share: the machine behind it went away."""
        argv = self.ssh_argv("true")
        subprocess.run([*argv[:-2], "-O", "exit", argv[-2]], capture_output=True, timeout=30, check=False)

    @contextlib.contextmanager
    def slow_resync(self) -> t.Iterator[None]:
        """The kernel resynchronises arrays and mirrored volumes with 1 MB/s at most meanwhile."""
        limits = "cd /proc/sys/dev/raid; echo {} > speed_limit_min; echo {} > speed_limit_max"
        self.ssh(limits.format(1000, 1000))
        try:
            yield
        finally:
            self.ssh(limits.format(100000, 200000))

    def device(self, serial: str) -> str:
        """The present kernel name of a disk; it changes between boots."""
        lines = [line.split() for line in self.ssh("lsblk -dnro NAME,SERIAL").splitlines()]
        return next(f"/dev/{words[0]}" for words in lines if words[1:] == [serial])


def environment(collections: Path = ROOT / ".collections") -> dict[str, str]:
    """Of this machine, with plain output and the collection under test."""
    return {
        **os.environ,
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
    }


def play_command(playbook: str, guest: Guest, **extra: t.Any) -> list[str]:
    """The command of a play; C(extra) become extra variables, as JSON so that types survive."""
    program = shutil.which("ansible-playbook") or "ansible-playbook"
    return [program, playbook, "-i", str(guest.inventory), "-e", json.dumps(extra)]


@dataclasses.dataclass(frozen=True)
class Played:
    code: int
    text: str


def play(
    playbook: str,
    guest: Guest,
    *options: str,
    cwd: Path = ROOT,
    timeout: float = 900,
    collections: Path = ROOT / ".collections",
    **extra: t.Any,
) -> Played:
    """Runs a play to its end."""
    done = subprocess.run(
        [*play_command(playbook, guest, **extra), *options],
        cwd=cwd,
        env=environment(collections),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Played(done.returncode, done.stdout + done.stderr)
