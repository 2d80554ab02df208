#!/usr/bin/python

# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: experiment_start
short_description: Begin a run of a storage experiment, or take up one again
version_added: 0.1.0
description:
  - Checks the description of an experiment, gives the run an id, and writes it into the results database.
  - With O(resume) the run is read back from the database instead.
  - Runs on the controller only, as an action plugin.
author:
  - plumbline.storage contributors (@plumbline)
attributes:
  check_mode:
    support: full
    description: Checks the description and chooses an id; nothing is stored.
  diff_mode:
    support: none
    description: There is nothing on a target to differ.
options:
  description:
    description:
      - The experiment, such as the content of C(playbooks/experiments/compare_stacks.yml).
    type: dict
    default: {}
  hosts:
    description: Inventory names of the hosts that take part; all hosts of the play when omitted.
    type: list
    elements: str
    default: []
  results_dir:
    description: Directory on the controller for the database and the report.
    type: path
    default: results
  results_url:
    description: Database URL in the form of SQLAlchemy, used instead of the SQLite file in O(results_dir).
    type: str
  resume:
    description: Id of a stored run to go on with. Empty begins a new run.
    type: str
seealso:
  - module: plumbline.storage.storage_experiment
  - module: plumbline.storage.experiment_report
"""

EXAMPLES = r"""
- name: Begin a run
  plumbline.storage.experiment_start:
    description: "{{ lookup('ansible.builtin.file', 'experiment.yml') | from_yaml }}"
  register: experiment_run
  run_once: true
"""

RETURN = r"""
run:
  description: Id, experiment, hosts, description, stacks, workloads, design, start and command of the run.
  returned: success
  type: dict
database:
  description: Path or URL of the results database.
  returned: success
  type: str
  sample: results/plumbline.db
resumed:
  description: Whether a stored run goes on.
  returned: success
  type: bool
"""
