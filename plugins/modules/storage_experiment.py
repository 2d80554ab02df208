#!/usr/bin/python

# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: storage_experiment
short_description: Compare storage stacks on one host, rebuilt in blocked random order on the same region of the same disks
version_added: 0.1.0
description:
  - Takes the described region of the chosen disks and, block after block in shuffled order, builds every stack on it, runs every workload,
    and removes the stack again.
  - The run goes on in a process of its own on the target, detached from the connection. The action plugin of the same name follows
    it, shows how far it is, and stores each observation at once in the results database.
  - A run that was killed leaves a record of what it made. The next run removes that first, fetches the observations that nobody has
    fetched, and needs no help by hand.
  - Needs root.
author:
  - plumbline.storage contributors (@plumbline)
attributes:
  check_mode:
    support: full
    description: Chooses disks, plans every stack, refuses what would be refused, and returns the order, the commands and what would be lost.
  diff_mode:
    support: none
    description: The stacks are gone when the run ends.
options:
  run:
    description:
      - The run as returned by M(plumbline.storage.experiment_start).
    type: dict
  database:
    description:
      - Path or URL of the results database on the controller.
    type: str
  poll_seconds:
    description:
      - Seconds between two looks at the running host.
    type: float
    default: 5
  run_id:
    description:
      - Id of the run; filled in by the action plugin.
    type: str
  host:
    description:
      - Inventory name of the host; filled in by the action plugin.
    type: str
  description:
    description:
      - The experiment; filled in by the action plugin from O(run).
    type: dict
  done:
    description:
      - Ids of the observations that are stored already; filled in by the action plugin.
    type: list
    elements: str
    default: []
  expendable_disks:
    description:
      - Disks that may be lost whole, by serial number or WWN, in quotes. Nothing is changed on any other disk.
    type: list
    elements: raw
    default: []
seealso:
  - module: plumbline.storage.storage_stack
  - module: plumbline.storage.storage_benchmark
"""

EXAMPLES = r"""
- name: Follow the experiment on this host
  plumbline.storage.storage_experiment:
    run: "{{ experiment_run.run }}"
    database: "{{ experiment_run.database }}"
    expendable_disks: ["WD-WCASJ0000001", "WD-WCASJ0000002", "WD-WCASJ0000003", "WD-WCASJ0000004"]
"""

RETURN = r"""
observations:
  description: How many observations this task stored.
  returned: when a run was followed
  type: int
invalid:
  description: How many of them are invalid.
  returned: when a run was followed
  type: int
disks:
  description: The disks used, as M(plumbline.storage.disk_info) describes them.
  returned: success
  type: list
  elements: dict
usable_bytes:
  description: Size of the uppermost device of every stack.
  returned: success
  type: int
order:
  description: Block, stack and workloads of every unit still to do, in order.
  returned: success
  type: list
  elements: dict
commands:
  description: Commands that build each stack, by the name of the stack; device names are those expected.
  returned: success
  type: dict
disks_seen:
  description: The disks of the host as text, when none of them is listed in O(expendable_disks).
  returned: failure
  type: str
job:
  description: Process and files of the run on the target.
  returned: outside check mode
  type: dict
left_spools:
  description: Spools of earlier runs that were fetched.
  returned: outside check mode
  type: list
  elements: str
"""

import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._stack.start import start_experiment

ARGUMENT_SPEC: dict[str, t.Any] = {
    "run": {"type": "dict"},
    "database": {"type": "str"},
    "poll_seconds": {"type": "float", "default": 5},
    "run_id": {"type": "str"},
    "host": {"type": "str"},
    "description": {"type": "dict"},
    "done": {"type": "list", "elements": "str", "default": []},
    "expendable_disks": {"type": "list", "elements": "raw", "default": []},
}


def main() -> t.NoReturn:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = start_experiment(module.params, check_mode=module.check_mode)
    except StorageError as error:
        module.fail_json(msg=error.message, changed=False, **error.details())
    for text in result.pop("warnings"):
        module.warn(text)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
