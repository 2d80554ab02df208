# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard's judgement as a table: facts in, refusals out. The host here is made by hand, small enough to read."""

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
from ansible_collections.plumbline.storage.plugins.module_utils._block.parse import HIDDEN_VOLUME
from ansible_collections.plumbline.storage.plugins.module_utils._core.consent import parse_consent
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_facts import HostFacts, closure_of
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_judge import (
    judge_content,
    judge_disks,
    judge_use,
    needs_scan,
)
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_request import request_of
from ansible_collections.plumbline.storage.plugins.module_utils._core.guard_words import compose
from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Plan, Step
from ansible_collections.plumbline.storage.plugins.module_utils._disk.model import DiskIdentity

MD = "0123456789abcdef0123456789abcdef"
VG = "aaaaaabbbbccccddddeeeeffffgggggg"
EXT4 = Signature("ext4", 1080, "5f0c", "home", "filesystem")
GPT = (Signature("gpt", 512), Signature("PMBR", 510))
RAID = Signature("linux_raid_member", 4096, "01234567-89ab-cdef-0123-456789abcdef", "h:data", "raid")
PV = Signature("LVM2_member", 536, "pv-1", None, "raid")


def node(name: str, kind: str = "disk", **more: t.Any) -> BlockNode:
    more.setdefault("size_bytes", 2**30)
    return BlockNode(name, f"/dev/{name}", devno=f"dev-{name}", kind=kind, **more)


def host(*nodes: BlockNode, **more: t.Any) -> HostFacts:
    """A host on which /dev/<kernel name> is the only path of a device; sd… have serial SN-sd…, media WDC."""
    by_name = {one.kernel_name: one for one in nodes}
    tree = BlockTree(by_name, lambda path: f"dev-{path[5:]}" if path[5:] in by_name else None)
    disks = {
        name: DiskIdentity(name, f"/dev/{name}", model="WDC", serial_number=f"SN-{name}", capacity_bytes=2**30)
        for name, one in by_name.items()
        if one.kind == "disk"
    }
    more["consent"] = parse_consent(more.get("consent", []))
    return HostFacts(
        tree, more.pop("disks", disks), more.pop("uses", Uses()), more.pop("system", SystemDisks()), **more
    )


def plan(*writes: str, removes: tuple[str, ...] = (), asked: str = "make an md member of it") -> Plan:
    return Plan((Step(("true",), asked, tuple(writes), removes),))


def judged(facts: HostFacts, wish: Plan) -> str:
    request = request_of(wish, facts)
    refusals = [*judge_use(facts, request), *judge_content(facts, request)]
    return compose(refusals) if refusals else ""


def stopped_array(**more: t.Any) -> HostFacts:
    def member(number: int) -> tuple[Membership, ...]:
        return (Membership(f"md:{MD}", "h:data", 2, True, 10 + number),)

    return host(
        node("sda"),
        node("sdb"),
        signatures={"sda": (RAID,), "sdb": (RAID,)},
        memberships={"sda": member(0), "sdb": member(1)},
        **more,
    )


def test_a_file_system_on_an_unlisted_disk_is_refused_by_name() -> None:
    assert judged(host(node("sdb"), signatures={"sdb": (EXT4,)}), plan("/dev/sdb")) == (
        "asked to make an md member of it, which would overwrite sdb (WDC, serial SN-sdb), but it holds an ext4 file "
        'system "home" (UUID 5f0c). Nothing was changed.\n'
        'If its content may be lost, add "SN-sdb" to expendable_disks of this host.'
    )


@pytest.mark.parametrize(
    ("signatures", "words"),
    [
        ((Signature("swap", 4086, "u1", None, "other"),), "swap space (UUID u1)"),
        ((Signature("crypto_LUKS", 0, "u2", None, "crypto"),), "a LUKS encrypted volume (UUID u2)"),
        (GPT, "a partition table (gpt)."),
        ((Signature("gpt", 2**30 - 512),), "a partition table (gpt)."),
        ((Signature("dos", 510),), "a partition table (dos)"),
        ((Signature("xfs", 0, "u3", None, "filesystem"), EXT4), "an xfs file system (UUID u3) and an ext4"),
        ((Signature("isw_raid_member", 10, None, None, "raid"),), "RAID set of the firmware (isw_raid_member)"),
        ((Signature("drbd", 10, None, None, "raid"),), "a drbd signature"),
    ],
)
def test_every_signature_counts(signatures: tuple[Signature, ...], words: str) -> None:
    assert words in judged(host(node("sdb"), signatures={"sdb": signatures}), plan("/dev/sdb"))
    assert judged(host(node("sdb"), signatures={"sdb": signatures}, consent=["SN-sdb"]), plan("/dev/sdb")) == ""


def test_a_blank_disk_needs_no_consent_but_a_look() -> None:
    facts = host(node("sdb"), signatures={"sdb": ()})
    assert [one.kernel_name for one in needs_scan(facts, request_of(plan("/dev/sdb"), facts))] == ["sdb"]
    assert judged(facts._replace(scans={"sdb": BlankScan(2**30)}), plan("/dev/sdb")) == ""
    random = judged(facts._replace(scans={"sdb": BlankScan(2**30, 4096)}), plan("/dev/sdb"))
    assert "unrecognised data (the first at byte 4096)" in random
    assert '"SN-sdb"' in random


def test_a_listed_disk_is_not_read_for_blankness() -> None:
    facts = host(node("sdb"), signatures={"sdb": ()}, consent=["SN-sdb"])
    assert needs_scan(facts, request_of(plan("/dev/sdb"), facts)) == []


def test_content_of_partitions_counts_for_the_disk() -> None:
    disk, part = node("sdb", partitions=("sdb1",)), node("sdb1", "partition", parent="sdb")
    facts = host(disk, part, signatures={"sdb": GPT, "sdb1": (EXT4,)})
    assert 'an ext4 file system "home" (UUID 5f0c) on sdb1. Nothing' in judged(facts, plan("/dev/sdb"))


def test_a_blank_partition_of_a_disk_with_a_table_may_be_used() -> None:
    disk, part = node("sdb", partitions=("sdb1",)), node("sdb1", "partition", parent="sdb")
    facts = host(disk, part, signatures={"sdb": GPT, "sdb1": ()}, scans={"sdb1": BlankScan(2**20)})
    assert judged(facts, plan("/dev/sdb1")) == ""


def test_a_partition_of_a_disk_that_is_itself_a_member_belongs_to_its_array() -> None:
    disk, part = node("sdb", partitions=("sdb1",)), node("sdb1", "partition", parent="sdb")
    facts = host(
        disk,
        part,
        node("sda"),
        signatures={"sdb": (RAID,), "sdb1": (EXT4,), "sda": (RAID,)},
        memberships={name: (Membership(f"md:{MD}", None, 2),) for name in ("sda", "sdb")},
        consent=["SN-sdb"],
    )
    assert '"SN-sda"' in judged(facts, plan("/dev/sdb1"))


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("mounted on /home", "but it is mounted on /home"),
        ("in use as swap", "but it is in use as swap"),
        ("held open by process 7 (cat)", "but it is held open by process 7 (cat)"),
        ("exported by the SCSI target x", "but it is exported by"),
    ],
)
def test_consent_never_covers_use(use: str, words: str) -> None:
    facts = host(node("sdb"), signatures={"sdb": (EXT4,)}, consent=["SN-sdb"], uses=Uses({"dev-sdb": (use,)}))
    text = judged(facts, plan("/dev/sdb"))
    assert words in text
    assert "expendable_disks" not in text
    assert words.replace("but it", "it") in compose(judge_disks(facts, [facts.tree.nodes["sdb"]], "use", True))


def test_use_of_a_partition_is_use_of_the_disk() -> None:
    disk, part = node("sdb", partitions=("sdb1",)), node("sdb1", "partition", parent="sdb")
    facts = host(disk, part, consent=["SN-sdb"], uses=Uses({"dev-sdb1": ("mounted on /srv",)}))
    assert "sdb1 on sdb (WDC, serial SN-sdb) is mounted on /srv" in judged(facts, plan("/dev/sdb"))


def test_an_exclusive_open_decides() -> None:
    facts = host(node("sdb"), consent=["SN-sdb"], busy=frozenset({"sdb"}), signatures={"sdb": ()})
    assert "an exclusive open is refused" in judged(facts, plan("/dev/sdb"))


def test_read_only_is_refused() -> None:
    facts = host(node("sdb", read_only=True), consent=["SN-sdb"], signatures={"sdb": ()})
    assert "it is read-only" in judged(facts, plan("/dev/sdb"))


def test_the_system_disk_is_refused_listed_or_not() -> None:
    facts = host(node("sda"), signatures={"sda": ()}, consent=["SN-sda"], system=SystemDisks({"sda": "/boot"}))
    assert "sda holds /boot of the running system and is never usable" in judged(facts, plan("/dev/sda"))


def test_nothing_is_destroyed_when_the_root_cannot_be_told() -> None:
    facts = host(node("sdb"), signatures={"sdb": ()}, consent=["SN-sdb"], system=SystemDisks({}, "/ is a riddle"))
    assert "/ is a riddle" in judged(facts, plan("/dev/sdb"))


def test_devices_that_do_not_exist_yet_are_no_matter() -> None:
    assert judged(host(node("sdb"), signatures={"sdb": ()}), plan("/dev/md/new")) == ""


@pytest.mark.parametrize("kind", ["nbd", "rbd", "drbd", "zram", "unknown"])
def test_kinds_without_an_identity_are_refused(kind: str) -> None:
    facts = host(node("x0", kind), signatures={"x0": ()})
    assert "whose identity cannot be told" in judged(facts, plan("/dev/x0"))


@pytest.mark.parametrize(
    ("consent", "asked_for"),
    [([], ["SN-sda", "SN-sdb"]), (["SN-sda"], ["SN-sdb"]), (["SN-sdb"], ["SN-sda"]), (["SN-sda", "SN-sdb"], [])],
)
def test_a_stopped_array_needs_all_its_disks_listed(consent: list[str], asked_for: list[str]) -> None:
    text = judged(stopped_array(consent=consent), plan("/dev/sda"))
    assert bool(text) is bool(asked_for)
    assert all(f'"{serial}"' in text for serial in asked_for)


def test_a_member_that_is_not_found_is_a_refusal_in_spite_of_consent() -> None:
    facts = stopped_array(consent=["SN-sda", "SN-sdb"])
    three = {name: (m[0]._replace(expected_members=3),) for name, m in facts.memberships.items()}
    text = judged(facts._replace(memberships=three), plan("/dev/sda"))
    assert "has 3 members, of which only 2 were found" in text
    assert "expendable_disks" not in text


def test_an_array_that_runs_without_a_member_that_is_gone_may_be_removed() -> None:
    wish = plan("/dev/sda", "/dev/sdb", removes=(f"md:{MD}",), asked="remove the array")
    facts = active_array(signatures={"md127": (EXT4,)}, consent=["SN-sda", "SN-sdb"])
    three = {name: (m[0]._replace(expected_members=3),) for name, m in facts.memberships.items()}
    assert judged(facts._replace(memberships=three), wish) == ""


def test_a_stale_superblock_does_not_count_a_member_that_the_array_gave_up() -> None:
    facts = stopped_array(consent=["SN-sda", "SN-sdb"])
    stale = {"sda": (Membership(f"md:{MD}", None, 3, True, 1),), "sdb": (Membership(f"md:{MD}", None, 2, True, 9),)}
    assert judged(facts._replace(memberships=stale), plan("/dev/sda")) == ""


def test_an_inactive_group_needs_all_its_disks_listed() -> None:
    facts = host(
        node("sda"),
        node("sdb"),
        signatures={"sda": (PV,), "sdb": (PV,)},
        memberships={"sda": (Membership("pv:pv-1"),), "sdb": (Membership("pv:pv-2"),)},
        volumes=(PhysicalVolume("/dev/sda", "pv-1", "data", VG, 1), PhysicalVolume("/dev/sdb", "pv-2", "data", VG, 1)),
        consent=["SN-sda"],
    )
    text = judged(facts, plan("/dev/sda"))
    assert 'a physical volume of the volume group "data"' in text
    assert "sdb (WDC, serial SN-sdb) would lose what belongs to it and is not listed" in text


@pytest.mark.parametrize(
    ("volume", "words"),
    [
        (
            PhysicalVolume("/dev/sda", "pv-1", "data", VG, 1, vg_missing_count=1),
            "data misses 1 of its physical volumes",
        ),
        (PhysicalVolume("/dev/sda", "pv-1", "data", VG, 1, shared=True), "data is shared with other hosts"),
        (PhysicalVolume("/dev/sda", "pv-1", "data", VG, 1, system_id="other"), "belongs to another host (other)"),
        (PhysicalVolume("/dev/sdz", "pv-9", "else", VG, 1), "LVM does not report the physical volume pv-1"),
    ],
)
def test_groups_that_consent_does_not_reach(volume: PhysicalVolume, words: str) -> None:
    facts = host(
        node("sda"),
        signatures={"sda": (PV,)},
        memberships={"sda": (Membership("pv:pv-1"),)},
        volumes=(volume,),
        consent=["SN-sda"],
    )
    assert words in judged(facts, plan("/dev/sda"))


def test_volumes_inside_stopped_arrays_are_taken_as_one_set() -> None:
    facts = stopped_array(consent=["SN-sda", "SN-sdb"])
    others = {"sdc": (Membership("md:ffff"), HIDDEN_VOLUME)}
    with_volume = {name: (*items, HIDDEN_VOLUME) for name, items in facts.memberships.items()}
    nodes = {**facts.tree.nodes, "sdc": node("sdc")}
    disks = {**facts.disks, "sdc": DiskIdentity("sdc", "/dev/sdc", serial_number="SN-sdc")}
    tree = facts.tree._replace(nodes=nodes)
    facts = facts._replace(tree=tree, disks=disks, memberships={**with_volume, **others})
    assert '"SN-sdc"' in judged(facts, plan("/dev/sda"))


def active_array(**more: t.Any) -> HostFacts:
    members = {name: (Membership(f"md:{MD}", "h:data", 2),) for name in ("sda", "sdb")}
    signatures = {"sda": (RAID,), "sdb": (RAID,), "md127": ()}
    return host(
        node("sda", holders=("md127",)),
        node("sdb", holders=("md127",)),
        node("md127", "md", slaves=("sda", "sdb"), md_uuid=MD),
        signatures={**signatures, **more.pop("signatures", {})},
        memberships=members,
        **more,
    )


def test_a_member_of_an_active_array_is_refused_listed_or_not() -> None:
    facts = active_array(consent=["SN-sda", "SN-sdb"], busy=frozenset({"sda"}))
    assert "it is part of the active array md127" in judged(facts, plan("/dev/sda"))


@pytest.mark.parametrize("name", [f"md:{MD}", "md:01234567:89abcdef:01234567:89abcdef", "md:/dev/md127"])
def test_an_empty_array_may_go_without_consent(name: str) -> None:
    facts = active_array(scans={"md127": BlankScan(2**30)})
    wish = plan("/dev/sda", "/dev/sdb", removes=(name,))
    assert judged(facts, wish) == ""
    assert needs_scan(active_array(), request_of(wish, active_array())) != []


def test_an_empty_array_that_is_in_the_way_needs_consent_for_all_its_disks() -> None:
    wish = Plan((Step(("true",), "stop the array", removes=(f"md:{MD}",), in_the_way=True), *plan("/dev/sda").steps))
    assert '"SN-sdb"' in judged(active_array(scans={"md127": BlankScan(2**30)}, consent=["SN-sda"]), wish)
    assert judged(active_array(scans={"md127": BlankScan(2**30)}, consent=["SN-sda", "SN-sdb"]), wish) == ""


def test_an_array_with_content_needs_consent_to_go() -> None:
    wish = plan("/dev/sda", "/dev/sdb", removes=(f"md:{MD}",), asked="stop the array")
    text = judged(active_array(signatures={"md127": (EXT4,)}), wish)
    assert 'an ext4 file system "home"' in text
    assert '"SN-sda", "SN-sdb"' in text
    assert judged(active_array(signatures={"md127": (EXT4,)}, consent=["SN-sda", "SN-sdb"]), wish) == ""
    assert judged(active_array(signatures={"md127": (EXT4,)}, ours=frozenset({f"md:{MD}"})), wish) == ""
    random = active_array(scans={"md127": BlankScan(2**30, 0)})
    assert '"SN-sda", "SN-sdb"' in judged(random, wish)


def test_a_stopped_array_counts_as_not_empty() -> None:
    assert '"SN-sda", "SN-sdb"' in judged(stopped_array(), plan(removes=(f"md:{MD}",), asked="remove the array"))
    assert judged(stopped_array(ours=frozenset({f"md:{MD}"})), plan("/dev/sda", removes=(f"md:{MD}",))) == ""


def test_a_mounted_array_does_not_go() -> None:
    uses = Uses({"dev-md127": ("mounted on /srv",)})
    facts = active_array(consent=["SN-sda", "SN-sdb"], uses=uses)
    text = judged(facts, plan("/dev/sda", removes=(f"md:{MD}",), asked="stop the array"))
    assert "asked to stop the array, but md127 is mounted on /srv" in text


def test_an_array_that_is_only_stopped_needs_no_consent_but_must_not_be_in_use() -> None:
    wish = Plan((Step(("true",), "stop the array", stops=("md:/dev/md127",)),))
    full = active_array(signatures={"md127": (EXT4,)})
    assert judged(full, wish) == ""
    assert needs_scan(full, request_of(wish, full)) == []
    mounted = active_array(signatures={"md127": (EXT4,)}, uses=Uses({"dev-md127": ("mounted on /srv",)}))
    assert "md127 is mounted on /srv" in judged(mounted, wish)
    # Being a member of an array that is only stopped stays content of a disk.
    both = Plan((*wish.steps, Step(("true",), "wipe it", ("/dev/sda",))))
    assert '"SN-sda", "SN-sdb"' in judged(active_array(scans={"md127": BlankScan(2**30)}), both)


def test_a_new_layer_on_a_blank_array_needs_no_consent() -> None:
    assert judged(active_array(scans={"md127": BlankScan(2**30)}), plan("/dev/md127")) == ""


def stack_of_ours(**more: t.Any) -> HostFacts:
    """sda1 and sdb1 -> md127 -> dm-0 (volume group pl), with a file system."""
    lvm = {"dm_uuid": f"LVM-{VG}{VG}", "dm_name": "pl-lv"}
    more.setdefault("volumes", (PhysicalVolume("/dev/md127", "pv-1", "pl", VG, 1),))
    return host(
        node("sda", partitions=("sda1",)),
        node("sdb", partitions=("sdb1",)),
        node("sda1", "partition", parent="sda", holders=("md127",), partition_uuid="u-a"),
        node("sdb1", "partition", parent="sdb", holders=("md127",), partition_uuid="u-b"),
        node("md127", "md", slaves=("sda1", "sdb1"), holders=("dm-0",), md_uuid=MD),
        node("dm-0", "dm", slaves=("md127",), **lvm),
        signatures={"sda": GPT, "sdb": GPT, "sda1": (RAID,), "sdb1": (RAID,), "md127": (PV,), "dm-0": (EXT4,)},
        memberships={
            "sda1": (Membership(f"md:{MD}", None, 2),),
            "sdb1": (Membership(f"md:{MD}", None, 2),),
            "md127": (Membership("pv:pv-1"),),
        },
        **more,
    )


TAKE_DOWN = plan(
    "/dev/sda1", "/dev/sdb1", "/dev/md127", "/dev/dm-0", removes=("lv:pl/lv", "vg:pl", f"md:{MD}"), asked="remove it"
)


def test_what_is_ours_goes_without_consent_and_without_lvm() -> None:
    assert judged(stack_of_ours(ours=frozenset({"partuuid:u-a", "partuuid:u-b"}), volumes=None), TAKE_DOWN) == ""


def test_half_ours_is_not_ours() -> None:
    assert '"SN-sdb"' in judged(stack_of_ours(ours=frozenset({"partuuid:u-a"})), TAKE_DOWN)


def test_ours_does_not_cover_use() -> None:
    uses = Uses({"dev-dm-0": ("mounted on /bench in the mount namespace of process 9 (fio)",)})
    text = judged(stack_of_ours(ours=frozenset({"partuuid:u-a", "partuuid:u-b"}), uses=uses), TAKE_DOWN)
    assert "mounted on /bench in the mount namespace of process 9 (fio)" in text


def test_a_volume_is_found_by_its_group_and_name() -> None:
    text = judged(stack_of_ours(), plan(removes=("lv:pl/lv",), asked="remove the logical volume pl/lv"))
    assert "asked to remove the logical volume pl/lv, but it holds an ext4" in text
    assert '"SN-sda", "SN-sdb"' in text


def test_a_file_system_going_does_not_mean_its_device_goes() -> None:
    text = judged(stack_of_ours(consent=["SN-sda", "SN-sdb"]), plan("/dev/md127", removes=("xfs:/dev/dm-0",)))
    assert "it is in use by the active logical volume pl/lv" in text


def test_an_orphan_physical_volume_is_empty() -> None:
    facts = host(
        node("sda"),
        signatures={"sda": (PV,)},
        memberships={"sda": (Membership("pv:pv-1"),)},
        volumes=(PhysicalVolume("/dev/sda", "pv-1"),),
    )
    assert judged(facts, plan("/dev/sda", removes=("pv:/dev/sda",))) == ""
    assert '"SN-sda"' in judged(facts, plan("/dev/sda"))


def test_one_lun_on_two_paths_is_used_through_its_map_only() -> None:
    twins = {
        name: DiskIdentity(name, f"/dev/{name}", serial_number="SN", wwn="naa.5000c50000000010", duplicate_wwn=True)
        for name in ("sda", "sdb")
    }
    free = host(node("sda"), node("sdb"), disks=twins, signatures={"sda": ()}, consent=["SN"])
    assert "sdb shows the same WWN naa.5000c50000000010" in judged(free, plan("/dev/sda"))
    mapped = host(
        node("sda", holders=("dm-0",)),
        node("sdb", holders=("dm-0",)),
        node("dm-0", "dm", slaves=("sda", "sdb"), dm_uuid="mpath-3500", dm_name="mpatha"),
        disks=twins,
        signatures={"sda": (), "dm-0": (EXT4,)},
        consent=["naa.5000c50000000010"],
    )
    assert "it is a path of the multipath map mpatha; use /dev/mapper/mpatha" in judged(mapped, plan("/dev/sda"))
    assert judged(mapped, plan("/dev/dm-0")) == ""


def test_an_experiment_wants_every_disk_listed_blank_or_not() -> None:
    facts = host(node("sda"), node("sdb"), signatures={"sda": (), "sdb": ()}, consent=["SN-sda"])
    nodes = list(facts.tree.nodes.values())
    refusals = judge_disks(facts, nodes, "run an experiment on", True)
    assert [one.sentence for one in refusals] == [
        "asked to run an experiment on sdb (WDC, serial SN-sdb), but it is not listed in expendable_disks."
    ]
    assert judge_disks(facts, nodes, "look at", False) == []


def test_a_closure_stops_at_neighbours() -> None:
    facts = host(
        node("sda", partitions=("sda1", "sda2")),
        node("sda1", "partition", parent="sda"),
        node("sda2", "partition", parent="sda"),
        node("sdb", partitions=("sdb1",)),
        node("sdb1", "partition", parent="sdb"),
        memberships={
            "sda1": (Membership("btrfs:one", None, 1),),
            "sda2": (Membership("btrfs:two", None, 2),),
            "sdb1": (Membership("btrfs:two", None, 2),),
        },
    )
    assert set(closure_of(facts, [facts.tree.nodes["sda1"]]).disks) == {"sda"}
    assert set(closure_of(facts, [facts.tree.nodes["sda"]]).disks) == {"sda", "sdb"}
