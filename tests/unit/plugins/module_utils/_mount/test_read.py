# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import Mount
from ansible_collections.plumbline.storage.plugins.module_utils._mount import read
from ansible_collections.plumbline.storage.plugins.module_utils._mount.read import read_mount

OWN = Mount("253:0", "/srv/pl-none", "xfs", "/dev/dm-0")
SERVICE = "process 7 (sshd)"


@pytest.mark.parametrize(
    ("other", "users"),
    [
        pytest.param(Mount("8:1", "/", "ext4", "/dev/sda1"), (), id="another_file_system_elsewhere"),
        pytest.param(Mount("8:1", "/srv/pl-none2", "ext4", "/dev/sda1"), (), id="a_name_that_only_begins_alike"),
        pytest.param(
            Mount("8:1", "/srv/pl-none/sub", "ext4", "/dev/sda1"), ("the mount on /srv/pl-none/sub",), id="below"
        ),
        pytest.param(Mount("253:0", "/mnt/b", "xfs", "/dev/dm-0"), ("the mount on /mnt/b",), id="mounted_twice"),
        pytest.param(
            Mount("253:0", "/srv/pl-none", "xfs", "/dev/dm-0", namespace_of=SERVICE), (), id="handed_on_to_a_service"
        ),
        pytest.param(
            Mount("253:0", "/mnt/c", "xfs", "/dev/dm-0", namespace_of=SERVICE),
            ("the mount on /mnt/c in the mount namespace of process 7 (sshd)",),
            id="in_another_namespace",
        ),
    ],
)
def test_other_mounts_keep_a_mount_busy(other: Mount, users: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "read_mounts", lambda: [OWN, other])
    assert read_mount(OWN.mount_point, users=True).users == users
    assert read_mount(OWN.mount_point).users == ()


def test_what_is_not_mounted_has_no_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "read_mounts", lambda: [Mount("8:1", "/srv/pl-none/sub", "ext4", "/dev/sda1")])
    assert read_mount(OWN.mount_point, users=True).users == ()
