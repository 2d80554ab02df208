#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: md_array
short_description: Make, check or remove a Linux software RAID array (md)
version_added: "0.1.0"
description:
  - Makes an md array with C(mdadm), reads back what it became, or removes it together with the superblocks of its members.
  - An array is found by O(uuid) where one is given, else by O(name), else by its members. It is never found by a kernel name such as
    C(/dev/md127), which changes between boots. Members are compared by device number, so links may be given.
  - An array spreads data in pieces of the O(chunk), one per member in turn. One round over the members that carry data is a
    full stripe, three chunks for RAID5 on four disks. What is put on the array is fast when it writes whole full
    stripes, because parity can then be computed without reading. RV(array.full_stripe_bytes) says how large they are.
  - An option that is not given is not managed on an array that exists, neither compared nor changed. Level, chunk, layout,
    metadata, member devices, size and data offset cannot be changed in place here; where they differ from what is asked the module refuses
    and shows both values. Bitmap and readahead are changed in place. Nothing is made anew by itself.
  - An array that is stopped, and whose members all carry its superblocks, is assembled.
  - Members that are not blank are refused unless their disks are listed in O(expendable_disks). Nothing is ever unmounted.
  - When C(mdadm --create) fails halfway, the superblocks that it wrote are wiped again and the half-made array is stopped.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  name:
    description:
      - Name of the array. It becomes the device C(/dev/md/NAME) and stands in the superblocks, so that it is the same after a reboot.
      - Together with O(homehost) it has at most 30 letters, digits, dots, hyphens and underscores. Kernel names such as C(md0) are refused.
    type: str
    required: true
  state:
    description:
      - V(present) makes the array, or assembles it when only its superblocks are there.
      - V(absent) wipes signatures inside the array, stops it and wipes the superblocks of all its members. It works for a stopped array
        and for one whose members are assembled in pieces, too.
    type: str
    choices: [present, absent]
    default: present
  level:
    description:
      - RAID level. V(linear), or one of 0, 1, 4, 5, 6 and 10, also written V(raid5). Needed to make an array.
      - Before anything is written the module asks whether the kernel has this level. V(linear) is missing in some newer kernels.
      - At least two members for 0, 1 and 10, three for 4 and 5, four for 6.
    type: str
  devices:
    description:
      - The members, in the order of their places in the array. Needed to make an array.
      - All must have the same logical sector size. Of members of unequal size only as much as the smallest has is used, with
        a warning, except for 0 and linear.
      - With O(state=absent) a safeguard, the array may have no member that is not listed. Leave it out to remove whatever the array has.
    type: list
    elements: path
  spares:
    description: Further devices that step in for a member that fails. Only for levels with redundancy.
    type: list
    elements: path
  chunk:
    description:
      - How much lies on one member before the next one follows. The size needs a unit, such as V(256KiB).
      - For 4, 5, 6 and 10 a power of two of at least one memory page, for 0 any multiple of 4 KiB. Level 1 and linear have none.
      - At creation the default is 512 KiB.
    type: str
  layout:
    description:
      - For 5 and 6 the rotation of parity, such as V(left-symmetric). For 10 the kind and number of copies.
      - V(n2) puts the two copies side by side, V(f2) in the far half of the disks, and V(o2) one chunk further.
      - At creation the default is V(left-symmetric) for 5 and 6, and V(n2) for 10.
    type: str
  metadata:
    description:
      - Version of the superblock, which is also its place. V(1.2) is 4 KiB behind the start of the member, V(1.1) at its start,
        V(1.0) and V(0.90) at its end. V(0.90) keeps no name, so that such an array is found by O(uuid) or its members only.
      - At creation the default is V(1.2).
    type: str
    choices: ["0.90", "1.0", "1.1", "1.2"]
  bitmap:
    description:
      - A write-intent bitmap notes which regions are being written, so that after a crash only these are resynchronised. Each write
        to a clean region then costs one more write, which benchmarks show.
      - Changed in place on an array that exists. Levels 0 and linear have none.
      - At creation the default is V(internal) on levels with redundancy.
    type: str
    choices: [internal, none]
  size:
    description:
      - What each member contributes, with a unit, such as V(10GiB). A multiple of the chunk.
      - At creation the default is all that the smallest member has.
    type: str
  data_offset:
    description:
      - Where the data begins on each member, with a unit, a multiple of 4 KiB. Not for metadata 0.90 and 1.0.
      - At creation mdadm leaves about a thousandth of the member free by default, at most 128 MiB, in whole MiB.
    type: str
  homehost:
    description:
      - Name of the host that the array belongs to, stored before the name. An array of another host gets an ugly name at boot, and
        the initial ramdisk does not know the name of its own host. V(any) belongs everywhere.
      - At creation the default is V(any).
    type: str
  uuid:
    description: UUID of the array, 32 hexadecimal digits grouped by colons or hyphens. At creation mdadm chooses one by default.
    type: str
  assume_clean:
    description:
      - Make the array without computing parity or copies first. Right for disks that are all zero and for benchmarks; on others
        parity is wrong until each stripe has been written in full.
      - Only looked at when the array is made.
    type: bool
    default: false
  readahead:
    description:
      - How much the kernel reads ahead for buffered reads of the array, with a unit, such as V(3MiB) or V(256s).
      - The kernel sets two full stripes when the array starts. This setting is lost when the array is stopped.
    type: str
notes:
  - Sizes need a unit; V(KiB), V(MiB), V(GiB) and V(k), V(m), V(g) are binary, V(kB), V(MB), V(GB) decimal, V(s) is 512 bytes.
requirements:
  - mdadm 4.2 or newer on the target
seealso:
  - module: plumbline.storage.lvm_pv
  - module: plumbline.storage.storage_stack
author:
  - plumbline.storage contributors (@plumbline)
"""

EXAMPLES = r"""
- name: RAID5 of four blank disks
  plumbline.storage.md_array:
    name: data
    level: 5
    devices:
      - /dev/disk/by-id/ata-WDC_WD10EACS-00D6B1_WD-WCASJ0000001
      - /dev/disk/by-id/ata-WDC_WD10EACS-00D6B1_WD-WCASJ0000002
      - /dev/disk/by-id/ata-WDC_WD10EACS-00D6B1_WD-WCASJ0000003
      - /dev/disk/by-id/ata-WDC_WD10EACS-00D6B1_WD-WCASJ0000004
    chunk: 256KiB

- name: A striped mirror on disks whose old content may be lost, without a bitmap and without the first resynchronisation
  plumbline.storage.md_array:
    name: scratch
    level: 10
    layout: f2
    devices: [/dev/sdb, /dev/sdc, /dev/sdd, /dev/sde]
    chunk: 128KiB
    bitmap: none
    assume_clean: true
    expendable_disks: ["WD-WCASJ0000001", "WD-WCASJ0000002", "WD-WCASJ0000003", "WD-WCASJ0000004"]

- name: Read the geometry of an array and fail if its chunk is not as documented
  plumbline.storage.md_array:
    name: data
    chunk: 256KiB
  check_mode: true
  register: data_array

- name: Remove it, and its superblocks
  plumbline.storage.md_array:
    name: data
    state: absent
    expendable_disks: "{{ my_expendable_disks }}"
"""

RETURN = r"""
array:
  description: The array as read back, or in check mode as planned. Null when it is absent.
  returned: success
  type: dict
  contains:
    path:
      description: Device to use, C(/dev/md/NAME).
      type: str
      returned: success
    kernel_name:
      description: Present name in the kernel, such as C(md127). Null when only planned.
      type: str
      returned: success
    uuid:
      description: UUID in mdadm's form. Null when only planned and not given.
      type: str
      returned: success
    level:
      description: The level in the kernel's word, such as C(raid5).
      type: str
      returned: success
    raid_devices:
      description: Number of members without spares.
      type: int
      returned: success
    chunk_bytes:
      description: The chunk. Null for levels without chunks.
      type: int
      returned: success
    layout:
      description: The layout in mdadm's word.
      type: str
      returned: success
    metadata:
      description: Version of the superblock.
      type: str
      returned: success
    bitmap:
      description: C(internal) or C(none).
      type: str
      returned: success
    component_size_bytes:
      description: What each member contributes. Null for level 0 and linear.
      type: int
      returned: success
    array_size_bytes:
      description: Size of the array. Null when it is only planned on members of unknown size.
      type: int
      returned: success
    data_offset_bytes:
      description: Where the data begins on the members.
      type: int
      returned: success
    readahead_bytes:
      description: Readahead of the array.
      type: int
      returned: success
    full_stripe_bytes:
      description: Size of a full stripe, seen through arrays below this one too. Null for levels without stripes.
      type: int
      returned: success
    stripe_unit_bytes:
      description: One piece of a full stripe (su).
      type: int
      returned: success
    stripe_width_units:
      description: Number of pieces of a full stripe (sw).
      type: int
      returned: success
    degraded:
      description: How many members are missing.
      type: int
      returned: success
    sync_action:
      description: What the array is doing, C(idle) or C(resync) for instance.
      type: str
      returned: success
    members:
      description: Devices of the array with path, place (slot), and state.
      type: list
      elements: dict
      returned: success
commands:
  description: The commands that were run, or in check mode would be run.
  returned: success
  type: list
  elements: str
assumed_parent:
  description: True when in check mode a member does not exist yet and is taken as planned by an earlier task.
  returned: success
  type: bool
cleanup:
  description: What was done to take back the leavings of a failed create.
  returned: when a command failed
  type: list
  elements: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._md.operation import md_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "level": {"type": "str"},
    "devices": {"type": "list", "elements": "path"},
    "spares": {"type": "list", "elements": "path"},
    "chunk": {"type": "str"},
    "layout": {"type": "str"},
    "metadata": {"type": "str", "choices": ["0.90", "1.0", "1.1", "1.2"]},
    "bitmap": {"type": "str", "choices": ["internal", "none"]},
    "size": {"type": "str"},
    "data_offset": {"type": "str"},
    "homehost": {"type": "str"},
    "uuid": {"type": "str"},
    "assume_clean": {"type": "bool", "default": False},
    "readahead": {"type": "str"},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run_module(module, md_operation)


if __name__ == "__main__":
    main()
