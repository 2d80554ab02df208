#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_image
short_description: Build a guest image for the lab from Debian packages
version_added: 0.1.0
description:
  - Builds an image of a small Debian system with the storage tools, which M(plumbline.storage.lab_vm) boots.
  - The packages are installed with mmdebstrap and the file system is filled by C(mkfs.ext4 -d).
    Nothing is mounted, and no loop device is needed.
  - The image is kept in a cache under a key made of everything that decides its content, and is built only once.
    Of two builders at the same time the second waits and takes the image of the first.
  - Works as root, and as an ordinary user with user namespaces (package uidmap).
  - Runs on the machine that runs the virtual machines, normally C(localhost).
author:
  - plumbline.storage contributors (@plumbline)
options:
  guest:
    description: The Debian release of the guest.
    type: str
    choices: [debian12, debian13]
    default: debian13
  state:
    description:
      - V(present) builds the image if it is not in the cache.
      - V(absent) removes all images of O(guest) from the cache.
        Virtual machines made from them cannot be booted again.
    type: str
    choices: [present, absent]
    default: present
  packages:
    description: Debian packages to install besides the storage tools.
    type: list
    elements: str
    default: []
  mirror:
    description:
      - Address of the Debian mirror to install from.
      - When it is not given, the mirror of this machine's own apt sources is taken.
    type: str
  cache_dir:
    description: Directory of the cache. When it is not given, C($XDG_CACHE_HOME/plumbline) or C(~/.cache/plumbline).
    type: path
attributes:
  check_mode:
    support: full
    description: Says whether the image would be built or removed.
  diff_mode:
    support: none
    description: There is nothing to compare.
requirements:
  - mmdebstrap, e2fsprogs and tar on the machine that builds
  - fakeroot and uidmap when an ordinary user builds
seealso:
  - module: plumbline.storage.lab_vm
"""

EXAMPLES = r"""
- name: Have an image of Debian 12
  plumbline.storage.lab_image:
    guest: debian12
  delegate_to: localhost
  register: image

- name: Build from a mirror nearby
  plumbline.storage.lab_image:
    guest: debian13
    mirror: http://mirror.example.org/debian
"""

RETURN = r"""
image:
  description: Directory of the image, as M(plumbline.storage.lab_vm) takes it. Empty for O(state=absent).
  returned: success
  type: str
  sample: /home/user/.cache/plumbline/images/debian13-5c6697030ce3a137
key:
  description: Key of the image, made of everything that decides its content.
  returned: success
  type: str
  sample: debian13-5c6697030ce3a137
kernel_release:
  description: Release of the guest's kernel. Empty when the image is not built.
  returned: success
  type: str
  sample: 6.12.48+deb13-amd64
removed:
  description: Directories of the images that were, or in check mode would be, removed.
  returned: success
  type: list
  elements: str
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import guest_image
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import cache_directory
from ansible_collections.plumbline.storage.plugins.module_utils._lab.image import (
    build_image,
    find_image,
    images_of,
    remove_images,
)

ARGUMENT_SPEC = {
    "guest": {"type": "str", "choices": ["debian12", "debian13"], "default": "debian13"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "packages": {"type": "list", "elements": "str", "default": []},
    "mirror": {"type": "str"},
    "cache_dir": {"type": "path"},
}


def _run(module: AnsibleModule) -> dict[str, object]:
    params = module.params
    cache_dir = os.path.abspath(params["cache_dir"] or cache_directory())
    wanted = guest_image(params["guest"], params["packages"])
    if params["state"] == "absent":
        removed = images_of(params["guest"], cache_dir)
        if not module.check_mode:
            remove_images(removed)
        return {"changed": bool(removed), "image": "", "key": wanted.key, "kernel_release": "", "removed": removed}
    found = find_image(wanted, cache_dir)
    changed = found is None
    if found is None and not module.check_mode:
        found = build_image(wanted, cache_dir, params["mirror"], Runner())
    directory = os.path.join(cache_dir, "images", wanted.key)
    release = "" if found is None else found.kernel_release
    return {"changed": changed, "image": directory, "key": wanted.key, "kernel_release": release, "removed": []}


def main() -> None:
    """The module's entry."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = _run(module)
    except StorageError as error:
        module.fail_json(msg=error.message, **error.details())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
