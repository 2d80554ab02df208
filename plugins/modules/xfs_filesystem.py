#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: xfs_filesystem
short_description: Makes an XFS whose stripe geometry fits the layers below, and reads it back
version_added: 0.1.0
author:
  - plumbline.storage contributors (@plumbline)
description:
  - Makes an XFS on a block device, or checks the one that is there, or removes it.
  - XFS lays out its allocation groups, its log and large files on the stripe of what lies below, when it is told of it.
    C(su) is what goes on one disk before the next one is used (the chunk of md, the stripesize of LVM), C(sw) is how many such
    units one full stripe has (the data disks, not all disks, of a parity array). A file system that was told the
    wrong stripe works, and is slow in writing for its whole life.
  - With O(geometry=auto) both are derived through every layer down to the disks, from the arrays and volumes themselves. The
    hints of the kernel, which C(mkfs.xfs) would use, know the topmost layer only, and are nonsense on some disks.
  - The geometry is read back from the superblock on the device, whether the file system is mounted or not. An existing
    file system that differs in what cannot change is refused with both values; it is never made again.
  - Nothing that holds anything is overwritten unless its disks are named in O(expendable_disks). What is mounted or otherwise
    in use is refused also then.
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
        holds something else is left alone.
    type: str
    choices: [present, absent]
    default: present
  geometry:
    description:
      - V(auto) derives su and sw from the layers below. V(none) makes the file system without stripe geometry.
      - At creation V(auto) applies when nothing is given. An existing file system is compared when it is given.
      - On a device below 1 GiB, V(auto) gives none, as C(mkfs.xfs) itself does, with a warning.
      - A stripe unit that is no multiple of the block size cannot be used, and gives none, with a warning.
    type: str
    choices: [auto, none]
  su:
    description:
      - Stripe unit, as a size with a unit. Given together with O(sw), and not with O(geometry).
      - When it differs from what lies below, it is used with a warning.
    type: str
  sw:
    description:
      - Stripe width as a number of stripe units.
    type: int
  sunit:
    description:
      - The stripe unit as in O(su), for those who think in C(sunit) and C(swidth). C(mkfs.xfs) counts these in 512-byte blocks, which
        are written V(512s) here; C(xfs_info) prints both in blocks of the file system.
    type: str
  swidth:
    description:
      - The full stripe, a multiple of O(sunit), as a size with a unit.
    type: str
  log_su:
    description:
      - Stripe unit of the log. When left out, C(mkfs.xfs) takes the data's, or 32 KiB where that is more than 256 KiB.
    type: str
  sector_size:
    description:
      - Sector size of the file system. When left out, the physical sector of the device.
    type: str
  block_size:
    description:
      - Block size. When left out, 4 KiB. A file system with blocks larger than the kernel's page mounts on new kernels only.
    type: str
  agcount:
    description:
      - Number of allocation groups. When left out, C(mkfs.xfs) decides by size and stripe.
    type: int
  label:
    description:
      - Label of up to 12 letters, digits or any of C(_.:+@-). It is changed in place when it differs; empty takes it away.
    type: str
  uuid:
    description:
      - UUID of the file system. When left out, C(mkfs.xfs) chooses one.
      - When it is given and the device holds an XFS with another, that is another file system, and refused.
    type: str
  reflink:
    description: Copies that share blocks. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  rmapbt:
    description: An index of who owns each block. When left out, C(mkfs.xfs) decides. Cannot change in place.
    type: bool
  bigtime:
    description: Times after 2038. When left out, C(mkfs.xfs) decides. Cannot change in place here.
    type: bool
notes:
  - Needs C(mkfs.xfs) (package xfsprogs) and C(wipefs) (util-linux) on the target.
  - C(mkfs.xfs) makes no file system below 300 MiB.
  - Discards are never sent, so that a measurement after it does not begin on a freshly trimmed device by accident.
  - Sizes need a unit; V(KiB), V(MiB), V(GiB) and V(k), V(m), V(g) are binary, V(kB), V(MB), V(GB) decimal, V(s) is 512 bytes.
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
    data_blocks:
      description: Blocks of the data section.
      type: int
      sample: 524288
    log_blocks:
      description: Blocks of the log.
      type: int
      sample: 16384
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

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import (
    CONSENT_ARGUMENT_SPEC,
    run_module,
)
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
    "sector_size": {"type": "str"},
    "block_size": {"type": "str"},
    "agcount": {"type": "int"},
    "label": {"type": "str"},
    "uuid": {"type": "str"},
    "reflink": {"type": "bool"},
    "rmapbt": {"type": "bool"},
    "bigtime": {"type": "bool"},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> None:
    """Runs the module."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run_module(module, xfs_operation)


if __name__ == "__main__":
    main()
