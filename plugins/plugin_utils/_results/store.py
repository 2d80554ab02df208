# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The results database: SQLite in a file by default, another SQLAlchemy URL for fleets. Several processes write at once."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import sqlite3
import typing as t
import zlib

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import StoreError
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.tables import SCHEMA_VERSION, Tables, tables

if t.TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["DEFAULT_PATH", "ResultsStore", "StoreError"]

DEFAULT_PATH = "results/plumbline.db"
_BUSY_SECONDS = 120
_ROWS_PER_INSERT = 500
_NEEDED = ("observation_id", "run_id", "experiment", "host", "block", "position", "stack", "workload", "started_at")


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def _pack(raw: t.Any) -> bytes | None:
    return None if raw is None else zlib.compress(json.dumps(raw).encode(), 6)


def _unpack(packed: bytes | None) -> t.Any:
    return None if packed is None else json.loads(zlib.decompress(packed))


def _fingerprint_hash(fingerprint: t.Any) -> str:
    return hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()


class ResultsStore:
    """Runs and their observations. Opening creates the database and its tables where they are missing.

    No connection outlives a call, so that a store may be used on both sides of a fork. Every failure is a StoreError.
    """

    def __init__(self, url_or_path: str | os.PathLike[str] = DEFAULT_PATH) -> None:
        text = os.fspath(url_or_path)
        self.location = text if "://" not in text else _without_password(text)
        self._path = text if "://" not in text else None
        with self._sentences():
            self._tables: Tables = tables()
            self._engine = self._make_engine(text)
            self._prepare()

    def _make_engine(self, text: str) -> sa.Engine:
        import sqlalchemy as sa
        from sqlalchemy.pool import NullPool

        if self._path is None and not text.startswith("sqlite"):
            return sa.create_engine(text, poolclass=NullPool)
        if self._path is not None:
            os.makedirs(os.path.dirname(os.path.abspath(text)), exist_ok=True)
            url: t.Any = sa.URL.create("sqlite", database=os.path.abspath(text))
        else:
            url = text
        engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": _BUSY_SECONDS})
        sa.event.listen(engine, "connect", _configure_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _prepare(self) -> None:
        """Create what is missing, under a lock; refuse a database that a newer program wrote."""
        import sqlalchemy as sa

        version = self._tables.schema_version
        with self._engine.connect() as connection:
            known = sa.inspect(connection).has_table("schema_version")
            found = connection.scalar(sa.select(sa.func.max(version.c.version))) if known else None
        if found is None:
            with self._write() as connection:
                self._tables.metadata.create_all(connection)
                row = {"version": SCHEMA_VERSION, "applied_at": _now()}
                connection.execute(self._insert(version, ["version"]), [row])
        elif found > SCHEMA_VERSION:
            raise StoreError(
                f"The results database {self.location} has schema version {found}, but this program knows versions up to "
                f"{SCHEMA_VERSION}: it was written by a newer plumbline.storage. Update the collection, or use another results_dir."
            )

    @contextlib.contextmanager
    def _write(self) -> t.Iterator[sa.Connection]:
        """A transaction that takes the write lock first: a read that later becomes a write could not wait for it."""
        import sqlalchemy as sa

        with self._engine.connect().execution_options(plumbline_write=True) as connection, connection.begin():
            if self._engine.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(20080229)"))
            yield connection

    def _insert(self, table: sa.Table, keys: list[str]) -> t.Any:
        """INSERT that leaves rows alone which are there already."""
        if self._engine.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as pg_insert

            return pg_insert(table).on_conflict_do_nothing(index_elements=keys)
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table).on_conflict_do_nothing(index_elements=keys)

    @contextlib.contextmanager
    def _sentences(self) -> t.Iterator[None]:
        """Errors of the libraries and the system as StoreError."""
        try:
            import sqlalchemy as sa
        except ImportError:
            raise StoreError(
                "Results cannot be stored: the Python library SQLAlchemy is missing on this controller. "
                "Install it with: pip install -r requirements.txt"
            ) from None
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            raise StoreError(self._explain(str(getattr(error, "orig", None) or error))) from error
        except OSError as error:
            raise StoreError(self._explain(f"{error.strerror or error}: {error.filename or ''}".strip(": "))) from error
        except ImportError as error:
            raise StoreError(
                f"The results database {self.location} cannot be used: its driver is missing ({error}). Install it with pip."
            ) from error

    def _explain(self, said: str) -> str:
        low, where = said.lower(), f"The results database {self.location}"
        later = "observations that are not stored yet stay on the targets"
        if "full" in low or "no space" in low:
            return f"{where} cannot be written: the disk is full. Free some space and run again; {later}."
        if "readonly" in low or "read-only" in low or "permission" in low or "unable to open" in low:
            return (
                f"{where} cannot be opened for writing ({said}). Make it writable or set another results_dir; {later}."
            )
        if "locked" in low or "busy" in low:
            return f"{where} was locked by another process for {_BUSY_SECONDS} seconds. Run again when it is done; {later}."
        if "not a database" in low or "malformed" in low:
            return f"{where} is not a database of this collection or is damaged ({said}). Move it away and run again; {later}."
        return f"{where} cannot be used: {' '.join(said.split())}; {later}."

    def add_run(self, run: dict[str, t.Any]) -> bool:
        """True when the run is new; a run that is there already is left as it is."""
        row = {
            "run_id": run["run_id"],
            "experiment": run.get("experiment", ""),
            "started_at": run.get("started_at") or _now(),
            "stored_at": _now(),
            "command": run.get("command"),
            "design": run.get("design") or {},
            "versions": run.get("versions") or {},
            "record": run,
        }
        with self._sentences(), self._write() as connection:
            statement = self._insert(self._tables.runs, ["run_id"]).returning(self._tables.runs.c.run_id)
            return connection.execute(statement, [row]).first() is not None

    def set_lost_hosts(self, run_id: str, lost_hosts: t.Mapping[str, str]) -> None:
        """Remember which hosts of a run went missing, and how (replaces what was noted before)."""
        runs = self._tables.runs
        with self._sentences(), self._write() as connection:
            connection.execute(runs.update().where(runs.c.run_id == run_id).values(lost_hosts=dict(lost_hosts)))

    def add_observations(self, observations: t.Iterable[dict[str, t.Any]]) -> int:
        """How many were new; those stored before (by C(observation_id)) are skipped. All or none are stored."""
        prints: dict[str, t.Any] = {}
        rows: dict[str, dict[str, t.Any]] = {}
        for observation in observations:
            row = self._row(observation, prints)
            rows.setdefault(row["observation_id"], row)
        if not rows:
            return 0
        table = self._tables.observations
        statement = self._insert(table, ["observation_id"]).returning(table.c.observation_id)
        found, listed = 0, list(rows.values())
        with self._sentences(), self._write() as connection:
            if prints:
                contents = [{"fingerprint_hash": key, "content": value} for key, value in prints.items()]
                connection.execute(self._insert(self._tables.fingerprints, ["fingerprint_hash"]), contents)
            for start in range(0, len(listed), _ROWS_PER_INSERT):
                found += len(connection.execute(statement, listed[start : start + _ROWS_PER_INSERT]).all())
        return found

    def _row(self, observation: dict[str, t.Any], prints: dict[str, t.Any]) -> dict[str, t.Any]:
        missing = [name for name in _NEEDED if observation.get(name) is None]
        if missing:
            raise StoreError(f"An observation lacks {', '.join(missing)} and was not stored; nothing of its batch was.")
        row = {column.name: observation.get(column.name) for column in self._tables.observations.columns}
        fingerprint = observation.get("fingerprint")
        if fingerprint is not None:
            key = _fingerprint_hash(fingerprint)
            row["fingerprint_hash"], prints[key] = key, fingerprint
        row["schema_version"] = observation.get("schema_version", 1)
        row["attempt"] = observation.get("attempt", 1)
        row["valid"] = bool(observation.get("valid", True))
        row["raw_output"] = _pack(observation.get("raw_output"))
        row["other"] = {k: v for k, v in observation.items() if k not in row and k != "fingerprint"}
        row["stored_at"] = _now()
        return row

    def observation_ids(self, run_id: str, host: str | None = None) -> set[str]:
        """Identities of what is stored of a run, of one host or of all."""
        import sqlalchemy as sa

        table = self._tables.observations
        query = sa.select(table.c.observation_id).where(table.c.run_id == run_id)
        if host is not None:
            query = query.where(table.c.host == host)
        with self._sentences(), self._engine.connect() as connection:
            return set(connection.scalars(query))

    def observations(self, run_id: str, raw: bool = False) -> list[dict[str, t.Any]]:
        """All observations of a run as docs/observation.md has them, by host and time; C(raw) adds the tools' output.

        Equal fingerprints are one shared object: treat them as read-only.
        """
        import sqlalchemy as sa

        table, prints = self._tables.observations, self._tables.fingerprints
        columns = [c for c in table.columns if raw or c.name != "raw_output"]
        query = sa.select(*columns).where(table.c.run_id == run_id)
        query = query.order_by(table.c.host, table.c.started_at, table.c.block, table.c.position)
        with self._sentences(), self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
            wanted = {row["fingerprint_hash"] for row in rows if row["fingerprint_hash"]}
            contents: dict[str, t.Any] = {}
            for key in wanted:
                contents[key] = connection.scalar(sa.select(prints.c.content).where(prints.c.fingerprint_hash == key))
        return [self._observation(dict(row), contents, raw) for row in rows]

    @staticmethod
    def _observation(row: dict[str, t.Any], contents: dict[str, t.Any], raw: bool) -> dict[str, t.Any]:
        row["fingerprint"] = contents.get(row["fingerprint_hash"])
        if raw:
            row["raw_output"] = _unpack(row["raw_output"])
        row.update(row.pop("other") or {})
        return row

    def runs(self) -> list[dict[str, t.Any]]:
        """The records of all runs, oldest first, each with C(lost_hosts)."""
        import sqlalchemy as sa

        table = self._tables.runs
        query = sa.select(table.c.record, table.c.lost_hosts).order_by(table.c.started_at, table.c.stored_at)
        with self._sentences(), self._engine.connect() as connection:
            return [{**row.record, "lost_hosts": row.lost_hosts or {}} for row in connection.execute(query)]

    def run(self, run_id: str) -> dict[str, t.Any]:
        """The record of one run; StoreError when there is none."""
        found = next((run for run in self.runs() if run["run_id"] == run_id), None)
        if found is None:
            known = ", ".join(run["run_id"] for run in self.runs()[-5:]) or "no run at all"
            raise StoreError(f"Run {run_id} is not in the results database {self.location}, which holds {known}.")
        return found

    def latest_run(self, experiment: str | None = None) -> dict[str, t.Any] | None:
        """The record of the run that started last, of one experiment or of all; None when there is none."""
        mine = [run for run in self.runs() if experiment in (None, run.get("experiment"))]
        return mine[-1] if mine else None


def _without_password(url: str) -> str:
    scheme, _sep, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    shown = f"{scheme}://{credentials.split(':')[0]}{at}{host}" if at else url
    return re.sub(r"(password=)[^&]*", r"\1***", shown)


def _configure_sqlite(connection: t.Any, _record: t.Any) -> None:
    # The driver's own transactions begin too late (at the first change) to take the write lock at the start.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
    # The change to WAL does not wait for others, and some network file systems refuse it. SQLite then stays with its
    # rollback journal, which is slower but right; the next connection tries again.
    with contextlib.suppress(sqlite3.OperationalError):
        if str(cursor.execute("PRAGMA journal_mode").fetchone()[0]).lower() != "wal":
            cursor.execute("PRAGMA journal_mode = WAL").fetchone()
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("plumbline_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
