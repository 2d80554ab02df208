# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""md_array in a guest: arrays of every level made, checked by mdadm and sysfs, and removed; what is refused."""

from __future__ import annotations

import typing as t

import pytest
from direct import Direct, four_steps, refused
from md_probe import detail, sysfs

KIB, MIB = 1024, 1024**2
SMALL = "64MiB"

pytestmark = [pytest.mark.lab, pytest.mark.runs_programs]

# name: disks by their places in TEST_DISKS, options, and what the kernel must then say: level, chunk, io_opt, readahead KiB
CASES: dict[str, tuple[list[int], dict[str, t.Any], tuple[str, int, int, int]]] = {
    "raid0_sata_nvme": ([0, 8], {"level": 0, "chunk": "96KiB"}, ("raid0", 96 * KIB, 192 * KIB, 384)),
    "raid1_sata_spare": (
        [0, 1], {"level": 1, "spares": [2], "size": SMALL, "bitmap": "internal"}, ("raid1", 0, 0, 128)),
    "raid1_4k": ([6, 9], {"level": 1, "assume_clean": True, "metadata": "1.0", "size": SMALL}, ("raid1", 0, 0, 128)),
    "raid4_scsi": (
        [4, 5, 10], {"level": 4, "chunk": "64KiB", "bitmap": "none", "assume_clean": True, "metadata": "1.1"},
        ("raid4", 64 * KIB, 128 * KIB, 256)),
    "raid5_mixed": (
        [0, 4, 8, 10], {"level": 5, "chunk": "256KiB", "layout": "right-symmetric", "assume_clean": True,
                        "homehost": "box", "data_offset": "8MiB"}, ("raid5", 256 * KIB, 768 * KIB, 1536)),
    "raid5_4k_resync": (
        [6, 7, 9], {"level": 5, "consistency_policy": "resync", "size": SMALL}, ("raid5", 512 * KIB, 1024 * KIB, 2048)),
    "raid6_sata_scsi": (
        [0, 1, 2, 4], {"level": "raid6", "chunk": "128KiB", "assume_clean": True, "size": SMALL,
                       "uuid": "0f0c1122:33445566:778899aa:bbccddee"}, ("raid6", 128 * KIB, 256 * KIB, 512)),
    "raid10_f2": (
        [0, 1, 2, 3], {"level": 10, "chunk": "128KiB", "layout": "f2", "assume_clean": True, "readahead": "3MiB"},
        ("raid10", 128 * KIB, 512 * KIB, 3072)),
    "raid10_n2_090": (
        [1, 5, 8], {"level": 10, "metadata": "0.90", "chunk": "64KiB", "bitmap": "none", "size": SMALL},
        ("raid10", 64 * KIB, 192 * KIB, 384)),
}  # fmt: skip
PREDICTED = (
    *("array_size_bytes", "bitmap", "chunk_bytes", "component_size_bytes", "data_offset_bytes", "full_stripe_bytes"),
    *("homehost", "layout", "level", "metadata", "name", "raid_devices", "readahead_bytes", "consistency_policy"),
)


def options_of(lab: Direct, name: str) -> dict[str, t.Any]:
    """The options of a case with its disks by path."""
    places, options, _unused = CASES[name]
    paths = lab.paths()
    wanted = {"name": "t_md", "devices": [paths[place] for place in places], **options}
    if "spares" in options:
        wanted["spares"] = [paths[place] for place in options["spares"]]
    return wanted


@pytest.mark.parametrize("name", CASES)
def test_made_checked_and_removed(lab: Direct, name: str) -> None:
    wanted = options_of(lab, name)
    planned = lab.run("md_array", check=True, **wanted)["array"]
    made = four_steps(lab, "md_array", **wanted)["array"]
    assert {key: made[key] for key in PREDICTED} == {key: planned[key] for key in PREDICTED}
    _probe(lab, made, wanted, CASES[name][2])
    gone = four_steps(
        lab, "md_array", name="t_md", state="absent", devices=[*wanted["devices"], *wanted.get("spares", [])]
    )
    assert gone["array"] is None
    assert lab.guest.ssh(f"grep -c ^md /proc/mdstat; wipefs {' '.join(lab.paths())}", check=False) == "0"
    assert lab.guest.ssh("ls /var/lib/plumbline/arrays") == ""


def _probe(lab: Direct, array: dict[str, t.Any], wanted: dict[str, t.Any], numbers: tuple[str, int, int, int]) -> None:
    level, chunk, io_opt, readahead = numbers
    files = ("md/level", "md/raid_disks", "md/chunk_size", "queue/optimal_io_size", "queue/read_ahead_kb", "size")
    assert sysfs(lab, array["kernel_name"], *files) == [
        level, str(len(wanted["devices"])), str(chunk), str(io_opt), str(readahead), str(array["array_size_bytes"] // 512),
    ]  # fmt: skip
    said = detail(lab, f"/dev/{array['kernel_name']}")
    assert said["MD_UUID"] == array["uuid"]
    assert said["MD_METADATA"] == wanted.get("metadata", "1.2")
    if array["metadata"] != "0.90":
        assert said["MD_NAME"] == f"{wanted.get('homehost', 'any')}:t_md"
        assert lab.guest.ssh("readlink -f /dev/md/t_md") == f"/dev/{array['kernel_name']}"
    if "uuid" in wanted:
        assert said["MD_UUID"] == wanted["uuid"]
    examined = lab.guest.ssh(f"mdadm --examine {wanted['devices'][0]}")
    assert ("Internal Bitmap" in examined) == (array["bitmap"] == "internal")
    if "data_offset" in wanted:
        assert "Data Offset : 16384 sectors" in examined
    if "layout" in wanted and level == "raid5":
        assert f"Layout : {wanted['layout']}" in examined
    if wanted.get("size"):
        assert sysfs(lab, array["kernel_name"], "md/component_size") == [str(64 * KIB)]


def test_write_journal(lab: Direct) -> None:
    paths = lab.paths()
    wanted = {
        "name": "t_md",
        "level": 5,
        "devices": paths[:3],
        "size": SMALL,
        "assume_clean": True,
        "journal": paths[8],
    }
    made = four_steps(lab, "md_array", **wanted)["array"]
    assert sysfs(lab, made["kernel_name"], "md/consistency_policy") == ["journal"]
    assert "Device Role : Journal" in lab.guest.ssh(f"mdadm --examine {paths[8]}")
    assert [member["path"] for member in made["members"] if member["role"] == "journal"] == [paths[8]]
    refused(lab, "md_array", f"journal is {paths[8]}", f"asked is {paths[3]}", **{**wanted, "journal": paths[3]})
    refused(lab, "md_array", "journal", "bitmap", name="t_md", bitmap="internal")
    four_steps(lab, "md_array", name="t_md", state="absent")
    assert lab.guest.ssh(f"wipefs {' '.join(paths)}") == ""


def test_partial_parity_log_and_back(lab: Direct) -> None:
    paths = lab.paths(3)
    wanted = {"name": "t_md", "level": 5, "devices": paths, "size": SMALL, "assume_clean": True}
    made = four_steps(lab, "md_array", consistency_policy="ppl", **wanted)["array"]
    name = made["kernel_name"]
    assert sysfs(lab, name, "md/consistency_policy") == ["ppl"]
    four_steps(lab, "md_array", name="t_md", consistency_policy="resync")
    assert sysfs(lab, name, "md/consistency_policy") == ["resync"]
    four_steps(lab, "md_array", name="t_md", bitmap="internal")
    assert sysfs(lab, name, "md/consistency_policy") == ["bitmap"]
    four_steps(lab, "md_array", name="t_md", consistency_policy="ppl")
    assert sysfs(lab, name, "md/consistency_policy", "md/bitmap/location") == ["ppl", "none"]
    four_steps(lab, "md_array", name="t_md", bitmap="internal")
    assert sysfs(lab, name, "md/consistency_policy") == ["bitmap"]


def test_a_partial_parity_log_needs_room(lab: Direct) -> None:
    wanted = {"name": "t_md", "level": 5, "devices": lab.paths(3), "size": SMALL, "assume_clean": True}
    lab.run("md_array", **wanted)
    refused(lab, "md_array", "needs", "ppl", name="t_md", consistency_policy="ppl")


def test_write_mostly_marks(lab: Direct) -> None:
    paths = lab.paths(3)
    wanted = {"name": "t_md", "level": 1, "devices": paths, "size": SMALL, "assume_clean": True}
    made = four_steps(lab, "md_array", write_mostly=[paths[0]], **wanted)["array"]
    states = f"/sys/block/{made['kernel_name']}/md/dev-{{}}/state"

    def marked() -> list[str]:
        found = [lab.guest.ssh("cat " + states.format(path[5:])) for path in paths]
        return [path for path, state in zip(paths, found, strict=True) if "write_mostly" in state]

    assert marked() == [paths[0]]
    four_steps(lab, "md_array", name="t_md", write_mostly=paths[1:])
    assert marked() == paths[1:]
    # The marks stand in the superblocks.
    lab.run("md_array", name="t_md", state="stopped")
    lab.run("md_array", name="t_md", state="assembled")
    assert marked() == paths[1:]
    four_steps(lab, "md_array", name="t_md", write_mostly=[])
    assert marked() == []


def test_bitmap_and_readahead_change_in_place(lab: Direct) -> None:
    lab.run("md_array", name="t_md", level=5, devices=lab.paths(3), size=SMALL, assume_clean=True, chunk="64KiB")
    changed = four_steps(lab, "md_array", name="t_md", bitmap="none", readahead="1MiB")
    name = changed["array"]["kernel_name"]
    assert sysfs(lab, name, "md/bitmap/location", "queue/read_ahead_kb") == ["none", "1024"]
    four_steps(lab, "md_array", name="t_md", bitmap="internal")
    assert sysfs(lab, name, "md/bitmap/location") != ["none"]


def test_stopped_assembled_and_degraded(lab: Direct) -> None:
    paths = lab.paths(3)
    made = lab.run("md_array", name="t_md", level=5, devices=paths, size=SMALL, assume_clean=True)["array"]
    lab.guest.ssh("echo plumb | dd of=/dev/md/t_md conv=fsync status=none")
    # Content is not lost by stopping, so nobody has to call a disk expendable for it.
    four_steps(lab, "md_array", name="t_md", state="stopped", expendable_disks=[])
    assert lab.guest.ssh("grep -c ^md /proc/mdstat", check=False) == "0"
    again = four_steps(lab, "md_array", name="t_md", state="assembled", devices=paths, expendable_disks=[])
    assert detail(lab)["MD_UUID"] == made["uuid"] == again["array"]["uuid"]
    assert lab.guest.ssh("head -c 5 /dev/md/t_md") == "plumb"
    lab.run("md_array", name="t_md", state="stopped")
    lab.guest.ssh(f"mdadm --zero-superblock {paths[1]}")
    refused(lab, "md_array", "only 2 of its 3 members", "run_degraded", name="t_md", state="assembled")
    started = four_steps(lab, "md_array", name="t_md", state="assembled", run_degraded=True)
    assert started["array"]["degraded"] == 1
    assert started["array"]["missing_slots"] == [1]
    assert lab.guest.ssh("head -c 5 /dev/md/t_md") == "plumb"


def test_stopping_and_removing_an_array_in_use(lab: Direct) -> None:
    lab.run("md_array", name="t_md", level=1, devices=lab.paths(2), assume_clean=True)
    lab.guest.ssh("mkfs.xfs -q -f /dev/md/t_md; mkdir -p /mnt/t; mount /dev/md/t_md /mnt/t")
    for state in ("stopped", "absent"):
        refused(lab, "md_array", "mounted on /mnt/t", name="t_md", state=state)
    lab.guest.ssh("umount /mnt/t")
    refused(lab, "md_array", "an xfs file system", "expendable_disks", name="t_md", state="absent", expendable_disks=[])
    lab.run("md_array", name="t_md", state="stopped", expendable_disks=[])
    # What was inside does not come back with a new array of the same shape.
    assert lab.run("md_array", name="t_md", state="absent").changed
    lab.run("md_array", name="t_md", level=1, devices=lab.paths(2), assume_clean=True)
    assert lab.guest.ssh("wipefs /dev/md/t_md") == ""


def test_an_array_that_is_not_there(lab: Direct) -> None:
    assert not lab.run("md_array", name="t_md", state="absent").changed
    assert not lab.run("md_array", name="t_md", state="stopped").changed
    refused(lab, "md_array", "no superblock of it was found", name="t_md", state="assembled")
    refused(lab, "md_array", "does not exist on this host", name="t_md")


def test_content_is_refused(lab: Direct) -> None:
    paths = lab.paths(3)
    lab.guest.ssh(f"mkfs.ext4 -q -F -L home {paths[0]}; udevadm settle")
    wanted = {"name": "t_md", "level": 5, "devices": paths, "size": SMALL, "assume_clean": True}
    refused(lab, "md_array", 'ext4 file system "home"', lab.serials[0], expendable_disks=lab.serials[1:], **wanted)
    assert lab.run("md_array", **wanted).changed
    # A listed disk that is a member of another array: the whole of that array must be listed.
    other = {**wanted, "name": "t_two", "devices": [paths[0], *lab.paths()[3:5]]}
    refused(lab, "md_array", "t_md", expendable_disks=[lab.serials[0], *lab.serials[3:5]], **other)


REFUSALS: dict[str, tuple[dict[str, t.Any], tuple[str, ...]]] = {
    "too few": ({"devices": [0, 1]}, ("at least 3",)),
    "chunk": ({"chunk": "96KiB"}, ("power of two",)),
    "no unit": ({"chunk": "64"}, ("without a unit",)),
    "raid1 chunk": ({"level": 1, "chunk": "64KiB"}, ("no chunk",)),
    "layout": ({"layout": "sideways"}, ("layout", "left-symmetric")),
    "raid10 layout": ({"level": 10, "layout": "left-symmetric"}, ("layout", "n2")),
    "level": ({"level": 7}, ("level", "linear")),
    "missing": ({"devices": ["/dev/nothere", 0, 1]}, ("/dev/nothere", "no such block device")),
    "twice": ({"devices": [0, 0, 1]}, ("twice",)),
    "mixed sectors": ({"devices": [0, 1, 6]}, ("logical sector sizes",)),
    "too large": ({"size": "3GiB"}, ("at most",)),
    "size grid": ({"size": "1000KiB", "chunk": "64KiB"}, ("multiple of 64KiB",)),
    "raid0 bitmap": ({"level": 0, "bitmap": "internal"}, ("no redundancy",)),
    "raid0 spares": ({"level": 0, "spares": [3]}, ("no redundancy",)),
    "raid0 policy": ({"level": 0, "consistency_policy": "resync"}, ("no redundancy",)),
    "policy and bitmap": ({"consistency_policy": "ppl", "bitmap": "internal"}, ("leave one of the two out",)),
    "ppl of raid6": ({"level": 6, "devices": [0, 1, 2, 3], "consistency_policy": "ppl"}, ("only raid5",)),
    "journal of raid1": ({"level": 1, "journal": "/dev/sda"}, ("raid4, raid5 and raid6",)),
    "policy without journal": ({"consistency_policy": "journal"}, ("name the device",)),
    "write_mostly of raid5": ({"write_mostly": ["/dev/sda"]}, ("only raid1",)),
    "kernel name": ({"name": "md7"}, ("md7",)),
    "long name": ({"name": "n" * 40}, ("31",)),
    "timeout": ({"wait_for_sync": True, "wait_timeout": 0}, ("at least 1",)),
}


def test_wishes_that_cannot_be(lab: Direct) -> None:
    paths, before = lab.paths(), lab.state()
    for name, (change, words) in REFUSALS.items():
        wanted: dict[str, t.Any] = {"name": "t_bad", "level": 5, "devices": [0, 1, 2], **change}
        for key in ("devices", "spares"):
            if key in wanted:
                wanted[key] = [paths[one] if isinstance(one, int) else one for one in wanted[key]]
        said = [lab.run("md_array", check=check, **wanted) for check in (True, False)]
        assert all(one.failed for one in said), name
        assert said[0].message == said[1].message
        assert [word for word in words if word not in said[0].message] == [], (name, said[0].message)
    assert lab.state() == before


def test_drift_is_refused_with_both_values(lab: Direct) -> None:
    paths = lab.paths()
    wanted = {"name": "t_md", "level": 5, "devices": paths[:3], "chunk": "64KiB", "size": SMALL, "assume_clean": True}
    made = lab.run("md_array", **wanted)["array"]
    before = lab.state()
    for change, words in (
        ({"chunk": "128KiB"}, "chunk is 64KiB, asked is 128KiB"),
        ({"level": 6}, "level is raid5, asked is raid6"),
        ({"layout": "right-symmetric"}, "layout is left-symmetric, asked is right-symmetric"),
        ({"metadata": "1.0"}, "metadata is 1.2, asked is 1.0"),
        ({"size": "128MiB"}, "size is 64MiB, asked is 128MiB"),
        ({"size": "32MiB", "reshape": True}, "never made smaller"),
        ({"data_offset": "16MiB"}, "data_offset is 3MiB, asked is 16MiB"),
        ({"homehost": "box", "uuid": made["uuid"]}, "homehost is any, asked is box"),
        ({"name": "other"}, "name is t_md, asked is other"),
        ({"devices": paths[:4]}, "number of devices is 3, asked is 4"),
        ({"devices": paths[:2]}, "3 places, and 2 devices"),
        ({"devices": paths[1:4]}, "no vacant place"),
    ):
        for check in (True, False):
            said = lab.run("md_array", check=check, **{**wanted, **change})
            assert said.failed, (words, said.result)
            assert words in said.message
    assert lab.state() == before


def test_personality_is_asked_before_anything_is_written(lab: Direct) -> None:
    wanted = {"name": "t_md", "level": "linear", "devices": lab.paths(2)}
    known = lab.guest.ssh("modprobe -n -q md-level--1 && echo yes || echo no")
    if known == "no":
        refused(lab, "md_array", "no md personality", **wanted)
        assert lab.guest.ssh(f"wipefs {' '.join(lab.paths(2))}") == ""
        return
    made = four_steps(lab, "md_array", **wanted)["array"]
    assert sysfs(lab, made["kernel_name"], "md/level") == ["linear"]
