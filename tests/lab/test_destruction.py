# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a disk holds survives every module that writes, until its owner lists the disk; what is in use survives even that.

Every kind of content or use of signatures.py meets every module that writes; the kinds are spread over the buses and
sector sizes. Checksums of the first and last 16 MiB are taken by the guest's own tools.
"""

from __future__ import annotations

import time
import typing as t

import pytest
from direct import Direct, Said
from guest import Guest
from signatures import CONTENT, IDLE, IN_USE, SHARED, Kind

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

# Two disks to be spoilt, by bus, and the blank one that modules of two disks take beside the first.
PAIRS = (
    ("6SJ0000008", "6SJ0000009", "Z1N0000005"),
    ("WD-WCASJ0000001", "WD-WCASJ0000002", "Z1N0000005"),
    ("K4G0000010", "K4G0000011", "S4EWNX0R000013"),  # 4096-byte sectors
    ("S4EWNX0R000012", "virt-000014", "Z1N0000005"),
)
SYSTEM_DISK = "plumb-root"
Call = t.Callable[[str, str, str], dict[str, t.Any]]  # device, its serial number, a blank device
WRITERS: dict[str, tuple[str, Call]] = {
    "md_array": (
        "md_array",
        lambda device, _s, blank: {"name": "new", "level": 0, "chunk": "64KiB", "devices": [device, blank]},
    ),
    "disk_partition": (
        "disk_partition",
        lambda device, _s, _b: {"disk": device, "name": "new", "start": "1MiB", "size": "64MiB", "replace_table": True},
    ),
    "lvm_pv": ("lvm_pv", lambda device, _s, _b: {"device": device}),
    "lvm_vg": ("lvm_vg", lambda device, _s, _b: {"name": "new", "devices": [device]}),
    "xfs_filesystem": ("xfs_filesystem", lambda device, _s, _b: {"device": device}),
    "xfs_filesystem_absent": ("xfs_filesystem", lambda device, _s, _b: {"device": device, "state": "absent"}),
    "storage_stack": (
        "storage_stack",
        lambda _d, serial, _b: {
            "name": "new",
            "disks": [serial],
            "region": {"start": "1MiB", "size": "1GiB"},
            "layers": [{"xfs": {}}],
        },
    ),
    "storage_benchmark": (
        "storage_benchmark",
        lambda device, _s, _b: {
            "device": device,
            "workloads": [{"name": "w", "tool": "fio", "rw": "write", "bs": "1MiB", "direct": True, "runtime": "1s"}],
        },
    ),
}  # fmt: skip
# Already what was asked for, or nothing of the kind to remove: answered with "unchanged", not with a refusal.
NOTHING_TO_DO = {
    ("xfs", "xfs_filesystem"),
    ("inactive_group", "lvm_pv"), ("group_without_volumes", "lvm_pv"), ("active_volume", "lvm_pv"),
}  # fmt: skip
# Asked for a device that is no physical volume, it says so and never looks at what else is there.
TAKES_ONLY_ITS_OWN = ("lvm_vg",)
CONTENT_CASES = [*CONTENT, *SHARED]
ENDS = r"""
for disk in {a} {b}; do
  size=$(blockdev --getsize64 $disk)
  dd if=$disk bs=1M count=16 iflag=direct status=none | md5sum
  dd if=$disk bs=1M skip=$((size / 1048576 - 16)) iflag=direct status=none | md5sum
done
"""


class Scene:
    """One kind on its disks."""

    def __init__(self, direct: Direct, kind: Kind) -> None:
        self.direct, self.kind = direct, kind
        self.a, self.b, self.blank = direct.serials
        disks = direct.disks
        separator = "p" if disks[self.a][-1].isdigit() else ""
        self.names = {
            "a": disks[self.a],
            "b": disks[self.b], "a1": f"{disks[self.a]}{separator}1",
        }  # fmt: skip
        self.target = kind.target.format(**self.names)
        self.target_serial = {disks[self.b]: self.b, "/dev/vda": SYSTEM_DISK}.get(self.target, self.a)
        self.whole = self.target in (*disks.values(), "/dev/vda")

    def set_up(self) -> None:
        for command in self.kind.setup:
            self.direct.guest.ssh(f"{{ {command.format(**self.names)}\n}} > /dev/null")
        self.direct.guest.ssh("udevadm settle")
        time.sleep(0.5)

    def undo(self) -> None:
        for command in self.kind.undo:
            self.direct.guest.ssh(command.format(**self.names), check=False)

    def ends(self) -> str:
        return self.direct.guest.ssh(ENDS.format(**self.names)) if self.kind.quiet else ""

    def call(self, writer: str, listed: t.Sequence[str]) -> Said:
        module, arguments = WRITERS[writer]
        named = self.direct.identity
        params = arguments(self.target, named(self.target_serial), self.direct.disks[self.blank])
        return self.direct.run(module, expendable_disks=[named(serial) for serial in listed], **params)

    def nothing_to_do(self, writer: str) -> bool:
        if writer == "xfs_filesystem_absent":
            return self.kind.name != "xfs"
        return (self.kind.name, writer) in NOTHING_TO_DO

    def writers(self) -> list[str]:
        """Those that can be given this target at all."""
        return [name for name in WRITERS if self.whole or name not in ("disk_partition", "storage_stack")]


def scene_of(guest: Guest, kind: Kind, number: int) -> t.Iterator[Scene]:
    with Direct(guest, PAIRS[number % len(PAIRS)]) as direct:
        direct.clean()
        scene = Scene(direct, kind)
        try:
            scene.set_up()
            yield scene
        finally:
            scene.undo()
            direct.clean()


@pytest.fixture()
def scene(guest: Guest, request: pytest.FixtureRequest) -> t.Iterator[Scene]:
    kind = request.param
    # Beside the system disk, whose sectors have 512 bytes, the first pair: an array needs sectors of one size.
    number = 0 if kind.name == "system_disk" else [*CONTENT_CASES, *IN_USE, *IDLE].index(kind)
    yield from scene_of(guest, kind, number)


def assert_refused(scene: Scene, writer: str, listed: t.Sequence[str]) -> str:
    said = scene.call(writer, listed)
    assert not said.changed, f"{writer} changed something on {scene.kind.name}: {said.result}"
    if scene.nothing_to_do(writer):
        return ""
    assert said.failed, f"{writer} did not refuse {scene.kind.name}: {said.result}"
    return said.message


@pytest.mark.parametrize("scene", CONTENT_CASES, indirect=True, ids=lambda kind: kind.name)
def test_content_is_kept_until_its_disks_are_listed(scene: Scene) -> None:
    before = scene.ends()
    other = [scene.blank]
    for writer in scene.writers():
        for listed in ([], other):
            message = assert_refused(scene, writer, listed)
            if message and writer not in TAKES_ONLY_ITS_OWN:
                assert scene.target_serial in message
                assert scene.kind.words in message
    if scene.kind in SHARED:  # the content belongs to both disks: one alone does not do
        for writer in scene.writers():
            assert_refused(scene, writer, [scene.target_serial])
    assert scene.ends() == before
    usable = [name for name in scene.writers() if not scene.nothing_to_do(name) and name not in TAKES_ONLY_ITS_OWN]
    writer = usable[CONTENT_CASES.index(scene.kind) % len(usable)]
    said = scene.call(writer, [scene.a, scene.b])
    assert not said.failed, f"{writer} with both disks listed: {said.message}"
    assert scene.ends() != before or writer == "storage_benchmark"


@pytest.mark.parametrize("scene", IN_USE, indirect=True, ids=lambda kind: kind.name)
def test_use_is_refused_listed_or_not(scene: Scene) -> None:
    before = scene.ends()
    for writer in scene.writers():
        for listed in ([], [scene.blank], [scene.a, scene.b, SYSTEM_DISK]):
            message = assert_refused(scene, writer, listed)
            assert "expendable_disks" not in message, f"{writer}: listing would not help: {message}"
            if message and writer not in (*TAKES_ONLY_ITS_OWN, "storage_benchmark"):  # which says it in its own words
                assert scene.kind.words in message
    assert scene.ends() == before


# Which modules take an idle container down when all its disks are listed; the others refuse it as used.
TAKES_DOWN = {"active_md": ("md_array", "storage_stack"), "active_volume": ("storage_stack",)}


@pytest.mark.parametrize("scene", IDLE, indirect=True, ids=lambda kind: kind.name)
def test_an_idle_container_goes_only_with_all_its_disks(scene: Scene) -> None:
    before = scene.ends()
    takers = TAKES_DOWN[scene.kind.name]
    for writer in scene.writers():
        for listed in ([], [scene.blank], *([[scene.target_serial]] if scene.kind.name == "active_md" else [])):
            assert_refused(scene, writer, listed)
        if writer not in takers:
            message = assert_refused(scene, writer, [scene.a, scene.b])
            if message and writer not in (*TAKES_ONLY_ITS_OWN, "storage_benchmark"):
                assert scene.kind.words in message
    assert scene.ends() == before
    said = scene.call("storage_stack", [scene.a, scene.b])
    assert not said.failed, said.message
