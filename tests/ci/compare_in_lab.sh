#!/bin/sh
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make compare: lab up, comparison, lab down also when the comparison fails. Reads BLOCKS, GUEST, PROFILE, LAB_DIR and
# RESULTS (a directory, default ./results) from the environment; further arguments go to ansible-playbook.
set -eu
cd "$(dirname "$0")/../.."
results=${RESULTS:-$PWD/results}

lab() { # up|down
    ansible-playbook "playbooks/lab_$1.yml" -e "lab_guest=$GUEST" -e "lab_profile=$PROFILE" -e "lab_dir=$LAB_DIR"
}

lab up || {
    echo "compare: the lab did not come up; see above. Virtual machines left over are removed by: make lab-down" >&2
    exit 1
}
trap 'lab down' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ansible-playbook playbooks/compare_stacks.yml -i "$LAB_DIR/inventory.yml" \
    -e "compare_blocks=$BLOCKS" -e "results_dir=$results" "$@"
