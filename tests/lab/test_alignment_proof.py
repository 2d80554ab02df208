# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The physical proof of alignment: what the members of a parity array read while whole stripes are written.

A write that covers whole stripes of a parity array needs nothing of what is on the disks; one that does not must read
first. So direct writes of whole stripes through LVM and XFS read nothing when all layers line up, and
read when one does not. Only the kernel's counters of the members are looked at (/sys/block/X/stat).
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

import pytest
from direct import Direct, Said, refused

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

KIB, MIB, SECTOR = 1024, 1024**2, 512
MOUNT = "/mnt/plumbline-proof"
# Full stripes of one write, and writes: 2 MiB per member, twice what md keeps in its stripe cache.
STRIPES_PER_WRITE, WRITES = 8, 4


@dataclasses.dataclass(frozen=True)
class Shape:
    """An array: its members by their places in TEST_DISKS. With three data disks 1 MiB is no multiple of the stripe."""

    level: int
    places: tuple[int, ...]
    data_disks: int = 3
    chunk_bytes: int = 64 * KIB

    @property
    def full_bytes(self) -> int:
        return self.data_disks * self.chunk_bytes


# Every bus with sectors of 512 bytes; the last has SCSI and NVMe disks of 4096 bytes.
SHAPES = {
    "raid5": Shape(5, (0, 1, 4, 8)),
    "raid6": Shape(6, (2, 3, 5, 8, 10)),
    "raid5_4k": Shape(5, (6, 7, 9), data_disks=2, chunk_bytes=128 * KIB),
}


@dataclasses.dataclass(frozen=True)
class Counted:
    """Sectors that the members read and wrote, all together."""

    read: int
    written: int


def members_of(lab: Direct, shape: Shape) -> list[str]:
    paths = lab.paths()
    return [paths[place] for place in shape.places]


def make_array(lab: Direct, shape: Shape) -> None:
    said = lab.run(
        "md_array", name="proof", level=str(shape.level), devices=members_of(lab, shape), bitmap="none",
        chunk=f"{shape.chunk_bytes // KIB}KiB", assume_clean=True,
    )  # fmt: skip
    assert not said.failed, said.message


def count(lab: Direct, shape: Shape, command: str) -> Counted:
    """Runs a command while nothing else touches the array, and tells what the members did.

    The stripe cache is emptied before, so that parity is not at hand by chance; udev, which looks at a device when a
    writer closes it, waits meanwhile.
    """
    stats = " ".join(f"/sys/block/{path.removeprefix('/dev/')}/stat" for path in members_of(lab, shape))
    sums = f"awk '{{r += $3; w += $7}} END {{print r, w}}' {stats}"
    script = f"""
        set -e
        trap 'udevadm control --start-exec-queue' EXIT
        udevadm settle; sync; udevadm control --stop-exec-queue
        cache=/sys/block/$(basename $(realpath /dev/md/proof))/md/stripe_cache_size
        echo 17 > $cache; echo 256 > $cache; sleep 1
        {sums}; {command}; {sums}
    """
    lines = [[int(word) for word in line.split()] for line in lab.guest.ssh(script).splitlines()]
    (read, written), (read_after, written_after) = lines
    return Counted(read_after - read, written_after - written)


def write_stripes(target: str, shape: Shape, start_bytes: int = 0) -> str:
    """The command that writes whole stripes directly."""
    return (
        f"dd if=/dev/zero of={target} bs={shape.full_bytes * STRIPES_PER_WRITE} count={WRITES} seek={start_bytes} "
        "oflag=direct,seek_bytes conv=notrunc status=none"
    )


def payload_sectors(shape: Shape) -> int:
    """What all members write for it, parity included."""
    return STRIPES_PER_WRITE * WRITES * shape.chunk_bytes * len(shape.places) // SECTOR


def stripes_in_file(lab: Direct, path: str, shape: Shape) -> int:
    """Where in a file the first of enough whole stripes of the file system begins, in bytes, by xfs_bmap."""
    full, needed = shape.full_bytes // SECTOR, shape.full_bytes * STRIPES_PER_WRITE * WRITES // SECTOR
    text = lab.guest.ssh(f"xfs_bmap -v {path}")
    for extent in re.finditer(r"\[(\d+)\.\.(\d+)\]: +(\d+)\.\.(\d+)", text):
        first, last, block = (int(extent.group(at)) for at in (1, 2, 3))
        skip = -block % full
        if last + 1 - first - skip >= needed:
            return (first + skip) * SECTOR
    raise AssertionError(f"no extent holds {needed} sectors on whole stripes:\n{text}")


def mounted_file(lab: Direct, device: str, shape: Shape) -> tuple[str, int]:
    """A file that has its blocks and has been written, and where whole stripes begin in it."""
    path = f"{MOUNT}/data"
    lab.guest.ssh(
        f"mkdir -p {MOUNT}; mount -o swalloc {device} {MOUNT}; "
        f"dd if=/dev/zero of={path} bs={shape.full_bytes * 64} count=1 oflag=direct status=none; sync"
    )
    return path, stripes_in_file(lab, path, shape)


def warned_of(said: Said) -> str:
    """The warnings of an answer as one text; each is a structure in newer versions of ansible-core."""
    return str(said.result.get("warnings") or "")


def make_volume(lab: Direct, name: str, **options: t.Any) -> tuple[str, str]:
    """An LV of the group, and what the module warned of."""
    said = lab.run("lvm_lv", vg="proof", name=name, **options)
    assert not said.failed, said.message
    return f"/dev/proof/{name}", warned_of(said)


@pytest.mark.parametrize("level", SHAPES)
def test_whole_stripes_read_nothing_when_every_layer_lines_up(lab: Direct, level: str) -> None:
    shape = SHAPES[level]
    make_array(lab, shape)
    for module, options in (
        ("lvm_pv", {"device": "/dev/md/proof"}),
        ("lvm_vg", {"name": "proof", "devices": ["/dev/md/proof"]}),
        ("lvm_lv", {"vg": "proof", "name": "data", "size": "1200MiB"}),
    ):
        said = lab.run(module, **options)
        assert not said.failed, said.message
        assert not warned_of(said), warned_of(said)
    counted = count(lab, shape, write_stripes("/dev/proof/data", shape))
    assert counted.written >= payload_sectors(shape), "the writes did not reach the members"
    assert counted.read == 0, f"the members of {level} read {counted.read} sectors below LVM"
    made = lab.run("xfs_filesystem", device="/dev/proof/data")
    assert not made.failed, made.message
    assert (made["filesystem"]["sunit_bytes"], made["filesystem"]["sw"]) == (shape.chunk_bytes, shape.data_disks)
    path, start = mounted_file(lab, "/dev/proof/data", shape)
    counted = count(lab, shape, write_stripes(path, shape, start))
    assert counted.written >= payload_sectors(shape), "the writes did not reach the members"
    assert counted.read == 0, f"the members of {level} read {counted.read} sectors below XFS"


@pytest.mark.parametrize("level", SHAPES)
def test_a_misaligned_pe_start_is_told_and_makes_the_members_read(lab: Direct, level: str) -> None:
    shape = SHAPES[level]
    make_array(lab, shape)
    lab.guest.ssh("pvcreate -q --dataalignment 64k --metadatasize 40k /dev/md/proof")
    assert lab.guest.ssh("pvs --noheadings --units k --nosuffix -o pe_start /dev/md/proof") == "64.00"
    refused(lab, "lvm_pv", "64KiB", f"{shape.full_bytes // KIB}KiB", device="/dev/md/proof", dataalignment="auto")
    as_it_is = lab.run("lvm_pv", device="/dev/md/proof")
    assert "64KiB behind a full stripe" in warned_of(as_it_is)
    lab.guest.ssh("pvremove -qy /dev/md/proof")
    made = lab.run("lvm_pv", device="/dev/md/proof", dataalignment="64KiB", metadatasize="40KiB")
    assert "64KiB behind a full stripe" in warned_of(made)
    assert not lab.run("lvm_vg", name="proof", devices=["/dev/md/proof"]).failed
    device, warned = make_volume(lab, "data", size="1200MiB")
    assert "behind a full stripe" in warned
    counted = count(lab, shape, write_stripes(device, shape))
    # Each write begins and ends inside a stripe: what it leaves of either is read.
    assert counted.read > 0, f"the members of {level} read nothing below LVM, though pe_start is off"
    made = lab.run("xfs_filesystem", device=device)
    assert "behind a full stripe" in warned_of(made)
    path, start = mounted_file(lab, device, shape)
    counted = count(lab, shape, write_stripes(path, shape, start))
    assert counted.read > 0, f"the members of {level} read nothing below XFS, though pe_start is off"


def test_a_volume_behind_another_of_odd_size_is_told_and_reads(lab: Direct) -> None:
    shape = SHAPES["raid5"]
    make_array(lab, shape)
    assert not lab.run("lvm_pv", device="/dev/md/proof").failed
    assert not lab.run("lvm_vg", name="proof", devices=["/dev/md/proof"], extent_size="4MiB").failed
    _first, warned = make_volume(lab, "first", extents="1")
    assert not warned
    second, warned = make_volume(lab, "second", extents="20")
    assert "behind a full stripe" in warned
    assert count(lab, shape, write_stripes(second, shape)).read > 0
    # 21 extents are a multiple of three data disks: the next volume lines up again.
    third, warned = make_volume(lab, "third", extents="20")
    assert not warned
    assert count(lab, shape, write_stripes(third, shape)).read == 0
