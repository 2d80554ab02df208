# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The file that filesystem workloads read: laid out in one piece and written in full before anything reads it."""

from __future__ import annotations

import os
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._bench.fio import fill_command
from ansible_collections.plumbline.storage.plugins.module_utils._bench.isolate import (
    BENCH_FILE,
    MOUNT_DIR,
    fill_in_private_mount,
    remove_in_private_mount,
)
from ansible_collections.plumbline.storage.plugins.module_utils._bench.limit import HungDevice
from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import Target, Workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.target import (
    RunTarget,
    file_bytes_wanted,
    fill_block_bytes,
    time_limit_seconds,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    MissingTool,
    PlanRefused,
    StorageError,
)

__all__ = ["TestFile", "dd_fill_command"]


def dd_fill_command(path: str, size_bytes: int, block_bytes: int) -> list[str]:
    """Writes an existing file in full, directly, with bytes that nothing can compress; for hosts without fio."""
    count = size_bytes // block_bytes
    blocks = [f"bs={block_bytes}", f"count={count}", "iflag=fullblock", "oflag=direct"]
    return ["dd", "if=/dev/urandom", f"of={path}", *blocks, "conv=notrunc,nocreat,fsync"]


class TestFile:
    """One file on one file system."""

    __test__ = False  # no test case, whatever its name begins with

    def __init__(self, device: str, size_bytes: int, block_bytes: int) -> None:
        self.device, self.size_bytes, self.block_bytes = device, size_bytes, block_bytes
        self.path = os.path.join(MOUNT_DIR, BENCH_FILE)
        self.written = False

    @classmethod
    def plan(
        cls, workloads: t.Sequence[Workload], target: RunTarget, device: str, fingerprint: t.Mapping[str, t.Any]
    ) -> TestFile:
        """Size and block size from what the superblock says; raises PlanRefused when there is no XFS or no room."""
        found = [layer for layer in fingerprint.get("layers") or () if layer["kind"] == "xfs"]
        if not found:
            raise PlanRefused(f"{device} was named as file system, but it holds no XFS; make one with xfs_filesystem")
        xfs = found[0]
        block = fill_block_bytes(xfs["xfs"]["swidth_bytes"])
        return cls(device, file_bytes_wanted(workloads, target, xfs["size_bytes"] or 0, block), block)

    def target(self) -> Target:
        return Target(self.path, self.size_bytes)

    def write(self, runner: Runner) -> float:
        """Writes the file; returns how many seconds it took. Raises StorageError, HungDevice when it does not end."""
        os.makedirs(MOUNT_DIR, mode=0o700, exist_ok=True)
        argv = fill_in_private_mount(self.device, self.path, self.size_bytes, self._fill_words(runner))
        begin = time.monotonic()
        run = runner.measure(argv, time_limit_seconds(_FILL, self.size_bytes))
        if run.stopped_why is not None:
            raise HungDevice(f"writing the test file on {self.device}: {run.stopped_why}; a device hangs")
        if run.rc != 0:
            said = [line for line in run.stderr.splitlines() if line.strip()]
            raise StorageError(
                f"the test file of {self.size_bytes} bytes could not be written on {self.device} (exit code {run.rc}): "
                f"{' / '.join(said[-2:]) or 'nothing was printed'}"
            )
        self.written = True
        return time.monotonic() - begin

    def _fill_words(self, runner: Runner) -> list[str]:
        try:
            words = fill_command(self.path, self.size_bytes, self.block_bytes)
            return [runner.path_of(words[0]), *words[1:]]
        except MissingTool:
            words = dd_fill_command(self.path, self.size_bytes, self.block_bytes)
            return [runner.path_of(words[0]), *words[1:]]

    def remove(self, runner: Runner) -> None:
        """Takes the file away again; the file system is left as it was found."""
        if self.written:
            runner.change(remove_in_private_mount(self.device, self.path), timeout=120)


_FILL = Workload("prepare", "fio", "filesystem", "write", 4096, True)
