# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What of the host can explain a figure: kernel, tools, CPU. Read once per process."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import list_names, read_text
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["dd_version", "parse_packages", "read_host"]

_TOOLS = ("fio", "coreutils", "mdadm", "lvm2", "xfsprogs", "util-linux", "hdparm", "bonnie++")
_cache: dict[str, t.Any] = {}


def read_host(runner: Runner) -> dict[str, t.Any]:
    """Kernel, distribution, CPU, governor, mitigations, memory, packages of the tools. At most two programs, once."""
    if "host" not in _cache:
        _cache["host"] = {**_system(), **_cpu(), "tools": _packages(runner)}
    return dict(_cache["host"])


def dd_version(runner: Runner) -> str | None:
    """Version of dd, such as C(9.1); dd does not print it with its figures."""
    if "dd" not in _cache:
        try:
            said = runner.query(["dd", "--version"], ok=None, timeout=20).stdout
        except StorageError:
            said = ""
        match = re.search(r"(\d+(?:\.\d+)+)", said.split("\n", 1)[0])
        _cache["dd"] = match.group(1) if match else None
    return t.cast("str | None", _cache["dd"])


def _system() -> dict[str, t.Any]:
    release = read_text("/etc/os-release") or ""
    pretty = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB", read_text("/proc/meminfo") or "", re.MULTILINE)
    return {
        "kernel": os.uname().release,
        "machine": os.uname().machine,
        "distribution": pretty.group(1) if pretty else None,
        "memory_total_bytes": int(memory.group(1)) * 1024 if memory else None,
    }


def _cpu() -> dict[str, t.Any]:
    model = re.search(r"^(?:model name|Model|cpu model)[ \t]*:[ \t]*(.+)$", _cpuinfo(), re.MULTILINE)
    weak = "/sys/devices/system/cpu/vulnerabilities"
    return {
        "cpu_model": model.group(1).strip() if model else None,
        "cpu_count": os.cpu_count(),
        "numa_nodes": len([name for name in list_names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]),
        "governor": read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "mitigations": {name: read_text(os.path.join(weak, name)) for name in list_names(weak)},
    }


def _cpuinfo() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            return stream.read(8192)
    except OSError:
        return ""


def _packages(runner: Runner) -> dict[str, str]:
    """Versions by package; empty where neither dpkg nor rpm is there."""
    shown = "${Package} ${Version} ${db:Status-Abbrev}\\n"
    for argv in (
        ["dpkg-query", "-W", "-f", shown, *_TOOLS],
        ["rpm", "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE} ii\\n", *_TOOLS],
    ):
        try:
            return parse_packages(runner.query(argv, ok=None, timeout=30).stdout)
        except StorageError:
            continue
    return {}


def parse_packages(text: str) -> dict[str, str]:
    """Installed packages and versions from lines of C(name version ii)."""
    words = [line.split() for line in text.splitlines()]
    return {word[0]: word[1] for word in words if len(word) == 3 and word[2].startswith("ii")}
