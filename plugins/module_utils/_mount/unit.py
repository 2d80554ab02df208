# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Names and texts of systemd mount units. Pure; source: systemd.mount(5), systemd.unit(5) on escaping."""

from __future__ import annotations

import posixpath
import re

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._mount.model import UNITS_DIR, MountWanted

__all__ = ["check_mount_path", "is_own_text", "part_path", "unit_name", "unit_path", "unit_text"]

_PLAIN = re.compile(rb"[A-Za-z0-9:_.]")
_MARK = "# Made by plumbline.storage for"
_OPTIONS = re.compile(r"^[A-Za-z0-9_.,=:/@%+-]+$")
# Directories that the running system needs as they are.
_SYSTEM_PATHS = (
    "/", "/bin", "/boot", "/boot/efi", "/dev", "/etc", "/home", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/tmp",
    "/usr", "/var", "/var/lib", "/var/lib/plumbline",
)  # fmt: skip


def check_mount_path(path: str, options: str) -> None:
    """Raises PlanRefused for a path or options that cannot be meant."""
    if not path.startswith("/") or posixpath.normpath(path) != path or "\n" in path:
        raise PlanRefused(f"mount was given as {path!r}; write a plain absolute path, such as /srv/data")
    if path in _SYSTEM_PATHS or path.startswith(("/proc/", "/sys/", "/dev/", "/run/")):
        raise PlanRefused(
            f"mount was given as {path}, which belongs to the system; use a directory of its own, such as /srv/data"
        )
    if not _OPTIONS.match(options):
        raise PlanRefused(
            f"mount_options was given as {options!r}; write them as for mount -o, such as noatime,logbsize=256k"
        )


def unit_name(path: str) -> str:
    """The name that systemd demands for the unit of a mount point: C(srv-my\\x2ddata.mount) of /srv/my-data."""
    parts = [part for part in path.split("/") if part]
    text = "-".join("".join(_escaped(byte) for byte in part.encode()) for part in parts)
    return (f"\\x2e{text[1:]}" if text.startswith(".") else text) + ".mount"


def unit_path(path: str) -> str:
    """The unit file of a mount point."""
    return f"{UNITS_DIR}/{unit_name(path)}"


def part_path(path: str) -> str:
    """Where the unit file is written before it is put in its place: a power cut leaves the old unit or the new one."""
    return f"{UNITS_DIR}/.{unit_name(path)}.part"


def _escaped(byte: int) -> str:
    char = bytes([byte])
    return char.decode() if _PLAIN.match(char) else f"\\x{byte:02x}"


def unit_text(wanted: MountWanted) -> str:
    """The unit file. A percent sign is a specifier to systemd and is doubled."""
    path, options = wanted.path.replace("%", "%%"), wanted.options.replace("%", "%%")
    return (
        f"{_MARK} {wanted.owner}, and removed with it.\n"
        f"[Unit]\nDescription=XFS of {wanted.owner}\n\n"
        f"[Mount]\nWhat={wanted.source}\nWhere={path}\nType=xfs\nOptions={options}\n\n"
        "[Install]\nWantedBy=local-fs.target\n"
    )


def is_own_text(text: str, owner: str) -> bool:
    """Whether a unit file is that of this stack; one that a power cut left empty is nobody's and counts as ours."""
    return not text.strip("\0 \n") or text.startswith(f"{_MARK} {owner},")
