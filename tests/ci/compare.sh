#!/bin/sh
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Tests of tests/lab that need one guest with four throttled disks. GUEST=debian12 or debian13; arguments go to pytest,
# without any: the comparison.
set -eu
cd "$(dirname "$0")/../.."
lab_dir=$(mktemp -d /tmp/plumbline-compare.XXXXXX)
down() {
    ansible-playbook playbooks/lab_down.yml -e "lab_dir=$lab_dir" >/dev/null 2>&1 || true
    rm -rf "$lab_dir"
}
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ansible-playbook playbooks/lab_up.yml -e "lab_guest=${GUEST:-debian13}" -e lab_profile=four_sata -e "lab_dir=$lab_dir"
export PLUMBLINE_LAB_INVENTORY="$lab_dir/inventory.yml"
[ $# -gt 0 ] || set -- tests/lab/test_compare_stacks.py
python -m pytest -q -p no:cacheprovider "$@"
