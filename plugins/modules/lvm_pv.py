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
      - V(absent) removes the PV, and is refused while it belongs to a volume group. A device that is no PV, or an array that does
        not exist, is left alone.
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
  sample: {"dataalignment_bytes": 786432, "dataalignmentoffset_bytes": 0, "metadatasize_bytes": null}
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
