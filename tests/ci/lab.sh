#!/bin/sh
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Tests of tests/lab in one guest that is booted for them and removed afterwards. GUEST is debian12 or debian13, PROFILE a
# profile of playbooks/lab_profiles; the arguments go to pytest.
set -eu
cd "$(dirname "$0")/../.."
lab_dir=$(mktemp -d /tmp/plumbline-test.XXXXXX)
down() {
    ansible-playbook playbooks/lab_down.yml -e "lab_dir=$lab_dir" >/dev/null 2>&1 || true
    rm -rf "$lab_dir"
}
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
ansible-playbook playbooks/lab_up.yml -e "lab_guest=${GUEST:-debian13}" -e "lab_profile=${PROFILE:-four_sata}" -e "lab_dir=$lab_dir"
export PLUMBLINE_LAB_INVENTORY="$lab_dir/inventory.yml" PLUMBLINE_LAB_GUEST="${GUEST:-debian13}"
python -m pytest -q -p no:cacheprovider --durations=5 "$@"
