#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: disk_partition
short_description: Makes one GPT partition as a region of a disk
version_added: 0.1.0
author:
  - plumbline.storage contributors (@plumbline)
description:
  - Makes, keeps or removes one partition with a given start, size and name, so that a stack of layers, or several of them
    one after the other, stand on the same part of the same disks.
  - A disk without any partition table gets a GPT and the partition in one call. In a GPT that is already there the
    partition is added into free space, also while other partitions of the disk are in use; these are never moved, renumbered,
    resized or removed. A table is content, even an empty one, so that the disk must be named in O(expendable_disks).
  - A table of another kind than GPT is never changed, unless O(replace_table) is set.
  - The partition is recognised by O(uuid) where that is given, else by O(name). One that is there but lies elsewhere is
    refused, with both values, and never moved.
  - A start that is off the grid of O(alignment) or inside a physical sector is refused, since every write at the edge of
    such a partition costs the disk a read. A start off the full stripe of an array, or off what the disk reports as its
    optimal I/O size, is told in a warning.
  - Nothing that holds anything is overwritten unless its disk is named in O(expendable_disks). What is mounted or otherwise
    in use is refused also then.
extends_documentation_fragment:
  - plumbline.storage._attributes
  - plumbline.storage._consent
options:
  disk:
    description:
      - The whole disk, by any path. Prefer C(/dev/disk/by-id/...), since names such as C(/dev/sdb) change between boots.
      - The disk must exist, also in check mode.
    type: path
    required: true
  name:
    description:
      - Name of the partition in the GPT, up to 36 characters.
      - When O(uuid) finds the partition under another name, it is renamed in place.
    type: str
    required: true
  state:
    description:
      - V(present) makes the partition unless it is there.
      - V(absent) wipes the signatures inside the partition and deletes it. When it was the last one in a table that this
        module made, the table goes too, and the disk is as before. A table that somebody else made is kept.
    type: str
    choices: [present, absent]
    default: present
  start:
    description:
      - Where the partition begins, counted from the start of the disk, with a unit, such as V(1MiB).
      - Needed to make a partition. Of an existing one it is compared when given, else not managed.
    type: str
  size:
    description:
      - Size of the partition with a unit, such as V(10GiB).
      - When a partition is made without it, it takes the room up to the next partition or the end of the disk, as far as
        O(alignment) allows. Of an existing one it is compared when given, else not managed.
    type: str
  alignment:
    description:
      - The grid on which O(start) must lie. It is looked at only when the partition is made.
      - Whatever is given, the start must be a multiple of the disk's physical sector.
    type: str
    default: 1MiB
  uuid:
    description:
      - UUID of the partition (PARTUUID). When given, the partition is recognised by it and made with it.
      - Without it C(sfdisk) chooses one, and the partition is recognised by O(name).
    type: str
  type:
    description:
      - Type of the partition, V(linux), V(raid), V(lvm), or the GUID of a type.
      - V(linux) when a partition is made without it. Of an existing one it is not managed when left out, and set in place
        when given.
    type: str
  replace_table:
    description:
      - When the partition is not on the disk, wipe the disk with every partition on it, and begin a new GPT.
      - This needs the disk in O(expendable_disks). It changes nothing when the partition is there.
    type: bool
    default: false
  resize:
    description:
      - Let a partition that is there grow into the free room behind it, to O(size), or without that as far as O(alignment) and
        the next partition allow. What is in the partition stays, and it may be in use.
      - On a disk that has become larger since its GPT was made the new room counts. C(sfdisk) then moves the copy of the table to the end of
        the disk, as it does whenever it writes such a table.
      - A partition is never made smaller, and never moved.
      - What stands on the partition does not grow by itself.
    type: bool
    default: false
notes:
  - Needs C(sfdisk) (package fdisk) and C(wipefs) and C(partx) (util-linux) on the target.
  - Sizes need a unit; V(KiB), V(MiB), V(GiB) and V(k), V(m), V(g) are binary, V(kB), V(MB), V(GB) decimal, V(s) is 512 bytes.
seealso:
  - module: plumbline.storage.md_array
  - module: plumbline.storage.lvm_pv
  - module: plumbline.storage.xfs_filesystem
  - module: plumbline.storage.storage_stack
"""

EXAMPLES = r"""
- name: The first 10 GiB of a blank disk
  plumbline.storage.disk_partition:
    disk: /dev/disk/by-id/ata-EXAMPLE_DISK_0001
    name: region_a
    start: 1MiB
    size: 10GiB

- name: A region far inside, where a rotating disk is slower
  plumbline.storage.disk_partition:
    disk: /dev/disk/by-id/ata-EXAMPLE_DISK_0001
    name: region_b
    start: 800GiB
    size: 10GiB
    type: raid
    expendable_disks: ["EXAMPLE-0001"]

- name: A used disk is given up, with the table and the partitions on it
  plumbline.storage.disk_partition:
    disk: /dev/disk/by-id/wwn-0x50014ee2ad5d1234
    name: region_a
    start: 1MiB
    size: 10GiB
    replace_table: true
    expendable_disks: ["naa.50014ee2ad5d1234"]

- name: The region becomes larger, and the physical volume in it too
  plumbline.storage.disk_partition:
    disk: /dev/disk/by-id/ata-EXAMPLE_DISK_0001
    name: region_b
    size: 20GiB
    resize: true
    expendable_disks: ["EXAMPLE-0001"]

- name: Take a region away again
  plumbline.storage.disk_partition:
    disk: /dev/disk/by-id/ata-EXAMPLE_DISK_0001
    name: region_b
    state: absent
    expendable_disks: ["EXAMPLE-0001"]
"""

RETURN = r"""
partition:
  description: The partition as read back, or as predicted in check mode; null when it is not there.
  returned: success
  type: dict
  contains:
    disk:
      description: The disk, by the kernel's name.
      type: str
      sample: /dev/sdb
    path:
      description: Device node of the partition.
      type: str
      sample: /dev/sdb1
    number:
      description: Number of the partition in the table.
      type: int
      sample: 1
    name:
      description: Name in the GPT.
      type: str
      sample: region_a
    start_bytes:
      description: Where it begins.
      type: int
      sample: 1048576
    size_bytes:
      description: How long it is.
      type: int
      sample: 10737418240
    uuid:
      description: PARTUUID; null in check mode when it is left to C(sfdisk).
      type: str
      sample: 2dd2e2d8-5b1d-4a4a-9c1f-3f8a3b0d7c11
    type:
      description: V(linux), V(raid), V(lvm), or the GUID of the type.
      type: str
      sample: linux
    table_uuid:
      description: GUID of the partition table.
      type: str
      sample: 706c756d-626c-4a1b-8c2d-0123456789ab
commands:
  description: The commands that were run, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: ["sfdisk --quiet --lock=yes --wipe-partitions always --wipe always /dev/sdb <<< 'label: gpt ...'"]
assumed_parent:
  description: Always false, since a missing disk is a failure.
  returned: success
  type: bool
  sample: false
failed_step:
  description: What was being done when it failed.
  returned: when a command failed
  type: str
  sample: make a GPT on /dev/sdb
completed_steps:
  description: What had been done before.
  returned: when a command failed
  type: list
  elements: str
  sample: []
"""

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import (
    CONSENT_ARGUMENT_SPEC,
    run_module,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.operation import partition_operation

ARGUMENT_SPEC = {
    "disk": {"type": "path", "required": True},
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "start": {"type": "str"},
    "size": {"type": "str"},
    "alignment": {"type": "str", "default": "1MiB"},
    "uuid": {"type": "str"},
    "type": {"type": "str"},
    "replace_table": {"type": "bool", "default": False},
    "resize": {"type": "bool", "default": False},
    **CONSENT_ARGUMENT_SPEC,
}


def main() -> None:
    """Runs the module."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run_module(module, partition_operation)


if __name__ == "__main__":
    main()
