# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one line of mdadm's configuration file that is ours; every other line stays as it is."""

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._md.config import (
    check_path_free,
    config_steps,
    initramfs_step,
    is_listed,
    text_with,
    text_without,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import MdConfig

UUID = "11111111:22222222:33333333:44444444"
OTHER = "aaaaaaaa:bbbbbbbb:cccccccc:dddddddd"
TEXT = f"""# ARRAY /dev/md/data UUID={UUID}
HOMEHOST <system>
MAILADDR root
ARRAY /dev/md/other metadata=1.2 UUID={OTHER}
array /dev/md9 num-devices=2
  uuid=11111111-22222222-33333333-44444444 spares=1
PROGRAM /bin/true
"""
LINE = f"ARRAY /dev/md/data metadata=1.2 UUID={UUID}\n"


def test_a_line_is_added_once_and_taken_away_again() -> None:
    for start in (None, "", "MAILADDR root\n", "MAILADDR root"):
        text = text_with(start, UUID, "/dev/md/data", "1.2")
        assert text.endswith(LINE)
        assert text.count("ARRAY") == 1
        assert is_listed(text, UUID, "/dev/md/data")
        assert text_with(text, UUID, "/dev/md/data", "1.2") == text
        assert text_without(text, UUID).strip() == (start or "").strip()


def test_only_the_entry_with_this_uuid_is_touched() -> None:
    assert is_listed(TEXT, UUID)
    assert not is_listed(TEXT, UUID, "/dev/md/data")
    text = text_with(TEXT, UUID, "/dev/md/data", "1.2")
    # The comment stays, the entry of two lines goes whole, the others keep their places.
    assert text.splitlines()[:4] == TEXT.splitlines()[:4]
    assert text.splitlines()[4:] == ["PROGRAM /bin/true", LINE.strip()]
    assert text_without(text, OTHER).count("ARRAY /dev/md/other") == 0
    assert not is_listed(TEXT, "99999999:22222222:33333333:44444444")
    assert not is_listed(TEXT, None)


def test_a_name_that_another_array_has_is_refused() -> None:
    config = MdConfig("/etc/mdadm/mdadm.conf", f"ARRAY /dev/md/data metadata=1.2 UUID={OTHER}\n")
    with pytest.raises(PlanRefused, match="of another array for /dev/md/data"):
        check_path_free(config, UUID, "/dev/md/data")
    check_path_free(config, OTHER, "/dev/md/data")
    check_path_free(config, UUID, "/dev/md/else")
    check_path_free(MdConfig("/etc/mdadm.conf"), UUID, "/dev/md/data")


def test_an_entry_with_more_words_stays() -> None:
    text = f"ARRAY /dev/md/data level=raid5 UUID={UUID.upper()} spares=1 # ours\n"
    assert text_with(text, UUID, "/dev/md/data", "1.2") == text


def test_the_file_is_put_in_place_in_one_move() -> None:
    steps = config_steps(MdConfig("/etc/mdadm/mdadm.conf", "old\n"), "new\n", "the array data")
    assert [step.argv[0] for step in steps] == ["tee", "chmod", "chown", "sync", "mv"]
    assert steps[0].stdin == "new\n"
    assert steps[0].argv[1] != "/etc/mdadm/mdadm.conf"
    assert steps[-1].argv[-1] == "/etc/mdadm/mdadm.conf"
    fresh = config_steps(MdConfig("/etc/mdadm.conf"), "new\n", "the array data")
    assert [step.argv[0] for step in fresh] == ["tee", "sync", "mv"]


def test_a_host_without_a_ramdisk_maker() -> None:
    assert initramfs_step(MdConfig("/etc/mdadm.conf", None, ("dracut", "--force"))).argv == ("dracut", "--force")
    with pytest.raises(PlanRefused, match="neither update-initramfs nor dracut"):
        initramfs_step(MdConfig("/etc/mdadm.conf"))
