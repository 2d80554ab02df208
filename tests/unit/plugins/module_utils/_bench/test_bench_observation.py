# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One observation as data."""

from __future__ import annotations

import hashlib
import json

from ansible_collections.plumbline.storage.plugins.module_utils._bench.model import parse_workload
from ansible_collections.plumbline.storage.plugins.module_utils._bench.observation import (
    Measured,
    ObservationContext,
    build_observation,
    moment,
    observation_id,
)

CONTEXT = ObservationContext(
    "20261130-a1f3", "compare", "lab1", "md", block=2, position=3, stack_seconds={"build": 4.2}
)
LOAD = parse_workload({"name": "seq_read", "tool": "fio", "runtime": "5s"})


def test_the_id_follows_from_what_was_run() -> None:
    text = b"20261130-a1f3\0lab1\x002\0md\0seq_read\x001"
    assert observation_id(CONTEXT, "seq_read", 1) == hashlib.sha256(text).hexdigest()[:32]
    assert observation_id(CONTEXT, "seq_read", 2) != observation_id(CONTEXT, "seq_read", 1)


def test_moments_are_utc_with_milliseconds() -> None:
    assert moment(0) == "1970-01-01T00:00:00.000Z"
    assert moment(1796081213.4465) == "2026-11-30T23:26:53.446Z"
    assert moment(1.9996) == "1970-01-01T00:00:02.000Z"


def test_a_good_run_has_every_field() -> None:
    measured = Measured(
        metrics={"throughput_bytes_per_second": 1.0}, tool_version="3.33", parser_version=1, exit_code=0
    )
    seen = build_observation(
        CONTEXT,
        LOAD,
        position=4,
        attempt=1,
        measured=measured,
        fingerprint={"layers": [], "host": {}, "settings_hash": "h"},
    )
    assert (seen["valid"], seen["invalid_reason"], seen["position"], seen["block"]) == (True, None, 4, 2)
    assert seen["fingerprint"] == {"layers": [], "host": {}}
    assert seen["stack_seconds"] == {"build": 4.2}
    documented = (
        "schema_version observation_id run_id experiment host block position stack factors workload attempt valid "
        "invalid_reason started_at ended_at tool tool_version parser_version metrics primary_metric members gates "
        "fingerprint settings_hash disks_hash command raw_output stack_seconds"
    )
    assert sorted(seen) == sorted(documented.split())
    json.dumps(seen)


def test_without_its_primary_metric_a_run_is_invalid() -> None:
    measured = Measured(metrics={"iops": 1.0})
    seen = build_observation(CONTEXT, LOAD, position=1, attempt=1, measured=measured, fingerprint={})
    assert not seen["valid"]
    assert "throughput_bytes_per_second was not measured; measured: iops" in seen["invalid_reason"]


def test_the_first_reason_stays() -> None:
    measured = Measured()
    measured.invalid(None)
    measured.invalid("first")
    measured.invalid("second")
    assert measured.problem == "first"
