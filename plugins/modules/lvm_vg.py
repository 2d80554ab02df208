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
  - Makes a volume group (VG), adds physical volumes (PVs) to it, sets its tags, or removes it.
  - An option that is not given is not managed on a VG that exists. An extent size that differs is refused with both values shown.
  - The devices must be PVs already (M(plumbline.storage.lvm_pv) makes them), since where their data begins is decided there.
  - A VG that is exported, shared by a lock manager, or owned by another host (system ID) is never changed; nor is a name that
    two VGs of the host have.
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
      - V(absent) removes it and leaves the PVs; it is refused while the VG has logical volumes or lacks PVs.
    type: str
    choices: [present, absent]
    default: present
  devices:
    description:
      - Devices of the PVs, by any of their names. Needed at creation.
      - Those that are not yet in the VG are added. PVs of the VG that are not listed stay in it.
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

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import CONSENT_ARGUMENT_SPEC, run_module
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.operation_vg import vg_operation

ARGUMENT_SPEC: dict[str, t.Any] = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "devices": {"type": "list", "elements": "path"},
    "extent_size": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> t.NoReturn:
    run_module(AnsibleModule(ARGUMENT_SPEC, supports_check_mode=True), vg_operation)


if __name__ == "__main__":
    main()
