#!/usr/bin/python

# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: experiment_report
short_description: Write the report of a storage experiment and show the answer
version_added: 0.1.0
description:
  - Reads the observations of a run from the results database, compares the stacks, writes C(report.html) and C(summary.json), and shows
    the answer and one table per workload.
  - Runs on the controller only, as an action plugin.
author:
  - plumbline.storage contributors (@plumbline)
attributes:
  check_mode:
    support: full
    description: Nothing is written; the task is skipped.
  diff_mode:
    support: none
    description: There is nothing on a target to differ.
options:
  run:
    description: The run as returned by M(plumbline.storage.experiment_start).
    type: dict
    required: true
  database:
    description: Path or URL of the results database.
    type: str
    required: true
  results_dir:
    description: Directory for the report and the summary.
    type: path
    required: true
  again:
    description: The command line shown as the way to go on; made from the run when omitted.
    type: str
seealso:
  - module: plumbline.storage.experiment_start
"""

EXAMPLES = r"""
- name: Write the report
  plumbline.storage.experiment_report:
    run: "{{ experiment_run.run }}"
    database: "{{ experiment_run.database }}"
    results_dir: results
  run_once: true
"""

RETURN = r"""
report:
  description: Path of the HTML report.
  returned: when observations exist
  type: str
  sample: results/report.html
summary:
  description: Path of the summary for programs.
  returned: when observations exist
  type: str
  sample: results/summary.json
text:
  description: Lines of the text shown.
  returned: when observations exist
  type: list
  elements: str
"""
