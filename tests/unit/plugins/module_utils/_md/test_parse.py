# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsers of mdadm's text and the kernel's files, on output recorded in Debian 12 and 13 guests."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._md.find import arrays_of_superblocks
from ansible_collections.plumbline.storage.plugins.module_utils._md.model import (
    MdMember,
    MdState,
    MdWanted,
    format_md_uuid,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.parse import (
    array_from_sysfs,
    parse_examine,
    parse_export,
    parse_personalities,
    parse_scan_devices,
    split_name,
)
from ansible_collections.plumbline.storage.plugins.module_utils._md.plan_state import is_half_made
from ansible_collections.plumbline.storage.plugins.module_utils._md.steps import predict_created

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
VERSIONS = ["mdadm-4.2", "mdadm-4.4"]
KIB = 1024

# case, level, devices, chunk KiB, layout, metadata, bitmap, spares
CASES = [
    ("raid0", "raid0", 3, 96, None, "1.2", "none", 0),
    ("raid1", "raid1", 2, None, None, "1.2", "internal", 1),
    ("raid4", "raid4", 4, 64, None, "1.2", "none", 0),
    ("raid5", "raid5", 4, 256, "left-symmetric", "1.2", "none", 0),
    ("raid5m10", "raid5", 4, 64, "left-symmetric", "1.0", "internal", 0),
    ("raid6", "raid6", 6, 128, "left-symmetric", "1.2", "internal", 0),
    ("raid10n2", "raid10", 4, 128, "n2", "1.2", "internal", 0),
    ("raid10f2", "raid10", 4, 128, "f2", "1.2", "none", 0),
    ("raid10o2x5", "raid10", 5, 64, "o2", "1.2", "none", 0),
    ("raid10n2x5", "raid10", 5, 64, "n2", "1.2", "none", 0),
    ("old090", "raid5", 3, 64, "left-symmetric", "0.90", "internal", 0),
]
ALL = [(version, *row) for version in VERSIONS for row in CASES]


def text(version: str, name: str) -> str:
    return (FIXTURES / version / name).read_text(encoding="utf-8")


def recorded_array(version: str, case: str) -> MdState:
    values = dict(line.split("=", 1) for line in text(version, f"{case}.sysfs").splitlines())
    members = []
    for line in text(version, f"{case}.members").splitlines():
        name, *pairs = line.split()
        fields = dict(pair.split("=", 1) for pair in pairs)
        slot = int(fields["slot"]) if fields["slot"].isdigit() else None
        members.append(MdMember("/dev/" + name[len("dev-") :], fields["devno"], slot, fields["state"]))
    export = parse_export(text(version, f"{case}.detail-export"))
    kernel_name = text(version, f"{case}.kernel").strip().split("=")[1]
    return array_from_sysfs(kernel_name, f"/dev/md/rec_{case}", values, export, members)


@pytest.mark.parametrize("row", ALL)
def test_arrays_read_as_they_were_made(row: tuple[str, str, str, int, int | None, str | None, str, str, int]) -> None:
    version, case, level, count, chunk, layout, metadata, bitmap, spares = row
    array = recorded_array(version, case)
    assert (array.level, array.raid_devices, array.metadata, array.bitmap) == (level, count, metadata, bitmap)
    assert array.chunk_bytes == (chunk and chunk * KIB)
    assert array.layout == layout
    assert array.consistency_policy == (None if level == "raid0" else "resync" if bitmap == "none" else "bitmap")
    assert array.active
    assert array.degraded == 0
    assert [member.slot for member in array.members] == [*range(count), *([None] * spares)]
    assert (array.name, array.homehost) == ((None, None) if metadata == "0.90" else (f"rec_{case}", "any"))


@pytest.mark.parametrize("row", ALL)
def test_superblocks_tell_the_same_as_the_kernel(
    row: tuple[str, str, str, int, int | None, str | None, str, str, int],
) -> None:
    version, case = row[:2]
    kernel = recorded_array(version, case)
    (array,) = arrays_of_superblocks(parse_examine(text(version, f"{case}.examine")))
    for field in ("uuid", "name", "homehost", "level", "raid_devices", "chunk_bytes", "layout", "metadata", "bitmap"):
        assert getattr(array, field) == getattr(kernel, field), field
    assert array.data_offset_bytes == kernel.data_offset_bytes
    assert [(member.path, member.slot) for member in array.members] == [
        (member.path, member.slot) for member in kernel.members
    ]
    assert (array.active, array.array_state, array.degraded) == (False, "stopped", 0)


@pytest.mark.parametrize("row", ALL)
def test_sizes_are_predicted_to_the_byte(row: tuple[str, str, str, int, int | None, str | None, str, str, int]) -> None:
    version, case, level, count, chunk, layout, metadata, bitmap, spares = row
    sizes = dict(line.split() for line in text(version, "sizes").splitlines())
    array = recorded_array(version, case)
    devices = [DeviceGeometry(member.path, int(sizes[member.path])) for member in array.members]
    wanted = MdWanted(
        name=f"rec_{case}",
        level=level,
        chunk_bytes=chunk and chunk * KIB,
        layout=layout,
        metadata=metadata,
        bitmap=bitmap,
    )
    after = predict_created(wanted, devices[:count], devices[count:])
    fields = [
        "array_size_bytes",
        "data_offset_bytes",
        "readahead_bytes",
        "layout",
        "chunk_bytes",
        "component_size_bytes",
    ]
    for field in fields:
        assert getattr(after, field) == getattr(array, field), field
    assert len(after.members) == count + spares


@pytest.mark.parametrize("version", VERSIONS)
def test_an_inactive_array_is_not_active(version: str) -> None:
    array = recorded_array(version, "inactive")
    assert not array.active
    assert array.name == "rec_part"
    assert len(array.members) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_scan_finds_devices_by_uuid_or_name(version: str) -> None:
    scan = text(version, "raid5.scan")
    members = set(recorded_array(version, "raid5").member_paths())
    assert set(parse_scan_devices(scan, None, "rec_raid5")) == members
    assert set(parse_scan_devices(scan, recorded_array(version, "raid5").uuid, None)) == members
    # Only mdadm before 4.4 shows the name here; without it the superblocks must be asked.
    assert set(parse_scan_devices(scan, None, "rec_raid")) == (set() if "name=" in scan else members)
    assert parse_scan_devices(scan, "0:0:0:0", "rec_raid5") == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_personalities(version: str) -> None:
    assert {"raid0", "raid5", "raid6"} <= parse_personalities(text(version, "raid5.mdstat"))
    with pytest.raises(ParseError, match="Personalities"):
        parse_personalities("nothing")


@pytest.mark.parametrize("version", VERSIONS)
def test_required_fields_and_unknown_ones(version: str) -> None:
    whole = text(version, "raid5.examine")
    with pytest.raises(ParseError, match="Raid Level"):
        parse_examine(whole.replace("Raid Level", "Raid Levvel"))
    with pytest.raises(ParseError, match="Array UUID"):
        parse_examine(whole.replace("Array UUID", "Array UUDI"))
    more = whole.replace("     Raid Level :", "     New Marvel : yes\n     Raid Level :")
    assert parse_examine(more) == parse_examine(whole)
    assert parse_examine("/dev/sdz:\n   MBR Magic : aa55\nPartition[0] : 100 sectors at 1 (type 83)\n") == ()
    assert parse_examine("") == ()


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("any:data", ("any", "data")),
        ("host1:data  (local to host host1)", ("host1", "data")),
        ("data", (None, "data")),
        ("", (None, None)),
        (None, (None, None)),
    ],
)
def test_stored_names(stored: str | None, expected: tuple[str | None, str | None]) -> None:
    assert split_name(stored) == expected


def test_uuid_forms() -> None:
    assert format_md_uuid("5F0C1122-3344-5566-7788-99aabbccddee") == "5f0c1122:33445566:778899aa:bbccddee"
    with pytest.raises(PlanRefused, match="32 hexadecimal"):
        format_md_uuid("5f0c")


def roles(array: MdState) -> list[tuple[int | None, str]]:
    return [(member.slot, member.role) for member in array.members]


@pytest.mark.parametrize("version", VERSIONS)
def test_journal_policy_and_marks(version: str) -> None:
    journal = recorded_array(version, "journal")
    assert (journal.consistency_policy, journal.bitmap) == ("journal", "none")
    assert roles(journal) == [(0, "active"), (1, "active"), (2, "active"), (None, "journal")]
    assert journal.journal_path == journal.members[3].path
    blocks = parse_examine(text(version, "journal.examine"))
    assert [(block.slot, block.is_journal) for block in blocks] == [(0, False), (1, False), (2, False), (None, True)]
    assert roles(arrays_of_superblocks(blocks)[0]) == roles(journal)
    assert recorded_array(version, "ppl").consistency_policy == "ppl"
    assert [member.write_mostly for member in recorded_array(version, "writemostly").members] == [False, True]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_faulty_member_leaves_its_place_empty(version: str) -> None:
    faulty = recorded_array(version, "faulty")
    assert roles(faulty) == [(0, "active"), (None, "faulty")]
    assert (faulty.degraded, faulty.missing_slots, faulty.busy) == (1, (1,), False)


@pytest.mark.parametrize("version", VERSIONS)
def test_work_in_progress(version: str) -> None:
    recovering = recorded_array(version, "recovering")
    assert recovering.sync_action == "recover"
    assert "rebuilding" in [role for _slot, role in roles(recovering)]
    assert recovering.missing_slots == ()
    assert recovering.sync_percent is not None
    assert 0 < recovering.sync_percent < 100
    replacing = recorded_array(version, "replacing")
    assert sorted(roles(replacing), key=str) == [(0, "active"), (1, "active"), (1, "replacement"), (2, "active")]
    assert (replacing.degraded, replacing.missing_slots, replacing.busy) == (0, (), True)
    reshaping = recorded_array(version, "reshaping")
    assert (reshaping.raid_devices, reshaping.chunk_bytes, reshaping.reshaping, reshaping.busy) == (
        4,
        64 * KIB,
        True,
        True,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_create_that_did_not_start_counted_no_event(version: str) -> None:
    blocks = parse_examine(text(version, "halfmade.examine"))
    assert [(block.slot, block.event_count) for block in blocks] == [(0, 0), (1, 0)]
    half = arrays_of_superblocks(blocks)[0]
    assert half.degraded == 1
    assert is_half_made(half, None, half.member_paths())
    started = arrays_of_superblocks(parse_examine(text(version, "ppl.examine")))[0]
    assert started.event_count > 0
