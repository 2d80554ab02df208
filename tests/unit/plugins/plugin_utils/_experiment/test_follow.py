# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.poll import parse_poll, poll_command
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.progress import left_text, progress_line

JOB = {"pid": 77, "lease": "/var/lib/x.lease", "status": "/var/lib/x.json", "spool": "/var/lib/a b.jsonl"}


def said(alive: str, status: str, spool: str) -> str:
    return f"{alive}\n{status}\n\n--plumbline-spool--\n{spool}"


def test_a_torn_last_line_waits_for_the_next_look() -> None:
    first, second = json.dumps({"n": 1}) + "\n", json.dumps({"n": "zwölf"}) + "\n"
    torn = parse_poll(said("alive", '{"phase": "building"}', first + second[:5]), 10)
    assert torn is not None
    assert torn.observations == [{"n": 1}]
    assert torn.next_offset == 10 + len(first)
    whole = parse_poll(said("alive", "", second), torn.next_offset)
    assert whole is not None
    assert whole.observations == [{"n": "zwölf"}]
    assert whole.next_offset == torn.next_offset + len(second.encode())
    assert whole.status is None


@pytest.mark.parametrize("text", ["", "alive", "alive\n{}\n", "Connection closed\n--plumbline-spool--\n"])
def test_half_an_answer_is_no_answer(text: str) -> None:
    assert parse_poll(text, 0) is None


def test_a_dead_runner_is_seen() -> None:
    look = parse_poll(said("gone", "{}", ""), 5)
    assert look is not None
    assert (look.alive, look.next_offset) == (False, 5)


def test_command_quotes_and_reads_from_the_offset() -> None:
    text = poll_command(JOB, 100)
    assert "'/var/lib/a b.jsonl'" in text
    assert "tail -c +101 " in text


def test_progress_line_reads_like_a_sentence_of_figures() -> None:
    status = {
        "phase": "workload",
        "block": 3,
        "blocks": 8,
        "stack": "lvm_on_md",
        "workload": "buffered_read",
        "done": 17,
        "total": 48,
        "last_metric": "throughput_bytes_per_second",
        "last_value": 81.4e6,
        "begun_at": 1000.0,
        "last_done_at": 1170.0,
    }
    line = progress_line("lab1", status, 1180.0)
    assert line.split() == [
        "lab1",
        "block",
        "3/8",
        "lvm_on_md",
        "buffered_read",
        "81",
        "MB/s",
        "17",
        "of",
        "48",
        "done,",
        "about",
        "5",
        "min",
        "left",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0, "about 1 s left"), (59, "about 59 s left"), (400, "about 7 min left")]
)
def test_left(seconds: float | None, text: str) -> None:
    assert left_text(seconds) == text


def test_carriage_returns_of_a_terminal_do_not_count() -> None:
    line = json.dumps({"n": 1}) + "\n"
    look = parse_poll(said("alive", "{}", line).replace("\n", "\r\n"), 0)
    assert look is not None
    assert (look.observations, look.next_offset) == ([{"n": 1}], len(line))
