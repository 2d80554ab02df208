# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lvm_pv, lvm_vg and lvm_lv in a guest, each step checked by LVM's own tools.

Needs a guest with four expendable SATA disks: its inventory in the variable PLUMBLINE_LAB_INVENTORY. Everything on
them is lost. The fewer other disks the guest has, the faster this goes.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import typing as t
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
INVENTORY = os.environ.get("PLUMBLINE_LAB_INVENTORY", "")
KIB, MIB = 1024, 1024**2

pytestmark = [
    pytest.mark.lab,
    pytest.mark.runs_programs,
    pytest.mark.skipif(not INVENTORY, reason="PLUMBLINE_LAB_INVENTORY names no guest"),
]


# Answers one JSON request a line, so that a step costs no new connection and no new Python.
SERVER = """
import json, subprocess, sys
sys.path.insert(0, "/run/pl_lab")
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._core.module import execute
from ansible_collections.plumbline.storage.plugins.module_utils._lvm import operation

def module(name, check, params):
    make = {"lvm_pv": operation.pv_operation, "lvm_vg": operation.vg_operation, "lvm_lv": operation.lv_operation}[name]
    runner = Runner(check_mode=check)
    try:
        result = execute(make({"state": "present", **params}), runner, params["expendable_disks"])
    except StorageError as error:
        return {"failed": True, "changed": False, "msg": error.message, **error.details()}
    return {"failed": False, "process_count": runner.process_count, **result}

for line in sys.stdin:
    request = json.loads(line)
    if "shell" in request:
        done = subprocess.run(request["shell"], shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        answer = done.stdout
    else:
        answer = module(request["module"], request["check"], request["params"])
    print(json.dumps(answer), flush=True)
"""


def ansible(module: str, arguments: str, *options: str) -> str:
    """What an ad hoc task prints."""
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
    }
    command = [shutil.which("ansible") or "ansible", "-i", INVENTORY, "all", "-m", module, "-a", arguments, *options]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def host_vars() -> dict[str, t.Any]:
    """The guest as the inventory has it."""
    if not INVENTORY:
        return {"expendable_disks": []}
    hosts = yaml.safe_load(Path(INVENTORY).read_text())["lab"]["hosts"]
    return t.cast("dict[str, t.Any]", next(iter(hosts.values())))


SERIALS: tuple[str, ...] = tuple(host_vars()["expendable_disks"][:4])


class Guest:
    """Runs operations and commands in the guest, in one Python there."""

    def __init__(self) -> None:
        host = host_vars()
        self.ssh = ["ssh", "-p", str(host["ansible_port"]), "-i", host["ansible_ssh_private_key_file"]]
        self.ssh += [*shlex.split(host["ansible_ssh_common_args"]), f"{host['ansible_user']}@{host['ansible_host']}"]
        self._copy()
        program = f"python3 -uc {shlex.quote(SERVER)}"
        self.server = subprocess.Popen([*self.ssh, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _copy(self) -> None:
        """The code as it is now, to the guest."""
        place = "/run/pl_lab/ansible_collections/plumbline/storage"
        pack = subprocess.Popen(
            ["tar", "-C", str(ROOT), "--exclude=__pycache__", "-cf", "-", "plugins/module_utils"],
            stdout=subprocess.PIPE,
        )
        unpack = f"rm -rf /run/pl_lab; mkdir -p {place} && tar -C {place} -xf -"
        subprocess.run([*self.ssh, unpack], stdin=pack.stdout, check=True)
        pack.wait()

    def close(self) -> None:
        self.server.communicate(timeout=60)

    def _ask(self, request: dict[str, t.Any]) -> t.Any:
        assert self.server.stdin and self.server.stdout
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def module(self, name: str, /, check: bool = False, consent: bool = True, **arguments: t.Any) -> dict[str, t.Any]:
        """Result of what a module of the collection runs."""
        arguments["expendable_disks"] = list(SERIALS) if consent else []
        return t.cast("dict[str, t.Any]", self._ask({"module": name, "check": check, "params": arguments}))

    def shell(self, command: str) -> str:
        """What a command prints in the guest."""
        return str(self._ask({"shell": f"export LC_ALL=C; {command}"})).strip()

    def words(self, command: str) -> list[str]:
        return self.shell(command).split()


@pytest.fixture(scope="module")
def guest() -> t.Iterator[Guest]:
    running = Guest()
    yield running
    running.close()


def wipe(guest: Guest, disks: t.Sequence[str]) -> None:
    for group in ("pl_t1", "pl_t2"):
        guest.shell(f"vgremove -qffy {group}; mdadm --stop /dev/md/pl_t; udevadm settle")
    guest.shell(
        f"for d in {' '.join(disks)}; do pvremove -qffy $d; mdadm --zero-superblock $d; wipefs -qa $d; "
        "dd if=/dev/zero of=$d bs=1M count=8 status=none; done; udevadm settle"
    )


@pytest.fixture(scope="module")
def disks(guest: Guest) -> t.Iterator[list[str]]:
    """Kernel names of the disks, in the order of C(SERIALS)."""
    names = dict(line.split() for line in guest.shell("lsblk -dnro SERIAL,PATH").splitlines() if len(line.split()) == 2)
    found = [names[serial] for serial in SERIALS]
    wipe(guest, found)
    yield found
    wipe(guest, found)


def four_steps(guest: Guest, name: str, /, **arguments: t.Any) -> dict[str, t.Any]:
    """Check, apply, again, check again. Returns the result of applying."""
    planned = guest.module(name, check=True, **arguments)
    assert planned.get("changed") is True, planned
    done = guest.module(name, **arguments)
    assert done.get("changed") is True, done
    assert planned["commands"] == done["commands"]
    assert planned["diff"] == done["diff"]
    again = guest.module(name, **arguments)
    assert again.get("changed") is False, again
    assert guest.module(name, check=True, **arguments).get("changed") is False
    return done


def refused(guest: Guest, name: str, part: str, /, **arguments: t.Any) -> None:
    """Refused in check mode and without it, with the same sentence."""
    for check in (True, False):
        result = guest.module(name, check=check, **arguments)
        assert result.get("failed") is True and part in result["msg"], result
        assert result.get("changed") is False


def test_pv_on_an_old_file_system_needs_consent(guest: Guest, disks: list[str]) -> None:
    guest.shell(f"mkfs.ext4 -qF {disks[0]}; udevadm settle")
    before = guest.shell(f"head -c 64M {disks[0]} | sha256sum")
    for check in (True, False):
        result = guest.module("lvm_pv", device=disks[0], check=check, consent=False)
        assert result.get("failed") is True
        assert "ext4" in result["msg"] and SERIALS[0] in result["msg"]
    assert guest.shell(f"head -c 64M {disks[0]} | sha256sum") == before
    four_steps(guest, "lvm_pv", device=disks[0])
    assert guest.words(f"pvs --noheadings --nosuffix --units b -o pe_start {disks[0]}") == [str(MIB)]
    assert "ext4" not in guest.shell(f"wipefs {disks[0]}")


def test_pv_by_another_name_is_the_same_pv(guest: Guest, disks: list[str]) -> None:
    link = guest.words(f"find -L /dev/disk/by-id -samefile {disks[0]} -name 'ata-*'")[0]
    assert guest.module("lvm_pv", device=link)["changed"] is False


def test_pv_that_differs_is_refused(guest: Guest, disks: list[str]) -> None:
    refused(guest, "lvm_pv", "begins at 1MiB, but a multiple of 768KiB", device=disks[0], dataalignment="768KiB")
    refused(guest, "lvm_pv", "without a unit", device=disks[0], dataalignment="768")
    refused(guest, "lvm_pv", "no such block device", device="/dev/sdzz")


def test_pv_absent(guest: Guest, disks: list[str]) -> None:
    four_steps(guest, "lvm_pv", device=disks[0], state="absent")
    assert guest.shell(f"wipefs {disks[0]}") == ""


# metadatasize, dataalignment, dataalignmentoffset, expected start; KiB.
PE_STARTS = [
    (None, None, None, 1024),
    (100, None, None, 1024),
    (2044, None, None, 2048),
    (2048, None, None, 3072),
    (2048, 128, None, 2176),
    (2048, 128, 2, 2178),
    (256, 128, None, 384),
    (100, 64, None, 128),
    (188, 64, None, 192),
    (192, 64, None, 256),
    (None, 768, None, 1536),
    (None, 1024, None, 1024),
    (1, 64, None, 64),
    (32, 4, None, 36),
]


@pytest.mark.parametrize(("metadata", "alignment", "offset", "expected"), PE_STARTS)
def test_pe_start_is_what_lvm_makes(
    guest: Guest,
    disks: list[str],
    metadata: int | None,
    alignment: int | None,
    offset: int | None,
    expected: int,
) -> None:
    asked = {"metadatasize": metadata, "dataalignment": alignment, "dataalignmentoffset": offset}
    arguments: dict[str, t.Any] = {option: f"{value}KiB" for option, value in asked.items() if value is not None}
    planned = guest.module("lvm_pv", check=True, device=disks[1], **arguments)
    done = guest.module("lvm_pv", device=disks[1], **arguments)
    seen = guest.words(f"pvs --noheadings --nosuffix --units b -o pe_start,pv_mda_size {disks[1]}")
    guest.module("lvm_pv", device=disks[1], state="absent")
    assert seen == [str(done["pv"][key]) for key in ("pe_start_bytes", "metadata_area_bytes")]
    assert seen == [str(planned["pv"][key]) for key in ("pe_start_bytes", "metadata_area_bytes")]
    assert seen[0] == str(expected * KIB)


def test_metadata_area_that_is_too_small(guest: Guest, disks: list[str]) -> None:
    arguments = {"metadatasize": "27KiB", "dataalignment": "4KiB"}
    refused(guest, "lvm_pv", "metadata area of 28KiB, but LVM needs 32KiB", device=disks[1], **arguments)


def test_chain_on_an_array_is_aligned(guest: Guest, disks: list[str]) -> None:
    guest.shell(
        f"mdadm --create /dev/md/pl_t --run --assume-clean --bitmap=none -l5 -c 256 -n 4 --homehost=any {' '.join(disks)}; "
        "udevadm settle"
    )
    array = "/dev/md/pl_t"
    four_steps(guest, "lvm_pv", device=array)
    kernel = guest.shell(f"readlink -f {array}")
    assert guest.words(f"pvs --noheadings --nosuffix --units b -o pe_start {kernel}") == [str(1536 * KIB)]
    assert guest.module("lvm_pv", device=array, dataalignment="auto")["changed"] is False
    four_steps(guest, "lvm_vg", name="pl_t1", devices=[array], extent_size="4MiB", tags=["one", "two"])
    assert guest.words("vgs --noheadings --nosuffix --units b -o vg_extent_size,vg_tags pl_t1") == [
        str(4 * MIB),
        "one,two",
    ]
    done = four_steps(guest, "lvm_lv", vg="pl_t1", name="a", size="1013MiB")
    assert (done["lv"]["extents"], done["lv"]["full_stripe_bytes"], done["lv"]["stripe_offset_bytes"]) == (
        254,
        768 * KIB,
        0,
    )
    assert guest.words("lvs --noheadings -o seg_size_pe,segtype pl_t1/a") == ["254", "linear"]
    off = four_steps(guest, "lvm_lv", vg="pl_t1", name="b", extents="100%FREE")
    assert off["lv"]["stripe_offset_bytes"] > 0
    assert guest.words("vgs --noheadings -o vg_free_count pl_t1") == ["0"]


def test_use_is_refused(guest: Guest, disks: list[str]) -> None:
    refused(guest, "lvm_pv", "belongs to the volume group pl_t1", device="/dev/md/pl_t", state="absent")
    refused(guest, "lvm_vg", "logical volumes: a, b", name="pl_t1", state="absent")
    guest.shell("mkfs.xfs -q /dev/pl_t1/a; mkdir -p /run/pl_t; mount /dev/pl_t1/a /run/pl_t")
    result = guest.module("lvm_lv", vg="pl_t1", name="a", state="absent")
    guest.shell("umount /run/pl_t")
    assert result["failed"] is True and "mounted" in result["msg"]
    result = guest.module("lvm_lv", vg="pl_t1", name="a", state="absent", consent=False)
    assert result["failed"] is True and "xfs" in result["msg"]
    assert guest.shell("blkid -p -o value -s TYPE /dev/pl_t1/a") == "xfs"


def test_removal_of_the_chain(guest: Guest, disks: list[str]) -> None:
    for name in ("a", "b"):
        four_steps(guest, "lvm_lv", vg="pl_t1", name=name, state="absent")
    four_steps(guest, "lvm_vg", name="pl_t1", state="absent")
    four_steps(guest, "lvm_pv", device="/dev/md/pl_t", state="absent")
    wipe(guest, disks)
    assert guest.module("lvm_pv", device="/dev/md/pl_t", state="absent")["changed"] is False


def test_group_of_disks_grows(guest: Guest, disks: list[str]) -> None:
    for disk in disks:
        assert guest.module("lvm_pv", device=disk)["changed"] is True
    four_steps(guest, "lvm_vg", name="pl_t2", devices=disks[:3])
    four_steps(guest, "lvm_vg", name="pl_t2", devices=[disks[3]])
    assert len(guest.words("pvs --noheadings -o pv_name -S vg_name=pl_t2")) == 4
    refused(guest, "lvm_vg", "extents of 4MiB", name="pl_t2", extent_size="8MiB")
    refused(guest, "lvm_vg", "of another group", name="pl_t1", devices=[disks[0]])


LVS: list[tuple[dict[str, t.Any], list[str]]] = [
    ({"type": "striped", "size": "100MiB", "stripes": 3}, ["striped", "3", "65536", "27"]),
    ({"stripes": 4, "stripesize": "128KiB", "extents": "100%FREE"}, ["striped", "4", "131072", "2044"]),
    ({"extents": "20%VG"}, ["linear", "1", "0", "409"]),
    ({"extents": "50%VG"}, ["linear", "1", "0", "511", "linear", "1", "0", "511"]),
    ({"type": "raid1", "size": "20MiB"}, ["raid1", "2", "0", "5"]),
    ({"type": "raid1", "extents": "100%FREE", "mirrors": 3}, ["raid1", "4", "0", "510"]),
    ({"type": "raid5", "stripes": 3, "size": "100MiB"}, ["raid5", "4", "65536", "27"]),
    ({"type": "raid5", "extents": "100%FREE"}, ["raid5", "4", "65536", "1530"]),
    ({"type": "raid6", "stripes": 3, "size": "1MiB"}, []),
    ({"type": "raid10", "size": "100MiB"}, ["raid10", "4", "65536", "26"]),
    ({"type": "raid0", "stripes": 2, "stripesize": "64KiB", "size": "100MiB"}, ["raid0", "2", "65536", "26"]),
    ({"type": "mirror", "size": "20MiB"}, ["mirror", "2", "0", "5"]),
    (
        {"type": "linear", "size": "5MiB", "readahead": "1MiB", "tags": ["t"], "active": False},
        ["linear", "1", "0", "2"],
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), LVS)
def test_lv_types(guest: Guest, disks: list[str], arguments: dict[str, t.Any], expected: list[str]) -> None:
    guest.shell("lvremove -qy pl_t2/l")
    if not expected:
        refused(guest, "lvm_lv", "needs 5 physical volumes", vg="pl_t2", name="l", **arguments)
        return
    done = four_steps(guest, "lvm_lv", vg="pl_t2", name="l", **arguments)
    fields = "segtype,stripes,stripe_size,seg_size_pe"
    assert guest.words(f"lvs --noheadings --nosuffix --units b -o {fields} pl_t2/l") == expected
    if "active" not in arguments:
        lines = guest.shell("dmsetup table pl_t2-l").splitlines()
        assert sum(int(line.split()[1]) for line in lines) * 512 == done["lv"]["size_bytes"]
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", state="absent")


def test_lv_changes_in_place(guest: Guest, disks: list[str]) -> None:
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", type="striped", stripes=2, size="100MiB", readahead="auto")
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", size="200MiB", readahead="256s", tags=["x", "y"])
    seen = guest.words("lvs --noheadings --nosuffix --units b -o lv_size,lv_read_ahead,lv_tags pl_t2/l")
    assert seen == [str(200 * MIB), str(128 * KIB), "x,y"]
    assert guest.words("blockdev --getra /dev/pl_t2/l") == ["256"]
    refused(guest, "lvm_lv", "never shrinks", vg="pl_t2", name="l", size="100MiB")
    refused(guest, "lvm_lv", "stripes is 2, asked for was 3", vg="pl_t2", name="l", stripes=3)
    refused(guest, "lvm_lv", "at most", vg="pl_t2", name="l", size="100GiB")
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", active=False)
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", state="absent")


def test_old_content_does_not_come_back(guest: Guest, disks: list[str]) -> None:
    guest.module("lvm_lv", vg="pl_t2", name="l", size="400MiB")
    guest.shell("mkfs.xfs -qf /dev/pl_t2/l; lvremove -qy pl_t2/l")
    four_steps(guest, "lvm_lv", vg="pl_t2", name="l", size="400MiB")
    assert guest.shell("wipefs /dev/pl_t2/l") == ""
    guest.module("lvm_lv", vg="pl_t2", name="l", state="absent")


def test_check_mode_takes_missing_parents_as_planned(guest: Guest, disks: list[str]) -> None:
    pv = guest.module("lvm_pv", check=True, device="/dev/md/pl_planned")
    vg = guest.module("lvm_vg", check=True, name="pl_planned", devices=["/dev/md/pl_planned"])
    lv = guest.module("lvm_lv", check=True, vg="pl_planned", name="l", extents="100%FREE")
    for result in (pv, vg, lv):
        assert result["changed"] is True and result["assumed_parent"] is True, result
    assert pv["pv"]["size_bytes"] is None and vg["vg"]["extent_count"] is None and lv["lv"]["size_bytes"] is None
    missing = guest.module("lvm_lv", vg="pl_planned", name="l", extents="100%FREE")
    assert missing["failed"] is True and "no volume group pl_planned" in missing["msg"]
    disk = guest.module("lvm_vg", check=True, name="pl_planned", devices=["/dev/sdzz"])
    assert disk["failed"] is True


def test_through_ansible(guest: Guest, disks: list[str]) -> None:
    for module, arguments in (
        ("lvm_pv", {"device": disks[0], "dataalignment": "auto"}),
        ("lvm_vg", {"name": "pl_t2", "devices": disks}),
        ("lvm_lv", {"vg": "pl_t2", "name": "l", "size": "100MiB", "type": "striped"}),
    ):
        text = ansible(
            f"plumbline.storage.{module}", json.dumps({**arguments, "expendable_disks": list(SERIALS)}), "-o"
        )
        assert ("CHANGED" if module == "lvm_lv" else "SUCCESS") in text, text
    text = ansible("plumbline.storage.lvm_lv", json.dumps({"vg": "pl_t2", "name": "l", "size": "50MiB"}), "-o")
    assert "FAILED!" in text and "never shrinks" in text
    assert guest.module("lvm_lv", vg="pl_t2", name="l", state="absent")["changed"] is True


def test_removal_of_the_group(guest: Guest, disks: list[str]) -> None:
    four_steps(guest, "lvm_vg", name="pl_t2", state="absent")
    for disk in disks:
        assert guest.module("lvm_pv", device=disk, state="absent")["changed"] is True
        assert guest.shell(f"wipefs {disk}") == ""
