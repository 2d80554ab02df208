# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import multiprocessing
import os
import pathlib
import sqlite3
import typing as t

import pytest

pytest.importorskip("sqlalchemy")
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore, StoreError


@pytest.fixture
def store(tmp_path: pathlib.Path) -> ResultsStore:
    return ResultsStore(tmp_path / "results" / "plumbline.db")


def test_an_observation_comes_back_as_it_went_in(store: ResultsStore, simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=2)
    extra = {**observations[0], "steady_state": {"reached": True}}
    store.add_run(run)
    assert store.add_observations([extra, *observations[1:]]) == 12
    back = {o["observation_id"]: o for o in store.observations(run["run_id"], raw=True)}[extra["observation_id"]]
    assert {key: back[key] for key in extra} == extra


def test_storing_twice_stores_once(store: ResultsStore, simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=2)
    assert store.add_run(run) is True
    assert store.add_run({**run, "experiment": "other"}) is False
    assert store.add_observations(observations[:5]) == 5
    assert store.add_observations(observations[3:8] + observations[3:4]) == 3
    assert store.add_observations([]) == 0
    assert store.observation_ids(run["run_id"], "lab1") == {o["observation_id"] for o in observations[:8]}
    assert store.observation_ids(run["run_id"], "lab2") == set()
    assert store.latest_run("compare_stacks")["run_id"] == run["run_id"]
    assert store.latest_run("other") is None


def test_fingerprints_are_kept_once_and_raw_output_is_compressed(store: ResultsStore, simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=4)
    for observation in observations:
        observation["raw_output"] = {"stdout": "0123456789" * 2000, "stderr": "", "exit_code": 0}
    store.add_observations(observations)
    database = sqlite3.connect(store.location)
    assert database.execute("SELECT count(*) FROM fingerprints").fetchone() == (3,)
    assert database.execute("SELECT max(length(raw_output)) FROM observations").fetchone()[0] < 1000
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert "raw_output" not in store.observations(run["run_id"])[0]


def test_lost_hosts_are_kept_with_the_run(store: ResultsStore, simulated: t.Any) -> None:
    run, _observations = simulated.simulate_run(blocks=1)
    store.add_run(run)
    store.set_lost_hosts(run["run_id"], {"lab9": "it stopped answering"})
    assert store.run(run["run_id"])["lost_hosts"] == {"lab9": "it stopped answering"}


def _write_share(path: str, start: int, observations: list[dict[str, t.Any]], barrier: t.Any, sent: t.Any) -> None:
    barrier.wait()
    store = ResultsStore(path)
    sent.put(sum(store.add_observations([o]) for o in observations[start:]))


def test_eight_writers_at_once_lose_and_double_nothing(tmp_path: pathlib.Path, simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=4)
    path = str(tmp_path / "plumbline.db")
    context = multiprocessing.get_context("fork")
    barrier, sent = context.Barrier(8), context.Queue()
    workers = [
        context.Process(target=_write_share, args=(path, start, observations, barrier, sent)) for start in range(8)
    ]
    for worker in workers:
        worker.start()
    counts = [sent.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 8
    assert sum(counts) == len(observations)
    assert len(ResultsStore(path).observations(run["run_id"])) == len(observations)


def test_a_newer_database_is_refused_in_a_sentence(store: ResultsStore) -> None:
    with sqlite3.connect(store.location) as database:
        database.execute("INSERT INTO schema_version VALUES (99, '2030-01-01T00:00:00Z')")
    with pytest.raises(StoreError, match=r"schema version 99.*Update the collection"):
        ResultsStore(store.location)


def test_what_is_no_database_is_refused_in_a_sentence(tmp_path: pathlib.Path) -> None:
    (tmp_path / "plumbline.db").write_text("this is a shopping list, not a database\n" * 50)
    with pytest.raises(StoreError, match="is not a database of this collection"):
        ResultsStore(tmp_path / "plumbline.db")


def test_a_place_that_cannot_be_written_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "results").write_text("a file where the directory should be")
    with pytest.raises(StoreError, match=r"results/plumbline\.db"):
        ResultsStore(tmp_path / "results" / "plumbline.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_database_is_named(store: ResultsStore, simulated: t.Any) -> None:
    _run, observations = simulated.simulate_run(blocks=1)
    os.chmod(store.location, 0o400)
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        store.add_observations(observations)


def test_a_full_disk_is_a_sentence(store: ResultsStore, simulated: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's page limit gives the same error as a full disk."""
    import sqlalchemy as sa

    _run, observations = simulated.simulate_run(blocks=8)
    for number, observation in enumerate(observations):
        observation["invalid_reason"] = json.dumps(list(range(number, number + 2000)))

    def limit(connection: t.Any, _record: t.Any) -> None:
        connection.execute("PRAGMA max_page_count = 30")

    sa.event.listen(store._engine, "connect", limit)
    with pytest.raises(StoreError, match=r"the disk is full.*stay on the targets"):
        store.add_observations(observations)
    assert store.observations("20261130-a1f3") == []


def test_an_incomplete_observation_stops_its_batch(store: ResultsStore, simulated: t.Any) -> None:
    run, observations = simulated.simulate_run(blocks=1)
    observations[2].pop("stack")
    with pytest.raises(StoreError, match="lacks stack"):
        store.add_observations(observations)
    assert store.observations(run["run_id"]) == []


def test_an_unknown_run_is_named(store: ResultsStore) -> None:
    with pytest.raises(StoreError, match="Run nope is not in the results database"):
        store.run("nope")


@pytest.mark.parametrize("place", ["me:secret@db/plumbline", "me@db/plumbline?password=secret&port=1"])
def test_a_password_is_not_shown(place: str) -> None:
    with pytest.raises(StoreError, match=r"its driver is missing|cannot be used") as caught:
        ResultsStore(f"postgresql+nosuchdriver://{place}")
    assert "secret" not in str(caught.value)
