# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Finds out whether KVM truly boots a guest's kernel here; where it does not, the processor is emulated (TCG)."""

from __future__ import annotations

import json
import os
import tempfile
import time

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import CommandError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import boot_id
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import BuiltImage
from ansible_collections.plumbline.storage.plugins.module_utils._lab.process import kill_process, process_runs
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qemu import Accelerator, probe_argv

__all__ = ["find_accelerator"]

_FIRST_LINE = "Linux version"
_WAIT_SECONDS = 10.0


def _read(path: str) -> str:
    try:
        with open(path, errors="replace") as source:
            return source.read()
    except OSError:
        return ""


def _probe(kernel: str, runner: Runner) -> Accelerator:
    with tempfile.TemporaryDirectory(prefix="plumbline-kvm-") as directory:
        console, pid_file = os.path.join(directory, "console"), os.path.join(directory, "pid")
        try:
            runner.query(probe_argv(kernel, console, pid_file), timeout=30)
        except CommandError as error:
            said = (error.stderr.strip() or error.message).splitlines()[0]
            return Accelerator("tcg", f"QEMU did not start with KVM ({said})")
        pid = int(_read(pid_file).strip() or 0)
        until = time.monotonic() + _WAIT_SECONDS
        try:
            while time.monotonic() < until:
                if _FIRST_LINE in _read(console):
                    return Accelerator("kvm", "KVM booted the guest's kernel")
                if not process_runs(pid, kernel):
                    return Accelerator("tcg", "QEMU with KVM ended before the guest's kernel printed its first line")
                time.sleep(0.1)
            return Accelerator("tcg", f"with KVM the guest's kernel printed nothing within {_WAIT_SECONDS:g} s")
        finally:
            kill_process(pid, kernel)


def _remember(path: str, found: Accelerator) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "w") as target:
            json.dump({"boot_id": boot_id(), "name": found.name, "reason": found.reason}, target)
        os.rename(temporary, path)
    except OSError:
        # An image in a place that this user may not write to: the next start probes again.
        pass


def _remembered(path: str) -> Accelerator | None:
    try:
        found = json.loads(_read(path))
        if found["boot_id"] == boot_id():
            return Accelerator(found["name"], found["reason"])
    except (ValueError, KeyError, TypeError):
        pass
    return None


def find_accelerator(image: BuiltImage, runner: Runner) -> Accelerator:
    """C(kvm) if it boots this image's kernel up to its first line, else C(tcg).

    The answer is kept beside the image until this machine boots again.
    """
    if not os.path.exists("/dev/kvm"):
        return Accelerator("tcg", "this machine has no /dev/kvm")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return Accelerator("tcg", "this user may not use /dev/kvm (the group kvm may)")
    path = os.path.join(image.directory, "accelerator.json")
    found = _remembered(path)
    if found is None:
        found = _probe(image.kernel, runner)
        _remember(path, found)
    return found
