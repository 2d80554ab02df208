#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lvm_vg
short_description: Make an LVM volume group of physical volumes
version_added: "0.1.0"
description:
  - Makes a volume group (VG), adds physical volumes (PVs) to it, takes some out on request, sets its tags, or removes it.
  - An option that is not given is not managed on a VG that exists. An extent size that differs is refused with both values shown.
  - The devices must be PVs already (M(plumbline.storage.lvm_pv) makes them), since where their data begins is decided there.
  - A VG that is exported, shared by a lock manager, or owned by another host (system ID) is never changed; nor is a name that
    two VGs of the host have. A VG is never renamed.
  - A VG that lacks PVs is told in a warning, and refused when something is to change on it, unless O(remove_missing) is set.
  - Where LVM keeps a list of its devices (C(use_devicesfile) in C(lvm.conf)), LVM itself adds what it makes. This
    module takes care that no such list is begun which leaves out PVs that are seen now.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  name:
    description: Name of the VG.
    type: str
    required: true
  state:
    description:
      - V(present) makes the VG or brings it up to what is asked.
      - V(absent) removes it and leaves the PVs; it is refused while the VG has logical volumes, or lacks PVs and
        O(remove_missing) is not set.
    type: str
    choices: [present, absent]
    default: present
  devices:
    description:
      - Devices of the PVs, by any of their names. Needed at creation.
      - Those that are not yet in the VG are added. PVs of the VG that are not listed stay in it, unless
        O(remove_extra_devices) is set.
      - All of them have logical sectors of one size; a group that mixes them is refused.
    type: list
    elements: path
  extent_size:
    description:
      - Size of an extent, the unit in which logical volumes take space; a power of two, or a multiple of 128 KiB. The default at
        creation is V(4MiB).
      - Logical volumes begin on extents. Where the PVs lie on an array, an extent size that is a multiple of the array's full
        stripe (for a stripe of 768 KiB say V(3MiB)) keeps every one of them aligned; otherwise only those that begin
        on a common multiple are, such as the first.
    type: str
  tags:
    description: The tags of the VG, all of them; others are removed. Without this option tags are not managed.
    type: list
    elements: str
  remove_extra_devices:
    description:
      - Take PVs out of the VG that O(devices) does not list, after those were added that are new.
      - A PV on which logical volumes lie is refused, unless O(move_data) is set. A PV that was taken out is still a PV, of no
        group; M(plumbline.storage.lvm_pv) removes it.
    type: bool
    default: false
  move_data:
    description:
      - Empty the PVs that leave with C(pvmove), while the logical volumes on them are in use. The run lasts as long as that takes.
      - Whether the others have room is looked at before anything changes. Parts of a striped or redundant logical volume
        are kept on different PVs, so that free space on PVs with other parts of it does not count.
      - A move that was cut off is finished by the next run.
    type: bool
    default: false
  remove_missing:
    description:
      - Forget PVs of the VG that are gone (C(vgreduce --removemissing)), where no logical volume needs them; refused otherwise, with
        the names of the volumes.
      - Redundant volumes are repaired first, with M(plumbline.storage.lvm_lv).
      - When a device that is only late comes back after this, its PV belongs to no group.
    type: bool
    default: false
author:
  - plumbline.storage contributors (@plumbline)
seealso:
  - module: plumbline.storage.lvm_pv
  - module: plumbline.storage.lvm_lv
"""

EXAMPLES = r"""
- name: Make a volume group on an array
  plumbline.storage.lvm_vg:
    name: data
    devices: [/dev/md/data]

- name: Make one whose extents fit a full stripe of 768 KiB
  plumbline.storage.lvm_vg:
    name: data
    devices: [/dev/md/data]
    extent_size: 3MiB

- name: Add a second array to it
  plumbline.storage.lvm_vg:
    name: data
    devices: [/dev/md/more]

- name: Exchange a disk of a group that is in use, the new one is a physical volume already
  plumbline.storage.lvm_vg:
    name: data
    devices: [/dev/disk/by-id/wwn-0x5000c50000000001, /dev/disk/by-id/wwn-0x5000c50000000003]
    remove_extra_devices: true
    move_data: true

- name: Forget a disk that died, after the volumes on it were repaired
  plumbline.storage.lvm_vg:
    name: data
    remove_missing: true

- name: Remove it, its physical volumes stay
  plumbline.storage.lvm_vg:
    name: data
    state: absent
"""

RETURN = r"""
vg:
  description: The volume group as read back, in check mode as it would be. None when there is none.
  returned: success
  type: dict
  contains:
    name:
      description: Name of the VG.
      type: str
    uuid:
      description: UUID of the VG.
      type: str
    extent_size_bytes:
      description: Size of an extent in bytes.
      type: int
      sample: 4194304
    extent_count:
      description: Number of extents; in check mode on planned devices null.
      type: int
    free_extents:
      description: Extents that no logical volume uses.
      type: int
    devices:
      description: The kernel's names of the PVs.
      type: list
      elements: str
    pvs:
      description: The PVs, as M(plumbline.storage.lvm_pv) returns them.
      type: list
      elements: dict
    lvs:
      description: Names of its logical volumes.
      type: list
      elements: str
    tags:
      description: Its tags.
      type: list
      elements: str
    missing_pv_count:
      description: How many of its PVs are not there.
      type: int
    full_stripe_bytes:
      description: Full stripe of what lies below the listed devices; null where there is none, or several.
      type: int
      sample: 786432
    extents_per_full_stripe:
      description:
        - A logical volume that begins on a multiple of so many extents begins on a full stripe, if the data of the PV does. With 1 every
          one does; with extents of 4 MiB on a full stripe of 768 KiB it is 3.
      type: int
      sample: 3
commands:
  description: The commands that ran, in check mode those that would run.
  returned: success
  type: list
  elements: str
assumed_parent:
  description: Whether, in check mode, a PV was taken as made by an earlier task.
  returned: success
  type: bool
"""

import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation_vg import vg_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "devices": {"type": "list", "elements": "path"},
    "extent_size": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
    "remove_extra_devices": {"type": "bool", "default": False},
    "move_data": {"type": "bool", "default": False},
    "remove_missing": {"type": "bool", "default": False},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> t.NoReturn:
    run_module(AnsibleModule(ARGUMENT_SPEC, supports_check_mode=True), vg_operation)


if __name__ == "__main__":
    main()
