# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The one place that runs programs."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import shutil
import signal
import subprocess
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    CommandError,
    MissingTool,
    StorageError,
)

__all__ = ["PACKAGES", "CommandResult", "MeasuredRun", "Runner", "die_with_parent"]

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
_OUTPUT_LIMIT_BYTES = 4 * 1024**2
_SEARCH_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
_PR_SET_PDEATHSIG = 1


class CommandResult(t.NamedTuple):
    """What one program run left: output as text, undecodable bytes replaced."""

    argv: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str


class MeasuredRun(t.NamedTuple):
    """A program run under observation. C(rc) None: it was killed by us, C(stopped_why) says why.

    Times are of the monotonic clock; CPU seconds are those of the program and of the children it waited for.
    C(ready_at) is when the program said that it was ready (the start, when it was not asked to).
    """

    argv: tuple[str, ...]
    rc: int | None
    stdout: str
    stderr: str
    ready_at: float
    ended_at: float
    user_seconds: float = 0.0
    system_seconds: float = 0.0
    stopped_why: str | None = None
    reaped: bool = True


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
        """Runs a program that changes nothing. C(ok): allowed exit codes, None allows all. Raises CommandError."""
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

    def measure(
        self,
        argv: t.Sequence[str],
        timeout: float,
        ready_line: str | None = None,
        on_ready: t.Callable[[], None] | None = None,
        stop: t.Callable[[], bool] | None = None,
    ) -> MeasuredRun:
        """Runs a program whose resources are counted; never raises for its exit code or for the time limit.

        With C(ready_line) the program prints that line first and waits for a line on standard input: C(on_ready)
        is called between the two. C(stop) is asked once a second; when it says so, the program is killed.
        """
        if self.check_mode:
            raise StorageError(f"internal error: `{' '.join(argv)}` would have run in check mode; it was not")
        process = self._start([self.path_of(argv[0]), *argv[1:]], ready_line is not None)
        watch = _Watch(process, timeout, ready_line, on_ready, stop)
        try:
            why = watch.until_end()
        except BaseException:
            _kill_group(process)
            raise
        return watch.result(argv, why)

    def _start(self, command: t.Sequence[str], with_stdin: bool) -> subprocess.Popen[bytes]:
        self.process_count += 1
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE if with_stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C", "LANGUAGE": "C"},
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - calls prctl only, which is safe after fork
        )

    def _run(
        self, argv: t.Sequence[str], ok: t.Container[int] | None, timeout: float, stdin: str | None
    ) -> CommandResult:
        command = [self.path_of(argv[0]), *argv[1:]]
        process = self._start(command, stdin is not None)
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


class _Watch:
    """Collects a program's output until it ends, is told to stop, or runs out of time."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        timeout: float,
        ready_line: str | None,
        on_ready: t.Callable[[], None] | None,
        stop: t.Callable[[], bool] | None,
    ) -> None:
        self.process, self.timeout, self.on_ready, self.stop = process, timeout, on_ready, stop
        self.ready_at = time.monotonic()
        self._ready = None if ready_line is None else ready_line.encode() + b"\n"
        self._output = {1: bytearray(), 2: bytearray()}

    def until_end(self) -> str | None:
        """None when both outputs were closed by the program, else why it was killed."""
        end = self.ready_at + self.timeout
        with selectors.DefaultSelector() as selector:
            selector.register(t.cast("t.IO[bytes]", self.process.stdout), selectors.EVENT_READ, 1)
            selector.register(t.cast("t.IO[bytes]", self.process.stderr), selectors.EVENT_READ, 2)
            while selector.get_map():
                for key, _unused in selector.select(timeout=1.0):
                    if not self._take(key.fd, key.data):
                        selector.unregister(key.fileobj)
                if time.monotonic() >= end:
                    return f"no end after {self.timeout:g} s, killed"
                if self.stop is not None and self.stop():
                    return "the run was told to stop, killed"
        return None

    def _take(self, descriptor: int, which: int) -> bool:
        data = os.read(descriptor, 65536)
        if len(self._output[which]) < _OUTPUT_LIMIT_BYTES:
            self._output[which] += data
        if which == 1 and self._ready is not None and self._ready in self._output[1]:
            del self._output[1][: self._output[1].index(self._ready) + len(self._ready)]
            self._ready = None
            self._go()
        return bool(data)

    def _go(self) -> None:
        if self.on_ready is not None:
            self.on_ready()
        self.ready_at = time.monotonic()
        stdin = t.cast("t.IO[bytes]", self.process.stdin)
        try:
            stdin.write(b"go\n")
            stdin.close()
        except OSError:  # it died meanwhile; its exit code tells
            pass

    def result(self, argv: t.Sequence[str], why: str | None) -> MeasuredRun:
        if why is not None:
            _kill_group(self.process, reap=False)
        status, usage = self._reap(5.0 if why is not None else 30.0)
        ended_at = time.monotonic()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        out, err = (bytes(self._output[which]).decode(errors="replace") for which in (1, 2))
        if usage is None:
            why = why or "it closed its output but did not end"
            return MeasuredRun(tuple(argv), None, out, err, self.ready_at, ended_at, stopped_why=why, reaped=False)
        rc = None if why is not None else os.waitstatus_to_exitcode(status)
        return MeasuredRun(
            tuple(argv), rc, out, err, self.ready_at, ended_at, usage.ru_utime, usage.ru_stime, stopped_why=why
        )

    def _reap(self, limit: float) -> tuple[int, t.Any]:
        """Exit status and resource usage; usage None when the program cannot be ended (stuck in the kernel)."""
        end = time.monotonic() + limit
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                return status, usage
            if time.monotonic() >= end:
                return 0, None
            time.sleep(0.01)


def _kill_group(process: subprocess.Popen[bytes], reap: bool = True) -> None:
    """Kills a program and what it started; a process stuck in the kernel is not waited for long."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if not reap:
        return
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
