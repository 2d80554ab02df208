#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: disk_info
short_description: Tells which disks a host has, by model, serial number and firmware, and what they hold
version_added: 0.1.0
author:
  - plumbline.storage contributors (@plumbline)
description:
  - Returns one record per disk of the host. Model, serial number, WWN, firmware and medium come from what the kernel keeps
    in sysfs, so no disk is asked or woken for them. For SATA disks the whole IDENTIFY block is read there, with all eight
    characters of the firmware revision.
  - With O(content) it also tells what each disk holds, from the signatures that C(wipefs) finds and, where there is none,
    from reading both ends of the disk and samples between.
  - RV(disks[].expendable_names) are the texts by which the other modules of this collection accept the disk in their
    O(plumbline.storage.storage_stack#module:expendable_disks).
options:
  content:
    description:
      - Whether to tell what each disk holds. This reads from the disks and needs root.
    type: bool
    default: true
attributes:
  check_mode:
    description: It changes nothing in any mode.
    support: full
  diff_mode:
    description: There is nothing to show a difference of.
    support: none
  platform:
    description: Where it runs.
    platforms: linux
    support: full
seealso:
  - module: plumbline.storage.storage_stack
  - module: plumbline.storage.disk_partition
"""

EXAMPLES = r"""
- name: All disks of the host
  plumbline.storage.disk_info:
  register: found

- name: The rotating disks that are blank, by serial number
  ansible.builtin.debug:
    msg: "{{ found.disks | selectattr('blank') | selectattr('media_type', 'equalto', 'rotating') | map(attribute='serial_number') }}"

- name: Models and firmware only, without root and without touching a disk
  plumbline.storage.disk_info:
    content: false
"""

RETURN = r"""
disks:
  description: One record per disk, in the order of kernel names. A value that is not known is null.
  returned: success
  type: list
  elements: dict
  contains:
    kernel_name:
      description: Name of this boot; it may be another disk's after the next.
      type: str
      returned: always
      sample: sdb
    device_path:
      description: Path of the device node.
      type: str
      returned: always
      sample: /dev/sdb
    device_kind:
      description: One of V(physical_disk), V(virtual_disk), V(raid_volume), V(loop), V(unknown). Unknown kinds are never used.
      type: str
      returned: always
    transport:
      description: One of V(sata), V(sas), V(scsi), V(nvme), V(virtio), V(usb), V(fc), V(iscsi), V(mmc), V(unknown).
      type: str
      returned: always
    vendor:
      description: Vendor as a SCSI disk tells it; SATA and NVMe disks have it in the model.
      type: str
      returned: always
    model:
      description: Model.
      type: str
      returned: always
      sample: WDC WD10EACS-00ZJB0
    model_complete:
      description: False when the source cuts the model short.
      type: bool
      returned: always
    serial_number:
      description: Serial number, of an NVMe disk that of its controller.
      type: str
      returned: always
      sample: WD-WCASJ0000002
    wwn:
      description: World-wide name as C(naa.), C(eui.) or C(uuid.).
      type: str
      returned: always
      sample: naa.50014ee2ad5d1234
    firmware_revision:
      description: Firmware revision.
      type: str
      returned: always
      sample: 01.01B01
    firmware_source:
      description: Where the firmware revision was read.
      type: str
      returned: always
      sample: vpd_pg89
    firmware_complete:
      description: False when the source shows only a part of the firmware revision.
      type: bool
      returned: always
    capacity_bytes:
      description: Size in bytes.
      type: int
      returned: always
    logical_sector_size_bytes:
      description: Size of a logical sector.
      type: int
      returned: always
    physical_sector_size_bytes:
      description: Size of a physical sector.
      type: int
      returned: always
    media_type:
      description: V(rotating), V(ssd), or V(unknown) when the disk does not say.
      type: str
      returned: always
    rotation_rate_rpm:
      description: Turns per minute, 0 for solid state.
      type: int
      returned: always
    identity_confidence:
      description:
        - V(high) with serial number, model and WWN, V(medium) without a WWN.
        - V(low) when the serial number is missing, a placeholder or seen twice.
      type: str
      returned: always
    duplicate_serial:
      description: Whether another disk of this host, with another WWN, shows the same serial number.
      type: bool
      returned: always
    duplicate_wwn:
      description: Whether another disk of this host shows the same WWN, which makes them one LUN on several paths.
      type: bool
      returned: always
    by_path:
      description: Names under C(/dev/disk/by-path).
      type: list
      elements: str
      returned: always
    path_id:
      description: The first of RV(disks[].by_path).
      type: str
      returned: always
    expendable_names:
      description: Texts that list this disk as expendable, the best first. Empty when only C({by_path, capacity, host}) can.
      type: list
      elements: str
      returned: always
      sample: [WD-WCASJ0000002, naa.50014ee2ad5d1234]
    content:
      description: What the disk holds, in one phrase.
      type: str
      returned: when O(content=true)
      sample: ext4 "home", not mounted
    blank:
      description: No signature, and zeros at both ends and in all samples.
      type: bool
      returned: when O(content=true)
    usable:
      description: Whether it could be used if it were listed as expendable. False for system disks and for what is in use.
      type: bool
      returned: when O(content=true)
"""

import os
import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._block.describe import describe_disks
from ansible_collections.plumbline.storage.plugins.module_utils._block.tree import read_tree
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._disk.read import read_disks

ARGUMENT_SPEC: dict[str, t.Any] = {"content": {"type": "bool", "default": True}}


def collect(content: bool) -> list[dict[str, t.Any]]:
    """The records of all disks. Raises StorageError."""
    tree = read_tree()
    if not content:
        return [disk.record() for disk in read_disks(tree)]
    if os.geteuid() != 0:
        raise PlanRefused(
            "asked to tell what the disks hold, which needs root, but not running as root; set become: true or content: false"
        )
    return describe_disks(Runner(check_mode=True), tree)


def main() -> t.NoReturn:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        disks = collect(module.params["content"])
    except StorageError as error:
        module.fail_json(msg=error.message, **error.details())
    module.exit_json(changed=False, disks=disks)


if __name__ == "__main__":
    main()
