#!/bin/sh
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A molecule scenario on a virtual machine of the lab, in an ephemeral directory of its own. GUEST=debian12 or debian13.
set -eu
cd "$(dirname "$0")/../.."
GUEST=${GUEST:-debian12}
MOLECULE_EPHEMERAL_DIRECTORY=$(mktemp -d /tmp/plumbline-molecule.XXXXXX)
export GUEST MOLECULE_EPHEMERAL_DIRECTORY
down() {
    ansible-playbook playbooks/lab_down.yml -e "lab_dir=$MOLECULE_EPHEMERAL_DIRECTORY/lab" >/dev/null 2>&1 || true
    rm -rf "$MOLECULE_EPHEMERAL_DIRECTORY"
}
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
molecule test --scenario-name "${1:-default}" --destroy=never
