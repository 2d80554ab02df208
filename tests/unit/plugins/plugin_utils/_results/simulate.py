# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated runs with known effects. Nothing in here was measured: disks, rates and times are made up by a seeded generator."""

from __future__ import annotations

import datetime
import hashlib
import json
import typing as t

import numpy as np

__all__ = ["disk_layers", "fingerprint_of", "simulate_run", "simulate_values"]

START = datetime.datetime(2026, 11, 30, 20, 0, 0, tzinfo=datetime.timezone.utc)
QUEUE = {
    "read_ahead_bytes": 131072,
    "max_sectors_bytes": 1310720,
    "scheduler": "none",
    "write_cache": "write back",
    "rotational": True,
    "minimum_io_bytes": 262144,
    "optimal_io_bytes": 786432,
    "alignment_offset_bytes": 0,
    "logical_sector_bytes": 512,
    "physical_sector_bytes": 512,
    "nr_requests": 128,
    "nomerges": 0,
    "rq_affinity": 1,
    "wbt_lat_usec": None,
    "discard_granularity": 0,
}
STACKS: list[dict[str, t.Any]] = [
    {"name": "md", "title": "XFS on md RAID5", "layers": [{"md": {"level": 5, "chunk": "256KiB"}}, {"xfs": {}}]},
    {
        "name": "lvm_on_md",
        "title": "LVM on md",
        "layers": [{"md": {"level": 5, "chunk": "256KiB"}}, {"pv": {}}, {"vg": {}}, {"lv": {}}, {"xfs": {}}],
    },
    {
        "name": "lvm_stripe",
        "title": "striped LVM",
        "layers": [
            {"pv": {}},
            {"vg": {}},
            {"lv": {"type": "striped", "stripes": 4, "stripesize": "64KiB"}},
            {"xfs": {}},
        ],
    },
]
WORKLOADS: list[dict[str, t.Any]] = [
    {"name": "seq_read", "tool": "fio", "on": "top_device", "rw": "read", "bs": "1MiB", "direct": True},
    {"name": "buffered_read", "tool": "dd", "on": "filesystem", "access": "read", "bs": "1MiB", "cold": True},
]


def simulate_values(
    rng: np.random.Generator,
    effects: t.Sequence[float],
    blocks: int,
    cv: float = 0.02,
    block_cv: float = 0.03,
    heavy_tails: bool = False,
    drift: float = 0.0,
) -> list[dict[int, float]]:
    """Per effect (a ratio to the first) one value per block, with a common block effect, noise and drift."""
    common = np.exp(rng.normal(0, block_cv, blocks) + drift * np.arange(blocks) / max(1, blocks - 1))
    found = []
    for effect in effects:
        noise = rng.standard_t(3, blocks) * cv / np.sqrt(3) if heavy_tails else rng.normal(0, cv, blocks)
        values = 80e6 * effect * common * np.exp(noise)
        found.append({block + 1: float(value) for block, value in enumerate(values)})
    return found


def disk_layers(count: int = 4) -> list[dict[str, t.Any]]:
    return [
        {
            "kind": "disk",
            "name": f"sd{'bcdefgh'[i]}",
            "path": f"/dev/sd{'bcdefgh'[i]}",
            "on": [],
            "size_bytes": 1000204886016,
            "queue": {**QUEUE, "scheduler": "mq-deadline", "minimum_io_bytes": 512, "optimal_io_bytes": 0},
            "disk": {
                "model": "WDC WD10EACS-00ZJB0",
                "firmware_revision": "01.01B01",
                "serial_number": f"WD-WCASJ000000{i + 1}",
                "wwn": None,
                "capacity_bytes": 1000204886016,
                "media_type": "rotating",
                "transport": "sata",
            },
        }
        for i in range(count)
    ]


def _region_layers(count: int = 4) -> list[dict[str, t.Any]]:
    return [
        {
            "kind": "partition",
            "name": f"sd{'bcdefgh'[i]}1",
            "on": [f"sd{'bcdefgh'[i]}"],
            "size_bytes": 10 * 1024**3,
            "start_bytes": 1048576,
        }
        for i in range(count)
    ]


def _xfs_layer(sunit: int, width: int, size: int) -> dict[str, t.Any]:
    inner = {
        "uuid": "made-up",
        "block_bytes": 4096,
        "agcount": 16,
        "agsize_bytes": size // 16,
        "sunit_bytes": sunit,
        "swidth_bytes": sunit * width,
        "log_bytes": 16777216,
        "features": ["reflink", "crc"],
    }
    return {"kind": "xfs", "name": "xfs", "on": ["dm-0"], "size_bytes": size, "xfs": inner}


def _lv_layer(readahead_kb: int, **more: t.Any) -> dict[str, t.Any]:
    inner = {
        "segment_type": "linear",
        "stripes": 1,
        "stripe_bytes": None,
        "start_offset_bytes": [1572864],
        "segments": [{"target": "linear", "start_bytes": 0, "size_bytes": 1, "areas": []}],
        "extent_bytes": 4194304,
        "pe_start_bytes": [1572864],
        "uuid": "LVM-madeup",
        **more,
    }
    queue = {**QUEUE, "read_ahead_bytes": readahead_kb * 1024}
    return {
        "kind": "lv",
        "name": "pl_vg-lv",
        "path": "/dev/dm-0",
        "on": ["md127"],
        "size_bytes": 1,
        "queue": queue,
        "dm": inner,
    }


def _md_layer(readahead_kb: int) -> dict[str, t.Any]:
    inner = {
        "level": "raid5",
        "uuid": "made-up",
        "metadata": "1.2",
        "chunk_bytes": 262144,
        "component_bytes": 10726932480,
        "bitmap": "none",
        "consistency_policy": "resync",
        "data_offset_bytes": [16777216],
        "layout": 2,
        "raid_disks": 4,
        "degraded": 0,
        "stripe_cache_size": 256,
        "group_thread_cnt": 0,
    }
    queue = {**QUEUE, "read_ahead_bytes": readahead_kb * 1024}
    return {
        "kind": "md",
        "name": "md127",
        "path": "/dev/md127",
        "on": ["sdb1"],
        "size_bytes": 1,
        "queue": queue,
        "md": inner,
    }


def fingerprint_of(stack: str, readahead_kb: int = 1536) -> dict[str, t.Any]:
    """Layers from the top in the form the target writes; C(readahead_kb) is that of the stack's top device."""
    below = [*_region_layers(), *disk_layers()]
    if stack == "md":
        layers = [_xfs_layer(262144, 3, 32 * 10**9), _md_layer(readahead_kb), *below]
    elif stack == "lvm_stripe":
        striped = _lv_layer(
            readahead_kb, segment_type="striped", stripes=4, stripe_bytes=65536, pe_start_bytes=[1048576]
        )
        layers = [_xfs_layer(65536, 4, 42 * 10**9), striped, *below]
    else:
        layers = [_xfs_layer(262144, 3, 31990 * 10**6), _lv_layer(readahead_kb), _md_layer(1536), *below]
    host = {
        "kernel": "6.1.0-28-amd64",
        "machine": "x86_64",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "memory_total_bytes": 1010827264,
        "cpu_model": "QEMU Virtual CPU version 2.5+",
        "cpu_count": 2,
        "numa_nodes": 1,
        "governor": None,
        "mitigations": {"meltdown": "Mitigation: PTI"},
        "tools": {"fio": "3.33-3", "mdadm": "4.2-5", "lvm2": "2.03.16-2", "xfsprogs": "6.1.0-1"},
    }
    return {"layers": layers, "host": host}


def _digest(*parts: t.Any) -> str:
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).hexdigest()


def _observation(
    run: dict[str, t.Any],
    host: str,
    block: int,
    position: int,
    stack: str,
    workload: dict[str, t.Any],
    value: float,
    readahead_kb: int,
) -> dict[str, t.Any]:
    moved = 768 * 1024**2
    seconds = moved / value
    begin = START + datetime.timedelta(seconds=90 * ((block - 1) * 6 + position))
    fingerprint = fingerprint_of(stack, readahead_kb)
    members = [
        {
            "kernel_name": disk["name"],
            "serial_number": disk["disk"]["serial_number"],
            "read_bytes": moved // 4,
            "written_bytes": 0,
            "read_requests": 768,
            "write_requests": 0,
            "busy_seconds": seconds * 0.93,
            "read_bytes_per_second": moved / 4 / seconds,
            "written_bytes_per_second": 0.0,
        }
        for disk in disk_layers()
    ]
    return {
        "schema_version": 1,
        "observation_id": _digest(run["run_id"], host, block, stack, workload["name"], 1)[:32],
        "run_id": run["run_id"],
        "experiment": run["experiment"],
        "host": host,
        "block": block,
        "position": position,
        "stack": stack,
        "factors": {},
        "workload": workload["name"],
        "attempt": 1,
        "valid": True,
        "invalid_reason": None,
        "started_at": begin.isoformat().replace("+00:00", "Z"),
        "ended_at": (begin + datetime.timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z"),
        "tool": workload["tool"],
        "tool_version": "3.33" if workload["tool"] == "fio" else "9.1",
        "parser_version": 1,
        "metrics": {
            "throughput_bytes_per_second": value,
            "duration_seconds": seconds,
            "bytes": moved,
            "cpu_user_seconds": 0.1,
            "cpu_system_seconds": 0.9,
            "cpu_busy_fraction": 0.21,
        },
        "primary_metric": "throughput_bytes_per_second",
        "members": members,
        "gates": {"before": {"sync_action": "idle", "load_average_1min": 0.4}, "after": {"sync_action": "idle"}},
        "fingerprint": fingerprint,
        "settings_hash": _digest("settings", stack, readahead_kb),
        "disks_hash": _digest("disks", host),
        "command": [workload["tool"], "--name", workload["name"]],
        "raw_output": {"stdout": json.dumps({"simulated": True, "value": value}), "stderr": "", "exit_code": 0},
        "stack_seconds": {"build": 4.2, "remove": 1.8},
    }


def simulate_run(
    effects: dict[str, dict[str, float]] | None = None,
    blocks: int = 8,
    hosts: t.Sequence[str] = ("lab1",),
    cv: float = 0.01,
    seed: int = 20080229,
    readahead_kb: dict[str, int] | None = None,
    run_id: str = "20261130-a1f3",
) -> tuple[dict[str, t.Any], list[dict[str, t.Any]]]:
    """A run record and its observations; C(effects) are ratios to md by stack and workload."""
    effects = effects or {
        "lvm_on_md": {"buffered_read": 0.62},
        "lvm_stripe": {"seq_read": 0.975, "buffered_read": 0.93},
    }
    rng = np.random.default_rng(seed)
    run: dict[str, t.Any] = {
        "run_id": run_id,
        "experiment": "compare_stacks",
        "hosts": list(hosts),
        "stacks": STACKS,
        "workloads": WORKLOADS,
        "design": {"blocks": blocks, "seed": seed, "baseline": "md", "equivalence_margin": 0.03},
        "description": {"region": {"start": "1MiB", "size": "10GiB"}},
        "started_at": START.isoformat().replace("+00:00", "Z"),
        "command": "ansible-playbook compare_stacks.yml -i hosts",
        "versions": {"ansible-core": "2.19.14", "plumbline.storage": "0.1.0"},
    }
    observations = []
    for host in hosts:
        table = {}
        for workload in WORKLOADS:
            ratios = [
                1.0 if s["name"] == "md" else effects.get(s["name"], {}).get(workload["name"], 1.0) for s in STACKS
            ]
            table[workload["name"]] = simulate_values(rng, ratios, blocks, cv)
        for block in range(1, blocks + 1):
            order = [(s, w) for s in rng.permutation(len(STACKS)) for w in rng.permutation(len(WORKLOADS))]
            for position, (s, w) in enumerate(order, 1):
                stack, workload = STACKS[s]["name"], WORKLOADS[w]
                value = table[workload["name"]][s][block]
                ahead = (readahead_kb or {"lvm_on_md": 128}).get(stack, 1536)
                observations.append(_observation(run, host, block, position, stack, workload, value, ahead))
    return run, observations


def bare_run(
    tables: t.Mapping[str, t.Mapping[str, t.Mapping[int, float]]],
    margin: float = 0.03,
    metric: str = "throughput_bytes_per_second",
) -> tuple[dict[str, t.Any], list[dict[str, t.Any]]]:
    """A run and observations that hold only what the statistics read; C(tables) is workload, stack, block, value."""
    stacks = list(dict.fromkeys(stack for table in tables.values() for stack in table))
    run = {
        "run_id": "20261130-0001",
        "experiment": "bare",
        "hosts": ["h"],
        "stacks": [{"name": stack, "layers": []} for stack in stacks],
        "workloads": [{"name": name} for name in tables],
        "design": {"blocks": 0, "baseline": stacks[0], "equivalence_margin": margin},
    }
    observations = [
        {
            "host": "h",
            "block": block,
            "position": 1,
            "stack": stack,
            "workload": workload,
            "valid": True,
            "started_at": (START + datetime.timedelta(minutes=block)).isoformat(),
            "metrics": {metric: value},
            "primary_metric": metric,
        }
        for workload, table in tables.items()
        for stack, values in table.items()
        for block, value in values.items()
    ]
    return run, observations
