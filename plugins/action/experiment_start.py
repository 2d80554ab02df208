# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Begins a run, or takes up one again: checks the description and writes the run into the results database."""

from __future__ import annotations

import datetime
import os
import secrets
import shlex
import sys
import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused, StorageError
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.run import (
    check_resume,
    is_run_id,
    new_run,
    results_location,
)


class ActionModule(ActionBase):
    """Runs on the controller only."""

    TRANSFERS_FILES = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Returns C(run): id, experiment, hosts, description, design; C(database): where results go."""
        super().run(tmp, task_vars)
        args, variables = self._task.args, task_vars or {}
        hosts = [str(host) for host in args.get("hosts") or variables.get("ansible_play_hosts_all") or []]
        try:
            return self._begin(args, hosts)
        except StorageError as error:
            raise AnsibleActionFail(error.message) from None

    def _begin(self, args: t.Mapping[str, t.Any], hosts: list[str]) -> dict[str, t.Any]:
        from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore, StoreError

        database = results_location(str(args.get("results_dir") or "results"), args.get("results_url") or None)
        resume = args.get("resume") or None
        try:
            if resume:
                run = _stored_run(ResultsStore(database), str(resume), database)
                check_resume(run, hosts)
                return {"changed": False, "run": run, "database": database, "resumed": True}
            run = new_run(_new_id(), args.get("description") or {}, hosts, _now(), _command_line())
            if not self._task.check_mode:
                ResultsStore(database).add_run(run)
        except StoreError as error:
            raise AnsibleActionFail(str(error)) from None
        return {"changed": not self._task.check_mode, "run": run, "database": database, "resumed": False}


def _stored_run(store: t.Any, run_id: str, database: str) -> dict[str, t.Any]:
    known = {run["run_id"]: run for run in store.runs()}
    if not is_run_id(run_id) or run_id not in known:
        latest = ", ".join(sorted(known)[-5:]) or "none"
        raise PlanRefused(
            f"resume was asked for run {run_id}, but {database} has no such run; the latest are: {latest}"
        )
    return dict(known[run_id])


def _new_id() -> str:
    return f"{datetime.datetime.now(datetime.timezone.utc):%Y%m%d}-{secrets.token_hex(2)}"


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _command_line() -> str:
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
