# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The one place that runs programs."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import shutil
import signal
import subprocess
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    CommandError,
    MissingTool,
    StorageError,
)

__all__ = ["PACKAGES", "CommandResult", "Runner", "die_with_parent"]

# Debian package that brings a program, for the sentence that says it is missing.
PACKAGES = {
    "mdadm": "mdadm",
    "lvm": "lvm2",
    "dmsetup": "dmsetup",
    "mkfs.xfs": "xfsprogs",
    "xfs_growfs": "xfsprogs",
    "xfs_db": "xfsprogs",
    "xfs_io": "xfsprogs",
    "sfdisk": "fdisk",
    "wipefs": "util-linux",
    "blkid": "util-linux",
    "blockdev": "util-linux",
    "lsblk": "util-linux",
    "unshare": "util-linux",
    "fio": "fio",
    "dd": "coreutils",
    "hdparm": "hdparm",
    "bonnie++": "bonnie++",
    "smartctl": "smartmontools",
    "nvme": "nvme-cli",
    "udevadm": "udev",
}
_SEARCH_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
_PR_SET_PDEATHSIG = 1


@dataclasses.dataclass(frozen=True)
class CommandResult:
    """What one program run left: output as text, undecodable bytes replaced."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str


def die_with_parent() -> None:
    """For a child before exec: be killed when the parent dies (prctl(2) PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Runner:
    """Runs programs with the C locale, no standard input, a time limit, an argument list and no shell.

    C(query) is for programs that change nothing. C(change) refuses in check mode, as a second safety
    besides the planner.
    """

    def __init__(self, check_mode: bool = False) -> None:
        self.check_mode = check_mode
        self._paths: dict[str, str] = {}
        self.process_count = 0

    def path_of(self, program: str) -> str:
        """Absolute path of a program; raises MissingTool naming the package."""
        if program.startswith("/"):
            return program
        if program not in self._paths:
            found = shutil.which(program, path=os.environ.get("PATH", "") + ":" + _SEARCH_PATH)
            if found is None:
                package = PACKAGES.get(program, program)
                raise MissingTool(
                    f"the program {program} is needed on this host and was not found; install the package {package}"
                )
            self._paths[program] = found
        return self._paths[program]

    def query(
        self, argv: t.Sequence[str], ok: t.Container[int] | None = (0,), timeout: float = 60, stdin: str | None = None
    ) -> CommandResult:
        """Runs a program that changes nothing. C(ok) is the allowed exit codes, None allows all. Raises CommandError."""
        return self._run(argv, ok, timeout, stdin)

    def change(
        self, argv: t.Sequence[str], ok: t.Container[int] | None = (0,), timeout: float = 600, stdin: str | None = None
    ) -> CommandResult:
        """Runs a program that changes the system; raises StorageError in check mode."""
        if self.check_mode:
            raise StorageError(
                f"internal error: `{' '.join(argv)}` would have changed the system in check mode; it was not run"
            )
        return self._run(argv, ok, timeout, stdin)

    def _run(
        self, argv: t.Sequence[str], ok: t.Container[int] | None, timeout: float, stdin: str | None
    ) -> CommandResult:
        command = [self.path_of(argv[0]), *argv[1:]]
        env = {**os.environ, "LC_ALL": "C", "LANGUAGE": "C"}
        self.process_count += 1
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        try:
            out, err = process.communicate(None if stdin is None else stdin.encode(), timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            raise CommandError(argv, None, "", "", why=f"no end after {timeout:g} s, killed") from None
        except BaseException:
            _kill_group(process)
            raise
        result = CommandResult(
            tuple(argv), process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
        )
        if ok is not None and result.rc not in ok:
            raise CommandError(argv, result.rc, result.stdout, result.stderr)
        return result


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a program and what it started; a process stuck in the kernel is not waited for long."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass
