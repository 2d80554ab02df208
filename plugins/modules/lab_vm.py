#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_vm
short_description: Run one virtual machine of the lab
version_added: 0.1.0
description:
  - Makes and boots a virtual machine with QEMU, whose data disks have the identities that a profile asks for.
  - Cuts its power, shuts it down, boots it again on the same disks, removes it.
  - Takes and restores snapshots of all its disks, and pulls disks while it runs.
  - KVM is used only if it was seen to boot the guest's kernel on this machine, else the processor is emulated.
  - The machine's disks are files in O(state_dir). No disk, bridge, loop device or array of this machine is touched.
  - Runs on the machine that runs the virtual machines, normally C(localhost), also as an ordinary user.
author:
  - plumbline.storage contributors (@plumbline)
options:
  name:
    description: Name of the virtual machine, unlike in one O(state_dir); also the guest's host name.
    type: str
    required: true
  state:
    description:
      - V(running) makes the machine if there is none of this name, and boots it if it does not run.
      - V(power_cut) kills it, as if the power went away.
      - V(stopped) shuts the guest down in order.
      - V(absent) ends it and removes its disks.
    type: str
    choices: [running, power_cut, stopped, absent]
    default: running
  image:
    description: Directory of the guest image, from M(plumbline.storage.lab_image). Needed when the machine is made.
    type: path
  profile:
    description:
      - The machine as a lab profile describes it, with C(cpus), C(memory), C(disks), C(duplicate_serials), C(host_vars).
        Needed when the machine is made.
      - Each disk has a C(bus) (sata, scsi, nvme or virtio), and may have C(size), C(serial), C(model), C(vendor),
        C(firmware), C(rotation_rate), C(logical_sector), C(physical_sector), C(throughput_limit), C(wwn), C(expendable).
        What a bus cannot show is refused by name.
      - A machine that is there with another profile or image is refused, never changed.
    type: dict
  state_dir:
    description:
      - Directory of the lab, with one directory for each machine.
      - When it is not given, C($XDG_STATE_HOME/plumbline/lab) or C(~/.local/state/plumbline/lab).
    type: path
  wait:
    description: Whether to wait until ssh answers in the guest, for O(state=running).
    type: bool
    default: true
  boot_timeout:
    description: How many seconds to wait for ssh.
    type: int
    default: 300
  accelerator:
    description: How the guest's processor is run. V(auto) takes KVM if it boots the guest's kernel here.
    type: str
    choices: [auto, kvm, tcg]
    default: auto
  snapshot:
    description:
      - A snapshot of all disks of the machine, the root disk too. The machine must be powered off.
      - With O(state=running) it is taken, restored or deleted before the machine boots, else after it ended.
    type: dict
    suboptions:
      name:
        description: Name of the snapshot.
        type: str
        required: true
      action:
        description: What to do. Taking one that is there already changes nothing.
        type: str
        choices: [take, restore, delete]
        default: take
  pull_disks:
    description:
      - Serial numbers of disks to pull out of the running machine. They are back when it boots again.
      - SCSI disks are unplugged by QEMU. For the others, whose bus has no hot-unplug, the guest drops the device.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Says what would change. Disks are looked for in the guest, over ssh, and not pulled.
  diff_mode:
    support: none
    description: The result names the state before and after.
requirements:
  - qemu-system-x86, qemu-utils and openssh-client
seealso:
  - module: plumbline.storage.lab_image
  - module: plumbline.storage.lab_vm_info
"""

EXAMPLES = r"""
- name: Boot a machine with one slow SATA disk
  plumbline.storage.lab_vm:
    name: lab1
    image: "{{ image.image }}"
    profile:
      memory: 2GiB
      disks:
        - {bus: sata, model: WDC WD10EACS-00D6B1, serial: WD-WCASJ0000001, firmware: 01.01A01, throughput_limit: 20MB/s}

- name: Cut its power and keep what is on its disks now
  plumbline.storage.lab_vm:
    name: lab1
    state: power_cut
    snapshot:
      name: after_cut

- name: Boot it again on the same disks
  plumbline.storage.lab_vm:
    name: lab1

- name: Pull a disk while it runs
  plumbline.storage.lab_vm:
    name: lab1
    pull_disks: ["WD-WCASJ0000001"]

- name: End it and remove its disks
  plumbline.storage.lab_vm:
    name: lab1
    state: absent
"""

RETURN = r"""
status_before:
  description:
    - What the machine did before.
    - V(absent), V(running), V(stopped), V(power_cut), or V(dead) for one that should run and does not.
  returned: success
  type: str
  sample: absent
status:
  description: What the machine does now, or in check mode would do.
  returned: success
  type: str
  sample: running
accelerator:
  description: How its processor is run (C(name), V(kvm) or V(tcg)) and why (C(reason)). Empty when it was never started.
  returned: success
  type: dict
  sample: {name: tcg, reason: this machine has no /dev/kvm}
boot_seconds:
  description: Seconds from asking for the boot to the first command in the guest. Null when nothing was waited for.
  returned: success
  type: float
  sample: 24.2
directory:
  description: Directory with the machine's disks and logs.
  returned: success
  type: str
console_log:
  description: File with everything that the guest wrote to its serial console.
  returned: success
  type: str
host_vars:
  description: Inventory variables of the machine. Empty when it is absent.
  returned: success
  type: dict
snapshots:
  description: Names of the snapshots. Empty while the machine runs, when they cannot be read.
  returned: success
  type: list
  elements: str
pulled:
  description: Serial numbers of the disks that were, or in check mode would be, pulled by this task.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import state_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.operate import VmWish, carry_out
from ansible_collections.plumbline.storage.plugins.module_utils._lab.vm import LabVm

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["running", "power_cut", "stopped", "absent"], "default": "running"},
    "image": {"type": "path"},
    "profile": {"type": "dict"},
    "state_dir": {"type": "path"},
    "wait": {"type": "bool", "default": True},
    "boot_timeout": {"type": "int", "default": 300},
    "accelerator": {"type": "str", "choices": ["auto", "kvm", "tcg"], "default": "auto"},
    "snapshot": {
        "type": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "action": {"type": "str", "choices": ["take", "restore", "delete"], "default": "take"},
        },
    },
    "pull_disks": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    """The module's entry."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    snapshot = params["snapshot"] or {}
    wish = VmWish(
        state=params["state"],
        image=params["image"],
        profile=params["profile"],
        wait=params["wait"],
        boot_timeout_seconds=float(params["boot_timeout"]),
        accelerator=params["accelerator"],
        snapshot_name=snapshot.get("name"),
        snapshot_action=snapshot.get("action", "take"),
        pull_serials=tuple(params["pull_disks"]),
    )
    try:
        vm = LabVm(params["state_dir"] or state_directory(), params["name"], Runner())
        result = carry_out(vm, wish, module.check_mode)
    except StorageError as error:
        module.fail_json(msg=error.message, **error.details())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
