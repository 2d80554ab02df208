# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Reads the JSON of C(lvm fullreport) into the model: joined by UUID, sorted, since LVM lists by random UUIDs."""

from __future__ import annotations

import dataclasses
import json
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import ParseError
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import (
    AUTO,
    UNKNOWN_DEVICE,
    LvmState,
    LvSegment,
    LvState,
    PvState,
    SegmentArea,
    VgState,
)

__all__ = ["REPORT_FIELDS", "parse_fullreport", "parse_system_id", "report_arguments", "with_own_system_id"]

# Named, because versions differ in their default fields (52 and 53 in seg), and defaults cost time.
REPORT_FIELDS = {
    "pv": (
        "pv_uuid,pv_name,pv_size,dev_size,pe_start,pv_mda_size,pv_mda_count,pv_ba_start,pv_ba_size,pv_missing,"
        "pv_allocatable,pv_pe_count,pv_pe_alloc_count,pv_tags"
    ),
    "vg": (
        "vg_uuid,vg_name,vg_extent_size,vg_extent_count,vg_free_count,vg_tags,vg_missing_pv_count,vg_exported,"
        "vg_shared,vg_systemid"
    ),
    "lv": (
        "lv_uuid,lv_name,lv_size,lv_tags,lv_active,lv_read_ahead,lv_kernel_read_ahead,lv_health_status,"
        "lv_layout,lv_role,lv_device_open,lv_suspended,raid_sync_action,copy_percent,lv_attr,lv_allocation_policy,"
        "lv_initial_image_sync"
    ),
    "seg": (
        "lv_uuid,segtype,seg_start_pe,seg_size_pe,stripes,data_stripes,stripe_size,region_size,data_copies,devices"
    ),
    "pvseg": "pv_uuid,lv_uuid,pvseg_start,pvseg_size",
}
_AREA = re.compile(r"(?P<name>[^,]+?)\((?P<start>\d+)\)(?:,|$)")
# Types of segments that have nothing to synchronise.
_NO_SYNC = ("linear", "striped", "raid0", "raid0_meta")
_Row = t.Mapping[str, str]
_Resolve = t.Callable[[str], str]


def report_arguments() -> list[str]:
    """Arguments of C(lvm fullreport) that give what C(parse_fullreport) reads."""
    arguments = ["-a", "--foreign", "--shared", "--reportformat", "json", "--units", "b", "--nosuffix"]
    for report, fields in REPORT_FIELDS.items():
        arguments += ["--configreport", report, "-o", fields]
    return arguments


def parse_fullreport(text: str, resolve: _Resolve = str) -> LvmState:
    """All PVs, VGs and LVs. C(resolve) turns LVM's name of a device into the kernel's. Raises ParseError.

    A VG with a system ID counts as foreign until C(with_own_system_id) tells which one is the host's.
    """
    try:
        entries = list(json.loads(text)["report"])
    except (ValueError, KeyError, TypeError):
        raise ParseError("the JSON report of lvm fullreport", text) from None
    pvs: list[PvState] = []
    vgs: list[VgState] = []
    lvs: list[LvState] = []
    for entry in entries:
        group = _Group(entry, resolve)
        pvs += group.pvs()
        vgs += group.vgs()
        lvs += group.lvs()
    return LvmState(
        pvs=tuple(sorted(pvs, key=lambda pv: (pv.path, pv.uuid or ""))),
        vgs=tuple(sorted(vgs, key=lambda vg: (vg.name, vg.uuid or ""))),
        lvs=tuple(sorted(lvs, key=lambda lv: (lv.vg, lv.name))),
    )


def parse_system_id(text: str) -> str | None:
    """The host's own system ID from C(lvm systemid); None when it has none."""
    match = re.search(r"system ID:\s*(\S+)", text)
    return match.group(1) if match else None


def with_own_system_id(state: LvmState, own: str | None) -> LvmState:
    """The state with the VGs of the host's own system ID no longer foreign."""
    vgs = tuple(vg._replace(foreign=vg.system_id not in (None, own)) for vg in state.vgs)
    return state._replace(vgs=vgs)


@dataclasses.dataclass(frozen=True)
class _Group:
    """One entry of the report: a VG with all that belongs to it, or the PVs of no VG."""

    entry: t.Mapping[str, t.Sequence[_Row]]
    resolve: _Resolve

    def rows(self, report: str) -> t.Sequence[_Row]:
        return self.entry.get(report, ())

    @property
    def vg_row(self) -> _Row | None:
        return next((row for row in self.rows("vg") if row.get("vg_uuid")), None)

    @property
    def extent_bytes(self) -> int:
        row = self.vg_row
        return _number(row, "vg_extent_size") if row else 0

    def pvs(self) -> list[PvState]:
        # With -a the report also lists devices that are no PV: they have no UUID.
        return [self._pv(row) for row in self.rows("pv") if row.get("pv_uuid")]

    def _pv(self, row: _Row) -> PvState:
        uuid, vg = row["pv_uuid"], self.vg_row
        missing = bool(_field(row, "pv_missing"))
        free = [
            (_number(seg, "pvseg_start"), _number(seg, "pvseg_size"))
            for seg in self.rows("pvseg")
            if seg.get("pv_uuid") == uuid and not seg.get("lv_uuid")
        ]
        return PvState(
            path=row["pv_name"] if missing else self.resolve(row["pv_name"]),
            lvm_name=row["pv_name"],
            uuid=uuid,
            pe_start_bytes=_number(row, "pe_start"),
            mda_size_bytes=_number(row, "pv_mda_size"),
            size_bytes=_number(row, "pv_size"),
            device_size_bytes=_number(row, "dev_size"),
            mda_count=_number(row, "pv_mda_count"),
            ba_start_bytes=_number(row, "pv_ba_start"),
            ba_size_bytes=_number(row, "pv_ba_size"),
            vg_name=vg["vg_name"] if vg else None,
            missing=missing,
            allocatable=bool(_field(row, "pv_allocatable")) or vg is None,
            extent_count=_number(row, "pv_pe_count"),
            allocated_extents=_number(row, "pv_pe_alloc_count"),
            free_ranges=tuple(sorted(run for run in free if run[1])) if vg else (),
            tags=_tags(row, "pv_tags"),
        )

    def vgs(self) -> list[VgState]:
        row = self.vg_row
        if row is None:
            return []
        system_id = _field(row, "vg_systemid")
        return [
            VgState(
                name=row["vg_name"],
                uuid=row["vg_uuid"],
                extent_bytes=self.extent_bytes,
                extent_count=_number(row, "vg_extent_count"),
                free_extents=_number(row, "vg_free_count"),
                pv_paths=tuple(sorted(pv.path for pv in self.pvs())),
                lv_names=tuple(sorted(lv.name for lv in self.lvs() if not lv.hidden)),
                tags=_tags(row, "vg_tags"),
                missing_pv_count=_number(row, "vg_missing_pv_count"),
                exported=bool(_field(row, "vg_exported")),
                shared=bool(_field(row, "vg_shared")),
                system_id=system_id or None,
                foreign=bool(system_id),
            )
        ]

    def lvs(self) -> list[LvState]:
        vg = self.vg_row
        return [self._lv(row, vg["vg_name"]) for row in self.rows("lv") if row.get("lv_uuid")] if vg else []

    def _lv(self, row: _Row, vg_name: str) -> LvState:
        segments = self._segments(row["lv_uuid"])
        types = {segment.type for segment in segments}
        bracketed = row["lv_name"].startswith("[")
        readahead = _field(row, "lv_read_ahead")
        percent = _field(row, "copy_percent")
        return LvState(
            vg=vg_name,
            name=row["lv_name"].strip("[]"),
            uuid=row["lv_uuid"],
            type=types.pop() if len(types) == 1 else "mixed",
            size_bytes=_number(row, "lv_size"),
            extents=_number(row, "lv_size") // self.extent_bytes,
            segments=segments,
            active=_field(row, "lv_active") == "active",
            readahead=AUTO if readahead == AUTO else int(readahead or 0),
            kernel_readahead_bytes=_optional(row, "lv_kernel_read_ahead"),
            health=_field(row, "lv_health_status"),
            sync_action=_field(row, "raid_sync_action"),
            sync_percent=float(percent) if percent else None,
            tags=_tags(row, "lv_tags"),
            hidden=bracketed,
            opened=_field(row, "lv_device_open") == "open",
            suspended=_field(row, "lv_suspended") == "suspended",
            roles=tuple(_field(row, "lv_role").split(",")),
            # The second letter; lv_permissions is the kernel's word and unknown of a volume that is not active.
            read_only=_field(row, "lv_attr")[1:2] == "r",
            alloc=_field(row, "lv_allocation_policy"),
            synced=bool(_field(row, "lv_initial_image_sync")) or not segments or segments[0].type in _NO_SYNC,
        )

    def _segments(self, lv_uuid: str) -> tuple[LvSegment, ...]:
        rows = [row for row in self.rows("seg") if row.get("lv_uuid") == lv_uuid]
        return tuple(sorted((self._segment(row) for row in rows), key=lambda segment: segment.start_extent))

    def _segment(self, row: _Row) -> LvSegment:
        kind = _field(row, "segtype")
        # LVM calls the legs of a mirror stripes, and data stripes too, but only one of them is data.
        mirror = kind in ("raid1", "mirror")
        return LvSegment(
            type=kind,
            start_extent=_number(row, "seg_start_pe"),
            extents=_number(row, "seg_size_pe"),
            stripes=_optional(row, "stripes") or 1,
            data_stripes=1 if mirror else _optional(row, "data_stripes") or 1,
            stripe_bytes=_optional(row, "stripe_size") or 0,
            region_bytes=_optional(row, "region_size") or 0,
            data_copies=_optional(row, "data_copies") or 1,
            areas=tuple(self._area(match) for match in _AREA.finditer(_field(row, "devices"))),
        )

    def _area(self, match: re.Match[str]) -> SegmentArea:
        name, start = match["name"], int(match["start"])
        # A device has a path; everything else is a hidden LV, in brackets where -a was given, or [unknown].
        if name.startswith("/"):
            return SegmentArea(start, pv_path=self.resolve(name))
        if name in ("[unknown]", "unknown device", "[unknown device]"):
            return SegmentArea(start, pv_path=UNKNOWN_DEVICE)
        return SegmentArea(start, lv_name=name.strip("[]"))


def _field(row: _Row, name: str) -> str:
    if name not in row:
        raise ParseError(f"the field {name} of lvm fullreport", json.dumps(dict(row)))
    return row[name].strip()


def _number(row: _Row, name: str) -> int:
    text = _field(row, name)
    try:
        return int(text or 0)
    except ValueError:
        raise ParseError(f"the number {name} of lvm fullreport", text) from None


def _optional(row: _Row, name: str) -> int | None:
    text = _field(row, name)
    return int(text) if text.lstrip("-").isdigit() and int(text) >= 0 else None


def _tags(row: _Row, name: str) -> tuple[str, ...]:
    return tuple(sorted(tag for tag in _field(row, name).split(",") if tag))
