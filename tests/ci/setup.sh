#!/bin/sh
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Makes .venv with all that the project's tools need, and installs missing Debian packages. Says what it does; is quiet
# when everything is there.
set -eu
cd "$(dirname "$0")/../.."
venv=$PWD/.venv

missing_packages() {
    command -v dpkg-query >/dev/null || return 0
    sed -e 's/#.*//' -e '/^ *$/d' tests/ci/packages.txt | while read -r package; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
        [ "$status" = installed ] || echo "$package"
    done
}

as_root() { # program arguments...
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        echo "setup: these Debian packages are missing, and this is neither root nor is there sudo: $*" >&2
        echo "setup: install them as root with: apt-get install $*" >&2
        exit 1
    fi
    echo "setup: installing Debian packages that are missing, as root: apt-get install $*"
    as_root apt-get update -q >/dev/null
    # Through env, since sudo drops the environment.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >/dev/null
}

usable_python() { # ansible-core below 2.20 runs on 3.11 to 3.13
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-} /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if usable_python "$candidate"; then
            "$candidate" -c 'import os, sys; print(os.path.realpath(sys.executable))'
            return
        fi
    done
    echo "setup: no Python 3.11, 3.12 or 3.13 with its venv module was found; name one with PYTHON=/path/to/python3" >&2
    exit 1
}

missing=$(missing_packages | tr '\n' ' ')
# shellcheck disable=SC2086 # one word per package is meant
[ -z "$missing" ] || install_packages $missing

python=$(find_python)
wanted=$(cat requirements.txt requirements-dev.txt | sha256sum | cut -c1-32)-$("$python" -V | tr -d ' ')-$venv
if [ "$(cat "$venv/stamp" 2>/dev/null)" = "$wanted" ] && "$venv/bin/python" -c 'import ansible, pytest' 2>/dev/null; then
    exit 0
fi
echo "setup: making .venv with $("$python" -V) from requirements.txt and requirements-dev.txt"
rm -rf "$venv"
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check -r requirements.txt -r requirements-dev.txt
echo "$wanted" >"$venv/stamp"
