#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: xfs_filesystem
short_description: Makes an XFS whose stripe geometry fits the layers below, reads it back, and grows it
version_added: 0.1.0
author:
  - plumbline.storage contributors (@plumbline)
description:
  - Makes an XFS on a block device, or checks the one that is there, or sets its label, UUID and size, or removes it.
  - XFS lays out its allocation groups, its log and large files on the stripe of what lies below, when it is told of it.
    C(su) is what goes on one disk before the next one is used (the chunk of md, the stripesize of LVM), C(sw) is how many such
    units one full stripe has (the data disks, not all disks, of a parity array). A file system that was told the
    wrong stripe works, and is slow in writing for its whole life.
  - With O(geometry=auto) both are derived through every layer down to the disks, from the arrays and volumes themselves. The
    hints of the kernel, which C(mkfs.xfs) would use, know the topmost layer only, and are nonsense on some disks.
  - Under a striped volume over arrays both layers cut the data. A volume of k stripes of size S over arrays of chunk c and d data
    disks repeats after k x lcm(S, c x d) bytes. C(su) is then the smaller of c and S where one divides the other, and C(sw) the
    quotient; where neither divides the other a warning says so. C(mkfs.xfs) by itself would take S and k, and forget the arrays.
  - The geometry is read back from the superblock, and of a mounted file system from the kernel. An existing
    file system that differs in what cannot change is refused with both values; it is never made again, mounted or not.
  - Before anything is changed, also in check mode, C(mkfs.xfs -N) is asked what it would make. So what this host's C(mkfs.xfs) does not
    know or cannot do is refused while the old content is still there, and check mode shows the file system as it will be.
  - Nothing that holds anything is overwritten unless its disks are named in O(expendable_disks). What is mounted or otherwise
    in use is refused also then. C(mkfs.xfs) never gets its force option for making one.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  device:
    description:
      - The block device. In check mode an array, a volume or a partition that does not exist yet is taken as planned.
    type: path
    required: true
  state:
    description:
      - V(present) makes the file system unless there is one.
      - V(absent) wipes its signature, so that nothing finds it any more. It is refused while it is mounted. A device that
        holds something else is left alone. An external log is wiped too when O(log_device) names it.
    type: str
    choices: [present, absent]
    default: present
  geometry:
    description:
      - V(auto) derives su and sw from the layers below. V(none) makes the file system without stripe geometry.
      - At creation V(auto) applies when nothing is given. The stripe of an existing file system is not managed unless
        this, O(su) or O(sunit) is given; then it is compared, and refused with both values where it differs.
      - On a device below 1 GiB, V(auto) gives none, as C(mkfs.xfs) itself does, with a warning.
      - A stripe unit that is no multiple of the block size cannot be used, and gives none, with a warning.
      - A device that begins behind a full stripe (a misaligned data start of a physical volume, an odd volume before it) gets a
        warning, since then no write of whole stripes is one on the disks.
    type: str
    choices: [auto, none]
  su:
    description:
      - Stripe unit, as a size with a unit. Given together with O(sw), and not with O(geometry).
      - When it differs from what lies below, it is used with a warning.
    type: str
  sw:
    description:
      - Stripe width as a number of stripe units, which is a count and has no unit.
    type: int
  sunit:
    description:
      - The stripe unit as in O(su), for those who think in C(sunit) and C(swidth). Given together with O(swidth).
      - C(mkfs.xfs) and C(mount) count both in 512-byte sectors, which are written V(512s) here; C(xfs_info) prints both in
        blocks of the file system.
    type: str
  swidth:
    description:
      - The full stripe, a multiple of O(sunit), as a size with a unit.
    type: str
  log_su:
    description:
      - Stripe unit of the log, a multiple of the block size of up to 256 KiB. When left out, C(mkfs.xfs) takes the data's, or 32 KiB
        where that is more than 256 KiB. With sectors larger than 512 bytes it takes one block, whatever lies below; give this to
        get the stripe there too. Cannot change in place.
    type: str
  log_size:
    description:
      - Size of the log, a multiple of O(log_su) or of what takes its place. When left out, C(mkfs.xfs) decides by the size of the
        file system, at least 64 MiB. Cannot change in place.
    type: str
  log_device:
    description:
      - A device of its own for the log. It must be named at every mount (C(logdev)). It is overwritten, so its disks
        need consent unless it is blank.
      - Of a file system that is not mounted it is only known that its log is external, not where; the device is compared
        while it is mounted.
    type: path
  sector_size:
    description:
      - Sector size of the file system, at least that of the device. When left out, the physical sector of the device. Cannot change
        in place.
    type: str
  block_size:
    description:
      - Block size. When left out, 4 KiB. A file system with blocks larger than the kernel's page mounts on new kernels only.
        Cannot change in place.
    type: str
  inode_size:
    description:
      - Size of an inode, from 256 bytes (512 with checksums) to half a block. When left out, 512 bytes. Cannot change in place.
    type: str
  agcount:
    description:
      - Number of allocation groups. When left out, C(mkfs.xfs) decides by size and stripe.
      - A file system that grew has more of them; with O(grow) that is no difference.
    type: int
  agsize:
    description:
      - Size of an allocation group, from 16 MiB, a multiple of the block size and of the stripe unit. Not together with O(agcount).
    type: str
  grow:
    description:
      - Grow an existing file system to its device. XFS grows only while it is mounted, so there must be something to grow
        and it must be mounted, or it is refused; this module mounts nothing. XFS cannot shrink.
      - A tail that would begin a new allocation group smaller than 16 MiB is left out, as C(mkfs.xfs) does; so a file
        system that was just made has nothing to grow, and a second run is always unchanged.
    type: bool
    default: false
  label:
    description:
      - Label of up to 12 letters, digits or any of C(_.:+@-). It is changed in place when it differs, mounted or not; empty takes it
        away.
    type: str
  uuid:
    description:
      - UUID of the file system. When left out, C(mkfs.xfs) chooses one.
      - When it is given and the device holds an XFS with another, that is another file system, and refused, unless O(change_uuid).
    type: str
  change_uuid:
    description:
      - An existing file system gets O(uuid) in place. It must not be mounted, and its log must be clean.
    type: bool
    default: false
  crc:
    description: Checksums of all metadata, the format since 2013. Without them the others here are off too. Cannot change in place.
    type: bool
  finobt:
    description: An index of free inodes. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  inobtcount:
    description: Counters in the inode indexes, for quick mounts. When left out, C(mkfs.xfs) decides. Cannot change in place here.
    type: bool
  reflink:
    description: Copies that share blocks. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  rmapbt:
    description: An index of who owns each block. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  bigtime:
    description: Times after 2038. When left out, C(mkfs.xfs) decides. Cannot change in place here.
    type: bool
  sparse:
    description: Inodes in chunks that may have holes. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  nrext64:
    description: Counters for very many extents per file. When left out, C(mkfs.xfs) decides. Cannot change in place here.
    type: bool
  exchange:
    description: Exchanging file contents atomically, from xfsprogs 6.10 on. Cannot change in place here.
    type: bool
  parent:
    description: Pointers from a file to its folders, from xfsprogs 6.10 on. Cannot change in place.
    type: bool
notes:
  - Needs C(mkfs.xfs), and for changes C(xfs_admin), C(xfs_io), C(xfs_growfs) and C(xfs_logprint) (package xfsprogs), and C(wipefs)
    (util-linux) on the target.
  - C(mkfs.xfs) makes no file system below 300 MiB.
  - Features that an older file system lacks can be added by C(xfs_admin -O) by hand, while it is not mounted; that rewrites metadata, and
    this module does not do it.
  - Discards are never sent, so that a measurement after it does not begin on a freshly trimmed device by accident.
  - Sizes need a unit; V(KiB), V(MiB), V(GiB) and V(k), V(m), V(g) are binary, V(kB), V(MB), V(GB) decimal, V(s) is 512 bytes.
    O(sw) and O(agcount) are counts and have none.
seealso:
  - module: plumbline.storage.md_array
  - module: plumbline.storage.lvm_lv
  - module: plumbline.storage.disk_partition
  - module: plumbline.storage.storage_stack
"""

EXAMPLES = r"""
- name: On an array, with the stripe of the array
  plumbline.storage.xfs_filesystem:
    device: /dev/md/data
    label: data

- name: Refuse an existing file system whose stripe is not that of the layers below
  plumbline.storage.xfs_filesystem:
    device: /dev/vg0/data
    geometry: auto

- name: Behind a hardware controller that tells nothing, a RAID6 of 10 disks with 256 KiB per disk
  plumbline.storage.xfs_filesystem:
    device: /dev/disk/by-id/wwn-0x600508b1001c0001
    su: 256KiB
    sw: 8

- name: The same in the words of sunit and swidth
  plumbline.storage.xfs_filesystem:
    device: /dev/disk/by-id/wwn-0x600508b1001c0001
    sunit: 512s
    swidth: 4096s

- name: A volume of two stripes over two RAID5 of 3+1 disks with 64 KiB chunks, 384 KiB per full stripe, derived as su 64 KiB, sw 6
  plumbline.storage.xfs_filesystem:
    device: /dev/vg_two_arrays/data
    geometry: auto

- name: The log on a mirror of its own, named again at each mount
  plumbline.storage.xfs_filesystem:
    device: /dev/md/data
    log_device: /dev/md/log
    log_size: 512MiB

- name: After the volume was extended, while it is mounted
  plumbline.storage.xfs_filesystem:
    device: /dev/vg0/data
    grow: true

- name: A clone of a snapshot gets an identity of its own
  plumbline.storage.xfs_filesystem:
    device: /dev/vg0/clone
    uuid: 2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11
    change_uuid: true
    label: clone

- name: For a comparison, without any stripe geometry
  plumbline.storage.xfs_filesystem:
    device: /dev/vg0/plain
    geometry: none
    reflink: false

- name: Wipe it
  plumbline.storage.xfs_filesystem:
    device: /dev/vg0/plain
    state: absent
    expendable_disks: ["EXAMPLE-0001", "EXAMPLE-0002"]
"""

RETURN = r"""
filesystem:
  description: The file system as read back, or as predicted in check mode; null when there is none.
  returned: success
  type: dict
  contains:
    device:
      description: The device as given.
      type: str
      sample: /dev/vg0/data
    real_device:
      description: The kernel's name of it.
      type: str
      sample: /dev/dm-3
    uuid:
      description: UUID; null in check mode when it is left to C(mkfs.xfs).
      type: str
      sample: 2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11
    label:
      description: Label, empty when it has none.
      type: str
      sample: data
    size_bytes:
      description: Size of the data section.
      type: int
      sample: 2147483648
    block_bytes:
      description: Block size.
      type: int
      sample: 4096
    sector_bytes:
      description: Sector size.
      type: int
      sample: 512
    inode_bytes:
      description: Inode size.
      type: int
      sample: 512
    agcount:
      description: Number of allocation groups.
      type: int
      sample: 8
    agblocks:
      description: Blocks in one allocation group.
      type: int
      sample: 65536
    ag_bytes:
      description: Size of one allocation group; the last one may be smaller.
      type: int
      sample: 268435456
    data_blocks:
      description: Blocks of the data section.
      type: int
      sample: 524288
    log_blocks:
      description: Blocks of the log.
      type: int
      sample: 16384
    log_bytes:
      description: Size of the log.
      type: int
      sample: 67108864
    log_external:
      description: Whether the log is on a device of its own.
      type: bool
      sample: false
    log_device:
      description: The device of an external log while it is mounted; else null.
      type: str
      sample: null
    sunit_bytes:
      description: Stripe unit (su), 0 when it has none.
      type: int
      sample: 262144
    swidth_bytes:
      description: Full stripe (su times sw), 0 when it has none.
      type: int
      sample: 786432
    sw:
      description: Stripe width in units, 0 when it has none.
      type: int
      sample: 3
    log_sunit_bytes:
      description: Stripe unit of the log, 0 when it has none.
      type: int
      sample: 32768
    features:
      description: Features that are on.
      type: list
      elements: str
      sample: [bigtime, crc, finobt, reflink]
    mounted_at:
      description: Where it is mounted.
      type: list
      elements: str
      sample: []
    mounted_elsewhere:
      description: Whether it is mounted in another mount namespace.
      type: bool
      sample: false
commands:
  description: The commands that were run, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: ["mkfs.xfs -q -K -d su=262144,sw=3 -L data /dev/md/data"]
assumed_parent:
  description: Whether the device was only taken as planned, in check mode.
  returned: success
  type: bool
  sample: false
failed_step:
  description: What was being done when it failed.
  returned: when a command failed
  type: str
  sample: make an XFS on /dev/md/data with su 256KiB, sw 3
completed_steps:
  description: What had been done before.
  returned: when a command failed
  type: list
  elements: str
  sample: []
"""

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import (
    CONSENT_ARGUMENT_SPEC,
    run_module,
)
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.model import FEATURES
from ansible_collections.plumbline.storage.plugins.module_utils._xfs.operation import xfs_operation

ARGUMENT_SPEC = {
    "device": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "geometry": {"type": "str", "choices": ["auto", "none"]},
    "su": {"type": "str"},
    "sw": {"type": "int"},
    "sunit": {"type": "str"},
    "swidth": {"type": "str"},
    "log_su": {"type": "str"},
    "log_size": {"type": "str"},
    "log_device": {"type": "path"},
    "sector_size": {"type": "str"},
    "block_size": {"type": "str"},
    "inode_size": {"type": "str"},
    "agcount": {"type": "int"},
    "agsize": {"type": "str"},
    "grow": {"type": "bool", "default": False},
    "label": {"type": "str"},
    "uuid": {"type": "str"},
    "change_uuid": {"type": "bool", "default": False},
    **{name: {"type": "bool"} for name in FEATURES},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> None:
    """Runs the module."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run_module(module, xfs_operation)


if __name__ == "__main__":
    main()
