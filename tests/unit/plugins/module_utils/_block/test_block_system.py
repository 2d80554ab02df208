# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which disks the running system stands on, and who uses a device: on a small procfs and sysfs made by hand."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block import system as system_module
from ansible_collections.plumbline.storage.plugins.module_utils._block import use as use_module
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode, BlockTree, Mount
from ansible_collections.plumbline.storage.plugins.module_utils._block.system import read_system_disks
from ansible_collections.plumbline.storage.plugins.module_utils._block.use import read_uses

NUMBERS = {"/dev/sda": "8:0", "/dev/sda1": "8:1", "/dev/sdb": "8:16", "/dev/sdc": "8:32", "/dev/md0": "9:0"}


@pytest.fixture(autouse=True)
def numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (system_module, use_module):
        monkeypatch.setattr(module, "devno_of_path", NUMBERS.get)


@pytest.fixture
def tree() -> BlockTree:
    nodes = [
        BlockNode("sda", "/dev/sda", "8:0", 1, "disk", partitions=("sda1",)),
        BlockNode("sda1", "/dev/sda1", "8:1", 1, "partition", parent="sda", holders=("md0",)),
        BlockNode("sdb", "/dev/sdb", "8:16", 1, "disk", holders=("md0",)),
        BlockNode("sdc", "/dev/sdc", "8:32", 1, "disk"),
        BlockNode("md0", "/dev/md0", "9:0", 1, "md", slaves=("sda1", "sdb")),
    ]
    return BlockTree({node.kernel_name: node for node in nodes}, NUMBERS.get)


def files(root: Path, content: dict[str, str]) -> str:
    for name, text in content.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return str(root)


SWAPS = "Filename Type Size Used Priority\n/dev/sdc partition 1 0 -2\n"
BTRFS = {"fs/btrfs/u/devices/sdb/dev": "8:16\n", "fs/btrfs/u/devices/sdc/dev": "8:32\n"}


@pytest.mark.parametrize(
    ("mounts", "sysfs", "swaps", "holds"),
    [
        ([Mount("9:0", "/", "ext4", "/dev/md0")], {}, "", {"sda": "/", "sdb": "/"}),
        ([Mount("9:0", "/", "ext4", "/dev/md0")], {}, SWAPS, {"sda": "/", "sdb": "/", "sdc": "swap"}),
        (
            [Mount("8:16", "/", "xfs", "/dev/root"), Mount("8:1", "/boot", "vfat", "x")],
            {},
            "",
            {"sdb": "/", "sda": "/boot"},
        ),
        ([Mount("0:25", "/", "btrfs", "/dev/sdb")], BTRFS, "", {"sdb": "/", "sdc": "/"}),
        ([Mount("0:1", "/", "tmpfs", "tmpfs")], {}, "", {}),
        ([Mount("0:40", "/", "nfs4", "server:/root")], {}, "", {}),
        (
            [
                Mount("0:30", "/", "overlay", "overlay", "rw,lowerdir=/ro/a:/ro/b,upperdir=/rw/up,workdir=/rw/work"),
                Mount("8:32", "/ro", "squashfs", "/dev/sdc"),
                Mount("0:31", "/rw", "tmpfs", "tmpfs"),
            ],
            {},
            "",
            {"sdc": "/"},
        ),
        ([Mount("8:16", "/", "ext4", "x")], {"power/resume": "8:32\n"}, "", {"sdb": "/", "sdc": "the resume image"}),
        ([Mount("8:16", "/", "ext4", "x")], {"power/resume": "0:0\n"}, "", {"sdb": "/"}),
        (
            [Mount("8:16", "/", "ext4", "x"), Mount("8:32", "/", "ext4", "x", namespace_of="process 9 (c)")],
            {},
            "",
            {"sdb": "/"},
        ),
    ],
)
def test_system_disks(
    tree: BlockTree, tmp_path: Path, mounts: list[Mount], sysfs: dict[str, str], swaps: str, holds: dict[str, str]
) -> None:
    proc = files(tmp_path / "proc", {"swaps": swaps})
    found = read_system_disks(tree, mounts, proc, files(tmp_path / "sys", sysfs))
    assert (dict(found.holds), found.unresolved) == (holds, None)


@pytest.mark.parametrize(
    "mounts",
    [
        [],
        [Mount("8:16", "/home", "ext4", "x")],
        [Mount("0:77", "/", "overlay", "overlay", "lowerdir=/var/lib/docker/x,upperdir=/var/lib/docker/y")],
        [Mount("0:77", "/", "strangefs", "what")],
        [Mount("8:99", "/", "ext4", "/dev/nowhere")],
    ],
)
def test_a_root_that_cannot_be_told_is_said(tree: BlockTree, tmp_path: Path, mounts: list[Mount]) -> None:
    assert read_system_disks(tree, mounts, str(tmp_path), str(tmp_path)).unresolved is not None


def test_a_zfs_root_is_known_by_its_pool(tree: BlockTree, tmp_path: Path) -> None:
    found = read_system_disks(tree, [Mount("0:9", "/", "zfs", "rpool/ROOT/a")], str(tmp_path), str(tmp_path))
    assert (found.zfs_pools, found.unresolved) == (("rpool",), None)


def process(root: Path, pid: int, namespace: str, mountinfo: str, opened: t.Sequence[str] = ()) -> None:
    directory = root / str(pid)
    files(directory, {"mountinfo": mountinfo, "comm": f"p{pid}\n"})
    (directory / "ns").mkdir()
    (directory / "ns/mnt").symlink_to(f"mnt:[{namespace}]")
    (directory / "fd").mkdir()
    for number, target in enumerate(opened):
        (directory / f"fd/{number}").symlink_to(target)


def test_uses_of_every_kind(tree: BlockTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = tmp_path / "proc"
    own = "1 0 8:0 / /a rw - ext4 /dev/sda rw\n"
    process(proc, 1, "1", own)
    process(proc, 2, "1", own, ["socket:[5]", "/dev/sdb"])
    process(proc, 3, "2", own + "2 0 8:32 / /b rw - ext4 /dev/sdc rw\n", ["/nfs/file"])
    files(proc, {"swaps": SWAPS})
    sysfs = files(
        tmp_path / "sys",
        {**BTRFS, "kernel/config/target/core/iblock_0/lun/udev_path": "/dev/md0\n"},
    )
    links = {str(proc / "2/fd/1"): "8:16"}
    monkeypatch.setattr(use_module, "devno_of_path", lambda path: links.get(path) or NUMBERS.get(path))
    uses = read_uses(tree, str(proc), sysfs).by_devno
    assert uses["8:0"] == ("mounted on /a",)
    assert "held open by process 2 (p2)" in uses["8:16"]
    assert set(uses["8:32"]) == {
        "mounted on /b in the mount namespace of process 3 (p3)",
        "in use as swap",
        "part of the mounted btrfs file system u",
    }
    assert uses["9:0"] == ("exported by the SCSI target iblock_0/lun",)
