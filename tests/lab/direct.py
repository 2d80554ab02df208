# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules run in a guest without a play: one connection for hundreds of calls, each answered as by an Ansible task."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import io
import json
import select
import subprocess
import tarfile
import time
import typing as t
from pathlib import Path

import ansible
from guest import ROOT, Guest

REMOTE = "/root/plumbline-under-test"
# Sent to the guest with the code under test, whose eyes these must not be.
GUEST_FILES = ("module_server.py", "guest_clean.sh", "guest_state.sh")


def packed() -> bytes:
    """The target code of this checkout, and the part of the controller's ansible that a module needs, as a tar.gz."""
    buffer = io.BytesIO()
    package = "ansible_collections/plumbline/storage/plugins"
    source = Path(ansible.__file__).parent
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=3) as archive:
        for name in ("modules", "module_utils"):
            archive.add(ROOT / "plugins" / name, f"{package}/{name}", filter=_sources)
        for name in ("release.py", "module_utils"):
            archive.add(source / name, f"ansible/{name}", filter=_sources)
        # As Ansible packs it: the package itself holds nothing but its version.
        text = f"__version__ = {ansible.__version__!r}\n__author__ = ''\n".encode()
        info = tarfile.TarInfo("ansible/__init__.py")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
        for name in GUEST_FILES:
            archive.add(Path(__file__).with_name(name), name)
    return buffer.getvalue()


def _sources(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in info.name else info


@dataclasses.dataclass(frozen=True)
class Said:
    """What a module answered."""

    result: dict[str, t.Any]

    @property
    def failed(self) -> bool:
        return bool(self.result.get("failed"))

    @property
    def changed(self) -> bool:
        return bool(self.result.get("changed"))

    @property
    def message(self) -> str:
        return str(self.result.get("msg", ""))

    def __getitem__(self, key: str) -> t.Any:
        return self.result[key]


class Direct:
    """The modules of this checkout on one guest.

    C(disks) are the serial numbers that tests may write to; they are given as C(expendable_disks) unless a
    call says otherwise. Use as a context manager: it holds a connection.
    """

    def __init__(self, guest: Guest, disks: t.Sequence[str] = ()) -> None:
        self.guest, self.serials = guest, tuple(disks)
        subprocess.run(
            guest.ssh_argv(f"rm -rf {REMOTE}; mkdir -p {REMOTE}; tar xzf - -C {REMOTE}"),
            input=packed(), check=True, timeout=300,
        )  # fmt: skip
        self._open()

    def _open(self) -> None:
        self._process = subprocess.Popen(
            self.guest.ssh_argv(f"exec python3 {REMOTE}/module_server.py {REMOTE}"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._answer(120)

    def __enter__(self) -> Direct:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def reboot(self, command: str = "systemctl reboot", timeout: float = 300) -> None:
        """Boots the guest again and connects to it; C(command) may be a harder way than an orderly one."""
        before = self.guest.ssh("cat /proc/sys/kernel/random/boot_id")
        self.guest.ssh(f"{command} > /dev/null 2>&1 &", check=False)
        self.reconnect(before, timeout)

    def reconnect(self, boot_id: str, timeout: float = 300) -> None:
        """Waits for the boot after the one of this id."""
        self.guest.disconnect()
        end = time.monotonic() + timeout
        while True:
            try:
                if self.guest.ssh("cat /proc/sys/kernel/random/boot_id", timeout=20) != boot_id:
                    break
            except (AssertionError, subprocess.TimeoutExpired):
                self.guest.disconnect()
            if time.monotonic() > end:
                raise AssertionError(f"{self.guest.name} did not boot again within {timeout:g} s")
            time.sleep(1)
        self._process.kill()
        self._process.wait()
        self.guest.ssh("systemctl is-system-running --wait > /dev/null; udevadm settle", check=False)
        self.forget_disks()
        self._open()

    def forget_disks(self) -> None:
        """Looks for the disks by serial number again: their kernel names changed."""
        self.__dict__.pop("disks", None)

    def _answer(self, timeout: float) -> dict[str, t.Any]:
        out = self._process.stdout
        if not select.select([out], [], [], timeout)[0]:
            self._process.kill()
            raise AssertionError(f"no answer from the guest within {timeout:g} s")
        line = out.readline()
        if not line:
            raise AssertionError(f"the connection to {self.guest.name} ended: exit code {self._process.wait()}")
        return t.cast("dict[str, t.Any]", json.loads(line))

    def run(self, module: str, check: bool = False, diff: bool = True, timeout: float = 600, **params: t.Any) -> Said:
        """One call of a module, as a task would make it. A traceback is never an answer."""
        if "expendable_disks" not in params and self.serials:
            params["expendable_disks"] = [self.identity(serial) for serial in self.serials]
        args = {**params, "_ansible_check_mode": check, "_ansible_diff": diff}
        self._process.stdin.write(json.dumps({"module": module, "args": args}) + "\n")
        self._process.stdin.flush()
        said = Said(self._answer(timeout))
        if said.message == "traceback":
            raise AssertionError(f"{module} {params}: {said['traceback']}")
        return said

    def cut(self, module: str, before: int, **params: t.Any) -> None:
        """The same call, but the machine loses its power just before the N-th changing command; then it boots again."""
        boot_id = self.guest.ssh("sync; cat /proc/sys/kernel/random/boot_id")
        args = {"expendable_disks": [self.identity(serial) for serial in self.serials], **params}
        request = {"module": module, "args": args, "cut_before": before}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        self.reconnect(boot_id, timeout=900)  # the call up to the cut is part of it

    def changes(self) -> int:
        """How many changing commands the last call ran."""
        return int(self.guest.ssh("cat /run/plumbline-changes"))

    @functools.cached_property
    def disks(self) -> dict[str, str]:
        """Serial number to device path, in the order of C(serials); kernel names change only with a boot."""
        lines = [line.split() for line in self.guest.ssh("lsblk -dnro NAME,SERIAL").splitlines()]
        found = {words[1]: f"/dev/{words[0]}" for words in lines if len(words) == 2}
        return {serial: found[serial] for serial in self.serials}

    def identity(self, serial: str) -> str:
        """How consent names a disk: of NVMe the namespace belongs to it."""
        return f"{serial}/n1" if "/nvme" in self.disks.get(serial, "") else serial

    def paths(self, count: int | None = None) -> list[str]:
        """The first C(count) test disks by path."""
        return list(self.disks.values())[:count]

    def clean(self) -> None:
        """Takes down and wipes everything on the test disks; what cannot be cleaned fails the test."""
        left = self._script("guest_clean.sh")
        if left:
            raise AssertionError(f"the guest could not be cleaned: {left}")

    def state(self) -> str:
        """Everything that a change of storage would change, as text, seen by the guest's own tools."""
        return self._script("guest_state.sh")

    def _script(self, name: str) -> str:
        return self.guest.ssh(f"bash {REMOTE}/{name} {' '.join(self.paths())}", timeout=300)


def unchanged(before: str, after: str, complaint: str) -> None:
    """Fails with the lines that differ."""
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert not lines, "\n".join([complaint, *lines])


def four_steps(direct: Direct, module: str, **params: t.Any) -> Said:
    """Check mode, apply, apply again, check again; returns what applying said.

    Check mode must promise the change and change nothing, as the guest's own tools see it; the second run and the
    check after it must find nothing to do.
    """
    before = direct.state()
    promised = direct.run(module, check=True, **params)
    assert not promised.failed, promised.message
    assert promised.changed, f"check mode of {module} promises no change"
    unchanged(before, direct.state(), f"check mode of {module} changed something")
    applied = direct.run(module, **params)
    assert not applied.failed, f"{applied.message} {applied.result}"
    assert applied.changed, f"{module} says unchanged"
    assert applied["diff"]["before"] != applied["diff"]["after"]
    assert promised["diff"]["before"] == applied["diff"]["before"]
    for check in (False, True):
        again = direct.run(module, check=check, **params)
        assert not again.failed, again.message
        assert not again.changed, f"{module} is not idempotent (check mode {check}): {again['commands']}"
    return applied


def refused(direct: Direct, module: str, *words: str, **params: t.Any) -> str:
    """The sentence of a refusal, the same in check mode and outside it, with nothing changed."""
    before = direct.state()
    sentences = [direct.run(module, check=check, **params) for check in (True, False)]
    assert all(said.failed for said in sentences), f"{module} did not refuse {params}"
    unchanged(before, direct.state(), f"{module} changed something though it refused")
    assert sentences[0].message == sentences[1].message, [said.message for said in sentences]
    for word in words:
        assert word in sentences[0].message, sentences[0].message
    return sentences[0].message
