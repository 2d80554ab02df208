# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spool on the target: whole lines survive, torn ones are left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._bench.spool import Spool, left_spools, parse_spool
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool("20261130-a1f3", str(tmp_path / "spool"))
    made.create()
    return made


def test_what_was_appended_is_read_back(spool: Spool) -> None:
    for number in range(3):
        spool.append({"observation_id": str(number), "text": "line\nbreak é"})
    assert [seen["observation_id"] for seen in spool.read()] == ["0", "1", "2"]
    assert Path(spool.path).read_bytes().count(b"\n") == 3
    assert os.stat(spool.path).st_mode & 0o077 == 0


def test_a_torn_last_line_is_left_out_and_does_not_swallow_the_next(spool: Spool) -> None:
    spool.append({"a": 1})
    with open(spool.path, "ab") as stream:
        stream.write(b'{"a": 2, "torn')
    assert spool.read() == [{"a": 1}]
    spool.create()
    spool.append({"a": 3})
    assert spool.read() == [{"a": 1}, {"a": 3}]


def test_every_cut_of_a_spool_gives_the_whole_lines_before_it() -> None:
    lines = [json.dumps({"n": number}).encode() + b"\n" for number in range(4)]
    data = b"".join(lines)
    for end in range(len(data) + 1):
        found = parse_spool(data[:end])
        whole = data[:end].count(b"\n")
        assert found[:whole] == [{"n": number} for number in range(whole)]
        assert len(found) - whole in (0, 1)  # a last line may lack nothing but its end


def test_lines_that_are_no_object_are_left_out() -> None:
    assert parse_spool(b'[1]\n\xff\xfe\nnull\n{"a":1}\n' + b"[" * 100_000) == [{"a": 1}]


def test_the_status_is_replaced_whole(spool: Spool) -> None:
    assert spool.read_status() is None
    spool.write_status({"phase": "measuring"})
    spool.write_status({"phase": "finished", "done": 2})
    status = spool.read_status() or {}
    assert (status["phase"], status["done"], status["pid"]) == ("finished", 2, os.getpid())
    assert not os.path.exists(f"{spool.status_path}.part")


def test_the_lease_has_an_age(spool: Spool) -> None:
    assert spool.lease_age_seconds() < 5
    os.utime(spool.lease_path, (1000, 1000))
    assert spool.lease_age_seconds() > 1000
    spool.renew_lease()
    assert spool.lease_age_seconds() < 5
    os.unlink(spool.lease_path)
    assert spool.lease_age_seconds() == float("inf")


def test_a_run_id_is_a_plain_name(tmp_path: Path) -> None:
    for name in ("../x", "a/b", "", ".hidden", "a b", "x" * 80):
        with pytest.raises(PlanRefused, match="run_id"):
            Spool(name, str(tmp_path))


def test_left_spools_are_found(spool: Spool, tmp_path: Path) -> None:
    assert left_spools(str(tmp_path / "nowhere")) == []
    assert left_spools(spool.directory) == [spool.path], "a run that ended before its first observation counts"
    spool.append({})
    assert left_spools(spool.directory) == [spool.path]
    assert spool.job(7) == {
        "pid": 7,
        "run_id": "20261130-a1f3",
        "spool": spool.path,
        "status": spool.status_path,
        "lease": spool.lease_path,
        "log": spool.log_path,
    }
