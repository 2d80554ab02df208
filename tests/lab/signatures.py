# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What disks may hold or be used for, as shell commands of the real tools; data for tests of what must survive.

In the commands C({a}) and C({b}) are two disks, C({a1}) the first partition of a. A kind says what is overwritten in
C(target), and in C(words) how a refusal names it.
"""

from __future__ import annotations

import dataclasses

__all__ = ["CONTENT", "IDLE", "IN_USE", "SHARED", "Kind"]


@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    setup: tuple[str, ...]
    words: str
    target: str = "{a}"
    undo: tuple[str, ...] = ()
    quiet: bool = True  # nothing writes to it by itself, so its checksum can be compared


_RAID = "mdadm --create /dev/md/t --run --assume-clean --bitmap=none --homehost=any -l1 -n2 --metadata={} {{a}} {{b}}"
_MOUNT_POINT = "mkdir -p /mnt/t"
# No zpool here: four labels, each with the name-value list that says what the device is, and uberblocks with their magic number.
# Formats: on-disk specification of ZFS, sections 1.2 and 1.3; libblkid looks for the list (util-linux 2.41) or the uberblocks (2.38).
ZFS_LABELS = r"""
import os, struct, sys
def pair(name, kind, value):
    text = struct.pack(">I", len(name)) + name.encode() + bytes(-len(name) % 4)
    body = text + struct.pack(">II", kind, 1) + value
    return struct.pack(">II", len(body) + 8, len(body) + 8) + body
def text(value):
    return struct.pack(">I", len(value)) + value.encode() + bytes(-len(value) % 4)
pairs = [pair("version", 8, struct.pack(">Q", 5000)), pair("name", 9, text("tank")), pair("state", 8, struct.pack(">Q", 1)),
         pair("txg", 8, struct.pack(">Q", 4)), pair("pool_guid", 8, struct.pack(">Q", 1234567890123)),
         pair("top_guid", 8, struct.pack(">Q", 1234567890124)), pair("guid", 8, struct.pack(">Q", 1234567890124))]
nvlist = bytes((1, 1, 0, 0)) + struct.pack(">II", 0, 1) + b"".join(pairs) + bytes(8)
disk = os.open(sys.argv[1], os.O_RDWR)
end = os.lseek(disk, 0, 2) // 262144 * 262144
for label in (0, 262144, end - 524288, end - 262144):
    os.pwrite(disk, nvlist, label + 16384)
    for slot in range(128):
        os.pwrite(disk, struct.pack("<QQQ", 0xBAB10C, 5000, 4 + slot), label + 131072 + slot * 1024)
os.fsync(disk)
"""
_ZFS = f"python3 - {{a}} <<'END'\n{ZFS_LABELS.replace('{', '{{').replace('}', '}}')}\nEND\n"

# Else udev hands the device to the kernel at once, which makes it a device in use and not one with content.
_NO_BCACHE_RULE = (
    "mkdir -p /run/udev/rules.d; ln -sf /dev/null /run/udev/rules.d/69-bcache.rules; udevadm control --reload"
)

CONTENT = (
    Kind("ext4", ("mkfs.ext4 -q -F -L home {a}",), 'an ext4 file system "home"'),
    Kind("xfs", ("mkfs.xfs -q -f {a}",), "an xfs file system"),
    Kind("btrfs", ("mkfs.btrfs -q -f {a}",), "a btrfs file system"),
    Kind("vfat", ("mkfs.vfat -I {a}",), "a vfat file system"),
    Kind("swap", ("mkswap {a}",), "swap space"),
    Kind(
        "luks",
        ("echo secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 {a} -",),
        "a LUKS encrypted volume",
    ),
    Kind(
        "gpt_with_ext4",
        ("echo , | sfdisk -q -X gpt {a}", "udevadm settle", "mkfs.ext4 -q -F {a1}"),
        "a partition table (gpt) and an ext4 file system",
    ),
    Kind("empty_gpt", ("echo label: gpt | sfdisk -q {a}",), "a partition table (gpt)"),
    Kind("mbr", ("echo , | sfdisk -q -X dos {a}",), "a partition table (dos)"),
    Kind(
        "gpt_only_at_the_end",
        ("echo , | sfdisk -q -X gpt {a}", "dd if=/dev/zero of={a} bs=1M count=1 conv=fsync"),
        "a partition table (gpt)",
    ),
    Kind("bcache", (_NO_BCACHE_RULE, "make-bcache --wipe-bcache -B {a}", "udevadm settle"), "bcache"),
    Kind("zfs", (_ZFS,), 'a member of the ZFS pool "tank"'),
    Kind(
        "stale_superblock_at_the_end",
        (
            "mdadm --create /dev/md/t --run --force --bitmap=none --homehost=any -l1 -n1 --metadata=1.0 {a}",
            "udevadm settle", "mdadm --stop /dev/md/t", "mkfs.ext4 -q -F {a} 1g",
        ),
        "a member of the md array",
    ),
    Kind(
        "random_bytes",
        ("head -c 65536 /dev/urandom | dd of={a} bs=64k seek=3 conv=fsync",),
        "unrecognised data (the first at byte 196608)",
    ),
    Kind(
        "random_bytes_at_the_end",
        ("head -c 4096 /dev/urandom | dd of={a} bs=4096 seek=$(($(blockdev --getsize64 {a}) / 4096 - 1)) conv=fsync",),
        "unrecognised data (the first at byte",
    ),
    Kind(
        "partition_with_xfs",
        ("echo , | sfdisk -q -X gpt {a}", "udevadm settle", "mkfs.ext4 -q -F {a1}"),
        "an ext4 file system",
        target="{a1}",
    ),
)  # fmt: skip
SHARED = (
    *(
        Kind(
            f"stopped_md_{metadata}",
            (_RAID.format(metadata), "udevadm settle", "mdadm --stop /dev/md/t"),
            "a member of the md array",
        )
        for metadata in ("0.90", "1.0", "1.2")
    ),
    Kind(
        "inactive_group",
        ("pvcreate -qy {a} {b}", "vgcreate -qy t {a} {b}", "lvcreate -qy -Wn -an -l1 -n l t"),
        'a physical volume of the volume group "t"',
    ),
    Kind(
        "group_without_volumes",
        ("pvcreate -qy {a} {b}", "vgcreate -qy t {a} {b}"),
        'a physical volume of the volume group "t"',
    ),
    Kind("btrfs_on_two", ("mkfs.btrfs -q -f -d single -m single {a} {b}",), "a btrfs file system", target="{b}"),
    Kind(
        "group_in_a_stopped_md",
        (_RAID.format("1.2"), "pvcreate -qy /dev/md/t", "udevadm settle", "mdadm --stop /dev/md/t"),
        "a member of the md array",
    ),
)
# Containers that nobody uses: they go when all their disks are listed, by the modules that can take them down.
IDLE = (
    Kind("active_md", (_RAID.format("1.2"),), "it is part of the active array", undo=("mdadm --stop /dev/md/t",)),
    Kind(
        "active_volume",
        ("pvcreate -qy {a}", "vgcreate -qy t {a}", "lvcreate -qy -Wn -l1 -n l t"),
        "it is in use by the active logical volume t/l",
        undo=("vgchange -qan t",),
    ),
)
IN_USE = (
    Kind(
        "mounted",
        ("mkfs.ext4 -q -F {a}", _MOUNT_POINT, "mount {a} /mnt/t"),
        "it is mounted on /mnt/t",
        undo=("umount /mnt/t",),
        quiet=False,
    ),
    Kind(
        "mounted_in_another_namespace",
        (
            "mkfs.ext4 -q -F {a}",
            _MOUNT_POINT,
            "unshare -m --propagation private sh -c 'mount {a} /mnt/t; exec sleep 900' > /dev/null 2>&1 &",
            "sleep 1",
        ),
        "it is mounted on /mnt/t in the mount namespace of process",
        undo=("pkill -x sleep",),
        quiet=False,
    ),
    Kind("swapped_on", ("mkswap {a}", "swapon {a}"), "it is in use as swap", undo=("swapoff {a}",)),
    Kind(
        "open_by_a_process",
        ("sleep 900 < {a} > /dev/null 2>&1 &", "sleep 0.5"),
        "it is held open by process",
        undo=("pkill -x sleep",),
    ),
    Kind(
        "partition_mounted",
        ("echo , | sfdisk -q -X gpt {a}", "udevadm settle", "mkfs.ext4 -q -F {a1}", _MOUNT_POINT, "mount {a1} /mnt/t"),
        "is mounted on /mnt/t",
        undo=("umount /mnt/t",),
        quiet=False,
    ),
    Kind(
        "held_by_device_mapper",
        ('dmsetup create held --table "0 8192 linear {a} 0"',),
        "held",
        undo=("dmsetup remove held",),
    ),
    Kind("behind_a_loop_device", ("losetup /dev/loop7 {a}",), "it is behind the loop device loop7", undo=("losetup -d /dev/loop7",)),
    Kind("read_only", ("blockdev --setro {a}",), "it is read-only", undo=("blockdev --setrw {a}",)),
    Kind(
        "btrfs_of_which_the_other_device_is_mounted",
        ("mkfs.btrfs -q -f {a} {b}", _MOUNT_POINT, "mount {a} /mnt/t"),
        "part of the mounted btrfs file system",
        target="{b}",
        undo=("umount /mnt/t",),
        quiet=False,
    ),
    Kind("system_disk", (), "holds / of the running system and is never usable", target="/dev/vda", quiet=False),
)  # fmt: skip
