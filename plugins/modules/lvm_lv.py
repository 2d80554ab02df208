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
  - Makes a logical volume (LV), grows and shrinks it with its file system, changes what can change in place, repairs it, or removes it.
  - Sizes are counted as LVM counts them, in extents, rounded up to a multiple of the stripes, and compared in extents. A second run with
    the same options is therefore always unchanged.
  - An option that is not given is not managed on an LV that exists. Type, stripes, stripe size, the log of a mirror and the devices cannot
    change in place; where they differ the task is refused with both values shown. What can change - size, readahead, tags, allocation policy,
    permission, activation, the copies of a V(raid1) and the region size of redundant types - is changed.
  - An LV of I(k) stripes of size I(S) writes I(S) bytes to each of I(k) PVs, then the next I(S); its full stripe is I(k) times I(S). Over md
    arrays whose own full stripe is I(F) everything repeats after I(k) times the least common multiple of I(S) and I(F). That full stripe is
    what a file system should line up with; it is returned, with the distance by which the LV misses it, and a warning where it does.
  - A redundant LV keeps its state beside its data. V(raid1), V(raid4), V(raid5), V(raid6) and V(raid10) have a metadata volume of an extent or
    more before each image, V(mirror) may have a log. These and parity come on top of the size that is asked for.
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
      - V(mirror) is the old mirror with a log; V(raid1) is what LVM makes of mirrors today. V(raid0) is V(striped) by the raid driver.
      - V(raid5), V(raid6) and V(raid10) alone are met by any of their variants; a variant tells where parity lies, V(raid5_ls) and V(raid6_zr)
        being what LVM takes by itself.
    type: str
    choices:
      - linear
      - striped
      - mirror
      - raid0
      - raid0_meta
      - raid1
      - raid4
      - raid5
      - raid5_ls
      - raid5_la
      - raid5_rs
      - raid5_ra
      - raid5_n
      - raid6
      - raid6_zr
      - raid6_nr
      - raid6_nc
      - raid6_ls_6
      - raid6_rs_6
      - raid6_la_6
      - raid6_ra_6
      - raid6_n_6
      - raid10
      - raid10_near
  size:
    description:
      - Size with a unit, such as V(10GiB) or V(5.4g), rounded up to whole extents and stripes. A larger size than the LV has extends it, in use
        or not; a smaller one is refused without O(shrink).
      - O(size) or O(extents) is needed at creation.
      - 100 MiB on three stripes with extents of 4 MiB become 27 extents, that is 108 MiB; the second run counts the same.
    type: str
  extents:
    description:
      - Size as a number of extents, or as a percentage, V(100%FREE), V(50%VG) or V(30%PVS) (of the PVs in O(devices)).
      - Percentages are of physical extents and round down; copies share them, parity and metadata come on top, and the result is cut to what
        fits, so that V(100%VG) of a V(raid1) is half of the group less its metadata.
      - On an LV that exists a percentage means what it would mean if its own extents were free. It is met by what it made, also when
        nothing is free any more; it extends the LV where the group has grown, and never shrinks it.
    type: str
  stripes:
    description:
      - Number of stripes that carry data, without parity, as C(lvcreate -i) counts them. By default, at creation of a type with stripes,
        as many as the PVs allow.
      - It is fixed for good. Such an LV grows only on as many devices at the same time as it has images, so that one new device in the group
        does not help it; the module says so before it changes anything.
    type: int
  stripesize:
    description:
      - Bytes written to one stripe before the next, a power of two from 4 KiB up to the extent size. The default at creation is V(64KiB).
    type: str
  mirrors:
    description:
      - Copies besides the first, as C(lvcreate -m) counts them. The default at creation of a type with mirrors is 1.
      - On a V(raid1) another number adds or drops copies.
    type: int
  mirrorlog:
    description:
      - Where a V(mirror) notes which regions are in step. V(disk), what LVM takes by itself, survives a reboot; with V(core) all of it is
        copied again after one.
    type: str
    choices: [core, disk]
  regionsize:
    description:
      - Bytes that one bit of the log of a redundant LV stands for, a power of two. By default LVM chooses.
      - It can be changed later, except that of a V(mirror), when all copies are in step.
    type: str
  nosync:
    description:
      - At creation of a redundant LV, take its copies or parity as right without writing them, for disks that are all zero or for tests.
        Not with V(raid6). On an LV that exists it has no meaning; RV(lv.synced_at_creation) tells how it was made.
    type: bool
    default: false
  readahead:
    description:
      - Readahead of the LV. V(auto) lets LVM derive it, V(none) is no readahead, else a size such as V(1536KiB) or V(256s). At creation the
        default is V(auto).
      - A linear LV over an array takes the array's readahead by V(auto). A small one here makes buffered reads slow however
        fast the array is.
    type: str
  devices:
    description:
      - Devices of the PVs on which the LV may lie, by any of their names. By default all of the VG.
      - An LV that lies on others is refused, with both lists shown; O(leave_devices) moves it.
    type: list
    elements: path
  leave_devices:
    description:
      - Devices that are still there, and on which the LV must lie no more. An image of a redundant LV is made anew on another device
        (C(lvconvert --replace)), anything else is moved (C(pvmove)), while the LV is in use.
    type: list
    elements: path
    default: []
  alloc:
    description: How LVM chooses extents for it, now and when it grows. V(contiguous) keeps each stripe or image in one run.
    type: str
    choices: [contiguous, cling, normal, anywhere, inherit]
  tags:
    description: The tags of the LV, all of them; others are removed. Without this option tags are not managed.
    type: list
    elements: str
  active:
    description: Whether the LV is active, that is, has a device. A new LV is, unless this is V(false).
    type: bool
  read_only:
    description: Whether the LV refuses writes.
    type: bool
  resizefs:
    description:
      - Let the file system follow the size of the LV. XFS grows while it is mounted and must be; ext2, ext3 and ext4 grow mounted or not, and
        shrink only unmounted, after a check.
      - A file system that is smaller than its LV is grown also when the LV needs no change. An LV without a file system is left as it is.
    type: bool
    default: false
  shrink:
    description:
      - Allow O(size) or a number of O(extents) to make the LV smaller. XFS never shrinks. Other file systems must fit already, or follow by
        O(resizefs).
        An LV with data but no file system that is known loses what lies behind its new end, so that the disks below it must be in
        O(expendable_disks).
    type: bool
    default: false
  repair:
    description:
      - Make a degraded LV whole. What lay on a missing device is rebuilt on a free one, of O(devices) if given, and the missing device is taken
        out of the group when nothing else needs it. A device that came back is taken in again, differing copies are made to agree.
      - Without this a degraded LV is reported with a warning and in RV(lv.health).
    type: bool
    default: false
  wait_for_sync:
    description: Wait until the copies or the parity of the LV are in step. Not in check mode.
    type: bool
    default: false
  wait_timeout:
    description: How many seconds to wait at most. When they are over the module fails and says how far it is.
    type: int
    default: 3600
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

- name: Grow a volume and the mounted XFS on it
  plumbline.storage.lvm_lv:
    vg: data
    name: home
    size: 200GiB
    resizefs: true

- name: Let a volume take what a new disk of the group brought
  plumbline.storage.lvm_lv:
    vg: data
    name: home
    extents: 100%FREE
    resizefs: true

- name: Make a volume with parity over five disks, whose stripes of 4 x 256 KiB suit files that are written as a whole
  plumbline.storage.lvm_lv:
    vg: media
    name: films
    type: raid5
    stripes: 4
    stripesize: 256KiB
    extents: 95%VG
    wait_for_sync: true
    wait_timeout: 86400

- name: Rebuild what lay on a dead disk, on the disk that was put in its place
  plumbline.storage.lvm_lv:
    vg: data
    name: safe
    repair: true
    devices: [/dev/disk/by-id/wwn-0x5000c50000000008, /dev/disk/by-id/wwn-0x5000c50000000009]
    wait_for_sync: true

- name: Move a volume off a disk that is still there but grows old
  plumbline.storage.lvm_lv:
    vg: data
    name: safe
    leave_devices: [/dev/sdb]

- name: Shrink an unmounted ext4 and the volume below it
  plumbline.storage.lvm_lv:
    vg: data
    name: spool
    size: 5GiB
    shrink: true
    resizefs: true

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
    region_size_bytes:
      description: Bytes that one bit of its log stands for; null without a log.
      type: int
    mirrorlog:
      description: V(core) or V(disk) for a mirror, else null.
      type: str
    synced_at_creation:
      description: False where it was made without an initial synchronisation.
      type: bool
    alloc:
      description: Its allocation policy.
      type: str
    read_only:
      description: Whether it refuses writes.
      type: bool
    active:
      description: Whether it has a device.
      type: bool
    health:
      description: Empty when it is well, else LVM's word, such as V(partial) where a device is missing.
      type: str
    sync_action:
      description: What the kernel does to its copies or parity, such as V(idle) or V(recover); null without.
      type: str
    sync_percent:
      description: How much of it is in step; null without copies or parity.
      type: float
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
    pieces:
      description:
        - Every run of extents that it takes of a device, those of its hidden parts too (images, metadata, log).
      type: list
      elements: dict
      contains:
        device:
          description: The device of the PV; C([unknown]) where it is missing.
          type: str
        part:
          description: The hidden part of the LV that lies there, such as V(safe_rimage_0); null where it is the LV itself.
          type: str
        start_extent:
          description: The first extent on the PV.
          type: int
        extents:
          description: How many.
          type: int
        start_bytes:
          description: Where it begins on the device, in bytes; null where it is missing.
          type: int
        size_bytes:
          description: How long it is.
          type: int
        behind_stripe_bytes:
          description: How far it begins behind a full stripe of the array below; null where that has no stripes.
          type: int
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

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import LV_TYPE_NAMES
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation_lv import lv_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "vg": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "type": {"type": "str", "choices": list(LV_TYPE_NAMES)},
    "size": {"type": "str"},
    "extents": {"type": "str"},
    "stripes": {"type": "int"},
    "stripesize": {"type": "str"},
    "mirrors": {"type": "int"},
    "mirrorlog": {"type": "str", "choices": ["core", "disk"]},
    "regionsize": {"type": "str"},
    "nosync": {"type": "bool", "default": False},
    "readahead": {"type": "str"},
    "devices": {"type": "list", "elements": "path"},
    "leave_devices": {"type": "list", "elements": "path", "default": []},
    "alloc": {"type": "str", "choices": ["contiguous", "cling", "normal", "anywhere", "inherit"]},
    "tags": {"type": "list", "elements": "str"},
    "active": {"type": "bool"},
    "read_only": {"type": "bool"},
    "resizefs": {"type": "bool", "default": False},
    "shrink": {"type": "bool", "default": False},
    "repair": {"type": "bool", "default": False},
    "wait_for_sync": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 3600},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> t.NoReturn:
    run_module(AnsibleModule(ARGUMENT_SPEC, supports_check_mode=True), lv_operation)


if __name__ == "__main__":
    main()
