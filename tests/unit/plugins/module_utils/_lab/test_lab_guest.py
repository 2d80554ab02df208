# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import guest_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.mirror import mirror_from_sources

DEB822 = """# A comment
Types: deb
URIs: https://mirror.example.org/debian-security
Suites: bookworm-security
Components: main

Types: deb deb-src
# Another comment
URIs: https://mirror.example.org/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


@pytest.mark.parametrize(
    ("texts", "mirror"),
    [
        ([DEB822], "https://mirror.example.org/debian"),
        (["deb http://a.example.org/debian bookworm main contrib\n"], "http://a.example.org/debian"),
        (["deb [ arch=amd64 signed-by=/k.gpg ] http://a.example.org/debian trixie main\n"], "http://a.example.org/debian"),
        (["deb [arch=amd64] http://a.example.org/debian trixie main\n"], "http://a.example.org/debian"),
        (["# deb http://a.example.org/debian trixie main\n"], None),
        (["deb-src http://a.example.org/debian trixie main\n"], None),
        (["deb cdrom:[Debian]/ bookworm main\n", "deb http://b.example.org/debian bookworm main\n"], "http://b.example.org/debian"),
        (["deb http://a.example.org/debian-security bookworm-security main\n"], None),
        (["deb http://a.example.org/apt nodistro main\n"], None),
        (["deb http://a.example.org/debian bookworm contrib\n"], None),
        (["Types: deb\nEnabled: no\nURIs: http://a.example.org/debian\nSuites: sid\nComponents: main\n"], None),
        (["Types: deb\nURIs:\n http://a.example.org/debian\nSuites: sid\nComponents: main\n"], "http://a.example.org/debian"),
        (["deb\n", "deb http://a.example.org\n", ""], None),
    ],
)  # fmt: skip
def test_the_mirror_of_a_whole_debian_release_is_found(texts: list[str], mirror: str | None) -> None:
    assert mirror_from_sources(texts) == mirror


def test_each_guest_has_its_suite_and_an_unknown_one_is_refused() -> None:
    assert (guest_image("debian12").suite, guest_image("debian13").suite) == ("bookworm", "trixie")
    with pytest.raises(PlanRefused, match="debian12 and debian13"):
        guest_image("debian11")


def test_the_key_follows_the_content() -> None:
    keys = {guest_image("debian12").key, guest_image("debian13").key, guest_image("debian13", ["htop"]).key}
    assert len(keys) == 3
    assert guest_image("debian13", ["b", "a"]).key == guest_image("debian13", ["a", "b"]).key
    assert guest_image("debian13", ["fio"]).key == guest_image("debian13").key


def test_no_placeholder_is_left_in_the_scripts() -> None:
    image = guest_image("debian13")
    for name in ("MODULES", "SEED", "LABEL", "MASKED", "BLACKLIST"):
        assert f"@{name}@" not in image.before_install + image.after_install
