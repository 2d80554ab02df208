#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lvm_lv
short_description: Make a logical volume, linear, striped or redundant, and read its geometry back
version_added: "0.1.0"
description:
  - Makes a logical volume (LV), extends it, sets its readahead, tags and activation, or removes it.
  - Sizes are counted as LVM counts them, in extents, rounded up to a multiple of the stripes, and compared in extents. A second run with
    the same options is therefore always unchanged.
  - An option that is not given is not managed on an LV that exists. Type, stripes, stripe size, mirrors and region size cannot change
    in place; where they differ the task is refused with both values shown. An LV is never shrunk.
  - The full stripe that a file system should line up with is returned, derived from the LV's own stripes and those of the arrays
    below its physical volumes (PVs), and a warning is given where the LV does not begin on it.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  vg:
    description: Name of the volume group (VG).
    type: str
    required: true
  name:
    description: Name of the LV.
    type: str
    required: true
  state:
    description:
      - V(present) makes the LV or brings it up to what is asked.
      - V(absent) wipes the signatures on the LV, so that its file system does not come back with the next LV in its place, and removes
        it. An LV with content needs the disks below it in O(expendable_disks); one in use is refused.
    type: str
    choices: [present, absent]
    default: present
  type:
    description:
      - Type of the LV, in LVM's words. At creation the default is V(striped) when O(stripes) is more than 1, else V(linear).
      - V(mirror) is the old mirror with a log; V(raid1) is what LVM makes of mirrors today.
    type: str
    choices: [linear, striped, mirror, raid0, raid1, raid4, raid5, raid6, raid10]
  size:
    description:
      - Size with a unit, such as V(10GiB), rounded up to whole extents and stripes. A larger size than the LV has extends it; the file
        system on it is not touched.
      - O(size) or O(extents) is needed at creation.
    type: str
  extents:
    description:
      - Size as a number of extents, or as a percentage, V(100%FREE), V(50%VG) or V(30%PVS). Percentages are of physical extents, which
        mirror legs, parity and metadata share.
      - A percentage tells how much to take at creation. An LV that exists meets it.
    type: str
  stripes:
    description:
      - Number of stripes that carry data, without parity, as C(lvcreate -i) counts them. By default, at creation of a type with stripes,
        as many as the PVs allow.
    type: int
  stripesize:
    description:
      - Bytes written to one stripe before the next, a power of two from 4 KiB up to the extent size. The default at creation is V(64KiB).
    type: str
  mirrors:
    description:
      - Copies besides the first, as C(lvcreate -m) counts them. The default at creation of a type with mirrors is 1.
    type: int
  regionsize:
    description:
      - Bytes that one bit of the log of a redundant LV stands for, a power of two. By default LVM chooses.
    type: str
  readahead:
    description:
      - Readahead of the LV. V(auto) lets LVM derive it, V(none) is no readahead, else a size such as V(1536KiB) or V(256s). At creation the
        default is V(auto).
      - A linear LV over an array takes the array's readahead by V(auto). A small one here makes buffered reads slow however
        fast the array is.
    type: str
  devices:
    description:
      - Devices of the PVs that a new or growing LV may use, by any of their names. By default all of the VG.
    type: list
    elements: path
  tags:
    description: The tags of the LV, all of them; others are removed. Without this option tags are not managed.
    type: list
    elements: str
  active:
    description: Whether the LV is active, that is, has a device. A new LV is, unless this is V(false).
    type: bool
author:
  - plumbline.storage contributors (@plumbline)
seealso:
  - module: plumbline.storage.lvm_vg
  - module: plumbline.storage.xfs_filesystem
"""

EXAMPLES = r"""
- name: Make a linear volume of all that is free
  plumbline.storage.lvm_lv:
    vg: data
    name: home
    extents: 100%FREE

- name: Make a striped volume over four disks
  plumbline.storage.lvm_lv:
    vg: fast
    name: scratch
    type: striped
    stripes: 4
    stripesize: 64KiB
    size: 8GiB

- name: Make a mirrored volume on two certain disks
  plumbline.storage.lvm_lv:
    vg: data
    name: safe
    type: raid1
    mirrors: 1
    size: 2GiB
    devices: [/dev/sdb, /dev/sdc]

- name: Give a volume the readahead of the array below it
  plumbline.storage.lvm_lv:
    vg: data
    name: home
    readahead: auto

- name: Remove a volume and what is on it
  plumbline.storage.lvm_lv:
    vg: data
    name: home
    state: absent
    expendable_disks: ["WD-WCASJ0000001", "WD-WCASJ0000002"]
"""

RETURN = r"""
lv:
  description: The logical volume as read back, in check mode as it would be. None when there is none.
  returned: success
  type: dict
  contains:
    path:
      description: Its device.
      type: str
      sample: /dev/data/home
    type:
      description: Its type as LVM names it.
      type: str
    size_bytes:
      description: Its size in bytes; in check mode in a planned group null.
      type: int
    extents:
      description: Its size in extents.
      type: int
    stripes:
      description: Stripes that carry data.
      type: int
    stripe_size_bytes:
      description: Bytes on one stripe before the next; null without stripes.
      type: int
    mirrors:
      description: Copies besides the first.
      type: int
    readahead:
      description: V(auto), or bytes.
      type: raw
    kernel_readahead_bytes:
      description: The readahead in effect, in bytes.
      type: int
    segments:
      description: The runs of extents of which the LV consists, with the devices and first extents on which they lie.
      type: list
      elements: dict
    stripe_unit_bytes:
      description: What a file system should take as stripe unit (su), from this LV and the arrays below.
      type: int
    full_stripe_bytes:
      description: The full stripe, stripe unit times width; null where there is none.
      type: int
    stripe_offset_bytes:
      description: How far behind a full stripe the LV begins; 0 is aligned.
      type: int
commands:
  description: The commands that ran, in check mode those that would run.
  returned: success
  type: list
  elements: str
assumed_parent:
  description: Whether, in check mode, the VG was taken as made by an earlier task.
  returned: success
  type: bool
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation_lv import lv_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "vg": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "type": {
        "type": "str",
        "choices": ["linear", "striped", "mirror", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10"],
    },
    "size": {"type": "str"},
    "extents": {"type": "str"},
    "stripes": {"type": "int"},
    "stripesize": {"type": "str"},
    "mirrors": {"type": "int"},
    "regionsize": {"type": "str"},
    "readahead": {"type": "str"},
    "devices": {"type": "list", "elements": "path"},
    "tags": {"type": "list", "elements": "str"},
    "active": {"type": "bool"},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> t.NoReturn:
    run_module(AnsibleModule(ARGUMENT_SPEC, supports_check_mode=True), lv_operation)


if __name__ == "__main__":
    main()
