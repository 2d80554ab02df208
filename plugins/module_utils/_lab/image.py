# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Builds a guest image from Debian packages, without a loop device and without mounting it."""

from __future__ import annotations

import dataclasses
import getpass
import glob
import json
import os
import shutil
import stat
import tempfile
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import (
    CommandError,
    MissingTool,
    StorageError,
)
from ansible_collections.plumbline.storage.plugins.module_utils._lab.guest import ROOT_LABEL, GuestImage
from ansible_collections.plumbline.storage.plugins.module_utils._lab.host import locked, require_programs
from ansible_collections.plumbline.storage.plugins.module_utils._lab.mirror import mirror_from_sources

__all__ = ["BuiltImage", "build_image", "find_image", "host_mirror", "images_of", "open_image", "remove_images"]

_BUILD_TIMEOUT_SECONDS = 3600
_SOURCES = ("/etc/apt/sources.list.d/*.sources", "/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list")
_LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")


@dataclasses.dataclass(frozen=True)
class BuiltImage:
    """A guest image in the cache: a root file system to put overlays on, and its kernel and initramfs."""

    directory: str
    key: str
    guest: str
    kernel_release: str

    @property
    def root(self) -> str:
        """Path of the raw root file system; never written to."""
        return os.path.join(self.directory, "root.img")

    @property
    def kernel(self) -> str:
        """Path of the kernel."""
        return os.path.join(self.directory, "vmlinuz")

    @property
    def initrd(self) -> str:
        """Path of the initramfs."""
        return os.path.join(self.directory, "initrd.img")


def open_image(directory: str) -> BuiltImage:
    """The image in a directory; raises StorageError when there is none."""
    try:
        with open(os.path.join(directory, "image.json")) as source:
            found = json.load(source)
        return BuiltImage(os.path.abspath(directory), found["key"], found["guest"], found["kernel_release"])
    except (OSError, ValueError, KeyError) as error:
        raise StorageError(f"there is no guest image in {directory} ({error}); build it with lab_image") from error


def find_image(image: GuestImage, cache_dir: str) -> BuiltImage | None:
    """The image from the cache, None when it is not built yet."""
    directory = os.path.join(cache_dir, "images", image.key)
    return open_image(directory) if os.path.exists(os.path.join(directory, "image.json")) else None


def images_of(guest: str, cache_dir: str) -> list[str]:
    """Directories of all built images of a guest, sorted."""
    pattern = os.path.join(glob.escape(cache_dir), "images", f"{guest}-*", "image.json")
    return sorted(os.path.dirname(path) for path in glob.glob(pattern))


def remove_images(directories: t.Iterable[str]) -> None:
    """Removes built images from the cache."""
    for directory in directories:
        # Without image.json it is no image any more, also when removing is interrupted.
        os.unlink(os.path.join(directory, "image.json"))
        shutil.rmtree(directory)


def host_mirror() -> str:
    """The Debian mirror that this machine's apt uses; raises StorageError when its sources name none."""
    texts = []
    for pattern in _SOURCES:
        for path in sorted(glob.glob(pattern)):
            with open(path, errors="replace") as source:
                texts.append(source.read())
    found = mirror_from_sources(texts)
    if found is None:
        raise StorageError(
            "no Debian mirror was found in this machine's apt sources (/etc/apt); give the address of one as lab_mirror"
        )
    return found


def _build_mode() -> str:
    """How mmdebstrap can work for this user; raises MissingTool saying what would make it possible."""
    if os.geteuid() == 0:
        return "root"
    require_programs(["fakeroot"], "building a guest image as an ordinary user")
    require_programs(["newuidmap"], "installing the guest's packages as an ordinary user")
    if not _has_subordinate_ids():
        user = getpass.getuser()
        raise MissingTool(
            f"installing the guest's packages as an ordinary user needs subordinate ids for {user} in /etc/subuid and "
            f"/etc/subgid; as root, run: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}"
        )
    return "unshare"


def _has_subordinate_ids() -> bool:
    wanted = (getpass.getuser(), str(os.getuid()))
    for path in ("/etc/subuid", "/etc/subgid"):
        try:
            with open(path) as source:
                if not any(line.split(":")[0] in wanted for line in source):
                    return False
        except OSError:
            return False
    return True


class _Build:
    """The steps of one build in a directory of its own."""

    def __init__(self, image: GuestImage, directory: str, mirror: str, runner: Runner) -> None:
        self.image, self.directory, self.mirror, self.runner = image, directory, mirror, runner
        self.mode = _build_mode()

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _step(self, what: str, argv: t.Sequence[str]) -> None:
        try:
            self.runner.change(argv, timeout=_BUILD_TIMEOUT_SECONDS)
        except CommandError as error:
            lines = [line for line in (error.stderr or error.stdout).splitlines() if line.strip()]
            last = "\n".join(lines[-12:]) or error.message
            raise StorageError(
                f"the guest image {self.image.guest} could not be built: the step `{what}` failed. Last lines:\n{last}"
            ) from error

    def _script(self, name: str, text: str) -> str:
        path = self._path(name)
        with open(path, "w") as target:
            target.write(text)
        os.chmod(path, 0o755)
        return path

    def _proxy_options(self) -> list[str]:
        """The proxy of this machine's apt, which mmdebstrap's own apt would not know."""
        options = []
        for scheme in ("http", "https"):
            result = self.runner.query(["apt-config", "dump", "--format=%v", f"Acquire::{scheme}::Proxy"], ok=None)
            if result.rc == 0 and result.stdout.strip():
                options.append(f'--aptopt=Acquire::{scheme}::Proxy "{result.stdout.strip()}"')
        return options

    def install_packages(self) -> None:
        """Makes root.tar with mmdebstrap. Its work directory is ours: a killed build leaves nothing elsewhere."""
        # In a user namespace the work directory belongs to another user, who may not reach ours.
        where = [] if self.mode == "unshare" else [f"TMPDIR={self.directory}"]
        # Nor may that user read scripts in our cache: they go through the environment.
        scripts = [f"LAB_BEFORE={self.image.before_install}", f"LAB_AFTER={self.image.after_install}"]
        argv = [
            *("env", *where, *scripts, "mmdebstrap", f"--mode={self.mode}", "--variant=minbase", "--format=tar"),
            "--aptopt=APT::Install-Recommends false",
            *self._proxy_options(),
            *(f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT),
            f"--include={','.join(self.image.packages)}",
            '--essential-hook=sh -c "$LAB_BEFORE" before "$1"',
            '--customize-hook=sh -c "$LAB_AFTER" after "$1"',
            *(self.image.suite, self._path("root.tar"), self.mirror),
        ]
        self._step(f"installing packages of {self.image.suite} with mmdebstrap --mode={self.mode}", argv)

    def make_file_system(self) -> None:
        """Makes root.img, vmlinuz and initrd.img from root.tar; owners of files are kept by fakeroot where needed."""
        script = self._script("make_file_system", _MAKE_FILE_SYSTEM)
        size = str(self.image.root_size_bytes)
        faked = [] if self.mode == "root" else ["fakeroot"]
        self._step(
            "filling the file system with mkfs.ext4 -d", [*faked, "sh", script, self.directory, size, ROOT_LABEL]
        )

    def write_manifest(self) -> None:
        """Writes image.json, which marks the image as whole, and removes what is not part of it."""
        with open(self._path("kernel_release")) as source:
            release = source.read().strip()
        for name in ("root.tar", "make_file_system", "kernel_release"):
            os.unlink(self._path(name))
        manifest = {"key": self.image.key, "guest": self.image.guest, "kernel_release": release}
        with open(self._path("image.json"), "w") as target:
            json.dump(manifest, target)


_MAKE_FILE_SYSTEM = """#!/bin/sh
set -eu
cd "$1"
PATH=$PATH:/usr/sbin:/sbin
mkdir root
tar -xf root.tar -C root --exclude='./dev/*'
cp root/boot/vmlinuz-* vmlinuz
cp root/boot/initrd.img-* initrd.img
ls root/boot | sed -n 's/^vmlinuz-//p' > kernel_release
cp root/usr/share/plumbline-packages packages
truncate -s "$2" root.img
mkfs.ext4 -q -L "$3" -E root_owner=0:0 -d root root.img
chmod -R u+rwX root
rm -rf root
"""


def _remove_tree(path: str) -> None:
    """Removes a directory also when it holds directories that its owner may not write."""
    for parent, names, _files in os.walk(path):
        for name in names:
            child = os.path.join(parent, name)
            if not os.path.islink(child):
                os.chmod(child, os.stat(child).st_mode | stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)


def build_image(image: GuestImage, cache_dir: str, mirror: str | None, runner: Runner) -> BuiltImage:
    """The image from the cache, built before if needed; of two builders at once the second waits and takes the first's.

    C(mirror) is that of this machine's apt when None. Raises StorageError naming the step that failed.
    """
    require_programs(["mmdebstrap", "mkfs.ext4", "tar"], "building a guest image")
    images = os.path.join(cache_dir, "images")
    with locked(os.path.join(images, f".{image.key}.building")):
        found = find_image(image, cache_dir)
        if found is not None:
            return found
        for stale in glob.glob(os.path.join(glob.escape(images), f".{image.key}.tmp-*")):
            _remove_tree(stale)
        directory = tempfile.mkdtemp(prefix=f".{image.key}.tmp-", dir=images)
        try:
            build = _Build(image, directory, mirror or host_mirror(), runner)
            build.install_packages()
            build.make_file_system()
            build.write_manifest()
            target = os.path.join(images, image.key)
            shutil.rmtree(target, ignore_errors=True)
            os.rename(directory, target)
        finally:
            if os.path.isdir(directory):
                _remove_tree(directory)
    return open_image(os.path.join(images, image.key))
