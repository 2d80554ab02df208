# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a guest: makes stacks with the system's own tools and compares them with what the planners said before.

usage: python3 geometry_grid.py DIRECTORY '{"arrays": […], "variants": […]}' DISK...

DIRECTORY holds ansible_collections/…. One array (or several) carries many variants of PV, VG and LVs one after the
other. Each volume is one row, printed as a JSON line: what was asked, what ours says, what the tools say, and
the names of what differs. Nothing but metadata is written.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import typing as t

sys.path.insert(0, sys.argv[1])

from ansible_collections.plumbline.storage.plugins.module_utils._block.geometry_read import read_device_geometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.extent import parse_extents
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.model import DeviceGeometry
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.pe_start import (
    DeviceTopology,
    PeRequest,
    place_pv,
)
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.readahead import md_readahead_bytes
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.stripe import level_name, md_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._geometry.xfs import xfs_stripe
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.geometry import geometry_of_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.model import AUTO, LvWanted, PvWanted, VgWanted
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_lv import plan_lv, vg_after_lv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_pv_place import placement_request, predict_pv
from ansible_collections.plumbline.storage.plugins.module_utils._lvm.plan_vg import members_after, plan_vg
from ansible_collections.plumbline.storage.plugins.module_utils._md.size import (
    array_size_bytes,
    available_bytes,
    component_size_bytes,
    concatenated_bytes,
    default_data_offset_bytes,
)

SECTOR, KIB, MIB, GIB = 512, 1024, 1024**2, 1024**3
GROUP = "grid"
Json = dict[str, t.Any]


# Nothing of LVM's own bookkeeping matters here, and it takes most of the time.
QUICK = "backup { backup=0 archive=0 } activation { monitoring=0 udev_sync=0 udev_rules=0 }"
# Commands that need not run at once: they go before the next ones, in one process.
waiting: list[str] = []


def lvm_later(*words: str) -> None:
    waiting.append(_with_config(words))


def _with_config(words: t.Sequence[str]) -> str:
    return " ".join([words[0], "--config", f'"{QUICK}"', *words[1:]])


def lvm(*commands: t.Sequence[str]) -> str:
    """What LVM prints for some commands in one process, which saves most of their time in a guest."""
    text = "\n".join([*waiting, *(_with_config(words) for words in commands), ""])
    waiting.clear()
    done = subprocess.run(
        ["lvm"], input=text, capture_output=True, text=True, check=False,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if line.strip() and "WARNING" not in line]
    if done.returncode or told:
        print(f"{text}: exit code {done.returncode}: {told}", file=sys.stderr)
    return done.stdout


def run(*argv: str) -> str:
    """What a program prints; one that fails ends everything with what it said."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: exit code {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout


def sysfs(device: str, name: str) -> int:
    number = os.stat(device).st_rdev
    with open(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/{name}") as stream:
        return int(stream.read())


def row(asked: Json, ours: Json, tools: Json) -> None:
    """Prints one comparison. C(tools) may know more than ours claims."""
    differs = sorted(key for key, value in ours.items() if value != tools.get(key))
    print(json.dumps({"asked": asked, "ours": ours, "tools": tools, "differs": differs}), flush=True)


# Arrays


def predicted_array(array: Json, path: str, disks: t.Sequence[str]) -> DeviceGeometry:
    """The array as the planner of md has it, from the sizes of its disks alone."""
    level, chunk = level_name(array["level"]), array.get("chunk")
    sizes = [sysfs(disk, "size") * SECTOR for disk in disks]
    offset = default_data_offset_bytes(min(sizes), chunk)
    usable = [available_bytes(size, "1.2", offset) for size in sizes]
    if level == "raid0":
        size = concatenated_bytes(usable, chunk)
    else:
        size = array_size_bytes(
            level, len(disks), array.get("layout"), component_size_bytes(level, usable, chunk), chunk
        )
    stripe = md_stripe(level, len(disks), chunk, array.get("layout"))
    return DeviceGeometry(path, size, stripe=stripe)


def make_array(array: Json, number: int, disks: t.Sequence[str]) -> DeviceGeometry:
    """Makes the array with mdadm, prints its row, returns it as it was predicted, by its kernel name."""
    link = f"/dev/md/grid{number}"
    ours = predicted_array(array, link, disks)
    words = ["--chunk", str(array["chunk"] // KIB)] if array.get("chunk") else []
    words += ["--layout", array["layout"]] if array.get("layout") else []
    words += ["--assume-clean", "--bitmap=none"] if level_name(array["level"]) != "raid0" else []
    run("mdadm", "--create", link, "--run", "--level", str(array["level"]), "--raid-devices", str(len(disks)),
        "--homehost=any", *words, *disks)  # fmt: skip
    run("udevadm", "settle")
    path = os.path.realpath(link)
    ahead = md_readahead_bytes(array["level"], len(disks), array.get("chunk"), array.get("layout"))
    row(
        {"layer": "md", **array},
        {"size_bytes": ours.size_bytes, "readahead_bytes": ahead, **io_hints(ours)},
        {"size_bytes": sysfs(path, "size") * SECTOR, "readahead_bytes": sysfs(path, "queue/read_ahead_kb") * KIB,
         **seen_hints(path)},
    )  # fmt: skip
    return ours._replace(path=path)


def io_hints(device: DeviceGeometry) -> Json:
    """What the kernel must show of a device whose stripes are not nested."""
    if device.stripe is None:
        return {"io_min": device.physical_sector_bytes, "io_opt": 0}
    return {"io_min": device.stripe.unit_bytes, "io_opt": device.stripe.full_bytes}


def seen_hints(path: str) -> Json:
    return {"io_min": sysfs(path, "queue/minimum_io_size"), "io_opt": sysfs(path, "queue/optimal_io_size")}


# Physical volumes and the group


def tool_request(pe: Json) -> PeRequest:
    return PeRequest(pe.get("metadatasize"), pe.get("dataalignment"), pe.get("dataalignmentoffset"))


def predicted_pv(pe: Json, below: DeviceGeometry) -> t.Any:
    """The PV as ours has it: asked as C(auto) or by sizes, or left to pvcreate, whose own rules are then ours."""
    wish = PvWanted(below.path, pe.get("metadatasize"), pe.get("dataalignment", AUTO), pe.get("dataalignmentoffset"))
    predicted = predict_pv(wish, below)
    if not pe.get("left_to_pvcreate"):
        return predicted
    md = below.stripe.full_bytes if below.stripe else 0
    placed = place_pv(tool_request(pe), DeviceTopology(md, **{
        "minimum_io_bytes": sysfs(below.path, "queue/minimum_io_size"),
        "optimal_io_bytes": sysfs(below.path, "queue/optimal_io_size"),
    }))  # fmt: skip
    return predicted._replace(pe_start_bytes=placed.pe_start_bytes, mda_size_bytes=placed.metadata_bytes)


def pvcreate_words(pe: Json, below: DeviceGeometry) -> list[str]:
    """C(auto) is what our planner tells pvcreate; everything else goes to it as it was asked."""
    asked = {key: pe[key] for key in ("metadatasize", "dataalignment", "dataalignmentoffset") if key in pe}
    if pe.get("auto"):
        request = placement_request(PvWanted(below.path, alignment=AUTO), below)
        asked["dataalignment"] = request.alignment_bytes
    return [word for key, value in asked.items() for word in (f"--{key}", f"{value}b")]


def make_group(asked: Json, pe: Json, extent: int, grounds: t.Sequence[DeviceGeometry]) -> tuple[t.Any, t.Any]:
    """Predicts and makes PVs and VG; prints a row for each PV; returns the predicted group and PVs."""
    pvs = [predicted_pv(pe, ground) for ground in grounds]
    below = {ground.path: ground for ground in grounds}
    vg = plan_vg(None, VgWanted(GROUP, tuple(below), extent), pvs, below).predicted
    members = members_after(pvs, vg)
    fields = "pv_name,pe_start,pv_mda_size,pv_pe_count"
    text = lvm(
        *(["pvcreate", "-qq", "-y", "-ff", *pvcreate_words(pe, ground), ground.path] for ground in grounds),
        ["vgcreate", "-qq", "-s", f"{extent}b", GROUP, *below],
        ["pvs", "--noheadings", "--units", "b", "--nosuffix", "-o", fields, *below],
    )
    seen = {
        words[0]: [int(word) for word in words[1:]]
        for words in map(str.split, text.splitlines())
        if words[0:1] and words[0].startswith("/dev/")
    }
    real = {os.path.realpath(path): values for path, values in seen.items()}
    for pv in members:
        start, metadata, count = real[pv.path]
        row(
            {**asked, "layer": "pv"},
            {"pe_start": pv.pe_start_bytes, "mda_size": pv.mda_size_bytes, "extents": pv.extent_count},
            {"pe_start": start, "mda_size": metadata, "extents": count},
        )
    return vg, members


# Volumes


def wanted_lv(name: str, lv: Json) -> LvWanted:
    size = lv["size"]
    request = parse_extents(size) if not size.endswith("m") else None
    if request is None:
        request = parse_extents("1")._replace(kind="bytes", amount=int(size[:-1]) * MIB)
    return LvWanted(
        GROUP, name, type=lv.get("type", "linear"), size=request, stripes=lv.get("stripes"),
        stripe_bytes=lv.get("stripesize"), mirrors=lv.get("mirrors"),
    )  # fmt: skip


def lvcreate_words(name: str, lv: Json) -> list[str]:
    words = ["-qq", "-y", "-Wn", "-Zn", "-n", name, "--type", lv.get("type", "linear")]
    words += ["-L" if lv["size"].endswith("m") else "-l", lv["size"]]
    words += ["-i", str(lv["stripes"])] if "stripes" in lv else []
    words += ["-I", f"{lv['stripesize']}b"] if "stripesize" in lv else []
    words += ["-m", str(lv["mirrors"])] if "mirrors" in lv else []
    # Nothing is written but metadata: no resync. raid6 cannot do without.
    words += ["--nosync"] if lv.get("type") in ("mirror", "raid1", "raid4", "raid5", "raid10") else []
    return [*words, GROUP]


def predicted_segments(lv: t.Any, vg: t.Any, members: t.Sequence[t.Any]) -> list[Json]:
    """Each segment as bytes: where it begins in the LV, how long it is, where its pieces lie on the devices."""
    starts = {pv.path: pv.pe_start_bytes for pv in members}
    return [
        {
            "start": segment.start_extent * vg.extent_bytes,
            "length": segment.extents * vg.extent_bytes,
            "places": [[area.pv_path, starts[area.pv_path] + area.start_extent * vg.extent_bytes]
                       for area in segment.areas],
        }
        for segment in lv.segments
    ]  # fmt: skip


def tables() -> dict[str, list[list[str]]]:
    """All device-mapper tables by name; a mapping may have several lines."""
    found: dict[str, list[list[str]]] = {}
    for line in run("dmsetup", "table").splitlines():
        name, _colon, rest = line.partition(": ")
        found.setdefault(name, []).append(rest.split())
    return found


def seen_segments(name: str) -> list[Json]:
    """The same from the kernel's tables. Images of raids and mirrors are followed down to the PVs, and cut where any
    of them goes on elsewhere."""
    every, devices, segments = tables(), _device_numbers(), []
    for start, length, target, *words in every[f"{GROUP}-{name}"]:
        images = [_pieces(devices, every, devno, int(offset)) for devno, offset in _areas(target, words)]
        # Of a volume without images below each area is one piece, as long as it has to be.
        cuts = sorted({piece[0] for pieces in images for piece in pieces})
        ends = {piece[0] + piece[1] for pieces in images for piece in pieces if piece[1]}
        ratio = int(length) // max(ends) if ends else 1
        for at, cut in enumerate(cuts):
            end = cuts[at + 1] if at + 1 < len(cuts) else None
            places = [_at(pieces, cut) for pieces in images]
            begin, stop = cut * ratio, int(length) if end is None else end * ratio
            segments.append(
                {"start": (int(start) + begin) * SECTOR, "length": (stop - begin) * SECTOR, "places": places}
            )
    return segments


def _at(pieces: list[tuple[int, int, str, int]], sector: int) -> list[t.Any]:
    start, _length, device, offset = next(piece for piece in reversed(pieces) if piece[0] <= sector)
    return [device, (offset + sector - start) * SECTOR]


def _areas(target: str, words: list[str]) -> list[tuple[str, str]]:
    if target == "linear":
        return [(words[0], words[1])]
    if target == "striped":
        return list(zip(words[2::2], words[3::2]))
    if target == "mirror":
        at = 2 + int(words[1])
        return list(zip(words[at + 1 : at + 1 + 2 * int(words[at]) : 2], words[at + 2 :: 2]))
    # raid: <type> <#params> <params> <#devs> then metadata and data device of each; an offset of a device is 0.
    at = 2 + int(words[1])
    return [(devno, "0") for devno in words[at + 2 :: 2]]


def _pieces(
    devices: Json, every: dict[str, list[list[str]]], devno: str, offset: int
) -> list[tuple[int, int, str, int]]:
    """Of one area: start, length (0: all that is asked), device and offset of each piece, in sectors."""
    name, dm = devices[devno]
    if dm is None or dm not in every:
        return [(0, 0, name, offset)]
    pieces = []
    for start, length, target, *words in every[dm]:
        below, inner = _areas(target, words)[0]
        pieces.append((int(start), int(length), devices[below][0], int(inner)))
    return pieces


def _device_numbers() -> Json:
    found: Json = {}
    for name in os.listdir("/sys/class/block"):
        base = f"/sys/class/block/{name}"
        with open(f"{base}/dev") as stream:
            devno = stream.read().strip()
        dm = None
        if os.path.exists(f"{base}/dm/name"):
            with open(f"{base}/dm/name") as stream:
                dm = stream.read().strip()
        found[devno] = (f"/dev/{name}", dm)
    return found


def mkfs_choice(device: str, *options: str) -> Json:
    """What a dry run of mkfs.xfs says: su and full stripe in bytes, and the log's stripe unit."""
    text = run("mkfs.xfs", "-N", "-f", *options, device)
    block = int(re.search(r"^data .*bsize=(\d+)", text, re.M).group(1))  # type: ignore[union-attr]
    sunit, swidth = (int(n) for n in re.search(r"sunit=(\d+) +swidth=(\d+) blks", text).groups())  # type: ignore[union-attr]
    log = re.search(r"^log .*\n.*sunit=(\d+) blks", text, re.M)
    return {"su": sunit * block, "full": swidth * block, "log_su": int(log.group(1)) * block if log else None}


def compare_volume(asked: Json, name: str, lv: Json, vg: t.Any, members: t.Any, below: t.Any) -> tuple[t.Any, t.Any]:
    """Predicts a volume, makes it, prints its row; returns group and PVs as the next one finds them."""
    plan = plan_lv(None, wanted_lv(name, lv), vg, members, below)
    predicted = plan.predicted
    geometry, _warnings = geometry_of_lv(predicted, vg, members, below)
    lvm(["lvcreate", *lvcreate_words(name, lv)])
    device = f"/dev/{GROUP}/{name}"
    nested = bool(lv.get("stripes", 1) > 1 and any(ground.stripe for ground in below.values()))
    size = sysfs(device, "size") * SECTOR
    ours = {"size_bytes": predicted.size_bytes, "segments": predicted_segments(predicted, vg, members)}
    tools: Json = {"size_bytes": size, "segments": seen_segments(name), **seen_hints(device)}
    ours.update({} if nested else io_hints(geometry))
    read = read_device_geometry(device)
    ours["stripe_and_offset"] = _shape(geometry)
    tools["stripe_and_offset"] = _shape(read)
    if size >= GIB:
        _compare_mkfs(device, geometry, nested, ours, tools)
    row({**asked, "layer": "lv", **lv, "nested": nested, "warned": bool(plan.warnings)}, ours, tools)
    return vg_after_lv(vg, members, predicted)


def _shape(device: DeviceGeometry) -> list[int]:
    stripe = device.stripe
    return [stripe.unit_bytes, stripe.width_units, device.offset_bytes] if stripe else [0, 0, 0]


def _compare_mkfs(device: str, geometry: DeviceGeometry, nested: bool, ours: Json, tools: Json) -> None:
    """What mkfs.xfs picks by itself, and what it makes of su and sw as we would give them."""
    stripe = xfs_stripe(geometry)
    told = {"su": stripe.su_bytes, "full": stripe.su_bytes * stripe.sw_units}
    if stripe.su_bytes:
        told["log_su"] = stripe.log_unit_bytes
    tools["mkfs"] = tools["told"] = mkfs_choice(device)
    ours["told"] = {**tools["mkfs"], **told}
    if not nested:
        ours["mkfs"] = ours["told"]
    else:
        tools["told"] = mkfs_choice(device, "-d", f"su={stripe.su_bytes},sw={stripe.sw_units}")


def main() -> None:
    spec = json.loads(sys.argv[2])
    disks, at, grounds = sys.argv[3:], 0, []
    for number, array in enumerate(spec["arrays"]):
        grounds.append(make_array(array, number, disks[at : at + array["disks"]]))
        at += array["disks"]
    if not grounds:
        grounds = [DeviceGeometry(disk, sysfs(disk, "size") * SECTOR) for disk in disks[: spec["disks"]]]
    # udev would look at every volume, which takes longer than all else; LVM makes the nodes itself meanwhile.
    run("udevadm", "settle")
    run("udevadm", "control", "--timeout=300", "--stop-exec-queue")
    try:
        compare_variants(spec, grounds)
        lvm()
    finally:
        # What it has waiting is about devices that are gone: a new start forgets it.
        run("systemctl", "restart", "systemd-udevd")


def compare_variants(spec: Json, grounds: t.Sequence[DeviceGeometry]) -> None:
    """Volumes of a variant stay beside each other, or with C(alone) each finds the group empty."""
    below = {ground.path: ground for ground in grounds}
    for variant in spec["variants"]:
        asked = {"arrays": spec["arrays"] or spec["disks"], "pe": variant["pe"], "extent": variant["extent"]}
        vg, members = make_group(asked, variant["pe"], variant["extent"], grounds)
        for number, lv in enumerate(variant["volumes"]):
            after = compare_volume(asked, f"v{number}", lv, vg, members, below)
            if variant.get("alone"):
                lvm_later("lvremove", "-qq", "-y", f"{GROUP}/v{number}")
            else:
                vg, members = after
        lvm_later("vgremove", "-qq", "-ffy", GROUP)


main()
