#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_vm_info
short_description: List the virtual machines of the lab
version_added: 0.1.0
description:
  - Lists the virtual machines recorded in a lab's directory with what they do, those left over from an earlier run too.
  - Makes the text of an inventory with them.
  - Runs on the machine that runs the virtual machines, normally C(localhost). Changes nothing.
author:
  - plumbline.storage contributors (@plumbline)
options:
  state_dir:
    description:
      - Directory of the lab.
      - When it is not given, C($XDG_STATE_HOME/plumbline/lab) or C(~/.local/state/plumbline/lab).
    type: path
attributes:
  check_mode:
    support: full
    description: Changes nothing in any case.
  diff_mode:
    support: none
    description: Changes nothing.
seealso:
  - module: plumbline.storage.lab_vm
"""

EXAMPLES = r"""
- name: Look for machines of an earlier run
  plumbline.storage.lab_vm_info:
  delegate_to: localhost
  register: lab

- name: Write an inventory
  ansible.builtin.copy:
    content: "{{ lab.inventory }}"
    dest: ./inventory.yml
    mode: "0600"
  delegate_to: localhost
"""

RETURN = r"""
state_dir:
  description: Directory of the lab.
  returned: success
  type: str
vms:
  description: The machines, by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the machine.
      type: str
    status:
      description:
        - V(running), V(stopped), V(power_cut), or V(dead) for one that should run and does not.
        - V(unrecorded) for one that runs although its record is gone, as after its directory was removed by hand.
      type: str
    pid:
      description: Process number of its QEMU. Zero when it does not run.
      type: int
    port:
      description: Port on 127.0.0.1 that leads to its ssh.
      type: int
    image:
      description: Directory of its guest image.
      type: str
    accelerator:
      description: How its processor is run, and why. Null when it was never started.
      type: dict
    directory:
      description: Directory with its disks and logs.
      type: str
    console_log:
      description: File with what the guest wrote to its serial console.
      type: str
    snapshots:
      description: Names of its snapshots. Empty while it runs, when they cannot be read.
      type: list
      elements: str
    summary:
      description: One sentence about the machine.
      type: str
inventory:
  description: An inventory with the machines as YAML text. Unrecorded ones are left out.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import state_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.operate import describe_lab

ARGUMENT_SPEC = {"state_dir": {"type": "path"}}


def main() -> None:
    """The module's entry."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = describe_lab(module.params["state_dir"] or state_directory(), Runner())
    except StorageError as error:
        module.fail_json(msg=error.message, **error.details())
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
