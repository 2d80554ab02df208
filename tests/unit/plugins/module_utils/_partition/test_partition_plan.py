# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a region of a disk comes to be and goes, as tables."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry, Stripe
from ansible_collections.plumbline.storage.plugins.module_utils._partition.fields import geometry_of
from ansible_collections.plumbline.storage.plugins.module_utils._partition.model import (
    LINUX_TYPE,
    PARTITION_TYPES,
    PartitionState,
    PartitionWanted,
    TableState,
    find_partition,
    is_own_table,
    own_table_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan import plan_partition, plan_region
from ansible_collections.plumbline.storage.plugins.module_utils._partition.plan_absent import plan_partition_absent

MIB, GIB = 1024**2, 1024**3
DISK = DeviceGeometry("/dev/sdb", 4 * GIB)
FOUR_K = DeviceGeometry("/dev/sdb", 4 * GIB, 4096, 4096)
UUID = "aaaaaaaa-0000-4000-8000-000000000001"
OURS = own_table_uuid("0123456789abcdef0123")
FOREIGN = "11111111-2222-4333-8444-555555555555"


def want(**options: t.Any) -> PartitionWanted:
    base: dict[str, t.Any] = {
        "disk": "/dev/sdb",
        "name": "pl_a",
        "start_bytes": MIB,
        "size_bytes": GIB,
        "uuid": UUID,
        "table_uuid": OURS,
    }
    return PartitionWanted(**{**base, **options})


def blank(sector: int = 512, **more: t.Any) -> TableState:
    return TableState("/dev/sdb", sector_bytes=sector, **more)


def part(number: int, start: int, size: int, name: str = "other", uuid: str | None = None) -> PartitionState:
    return PartitionState(
        f"/dev/sdb{number}", number, name, start, size, uuid or f"bbbbbbbb-0000-4000-8000-{number:012d}", LINUX_TYPE
    )


def table(*parts: PartitionState, uuid: str = FOREIGN, label: str = "gpt") -> TableState:
    return TableState("/dev/sdb", label, uuid, parts, 512, MIB, 4 * GIB - 33 * 512)


def test_blank_disk_gets_table_and_partition_in_one_call() -> None:
    plan = plan_partition(blank(), want(), DISK)
    assert len(plan.steps) == 1
    step = plan.steps[0]
    assert step.argv[0] == "sfdisk"
    assert step.argv[-1] == "/dev/sdb"
    assert "--append" not in step.argv
    assert step.writes == ("/dev/sdb",)
    assert step.stdin == (
        f"label: gpt\nlabel-id: {OURS.upper()}\n"
        f'start=2048, size=2097152, type={LINUX_TYPE}, uuid={UUID.upper()}, name="pl_a"\n'
    )
    made = find_partition(plan.predicted, want())
    assert made is not None
    assert (made.path, made.number, made.start_bytes, made.size_bytes) == ("/dev/sdb1", 1, MIB, GIB)
    assert is_own_table(plan.predicted)


def test_sectors_of_4096_bytes_are_counted_in_their_size() -> None:
    plan = plan_partition(blank(4096), want(), FOUR_K)
    assert "start=256, size=262144," in (plan.steps[0].stdin or "")


def test_added_to_a_table_that_is_there_without_touching_it() -> None:
    old = table(part(1, MIB, GIB), part(3, 3 * GIB, 100 * MIB))
    plan = plan_partition(old, want(start_bytes=2 * GIB), DISK)
    step = plan.steps[0]
    assert "--append" in step.argv
    assert step.argv[step.argv.index("--wipe") + 1] == "never"
    assert "label" not in (step.stdin or "")
    assert plan.predicted.uuid == FOREIGN
    assert [(each.number, each.start_bytes) for each in plan.predicted.partitions] == [
        (1, MIB),
        (2, 2 * GIB),
        (3, 3 * GIB),
    ]


@pytest.mark.parametrize(
    ("state", "options", "disk", "words"),
    [
        (blank(), {"start_bytes": 512 * 1024, "alignment_bytes": 512}, DISK, ["512KiB", "1MiB", "earliest"]),
        (blank(), {"start_bytes": MIB + 512}, DISK, ["alignment", "1MiB"]),
        (blank(4096), {"start_bytes": 2 * MIB + 512, "alignment_bytes": 512}, FOUR_K, ["physical sector", "4KiB"]),
        (blank(4096), {"size_bytes": GIB + 512}, FOUR_K, ["size", "whole number", "4KiB"]),
        (blank(), {"size_bytes": 4 * GIB}, DISK, ["room only up to", "or less"]),
        (blank(), {"start_bytes": 5 * GIB}, DISK, ["room only up to"]),
        (blank(), {"start_bytes": 5 * GIB, "size_bytes": None}, DISK, ["no room"]),
        (blank(), {"start_bytes": None}, DISK, ["start"]),
        (table(part(1, MIB, GIB)), {}, DISK, ["partition 1", "other", "1MiB"]),
        (table(part(1, 512 * MIB, MIB)), {}, DISK, ["partition 1"]),
        (table(part(1, MIB, 5 * GIB)), {"start_bytes": 2 * GIB}, DISK, ["partition 1"]),
        (table(label="dos"), {}, DISK, ["dos", "replace_table"]),
        # The same name or UUID in another place is not moved.
        (table(part(1, MIB, 2 * GIB, "pl_a", UUID)), {}, DISK, ["size 1GiB", "size 2GiB"]),
        (table(part(1, 2 * MIB, GIB, "pl_a", UUID)), {"uuid": None}, DISK, ["start 1MiB", "start 2MiB"]),
    ],
)
def test_refused(state: TableState, options: dict[str, t.Any], disk: DeviceGeometry, words: list[str]) -> None:
    with pytest.raises(PlanRefused) as caught:
        plan_partition(state, want(**options), disk)
    assert all(word in caught.value.message for word in words), caught.value.message


@pytest.mark.parametrize(
    "options",
    [{}, {"uuid": None}, {"uuid": UUID.upper()}, {"start_bytes": None, "size_bytes": None}, {"type_guid": LINUX_TYPE}],
)
def test_the_one_that_is_there_is_left(options: dict[str, t.Any]) -> None:
    plan = plan_partition(table(part(1, MIB, GIB, "pl_a", UUID)), want(**options), DISK)
    assert not plan.changed
    assert plan.before == plan.after


@pytest.mark.parametrize(
    ("state", "options"),
    [
        (blank(), {}),
        (blank(), {"uuid": None}),
        (blank(), {"size_bytes": None}),
        (blank(), {"type_guid": PARTITION_TYPES["raid"].lower()}),
        (table(part(1, 2 * GIB, GIB)), {}),
        (table(part(1, 2 * GIB, GIB)), {"size_bytes": None}),
        (table(part(1, MIB, GIB, "old name", UUID)), {}),
        (table(part(1, MIB, GIB, "pl_a", UUID)), {"type_guid": PARTITION_TYPES["lvm"]}),
        (table(part(1, MIB, GIB, "pl_a", UUID)._replace(path=None)), {}),
    ],
)
def test_nothing_is_left_to_do_after_what_was_predicted(state: TableState, options: dict[str, t.Any]) -> None:
    plan = plan_partition(state, want(**options), DISK)
    assert plan.changed
    assert not plan_partition(plan.predicted, want(**options), DISK).changed


def test_size_left_out_takes_the_room_on_the_grid() -> None:
    alone = find_partition(plan_partition(blank(), want(size_bytes=None), DISK).predicted, want())
    assert alone is not None
    assert alone.end_bytes == 4 * GIB - MIB
    before = table(part(1, 3 * GIB + 512, MIB))
    fitted = find_partition(plan_partition(before, want(size_bytes=None), DISK).predicted, want())
    assert fitted is not None
    assert fitted.end_bytes == 3 * GIB


@pytest.mark.parametrize(
    ("state", "options", "expected"),
    [
        (part(1, MIB, GIB, "old", UUID), {}, ["--part-label", "/dev/sdb", "1", "pl_a"]),
        (
            part(2, MIB, GIB, "pl_a", UUID),
            {"type_guid": PARTITION_TYPES["raid"]},
            ["--part-type", "/dev/sdb", "2", PARTITION_TYPES["raid"]],
        ),
    ],
)
def test_name_and_type_change_in_place(state: PartitionState, options: dict[str, t.Any], expected: list[str]) -> None:
    plan = plan_partition(table(state), want(**options), DISK)
    assert list(plan.steps[0].argv[-4:]) == expected
    assert plan.writes() == ()


def test_a_partition_that_the_kernel_does_not_show_is_read_again() -> None:
    hidden = part(1, MIB, GIB, "pl_a", UUID)._replace(path=None)
    assert plan_partition(table(hidden), want(), DISK).commands() == ["partx --update --nr 1:1 /dev/sdb"]


@pytest.mark.parametrize(
    ("state", "programs", "writes"),
    [
        (blank(), ["sfdisk"], ("/dev/sdb",)),
        (table(uuid=OURS), ["sfdisk", "partx"], ("/dev/sdb",)),
        (table(part(1, 2 * GIB, GIB), uuid=OURS), ["sfdisk", "partx"], ("/dev/sdb",)),
        (table(part(1, MIB, GIB)), ["wipefs", "sfdisk"], ("/dev/sdb1", "/dev/sdb")),
        (table(label="dos"), ["wipefs", "sfdisk"], ("/dev/sdb",)),
        (table(part(1, MIB, GIB, "pl_a", UUID)), [], ()),
    ],
)
def test_region_of_a_disk_that_is_given_up(state: TableState, programs: list[str], writes: tuple[str, ...]) -> None:
    plan = plan_region(state, want(), DISK)
    assert [step.argv[0] for step in plan.steps] == programs
    assert plan.writes() == writes
    assert not plan_region(plan.predicted, want(), DISK).changed


@pytest.mark.parametrize(
    ("state", "commands", "writes"),
    [
        (table(), [], ()),
        (blank(), [], ()),
        (blank(leftovers=("/dev/sdb1",)), ["blockdev --rereadpt /dev/sdb"], ()),
        (table()._replace(leftovers=("/dev/sdb1",)), [], ()),
        (
            table(part(1, MIB, GIB, "pl_a", UUID)),
            [
                "wipefs -a /dev/sdb1",
                "sfdisk --quiet --lock=yes --no-reread --delete /dev/sdb 1",
                "partx --delete --nr 1:1 /dev/sdb",
            ],
            ("/dev/sdb1", "/dev/sdb"),
        ),
        (
            table(part(1, 2 * GIB, GIB), part(2, MIB, GIB, "pl_a", UUID), uuid=OURS),
            [
                "wipefs -a /dev/sdb2",
                "sfdisk --quiet --lock=yes --no-reread --delete /dev/sdb 2",
                "partx --delete --nr 2:2 /dev/sdb",
            ],
            ("/dev/sdb2", "/dev/sdb"),
        ),
        (
            table(part(1, MIB, GIB, "pl_a", UUID), uuid=OURS),
            ["wipefs -a /dev/sdb1 /dev/sdb"],
            ("/dev/sdb1", "/dev/sdb"),
        ),
    ],
)
def test_absent(state: TableState, commands: list[str], writes: tuple[str, ...]) -> None:
    plan = plan_partition_absent(state, want(), DISK)
    assert plan.commands() == commands
    assert plan.writes() == writes
    assert not plan_partition_absent(plan.predicted, want(), DISK).changed


def test_absent_does_not_take_one_of_the_same_name_elsewhere() -> None:
    with pytest.raises(PlanRefused, match="2GiB"):
        plan_partition_absent(table(part(1, 2 * GIB, GIB, "pl_a")), want(uuid=None), DISK)


def test_tables_of_others_are_not_ours() -> None:
    assert is_own_table(table(uuid=OURS.upper()))
    assert not is_own_table(table(uuid=FOREIGN))
    assert not is_own_table(table(uuid=OURS, label="dos"))
    assert len(OURS) == 36


@pytest.mark.parametrize(
    ("disk", "offset"),
    [
        (DISK, 0),
        (DeviceGeometry("/dev/md0", 4 * GIB, stripe=Stripe(256 * 1024, 4)), 0),
        (DeviceGeometry("/dev/md0", 4 * GIB, stripe=Stripe(256 * 1024, 3)), 256 * 1024),
    ],
)
def test_geometry_for_the_layer_above(disk: DeviceGeometry, offset: int) -> None:
    above = geometry_of(part(1, MIB, GIB), disk)
    assert (above.path, above.size_bytes, above.offset_bytes, above.stripe) == ("/dev/sdb1", GIB, offset, disk.stripe)


def test_grows_into_free_room_on_request() -> None:
    before = table(part(1, MIB, GIB, "pl_a", UUID), part(2, 3 * GIB, MIB))
    plan = plan_partition(before, want(size_bytes=2 * GIB, resize=True), DISK)
    assert [step.argv[0] for step in plan.steps] == ["sfdisk", "partx"]
    assert plan.steps[0].stdin == "start=2048, size=4194304\n"
    assert plan.steps[0].table_only and plan.writes() == ("/dev/sdb",)
    assert not plan_partition(plan.predicted, want(size_bytes=2 * GIB, resize=True), DISK).changed
    whole = plan_partition(before, want(size_bytes=None, resize=True), DISK)
    grown = find_partition(whole.predicted, want())
    assert grown is not None and grown.end_bytes == 3 * GIB
    assert not plan_partition(whole.predicted, want(size_bytes=None, resize=True), DISK).changed


def test_grows_into_what_a_disk_has_grown_by() -> None:
    small = table(part(1, MIB, GIB, "pl_a", UUID))._replace(end_usable_bytes=2 * GIB - 33 * 512)
    wish = want(size_bytes=3 * GIB, resize=True)
    with pytest.raises(PlanRefused, match="room only up to"):
        plan_partition(small, wish, DISK)
    plan = plan_partition(small._replace(copy_misplaced=True), wish, DISK)
    assert plan.steps[0].stdin == "start=2048, size=6291456\n"
    whole = plan_partition(small._replace(copy_misplaced=True), want(size_bytes=None, resize=True), DISK)
    grown = find_partition(whole.predicted, want())
    assert grown is not None and grown.end_bytes == 4 * GIB - MIB


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size_bytes": 2 * GIB}, ["size 2GiB", "size 1GiB", "resize: true"]),
        ({"size_bytes": 512 * MIB, "resize": True}, ["size 512MiB", "size 1GiB"]),
        ({"size_bytes": 3 * GIB, "resize": True}, ["grow from 1GiB to 3GiB", "room only up to 3071MiB"]),
    ],
)
def test_what_does_not_grow(options: dict[str, t.Any], words: list[str]) -> None:
    before = table(part(1, MIB, GIB, "pl_a", UUID), part(2, 3 * GIB, MIB))
    with pytest.raises(PlanRefused) as caught:
        plan_partition(before, want(**options), DISK)
    assert all(word in caught.value.message for word in words), caught.value.message


def test_a_size_that_the_kernel_does_not_know_yet_is_told_to_it() -> None:
    before = table(part(1, MIB, GIB, "pl_a", UUID))._replace(kernel_sizes={1: MIB})
    assert plan_partition(before, want(), DISK).commands() == ["partx --update --nr 1:1 /dev/sdb"]


@pytest.mark.parametrize(
    ("disk", "optimal", "warned"),
    [
        (DISK, 0, False),
        (DISK, MIB, False),
        (DISK, 768 * 1024, True),
        (DeviceGeometry("/dev/md0", 4 * GIB, stripe=Stripe(256 * 1024, 3)), 0, True),
        (DeviceGeometry("/dev/md0", 4 * GIB, stripe=Stripe(256 * 1024, 4)), 768 * 1024, False),
    ],
)
def test_start_off_the_stripe_or_the_optimal_size_is_warned_of(
    disk: DeviceGeometry, optimal: int, warned: bool
) -> None:
    for state in (
        blank(optimal_io_bytes=optimal),
        table(part(1, MIB, GIB, "pl_a", UUID))._replace(optimal_io_bytes=optimal),
    ):
        assert bool(plan_partition(state, want(), disk).warnings) is warned
