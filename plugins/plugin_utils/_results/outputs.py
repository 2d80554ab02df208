# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Everything that is written at the end of a run: the terminal's text, report.html, summary.json, observations.csv."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import json
import os
import pathlib
import tempfile
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import StoreError

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore

__all__ = ["Outputs", "observations_csv", "write_atomically", "write_outputs"]

_CSV_FIELDS = (
    *("observation_id", "run_id", "experiment", "host", "block", "position", "stack", "workload", "attempt"),
    *("valid", "invalid_reason", "started_at", "ended_at", "tool", "tool_version", "primary_metric"),
    *("settings_hash", "disks_hash"),
)


@dataclasses.dataclass(frozen=True)
class Outputs:
    """C(text) is for the terminal; the paths are of the files written."""

    text: str
    report_path: str
    summary_path: str
    csv_path: str


def write_outputs(
    store: ResultsStore,
    run_id: str,
    results_dir: str | os.PathLike[str],
    lost_hosts: t.Mapping[str, str] | t.Iterable[str] = (),
    again_command: str | None = None,
) -> Outputs:
    """Analyse a stored run and write its files, each whole or not at all.

    C(lost_hosts) are hosts that did not finish, with a sentence each where one is known. Raises StoreError (also for a design
    that cannot be analysed, a missing library, or a directory that cannot be written).
    """
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.report import render_report
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.statistics import summarise
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.summary import summary_data
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.table import terminal_text

    run = store.run(run_id)
    observations = store.observations(run_id)
    lost = _lost(run, observations, lost_hosts)
    store.set_lost_hosts(run_id, lost)
    try:
        summary = summarise(run, observations, lost)
    except ImportError as error:
        raise StoreError(
            f"The results cannot be analysed: the Python library {error.name} is missing on this controller. "
            "Install it with: pip install -r requirements.txt"
        ) from None
    again = again_command or f"{run.get('command') or 'ansible-playbook'} -e resume={run_id}"
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    directory = pathlib.Path(results_dir)
    paths = {name: directory / name for name in ("report.html", "summary.json", "observations.csv")}
    database = _short(store.location)
    write_atomically(paths["summary.json"], json.dumps(summary_data(summary, now), indent=1, allow_nan=False) + "\n")
    write_atomically(paths["observations.csv"], observations_csv(observations))
    write_atomically(paths["report.html"], render_report(summary, observations, again, database, now))
    return Outputs(
        text=terminal_text(summary, _short(paths["report.html"]), database, again),
        report_path=str(paths["report.html"]),
        summary_path=str(paths["summary.json"]),
        csv_path=str(paths["observations.csv"]),
    )


def _lost(
    run: dict[str, t.Any], observations: list[dict[str, t.Any]], lost_hosts: t.Mapping[str, str] | t.Iterable[str]
) -> dict[str, str]:
    """A sentence per lost host; where only the name is known, how far it came."""
    if isinstance(lost_hosts, t.Mapping):
        return {host: str(why) for host, why in lost_hosts.items()}
    planned = int((run.get("design") or {}).get("blocks") or 0) * len(run["stacks"]) * len(run["workloads"])
    found = {}
    for host in lost_hosts:
        done = len({(o["block"], o["stack"], o["workload"]) for o in observations if o["host"] == host})
        found[host] = f"it did not finish, {done} of {planned} runs were done" if done else "nothing was measured on it"
    return found


def _short(path: str | os.PathLike[str]) -> str:
    """A path below the current directory as a relative one; anything else as it is."""
    text = os.fspath(path)
    if "://" in text:
        return text
    relative = os.path.relpath(text)
    return text if relative.startswith("..") else relative


def write_atomically(path: pathlib.Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part; StoreError with the reason."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}). The results are safe in the database; "
            "make room or set another results_dir and run again."
        ) from error


def observations_csv(observations: t.Sequence[dict[str, t.Any]]) -> str:
    """One line per observation with all its metrics as columns."""
    metrics = sorted({name for o in observations for name in o.get("metrics") or {}})
    factors = sorted({name for o in observations for name in o.get("factors") or {}})
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_CSV_FIELDS, *(f"factor_{name}" for name in factors), *metrics])
    for o in observations:
        row = [o.get(name) for name in _CSV_FIELDS]
        row += [(o.get("factors") or {}).get(name) for name in factors]
        writer.writerow(row + [(o.get("metrics") or {}).get(name) for name in metrics])
    return stream.getvalue()
