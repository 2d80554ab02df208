# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Which Debian mirror this machine's apt uses. Pure: texts of apt's source files come in."""

from __future__ import annotations

import typing as t

__all__ = ["mirror_from_sources"]

_RELEASES = frozenset(
    ("buster", "bullseye", "bookworm", "trixie", "forky", "sid", "oldoldstable", "oldstable", "stable", "testing")
)


def _one_line_entries(text: str) -> t.Iterator[tuple[list[str], list[str], list[str]]]:
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if not words or words[0] != "deb":
            continue
        if len(words) > 1 and words[1].startswith("["):
            closing = next((i for i, word in enumerate(words) if word.endswith("]")), len(words) - 1)
            words = [words[0], *words[closing + 1 :]]
        if len(words) >= 4:
            yield [words[1]], [words[2]], words[3:]


def _stanza_entries(text: str) -> t.Iterator[tuple[list[str], list[str], list[str]]]:
    for stanza in text.split("\n\n"):
        fields: dict[str, list[str]] = {}
        current: list[str] = []
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t"):
                current.extend(line.split())
            elif ":" in line:
                name, value = line.split(":", 1)
                current = fields.setdefault(name.strip().lower(), [])
                current.extend(value.split())
        if "deb" in fields.get("types", []) and fields.get("enabled", ["yes"])[0].lower() != "no":
            yield fields.get("uris", []), fields.get("suites", []), fields.get("components", [])


def mirror_from_sources(texts: t.Iterable[str]) -> str | None:
    """The address of the first source that holds the main part of a whole Debian release, None when there is none."""
    for text in texts:
        for uris, suites, components in (*_stanza_entries(text), *_one_line_entries(text)):
            usable = [uri for uri in uris if not uri.startswith("cdrom:")]
            if usable and "main" in components and _RELEASES.intersection(suites):
                return usable[0]
    return None
