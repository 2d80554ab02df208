# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of LVM, recorded in virtual machines with two versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError, PlanRefused
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import physical_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import LvmState, SegmentArea
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.parse import (
    parse_fullreport,
    parse_system_id,
    report_arguments,
    with_own_system_id,
)

FIXTURES = Path(__file__).parents[4] / "fixtures"
VERSIONS = sorted(path.name for path in FIXTURES.glob("lvm-*"))
KIB, MIB = 1024, 1024 * 1024


def text_of(version: str, case: str) -> str:
    return (FIXTURES / version / f"{case}.json").read_text()


def state_of(version: str, case: str) -> LvmState:
    return parse_fullreport(text_of(version, case))


def test_both_versions_are_recorded() -> None:
    assert VERSIONS == ["lvm-2.03.16", "lvm-2.03.31"]


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing(version: str) -> None:
    assert state_of(version, "nothing") == LvmState()


@pytest.mark.parametrize("version", VERSIONS)
def test_pvs_without_a_group(version: str) -> None:
    state = state_of(version, "orphans")
    plain, small = sorted(state.pvs, key=lambda pv: -pv.pe_start_bytes)
    assert (plain.pe_start_bytes, plain.mda_size_bytes, plain.ba_size_bytes) == (MIB, 1020 * KIB, 0)
    # A bootloader area of 256 KiB begins behind the metadata area, which ends at 192 KiB.
    assert (small.pe_start_bytes, small.mda_size_bytes) == (448 * KIB, 188 * KIB)
    assert (small.ba_start_bytes, small.ba_size_bytes) == (192 * KIB, 256 * KIB)
    assert [pv.vg_name for pv in state.pvs] == [None, None]
    assert not state.vgs
    assert all(pv.device_size_bytes == 2048 * MIB and not pv.free_ranges for pv in state.pvs)


@pytest.mark.parametrize("version", VERSIONS)
def test_empty_groups(version: str) -> None:
    state = state_of(version, "empty_groups")
    v1, v2 = state.vg("v1"), state.vg("v2")
    assert v1 and v2
    assert (v1.extent_bytes, v1.extent_count, v1.free_extents, v1.tags) == (4 * MIB, 1022, 1022, ("one", "two"))
    assert (v2.extent_bytes, v2.extent_count, v2.free_extents, v2.tags) == (MIB, 6141, 6141, ())
    assert v1.unusable() is None
    assert all(pv.free_ranges == ((0, 511),) for pv in state.pvs_of("v1"))


@pytest.mark.parametrize("version", VERSIONS)
def test_linear_and_striped_volumes(version: str) -> None:
    state = state_of(version, "volumes")
    striped, inactive = state.lv("v1", "striped"), state.lv("v1", "linear2")
    assert striped and inactive
    assert (striped.type, striped.stripes, striped.stripe_bytes, striped.extents) == ("striped", 2, 64 * KIB, 16)
    assert (striped.readahead, striped.kernel_readahead_bytes, striped.tags) == (128 * KIB, 128 * KIB, ("lvtag",))
    assert [area.start_extent for area in striped.segments[0].areas] == [25, 0]
    assert (inactive.active, inactive.kernel_readahead_bytes, inactive.readahead) == (False, None, "auto")
    assert not inactive.opened
    assert inactive.path == "/dev/v1/linear2"
    vg = state.vg("v1")
    assert vg and vg.lv_names == ("linear2", "pieces", "striped")
    # The first volume was removed, so its extents are free again.
    assert ((0, 25), (93, 418)) in [pv.free_ranges for pv in state.pvs_of("v1")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "kind", "stripes", "mirrors", "stripe_bytes", "images"),
    [
        ("mir", "raid1", 1, 1, 0, 2),
        ("oldmir", "mirror", 1, 1, 0, 2),
        ("r5", "raid5", 2, 0, 128 * KIB, 3),
        ("r0", "raid0", 3, 0, 64 * KIB, 3),
    ],
)
def test_redundant_volumes(
    version: str, name: str, kind: str, stripes: int, mirrors: int, stripe_bytes: int, images: int
) -> None:
    state = state_of(version, "volumes")
    lv = state.lv("v2", name)
    assert lv
    assert (lv.type, lv.stripes, lv.mirrors, lv.stripe_bytes) == (kind, stripes, mirrors, stripe_bytes)
    assert len(lv.segments[0].areas) == images
    assert all(area.lv_name and area.pv_path is None for area in lv.segments[0].areas)
    looked_through = physical_lv(state, lv).segments[0].areas
    assert len({area.pv_path for area in looked_through}) == images
    assert not lv.hidden
    assert all(state.lv("v2", area.lv_name or "").hidden for area in lv.segments[0].areas)  # type: ignore[union-attr]


@pytest.mark.parametrize("version", VERSIONS)
def test_readahead_none_is_no_readahead(version: str) -> None:
    lv = state_of(version, "volumes").lv("v2", "r0")
    assert lv and lv.readahead == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_hidden_volumes_are_not_names_of_the_group(version: str) -> None:
    vg = state_of(version, "volumes").vg("v2")
    assert vg and vg.lv_names == ("mir", "oldmir", "r0", "r5")


@pytest.mark.parametrize("version", VERSIONS)
def test_exported_group_is_not_usable(version: str) -> None:
    vg = state_of(version, "exported").vg("v1")
    assert vg and vg.exported
    assert "exported" in (vg.unusable() or "")


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_pv(version: str) -> None:
    state = state_of(version, "missing")
    vg, lv = state.vg("v2"), state.lv("v2", "mir")
    assert vg and lv
    assert vg.missing_pv_count == 1
    assert [pv.path for pv in state.pvs_of("v2") if pv.missing] == ["[unknown]"]
    assert lv.health == "partial"
    assert "[unknown]" in {area.pv_path for area in physical_lv(state, lv).segments[0].areas}


@pytest.mark.parametrize("version", VERSIONS)
def test_order_of_the_report_does_not_matter(version: str) -> None:
    data = json.loads(text_of(version, "volumes"))
    data["report"].reverse()
    for entry in data["report"]:
        for rows in entry.values():
            rows.reverse()
    assert parse_fullreport(json.dumps(data)) == state_of(version, "volumes")


def test_device_names_are_resolved_everywhere() -> None:
    state = parse_fullreport(text_of(VERSIONS[0], "volumes"), resolve=lambda path: path.replace("/dev/", "/nodes/"))
    assert all(pv.path.startswith("/nodes/") and pv.lvm_name.startswith("/dev/") for pv in state.pvs)
    lv = state.lv("v1", "pieces")
    assert lv and all((area.pv_path or "").startswith("/nodes/") for area in lv.segments[0].areas)


def test_two_groups_of_one_name_are_refused() -> None:
    state = state_of(VERSIONS[0], "empty_groups")
    twice = LvmState(state.pvs, (*state.vgs, *state.vgs))
    with pytest.raises(PlanRefused, match="2 volume groups with the name v1"):
        twice.vg("v1")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"report": 5}', "  WARNING: something\n"])
def test_what_is_no_report(text: str) -> None:
    with pytest.raises(ParseError):
        parse_fullreport(text)


def test_missing_field_is_named() -> None:
    with pytest.raises(ParseError, match="pv_mda_size"):
        parse_fullreport(text_of(VERSIONS[0], "orphans").replace("pv_mda_size", "other"))


def test_system_id_of_another_host() -> None:
    # Changed from a recording: a group with a system ID needs a host set up for it.
    text = text_of(VERSIONS[0], "empty_groups").replace('"vg_systemid":""', '"vg_systemid":"elsewhere"')
    state = parse_fullreport(text)
    assert [vg.foreign for vg in state.vgs] == [True, True]
    assert "elsewhere" in (state.vgs[0].unusable() or "")
    assert [vg.foreign for vg in with_own_system_id(state, "elsewhere").vgs] == [False, False]
    assert [vg.foreign for vg in with_own_system_id(state, None).vgs] == [True, True]


@pytest.mark.parametrize(("text", "own"), [("  system ID: host1\n", "host1"), ("  system ID:\n", None), ("", None)])
def test_own_system_id(text: str, own: str | None) -> None:
    assert parse_system_id(text) == own


def test_report_names_every_field_that_is_read() -> None:
    arguments = " ".join(report_arguments())
    for field in ("pe_start", "pv_mda_size", "seg_start_pe", "data_stripes", "lv_kernel_read_ahead", "vg_systemid"):
        assert field in arguments


def test_area_with_brackets_and_commas() -> None:
    data = json.loads(text_of(VERSIONS[0], "volumes"))
    for entry in data["report"]:
        for row in entry.get("seg", ()):
            if row["segtype"] == "striped":
                row["devices"] = "/dev/mapper/a(1)(25),/dev/sdf(0)"
    lv = parse_fullreport(json.dumps(data)).lv("v1", "striped")
    assert lv and lv.segments[0].areas[1] == SegmentArea(0, pv_path="/dev/sdf")
