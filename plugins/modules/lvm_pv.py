#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lvm_pv
short_description: Make an LVM physical volume whose data begins on a full stripe of what lies below
version_added: "0.1.0"
description:
  - Makes a block device an LVM physical volume (PV), checks one that is there, or removes it.
  - What matters for speed is where the data of the PV begins (C(pe_start)). On an array of four disks in RAID5 with a chunk
    of 256 KiB a full stripe has 768 KiB; when the data begins at 1 MiB, every full stripe that a file system writes
    touches two stripes of the array, and the array has to read before it can write. By default this module puts
    the data on a full stripe.
  - An option that is not given is not managed on a PV that exists, neither compared nor changed. A PV that differs from what
    is asked for is refused with both values shown; nothing is made anew by itself.
  - Nothing is forced over old content. Whatever is found on the device is named and refused unless the disks below are listed
    in O(expendable_disks); then old signatures are wiped before C(pvcreate).
  - The first areas of a PV follow each other - the label in one of the first four sectors, the metadata area from 4 KiB on, a bootloader
    area if one was asked for, then the data. LVM rounds the end of each area up to the alignment, so that sizes of areas are
    floors, and what an area really has is returned.
  - A PV whose data begins off the full stripe of what lies below is told in a warning with both values, and is refused with
    O(dataalignment=auto).
  - Where LVM keeps a list of its devices (C(use_devicesfile) in C(lvm.conf)), LVM itself adds what it makes. This module takes care
    that no such list is begun which leaves out PVs that are seen now.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  device:
    description:
      - The block device, by any of its names, such as V(/dev/sdb), V(/dev/md/data) or a link under V(/dev/disk).
      - Devices are compared by number, never by name.
    type: path
    required: true
  state:
    description:
      - V(present) makes the device a PV.
      - V(absent) removes the PV, and is refused while it belongs to a volume group, unless O(move_data) is set. A device that is
        no PV, or an array that does not exist, is left alone.
    type: str
    choices: [present, absent]
    default: present
  dataalignment:
    description:
      - The data of the PV begins at a multiple of this size. V(auto) takes the full stripe of what lies below where 1 MiB is
        no multiple of it, else 1 MiB.
      - At creation the default is V(auto). On a PV that exists and without this option the start of its data is not managed.
      - With V(auto), a PV that exists is right when its data begins on a full stripe of what lies below.
      - A size needs a unit, such as V(768KiB), and is a multiple of 512 bytes.
    type: str
  dataalignmentoffset:
    description:
      - Added to the aligned start of the data, for devices whose first byte does not lie on a stripe.
      - At creation the default is 0, or with O(dataalignment=auto) what a device that begins off the stripe needs.
    type: str
  metadatasize:
    description:
      - Least size of LVM's metadata area before the data. LVM makes it larger so that the data is aligned, so this is a floor.
      - A PV that exists must have a metadata area of at least this size; given with a size in O(dataalignment), its data must also
        begin exactly where C(pvcreate) would put it now.
      - At creation LVM's default is 1020 KiB, which ends at 1 MiB.
    type: str
  uuid:
    description:
      - UUID of the PV, in the form that LVM shows.
      - At creation LVM chooses one by default.
    type: str
  pvmetadatacopies:
    description:
      - How many metadata areas the PV has, V(0), V(1) or V(2). A second one lies at the end of the device and takes room there.
      - A volume group needs at least one PV that has one.
      - V(1) at creation. It cannot change on a PV that exists.
    type: int
    choices: [0, 1, 2]
  bootloaderareasize:
    description:
      - Least size of an area before the data that LVM leaves to a bootloader. It ends where the data begins, and so is often larger.
      - None at creation. It cannot change on a PV that exists.
    type: str
  labelsector:
    description:
      - In which of the first four sectors of 512 bytes the label of the PV lies.
      - V(1) at creation. It cannot change on a PV that exists; where given, the label is looked for on the device itself.
    type: int
    choices: [0, 1, 2, 3]
  allocatable:
    description:
      - Whether logical volumes may take extents of this PV. What lies there already stays.
      - LVM keeps this in the metadata of the volume group, so it is refused for a PV that is in none. In check mode the
        group is taken as made by an earlier task.
    type: bool
  tags:
    description:
      - The tags of the PV, all of them; others are removed. Without this option tags are not managed.
      - As O(allocatable), tags need a PV that is in a volume group.
    type: list
    elements: str
  resize:
    description:
      - Make the PV as large as its device (C(pvresize)), after an array or a partition grew. Nothing changes, and nothing is
        said to have changed, where not a single extent is won.
      - A PV whose device became smaller is told in a warning. With this option it is made smaller where no logical volume uses
        what is lost, else refused with both values.
    type: bool
    default: false
  move_data:
    description:
      - With O(state=absent), move the extents that logical volumes use to the other PVs of the group (C(pvmove)), take the PV
        out of the group, and remove it. The volumes stay in use meanwhile; the run lasts as long as the copying takes.
      - Whether the others have room is looked at before anything changes. Parts of a striped or redundant logical volume
        are kept on different PVs, so that free space on PVs with other parts of it does not count.
      - A move that was cut off is finished by the next run.
    type: bool
    default: false
author:
  - plumbline.storage contributors (@plumbline)
seealso:
  - module: plumbline.storage.lvm_vg
  - module: plumbline.storage.lvm_lv
"""

EXAMPLES = r"""
- name: Make an array a physical volume, its data on a full stripe
  plumbline.storage.lvm_pv:
    device: /dev/md/data

- name: Make a disk with old content a physical volume
  plumbline.storage.lvm_pv:
    device: /dev/sdb
    expendable_disks: ["WD-WCASJ0000001"]

- name: Put the data right behind a small metadata area, at 192 KiB
  plumbline.storage.lvm_pv:
    device: /dev/sdb
    dataalignment: 64KiB
    metadatasize: 188KiB

- name: Check that the data of an existing physical volume is aligned, and change nothing
  plumbline.storage.lvm_pv:
    device: /dev/md/data
    dataalignment: auto
  check_mode: true

- name: Two copies of the metadata, and room for a bootloader
  plumbline.storage.lvm_pv:
    device: /dev/sdb
    pvmetadatacopies: 2
    bootloaderareasize: 256KiB

- name: Use what an array won when disks were added to it
  plumbline.storage.lvm_pv:
    device: /dev/md/data
    resize: true

- name: New volumes do not go to this disk any more
  plumbline.storage.lvm_pv:
    device: /dev/sdb
    allocatable: false
    tags: [retiring]

- name: Empty the disk into the rest of its group, and take it out
  plumbline.storage.lvm_pv:
    device: /dev/sdb
    state: absent
    move_data: true

- name: Remove the physical volume
  plumbline.storage.lvm_pv:
    device: /dev/md/data
    state: absent
"""

RETURN = r"""
pv:
  description: The physical volume as read back, in check mode as it would be. None when there is none.
  returned: success
  type: dict
  contains:
    device:
      description: The kernel's name of the device.
      type: str
      sample: /dev/md127
    name:
      description: LVM's name of the device.
      type: str
    uuid:
      description: UUID of the PV.
      type: str
    vg:
      description: The volume group it belongs to, or none.
      type: str
    pe_start_bytes:
      description: Where the data begins, in bytes from the start of the device.
      type: int
      sample: 1572864
    metadata_area_bytes:
      description: Size of the metadata area in bytes.
      type: int
    metadata_copies:
      description: Number of metadata areas.
      type: int
    bootloader_start_bytes:
      description: Where the bootloader area begins; 0 where there is none.
      type: int
    bootloader_bytes:
      description: Size of the bootloader area.
      type: int
    allocatable:
      description: Whether logical volumes may take extents of it.
      type: bool
    missing:
      description: Whether LVM counts it as missing in its group.
      type: bool
    tags:
      description: Its tags.
      type: list
      elements: str
    size_bytes:
      description: Bytes that extents can use; in check mode on a planned array null.
      type: int
    device_size_bytes:
      description: Size of the device in bytes.
      type: int
    extent_count:
      description: Number of extents, once in a volume group.
      type: int
    allocated_extents:
      description: Extents that logical volumes use.
      type: int
requested:
  description: What C(pvcreate) is asked for when it makes this PV, with every default in place; bytes.
  returned: O(state=present)
  type: dict
  sample: {"dataalignment_bytes": 786432, "dataalignmentoffset_bytes": 0, "metadatasize_bytes": null, "pvmetadatacopies": 1}
commands:
  description: The commands that ran, in check mode those that would run.
  returned: success
  type: list
  elements: str
assumed_parent:
  description: Whether, in check mode, the device was taken as made by an earlier task.
  returned: success
  type: bool
"""

import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation_pv import pv_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "device": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "dataalignment": {"type": "str"},
    "dataalignmentoffset": {"type": "str"},
    "metadatasize": {"type": "str"},
    "uuid": {"type": "str"},
    "pvmetadatacopies": {"type": "int", "choices": [0, 1, 2]},
    "bootloaderareasize": {"type": "str"},
    "labelsector": {"type": "int", "choices": [0, 1, 2, 3]},
    "allocatable": {"type": "bool"},
    "tags": {"type": "list", "elements": "str"},
    "resize": {"type": "bool", "default": False},
    "move_data": {"type": "bool", "default": False},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> t.NoReturn:
    run_module(AnsibleModule(ARGUMENT_SPEC, supports_check_mode=True), pv_operation)


if __name__ == "__main__":
    main()
