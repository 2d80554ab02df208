# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""mdadm's configuration file: the one ARRAY line that is ours, by its UUID, and the initial ramdisk. Pure."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdConfig

__all__ = ["check_path_free", "config_steps", "initramfs_step", "is_listed", "text_with", "text_without"]

_MINUTES = 60
_UUID = re.compile(r"(?i)(?:^|\s)uuid=([0-9a-f:.\- ]*[0-9a-f])")


def _entries(text: str) -> t.Iterator[str]:
    """The file in logical lines: a line that begins with white space continues the one before it."""
    group: list[str] = []
    for line in text.splitlines(keepends=True):
        if group and not line[:1].isspace():
            yield "".join(group)
            group = []
        group.append(line)
    if group:
        yield "".join(group)


def _words(entry: str) -> list[str]:
    return " ".join(line.split("#", 1)[0] for line in entry.splitlines()).split()


def _uuid_of(entry: str) -> str | None:
    """The digits of the UUID of an ARRAY entry; None for any other entry."""
    words = _words(entry)
    if not words or words[0].lower() != "array":
        return None
    match = _UUID.search(" ".join(words))
    return re.sub("[^0-9a-f]", "", match.group(1).lower()) if match else ""


def _digits(uuid: str | None) -> str:
    return re.sub("[^0-9a-f]", "", (uuid or "").lower())


def is_listed(text: str | None, uuid: str | None, path: str | None = None) -> bool:
    """Whether an ARRAY entry names this UUID, and as this device where one is given."""
    return any(
        bool(uuid) and _uuid_of(entry) == _digits(uuid) and (path is None or _words(entry)[1:2] == [path])
        for entry in _entries(text or "")
    )


def check_path_free(config: MdConfig, uuid: str, path: str) -> None:
    """Raises PlanRefused where an entry of another array has this device, because mdadm takes no name that stands there twice."""
    for entry in _entries(config.text or ""):
        other = _uuid_of(entry)
        if other is not None and other != _digits(uuid) and _words(entry)[1:2] == [path]:
            raise PlanRefused(
                f"config: true was asked for, but {config.path} has the line {' '.join(_words(entry))!r} of another array for {path}, "
                "and mdadm does not take a name that stands there twice. Nothing was changed; remove that line if its array is gone, "
                "or choose another name"
            )


def text_with(text: str | None, uuid: str, path: str, metadata: str) -> str:
    """The file with exactly one entry of this UUID, as the device C(path); an entry that is right stays as it is."""
    if is_listed(text, uuid, path):
        return text or ""
    rest = text_without(text, uuid)
    if rest and not rest.endswith("\n"):
        rest += "\n"
    return f"{rest}ARRAY {path} metadata={metadata} UUID={uuid}\n"


def text_without(text: str | None, uuid: str) -> str:
    """The file without the entries of this UUID; every other line stays as it is."""
    return "".join(entry for entry in _entries(text or "") if _uuid_of(entry) != _digits(uuid))


def config_steps(config: MdConfig, text: str, what: str) -> list[Step]:
    """Writes the file beside its place, as the old one is owned, and puts it there in one move."""
    part = f"{config.path}.plumbline"
    steps = [Step(("tee", part), f"write the new {config.path} beside it ({what})", stdin=text)]
    if config.text is not None:
        steps.append(Step(("chmod", f"--reference={config.path}", part), f"give it the mode of {config.path}"))
        steps.append(Step(("chown", f"--reference={config.path}", part), f"give it the owner of {config.path}"))
    steps.append(Step(("sync", part), "make it durable"))
    steps.append(Step(("mv", "-T", part, config.path), f"put the new {config.path} in its place ({what})"))
    return steps


def initramfs_step(config: MdConfig) -> Step:
    """Make the initial ramdisk anew, so that it knows the configuration file. Raises PlanRefused where nothing can."""
    if config.initramfs_argv is None:
        raise PlanRefused(
            "update_initramfs was asked for, but neither update-initramfs nor dracut is on this host; leave it out if "
            "the system boots without an initial ramdisk"
        )
    return Step(
        config.initramfs_argv,
        f"make the initial ramdisk anew after {config.path} changed",
        timeout_seconds=30 * _MINUTES,
    )
