# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of the guard on a host that changes under it: check, then a last look before the first destructive step."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._block.model import (
    BlankScan,
    BlockNode,
    BlockTree,
    Membership,
    PhysicalVolume,
    Signature,
    SystemDisks,
    Uses,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core import guard as guard_module
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard import Guard
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity


class Host:
    """A host made by hand; every reading of the guard comes from here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nodes: dict[str, BlockNode] = {}
        self.signatures: dict[str, tuple[Signature, ...]] = {}
        self.serials: dict[str, str] = {}
        self.data_at: dict[str, int] = {}
        self.asked: list[tuple[str, ...]] = []
        self.scanned: list[str] = []
        replacements: dict[str, t.Any] = {
            "read_tree": self.tree,
            "read_disks": lambda tree: [self.disk(node) for node in tree.nodes.values() if node.kind == "disk"],
            "read_disk": self.disk,
            "read_uses": lambda tree: Uses(),
            "read_system_disks": lambda tree, mounts: SystemDisks(),
            "read_signatures": self.read_signatures,
            "read_memberships": lambda path, signatures: (),
            "exclusive_open_fails": lambda path: False,
            "scan_many": self.scan,
            "devno_of_path": self.devno,
        }
        for name, replacement in replacements.items():
            monkeypatch.setattr(guard_module, name, replacement)

    def add(self, name: str, kind: str = "disk", **more: t.Any) -> None:
        self.nodes[name] = BlockNode(name, f"/dev/{name}", f"dev-{name}", 2**30, kind, **more)
        self.serials[name] = f"SN-{name}"

    def devno(self, path: str) -> str | None:
        node = self.nodes.get(path[5:])
        return None if node is None else node.devno

    def tree(self) -> BlockTree:
        return BlockTree(dict(self.nodes), self.devno)

    def disk(self, node: BlockNode) -> DiskIdentity:
        return DiskIdentity(node.kernel_name, node.path, serial_number=self.serials[node.kernel_name])

    def read_signatures(
        self, runner: Runner, paths: t.Sequence[str], tolerant: bool = False
    ) -> dict[str, tuple[Signature, ...]]:
        self.asked.append(tuple(paths))
        return {path: self.signatures.get(path[5:], ()) for path in paths}

    def scan(self, paths: t.Sequence[str]) -> dict[str, BlankScan]:
        self.scanned += paths
        return {path: BlankScan(2**30, self.data_at.get(path[5:])) for path in paths}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host(monkeypatch)
    made.add("sda")
    made.add("sdb")
    return made


def step(*writes: str) -> Step:
    return Step(("true",), "make an array", writes)


def guard(*listed: str) -> Guard:
    return Guard(Runner(), parse_consent(list(listed)))


TWO = Plan((step("/dev/sda"), step("/dev/sda", "/dev/sdb"), step("/dev/md/new")))


def test_settings_cost_nothing(host: Host) -> None:
    guard().check(Plan((Step(("true",), "set the readahead"),)))
    assert host.asked == []


def test_blank_disks_cost_one_call_at_each_look(host: Host) -> None:
    one = guard()
    one.check(TWO)
    assert host.asked == [("/dev/sda", "/dev/sdb")]
    assert sorted(host.scanned) == ["/dev/sda", "/dev/sdb"]
    for each in TWO.steps:
        one.before_step(each)
    assert len(host.asked) == 2


def test_listed_disks_are_not_read(host: Host) -> None:
    guard("SN-sda", "SN-sdb").check(TWO)
    assert host.scanned == []


def test_a_signature_that_appears_between_stops_the_run(host: Host) -> None:
    one = guard("SN-sda", "SN-sdb")
    one.check(TWO)
    host.signatures["sdb"] = (Signature("ext4", 1080),)
    with pytest.raises(PlanRefused, match="the content of sdb changed since the plan was made"):
        one.before_step(TWO.steps[0])


def test_data_that_appears_between_stops_the_run(host: Host) -> None:
    one = guard()
    one.check(TWO)
    host.data_at["sda"] = 512
    with pytest.raises(PlanRefused, match="the content of sda changed"):
        one.before_step(TWO.steps[0])


def test_content_that_the_plan_itself_makes_is_no_change(host: Host) -> None:
    one = guard("SN-sda", "SN-sdb")
    one.check(TWO)
    one.before_step(TWO.steps[0])
    host.signatures["sda"] = (Signature("linux_raid_member", 4096),)
    one.before_step(TWO.steps[1])


def test_another_disk_behind_the_path_stops_the_run(host: Host) -> None:
    one = guard("SN-sda", "SN-sdb")
    one.check(TWO)
    one.before_step(TWO.steps[0])
    host.serials["sdb"] = "SN-other"
    with pytest.raises(
        PlanRefused, match=r"was sdb .serial SN-sdb. when the plan was made and is sdb .serial SN-other. now"
    ):
        one.before_step(TWO.steps[1])


def test_another_device_behind_the_path_stops_the_run(host: Host) -> None:
    one = guard("SN-sda", "SN-sdb")
    one.check(TWO)
    host.nodes["sda"] = host.nodes["sda"]._replace(devno="dev-else")
    with pytest.raises(PlanRefused, match="another device"):
        one.before_step(TWO.steps[0])


def test_a_disk_where_nothing_was_planned_on_stops_the_run(host: Host) -> None:
    plan = Plan((step("/dev/sdc"),))
    one = guard()
    one.check(plan)
    host.add("sdc")
    with pytest.raises(PlanRefused, match="is a disk now"):
        one.before_step(plan.steps[0])


def test_a_partition_made_anew_may_have_another_number(host: Host) -> None:
    host.nodes["sda"] = host.nodes["sda"]._replace(partitions=("sda1",))
    host.add("sda1", "partition", parent="sda")
    plan = Plan((step("/dev/sda1", "/dev/sda"), step("/dev/sda1")))
    one = guard("SN-sda")
    one.check(plan)
    one.before_step(plan.steps[0])
    host.nodes["sda1"] = host.nodes["sda1"]._replace(devno="259:7")
    one.before_step(plan.steps[1])
    host.nodes["sda1"] = host.nodes["sda1"]._replace(devno="259:8", parent="sdb")
    with pytest.raises(PlanRefused, match="lies on other disks"):
        one.before_step(plan.steps[1])


def test_a_step_that_was_never_checked_does_not_run(host: Host) -> None:
    with pytest.raises(PlanRefused, match="was not looked at before"):
        guard("SN-sda").before_step(step("/dev/sda"))


def test_check_disks_wants_devices_that_are_there(host: Host) -> None:
    with pytest.raises(PlanRefused, match="asked to run on /dev/sdz, but there is no such block device"):
        guard().check_disks(["/dev/sdz"], purpose="run on")
    assert [disk.kernel_name for disk in guard("SN-sda").check_disks(["/dev/sda"])] == ["sda"]


def test_clearing_leaves_blank_disks_alone(host: Host) -> None:
    host.signatures["sdb"] = (Signature("ext4", 1080),)
    steps = guard("SN-sda", "SN-sdb").clear_steps(["/dev/sda", "/dev/sdb"])
    assert [one.argv for one in steps] == [("wipefs", "-a", "/dev/sdb")]


def test_clearing_goes_from_the_top_down(host: Host) -> None:
    host.nodes["sda"] = host.nodes["sda"]._replace(partitions=("sda1",))
    host.add("sda1", "partition", parent="sda", holders=("md127",))
    host.add("md127", "md", slaves=("sda1",), holders=("dm-0",), md_uuid="0123456789abcdef0123456789abcdef")
    host.add("dm-0", "dm", slaves=("md127",), dm_name="vg-lv", dm_uuid="LVM-" + "a" * 64)
    steps = guard("SN-sda").clear_steps(["/dev/sda"])
    assert [one.argv for one in steps] == [
        ("lvm", "vgchange", "-an", "--", "vg"),
        ("mdadm", "--stop", "/dev/md127"),
        ("wipefs", "-a", "/dev/sda1"),
        ("wipefs", "-a", "/dev/sda"),
    ]
    assert [one.in_the_way for one in steps] == [True, True, False, False], "nobody named what is taken down"
    guard("SN-sda").check(Plan(tuple(steps)))


def test_an_inactive_group_is_looked_for_even_beside_an_active_array(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = "0123456789abcdef0123456789abcdef"
    host.nodes["sda"] = host.nodes["sda"]._replace(holders=("md127",))
    host.add("md127", "md", slaves=("sda",), md_uuid=uuid)
    host.signatures["sdb"] = (Signature("LVM2_member", 536, "pv-1"),)
    volume = PhysicalVolume("/dev/sdb", "pv-1", "data", "v" * 32, 1)
    monkeypatch.setattr(guard_module, "read_physical_volumes", lambda runner: [volume])
    monkeypatch.setattr(
        guard_module,
        "read_memberships",
        lambda path, signatures: tuple(Membership("pv:pv-1") for one in signatures if one.type == "LVM2_member"),
    )
    plan = Plan((Step(("true",), "remove it all", (), (f"md:{uuid}", "vg:data")),))
    with pytest.raises(PlanRefused, match="it holds 1 logical volume; sdb") as refusal:
        guard("SN-sda").check(plan)
    assert '"SN-sdb"' in str(refusal.value)
    guard("SN-sda", "SN-sdb").check(plan)


def test_what_udev_opens_for_a_moment_is_given_time(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = iter([Uses({"dev-sda": ("held open by process 7 (udev-worker)",)}), Uses(), Uses()])
    monkeypatch.setattr(guard_module, "read_uses", lambda tree: next(seen))
    settled: list[str] = []
    monkeypatch.setattr(Runner, "query", lambda self, argv, **more: settled.append(argv[0]))
    guard("SN-sda", "SN-sdb").check(TWO)
    assert settled == ["udevadm"]


def test_what_stays_open_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "read_uses", lambda tree: Uses({"dev-sda": ("held open by process 7 (cat)",)}))
    monkeypatch.setattr(Runner, "query", lambda self, argv, **more: None)
    with pytest.raises(PlanRefused, match=r"it is held open by process 7 .cat."):
        guard("SN-sda", "SN-sdb").check(TWO)


def test_what_the_kernel_holds_is_no_disk_for_an_experiment(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "exclusive_open_fails", lambda path: path == "/dev/sda")
    monkeypatch.setattr(Runner, "query", lambda self, argv, **more: None)
    with pytest.raises(PlanRefused, match="it is in use by the kernel"):
        guard("SN-sda").check_disks(["/dev/sda"])
