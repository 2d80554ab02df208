#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: md_array
short_description: Make, change, assemble, stop or remove a Linux software RAID array (md)
version_added: "0.1.0"
description:
  - Makes an md array with C(mdadm), reads back what it became, changes what can be changed while it is used, and stops it or removes
    it together with the superblocks of its members.
  - An array is found by O(uuid) where one is given, else by O(name), else by its members. It is never found by a kernel name such as
    C(/dev/md127), which changes between boots. Members are compared by device number, so links may be given.
  - An array spreads data in pieces of the O(chunk), one per member in turn. One round over the members that carry data is a
    full stripe, three chunks for RAID5 on four disks. What is put on the array is fast when it writes whole full
    stripes, because parity can then be computed without reading. RV(array.full_stripe_bytes) says how large they are.
  - An option that is not given is not managed on an array that exists, neither compared nor changed. Name, homehost, UUID, metadata,
    layout, data offset and journal cannot be changed in place here; where they differ from what is asked the module refuses and
    shows both values. Bitmap, consistency policy, write-mostly marks, readahead and the configuration line are changed in place.
    Level, number of devices, chunk and size are changed only with O(reshape=true). Nothing is made anew by itself.
  - O(devices) and O(spares) are compared with what the array has. A vacant place is filled by a listed device that is not a member
    yet, and a listed member that failed is taken out and added again. A device that is not listed leaves the array only with
    O(remove_extra_members=true). Every other difference is refused.
  - An array that is stopped, and whose members all carry its superblocks, is assembled.
  - Devices that are not blank are refused unless their disks are listed in O(expendable_disks). Nothing is ever unmounted.
  - When C(mdadm --create) fails halfway, the superblocks that it wrote are wiped again and the half-made array is stopped. What a run that
    was killed left half made or half removed is finished by the next one.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  name:
    description:
      - Name of the array. It becomes the device C(/dev/md/NAME) and stands in the superblocks, so that it is the same after a reboot.
      - Together with O(homehost) it has at most 30 letters, digits, dots, hyphens and underscores. Kernel names such as C(md0) are refused.
      - The name of an array that exists is not changed. C(mdadm --assemble --update=name) does that.
    type: str
    required: true
  state:
    description:
      - V(present) makes the array, assembles it when only its superblocks are there, and changes it.
      - V(assembled) starts an array by the superblocks of O(devices), or of all disks when none are listed. It never makes or changes one.
      - V(stopped) stops the array. Superblocks and content stay, so that no disk needs to be listed as expendable. An array in use
        is refused.
      - V(absent) wipes signatures inside the array, stops it and wipes the superblocks of all its members. It works for a stopped array
        and for one whose members are assembled in pieces, too.
    type: str
    choices: [present, assembled, stopped, absent]
    default: present
  level:
    description:
      - RAID level. V(linear), or one of 0, 1, 4, 5, 6 and 10, also written V(raid5). Needed to make an array.
      - Before anything is written the module asks whether the kernel has this level. V(linear) is missing in some newer kernels.
      - At least two members for 0, 1 and 10, three for 4 and 5, four for 6.
      - With O(reshape=true) an array that exists can go from 1 to 5 (of two devices), from 0 to 4 or 5 (with one more device) or
        to 10 (with as many more as it has), from 4 to 5, from 5 to 6 (with one more device), and from 10 to 0 (layout n2, and without
        O(devices); one device of each pair leaves it).
    type: str
  devices:
    description:
      - The members, in the order of their places in the array. Needed to make an array.
      - All must have the same logical sector size. Of members of unequal size only as much as the smallest has is used, with
        a warning, except for 0 and linear.
      - On an array that exists a listed device that is not a member fills a vacant place. Without one it replaces a member that is
        no longer listed (O(remove_extra_members)), or makes the array larger (O(reshape)).
      - A former member that comes back is added again without O(expendable_disks), since it holds an old copy of the array's own
        data. With a bitmap only what changed meanwhile is copied.
      - With O(state=absent) a safeguard, the array may have no member that is not listed. Leave it out to remove whatever the array has.
    type: list
    elements: path
  spares:
    description:
      - Further devices that step in for a member that fails. Only for levels with redundancy.
      - On an array that exists a listed spare is added. When this option is given, also as an empty list, spares that are not listed
        are refused, or removed with O(remove_extra_members=true). When it is not given, spares are not managed.
    type: list
    elements: path
  journal:
    description:
      - Device that becomes the write journal of a RAID4, 5 or 6. Data and parity go there first, so that a crash never leaves a stripe
        whose parity is wrong (the write hole). It should be fast and is lost with the array.
      - Chosen when the array is made.
    type: path
  write_mostly:
    description:
      - Members of a RAID1 that are only read when no other has the data, such as a slow or distant disk. On an array that exists the
        marks are set and taken away so that exactly these members have them.
      - When an array is made, marked members take the last places.
    type: list
    elements: path
  remove_extra_members:
    description:
      - Let devices leave the array that are not listed. A member is replaced by a listed device that is not a member yet, by copying
        (C(mdadm --replace --with)) while both are in the array, so that redundancy is never less. A faulty device, and a spare
        where O(spares) is given, is removed. Superblocks of devices that left are wiped.
      - The copying takes hours on large disks. The old device is removed when it has ended, by this run with
        O(wait_for_sync=true), else by a later one.
      - Needs metadata 1.0 or newer.
    type: bool
    default: false
  reshape:
    description:
      - Let level, number of devices, chunk and size (O(size)) of an array that exists be changed to what is asked. The array can be used meanwhile.
      - The array must be whole and idle. Several changes are made one after the other; with O(wait_for_sync=true) by one run.
      - An array is never made smaller.
      - Without a O(backup_file) mdadm moves the data on every member (RV(array.data_offset_bytes)), after which O(size=max) is less than before.
    type: bool
    default: false
  backup_file:
    description:
      - File on another device in which mdadm keeps what a reshape is about to overwrite. Needed only where the members have no room
        for moving the data.
    type: path
  run_degraded:
    description: Start an array also when members are missing.
    type: bool
    default: false
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
      - Changed in place on an array that exists. Levels 0 and linear have none, and it cannot be had together with O(consistency_policy).
      - At creation the default is V(internal) on levels with redundancy, V(none) where a consistency policy or a journal is given.
    type: str
    choices: [internal, none]
  consistency_policy:
    description:
      - How an array with redundancy becomes consistent after a crash without a bitmap.
      - V(resync) reads all of it. V(ppl) keeps a partial parity log on the members of a RAID5, which also closes the write hole at the cost of
        30 to 40 % of write speed. V(journal) uses a O(journal).
      - V(resync) and V(ppl) can be changed in place into each other, V(ppl) only where the array was made with room for it.
    type: str
    choices: [resync, ppl, journal]
  size:
    description:
      - What each member contributes, with a unit, such as V(10GiB). A multiple of the chunk. V(max) is all that the smallest member has.
      - At creation the default is all that the smallest member has.
      - Made larger on an array that exists with O(reshape=true); the new part is resynchronised.
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
    description: UUID of the array, 32 hexadecimal digits grouped by colons or hyphens. At creation a random one by default.
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
  config:
    description:
      - With V(true) the array has one C(ARRAY) line with its UUID in mdadm's configuration file, C(/etc/mdadm/mdadm.conf) or
        C(/etc/mdadm.conf), so that it has its name also where O(homehost) is another one.
      - With V(false) it has none, and with O(state=absent) it has none whenever this option is given.
      - Only lines with this UUID are touched; a line of another array with the same device is refused.
      - Looked at only with O(state=present) and O(state=absent).
    type: bool
  update_initramfs:
    description:
      - Make the initial ramdisks anew with C(update-initramfs) or C(dracut) when the configuration file was changed, or is newer than
        one of them. The ramdisk has a copy of the file, which decides the names of arrays that it assembles.
    type: bool
    default: false
  wait_for_sync:
    description:
      - Wait until the kernel has ended a resync, recovery, replacement or reshape, and then make what was waiting for that. Not in check mode.
    type: bool
    default: false
  wait_timeout:
    description: How many seconds to wait at most for each of them. When they are over the module fails and says how far it is.
    type: int
    default: 3600
notes:
  - Sizes need a unit; V(KiB), V(MiB), V(GiB) and V(k), V(m), V(g) are binary, V(kB), V(MB), V(GB) decimal, V(s) is 512 bytes.
  - An array that lacks a member is reported by a warning and by RV(array.degraded). It is not an error, since the array works.
  - Some kernels (6.12 for one) show the stripe of before a reshape in C(io_opt), and keep the readahead, until the array is
    assembled anew. A warning says so.
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

- name: Fill the place of a dead disk with a blank one, and wait until it is rebuilt
  plumbline.storage.md_array:
    name: data
    devices: [/dev/sdb, /dev/sdc, /dev/sdf, /dev/sde]
    wait_for_sync: true
    wait_timeout: 86400

- name: Replace a disk that still works, without losing redundancy meanwhile (sdg comes, the one no longer listed goes)
  plumbline.storage.md_array:
    name: data
    devices: [/dev/sdb, /dev/sdc, /dev/sdg, /dev/sde]
    remove_extra_members: true
    wait_for_sync: true

- name: Grow a RAID5 of four disks into a RAID6 of five, with a larger chunk
  plumbline.storage.md_array:
    name: data
    level: 6
    devices: [/dev/sdb, /dev/sdc, /dev/sdd, /dev/sde, /dev/sdf]
    chunk: 512KiB
    reshape: true
    wait_for_sync: true
    wait_timeout: 172800

- name: RAID5 without a write hole, by a partial parity log
  plumbline.storage.md_array:
    name: safe
    level: 5
    devices: [/dev/sdb, /dev/sdc, /dev/sdd]
    consistency_policy: ppl

- name: RAID1 of a fast and a slow disk; the name is known at boot
  plumbline.storage.md_array:
    name: root
    level: 1
    devices: [/dev/nvme0n1p3, /dev/sda3]
    write_mostly: [/dev/sda3]
    config: true
    update_initramfs: true

- name: Stop it, and start it elsewhere from its superblocks
  plumbline.storage.md_array:
    name: data
    state: stopped

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
    missing_slots:
      description: Places without a device.
      type: list
      elements: int
      returned: success
    sync_action:
      description: What the array is doing, C(idle), C(resync), C(recover), C(check) or C(reshape). Null for levels without redundancy.
      type: str
      returned: success
    sync_percent:
      description: How far that is. Null when the array is idle.
      type: float
      returned: success
    sync_speed_bytes_per_second:
      description: How fast that goes. Null when the array is idle.
      type: int
      returned: success
    array_state:
      description: The kernel's word, such as C(clean), C(active) or C(read-auto) (not written since it was started).
      type: str
      returned: success
    consistency_policy:
      description: The kernel's word, C(bitmap), C(resync), C(ppl) or C(journal). Null for levels without redundancy.
      type: str
      returned: success
    config:
      description: Whether the configuration file has the line of the array. Null when O(config) was not given.
      type: bool
      returned: success
    members:
      description: Devices of the array.
      type: list
      elements: dict
      returned: success
      contains:
        path:
          description: Device node by the kernel's name.
          type: str
          returned: success
        slot:
          description: Place in the array. Null for a spare, a journal and a faulty device.
          type: int
          returned: success
        role:
          description: C(active), C(rebuilding), C(replacement), C(spare), C(journal), C(faulty) or C(missing).
          type: str
          returned: success
        state:
          description: The kernel's words, such as C(in_sync,write_mostly).
          type: str
          returned: success
        write_mostly:
          description: Whether it is only read when no other has the data.
          type: bool
          returned: success
        data_offset_bytes:
          description: Where the data begins on it.
          type: int
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

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._md.operation import md_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "assembled", "stopped", "absent"], "default": "present"},
    "level": {"type": "str"},
    "devices": {"type": "list", "elements": "path"},
    "spares": {"type": "list", "elements": "path"},
    "journal": {"type": "path"},
    "write_mostly": {"type": "list", "elements": "path"},
    "remove_extra_members": {"type": "bool", "default": False},
    "reshape": {"type": "bool", "default": False},
    "backup_file": {"type": "path"},
    "run_degraded": {"type": "bool", "default": False},
    "chunk": {"type": "str"},
    "layout": {"type": "str"},
    "metadata": {"type": "str", "choices": ["0.90", "1.0", "1.1", "1.2"]},
    "bitmap": {"type": "str", "choices": ["internal", "none"]},
    "consistency_policy": {"type": "str", "choices": ["resync", "ppl", "journal"]},
    "size": {"type": "str"},
    "data_offset": {"type": "str"},
    "homehost": {"type": "str"},
    "uuid": {"type": "str"},
    "assume_clean": {"type": "bool", "default": False},
    "readahead": {"type": "str"},
    "config": {"type": "bool"},
    "update_initramfs": {"type": "bool", "default": False},
    "wait_for_sync": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 3600},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run_module(module, md_operation)


if __name__ == "__main__":
    main()
