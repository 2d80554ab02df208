#!/usr/bin/python

# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: storage_stack
short_description: Build, verify or remove a whole storage stack in one task
version_added: 0.1.0
description:
  - Builds layers of md, LVM and XFS on the same region of several disks, so that every layer lines up with the one below.
  - The chain is planned in one process by the planners of M(plumbline.storage.disk_partition), M(plumbline.storage.md_array),
    M(plumbline.storage.lvm_pv), M(plumbline.storage.lvm_vg), M(plumbline.storage.lvm_lv) and M(plumbline.storage.xfs_filesystem), with the
    same result, at the cost of one task.
  - What it makes is recorded on the host before the first step, with UUIDs chosen beforehand, so that a killed run can be finished by
    running again, or removed.
  - A layer that exists and differs in what cannot change in place is refused with both values; nothing is made anew silently.
  - Needs root.
author:
  - plumbline.storage contributors (@plumbline)
attributes:
  check_mode:
    support: full
    description: Plans the whole chain, existing or not, refuses what would be refused, and returns the commands.
  diff_mode:
    support: full
    description: Shows the managed fields of every layer before and after.
options:
  name:
    description:
      - Name of the stack. Its array and volume group are called C(pl_EXPERIMENT_NAME).
    type: str
    required: true
  experiment:
    description:
      - First part of those names; stacks of different experiments do not meet.
    type: str
    default: stack
  state:
    description:
      - V(present) builds what is missing and verifies the whole by reading it again.
      - V(verified) changes nothing and fails when anything is missing or differs.
      - V(absent) removes what was recorded for this stack, content first, then its container, down to the regions. Its permanent mounts
        are unmounted before that; while a process or another mount uses one, the removal is refused and nothing is changed.
      - A run that was cut off, also by a power cut, is ended by the same task again, or its leavings are removed by V(absent).
    type: str
    choices: [present, verified, absent]
    default: present
  on_drift:
    description:
      - What to do when the stack exists and differs from the description in what cannot change in place, such as the chunk of an array.
      - V(fail) refuses with both values. V(warn) leaves the layer as it is and warns with both values; other disks, another region or
        other layers are refused all the same. V(rebuild) removes the stack B(with everything in it) and builds it anew, only when every
        disk of it is listed in O(expendable_disks).
    type: str
    choices: [fail, warn, rebuild]
    default: fail
  disks:
    description:
      - Serial numbers or WWNs of the disks, in quotes, in the order in which layers take them. Needed unless O(state=absent).
    type: list
    elements: raw
    default: []
  region:
    description:
      - The part of every disk that the stack stands on, one GPT partition each. Sizes need units.
    type: dict
    default: {start: 1MiB, size: 10GiB}
  usable_size:
    description:
      - Size of the uppermost device. When omitted, every layer takes all that is below it.
    type: str
  layers:
    description:
      - The layers from the disks upwards, one mapping with one key each, V(md), V(pv), V(vg), V(lv) or V(xfs). Their options carry the
        tools' own words.
      - C(md) takes level, chunk, layout, metadata, bitmap (V(none) when omitted), data_offset, initial_sync (V(assume_clean) or V(resync)).
      - C(pv) takes metadatasize, dataalignment (V(auto) when omitted, the full stripe below), dataalignmentoffset. C(vg) takes extent_size.
      - C(lv) takes type, stripes, stripesize, mirrors, regionsize, size. C(xfs) takes geometry (V(auto) when omitted), su, sw, sunit, swidth,
        agcount, agsize, sector_size, block_size, inode_size, log_su, log_size, label and the features of M(plumbline.storage.xfs_filesystem),
        and mount, a directory on which it is mounted for good, by a systemd mount unit that names it by
        UUID, with mount_options (V(defaults) when omitted).
      - Every layer takes name, and on to say what it stands on; without it, on the nearest layer below that can carry it, else on all disks.
    type: list
    elements: dict
    default: []
  settings:
    description:
      - "Queue, md and readahead settings by layer name or V(disks), such as C({readahead: {lv: 256s}}). Known are readahead, max_sectors_kb,
        scheduler, nr_requests, stripe_cache_size, group_thread_cnt."
    type: dict
    default: {}
  expendable_disks:
    description:
      - Disks that may be lost whole, by serial number or WWN, in quotes. A disk that is not blank is used only when it is listed here.
    type: list
    elements: raw
    default: []
seealso:
  - module: plumbline.storage.md_array
  - module: plumbline.storage.lvm_lv
  - module: plumbline.storage.xfs_filesystem
  - module: plumbline.storage.storage_experiment
"""

EXAMPLES = r"""
- name: XFS on LVM on RAID5, every layer aligned
  plumbline.storage.storage_stack:
    name: data
    disks: ["WD-WCASJ0000001", "WD-WCASJ0000002", "WD-WCASJ0000003", "WD-WCASJ0000004"]
    region: {start: 1MiB, size: 900GiB}
    layers:
      - md: {level: 5, chunk: 256KiB, bitmap: internal, initial_sync: resync}
      - pv: {}
      - vg: {extent_size: 12MiB}
      - lv: {}
      - xfs: {}

- name: LV stripes over two arrays
  plumbline.storage.storage_stack:
    name: wide
    disks: ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"]
    layers:
      - md: {name: a, on: "disks[0:4]", level: 5, chunk: 64KiB}
      - md: {name: b, on: "disks[4:8]", level: 5, chunk: 64KiB}
      - pv: {on: [a, b]}
      - vg: {}
      - lv: {type: striped, stripesize: 64KiB}
      - xfs: {}

- name: The stack is as described, or the play stops
  plumbline.storage.storage_stack:
    name: data
    state: verified
    disks: ["WD-WCASJ0000001", "WD-WCASJ0000002", "WD-WCASJ0000003", "WD-WCASJ0000004"]
    region: {start: 1MiB, size: 900GiB}
    layers: [{md: {level: 5, chunk: 256KiB}}, {xfs: {}}]

- name: Two volumes in one group, one of them mounted at every boot
  plumbline.storage.storage_stack:
    name: srv
    disks: ["S1", "S2", "S3", "S4"]
    layers:
      - md: {level: 10, chunk: 512KiB, bitmap: internal, initial_sync: resync}
      - pv: {}
      - vg: {}
      - lv: {name: db, size: 200GiB}
      - lv: {name: logs, on: vg, size: 50GiB}
      - xfs: {on: db, label: db, mount: /srv/db, mount_options: "noatime,logbsize=256k"}
      - xfs: {name: logfs, on: logs}

- name: Try another chunk; what is in the stack may be lost
  plumbline.storage.storage_stack:
    name: scratch
    disks: ["S1", "S2", "S3", "S4"]
    layers: [{md: {level: 5, chunk: 512KiB}}, {xfs: {}}]
    on_drift: rebuild
    expendable_disks: ["S1", "S2", "S3", "S4"]

- name: Remove it
  plumbline.storage.storage_stack:
    name: data
    state: absent
"""

RETURN = r"""
commands:
  description: The commands that were run, in check mode those that would be.
  returned: success
  type: list
  elements: str
stack:
  description: Id, devices by layer, filesystem, and the geometry of each layer in bytes; null when it was removed.
  returned: success
  type: dict
  contains:
    id:
      description: Name of the record, the array and the volume group.
      type: str
    top_device:
      description: Path of the uppermost block device.
      type: str
    filesystem_device:
      description: Path of the device that holds the XFS, or null.
      type: str
    filesystems:
      description: UUID of the XFS by name of the layer.
      type: dict
    mounts:
      description: Directory on which it is mounted for good, by name of the layer.
      type: dict
    devices:
      description: Path by name of the layer.
      type: dict
    geometry:
      description: Size, sectors, and the stripe (unit_bytes, width_units) by name of the layer.
      type: dict
    arrays:
      description: UUID by name of the md layer.
      type: dict
    groups:
      description: Volume group by name of the vg layer.
      type: dict
    partitions:
      description: Partition UUIDs of the regions, in the order of the disks.
      type: list
      elements: str
"""

import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    StepFailed,
    StorageError,
    VerifyFailed,
)
from ansible_collections.plumbline.storage.plugins.module_utils._stack.operation import run_stack

ARGUMENT_SPEC: dict[str, t.Any] = {
    "name": {"type": "str", "required": True},
    "experiment": {"type": "str", "default": "stack"},
    "state": {"type": "str", "choices": ["present", "verified", "absent"], "default": "present"},
    "on_drift": {"type": "str", "choices": ["fail", "warn", "rebuild"], "default": "fail"},
    "disks": {"type": "list", "elements": "raw", "default": []},
    "region": {"type": "dict", "default": {"start": "1MiB", "size": "10GiB"}},
    "usable_size": {"type": "str"},
    "layers": {"type": "list", "elements": "dict", "default": []},
    "settings": {"type": "dict", "default": {}},
    "expendable_disks": {"type": "list", "elements": "raw", "default": []},
}


def main() -> t.NoReturn:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = run_stack(module.params, module.check_mode)
    except StorageError as error:
        module.fail_json(msg=error.message, changed=isinstance(error, (StepFailed, VerifyFailed)), **error.details())
    for text in result.pop("warnings"):
        module.warn(text)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
