# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""The tables of the results database, in SQLAlchemy's own types so that SQLite and PostgreSQL hold the same."""

from __future__ import annotations

import functools
import typing as t

if t.TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["SCHEMA_VERSION", "Tables", "tables"]

SCHEMA_VERSION = 1


class Tables(t.NamedTuple):
    """All tables and the metadata they belong to."""

    metadata: sa.MetaData
    schema_version: sa.Table
    runs: sa.Table
    fingerprints: sa.Table
    observations: sa.Table


@functools.cache
def tables() -> Tables:
    """The tables; raises ImportError when SQLAlchemy is missing (it is imported only here and in the store)."""
    import sqlalchemy as sa

    metadata = sa.MetaData()
    version = sa.Table(
        "schema_version",
        metadata,
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("applied_at", sa.String(40), nullable=False),
    )
    runs = sa.Table(
        "runs",
        metadata,
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("experiment", sa.String(200), nullable=False, index=True),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("stored_at", sa.String(40), nullable=False),
        sa.Column("command", sa.Text),
        sa.Column("design", sa.JSON, nullable=False),
        sa.Column("versions", sa.JSON),
        sa.Column("record", sa.JSON, nullable=False),
        sa.Column("lost_hosts", sa.JSON),
    )
    fingerprints = sa.Table(
        "fingerprints",
        metadata,
        sa.Column("fingerprint_hash", sa.String(64), primary_key=True),
        sa.Column("content", sa.JSON, nullable=False),
    )
    return Tables(metadata, version, runs, fingerprints, _observations(metadata))


def _observations(metadata: sa.MetaData) -> sa.Table:
    import sqlalchemy as sa

    def text(name: str, length: int = 200, required: bool = False, **options: t.Any) -> sa.Column[t.Any]:
        return sa.Column(name, sa.String(length), nullable=not required, **options)

    return sa.Table(
        "observations",
        metadata,
        text("observation_id", 64, True, primary_key=True),
        sa.Column("schema_version", sa.Integer, nullable=False),
        text("run_id", 64, True),
        text("experiment", 200, True),
        text("host", 255, True),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        text("stack", 200, True),
        sa.Column("factors", sa.JSON),
        text("workload", 200, True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("valid", sa.Boolean, nullable=False),
        sa.Column("invalid_reason", sa.Text),
        text("started_at", 40, True),
        text("ended_at", 40),
        text("tool", 40),
        text("tool_version", 80),
        sa.Column("parser_version", sa.Integer),
        sa.Column("metrics", sa.JSON),
        text("primary_metric"),
        sa.Column("members", sa.JSON),
        sa.Column("gates", sa.JSON),
        text("fingerprint_hash", 64),
        text("settings_hash", 80),
        text("disks_hash", 80),
        sa.Column("command", sa.JSON),
        sa.Column("raw_output", sa.LargeBinary),
        sa.Column("stack_seconds", sa.JSON),
        sa.Column("other", sa.JSON),
        text("stored_at", 40, True),
        sa.Index("observations_by_run", "run_id", "host", "block"),
    )
