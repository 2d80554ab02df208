# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carries an experiment out on one host: starts it there detached, follows it, stores each observation at once."""

from __future__ import annotations

import os
import time
import typing as t

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.poll import Poll, parse_poll, poll_command
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.progress import ProgressPrinter

_MODULE = "plumbline.storage.storage_experiment"
_LOST_AFTER_SECONDS = 300


class ActionModule(ActionBase):
    """The module starts the run and returns; this plugin follows it without starting Python on the target."""

    TRANSFERS_FILES = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Returns C(observations) counted, C(invalid), and what the module said."""
        super().run(tmp, task_vars)
        variables = task_vars or {}
        host = str(variables["inventory_hostname"])
        args = dict(self._task.args)
        run, database = args.pop("run"), str(args.pop("database"))
        poll_seconds = float(args.pop("poll_seconds", 5))
        alone = len(variables.get("ansible_play_hosts") or []) <= 1
        store = None if self._task.check_mode else _open_store(database)
        module_args = {**args, **self._module_args(run, host, store)}
        if isinstance(module_args["description"].get("disks"), str):
            module_args["description"] = self._choose_disks(module_args["description"], variables)
        started = self._execute_module(module_name=_MODULE, module_args=module_args, task_vars=variables)
        if started.get("failed") or self._task.check_mode or not started.get("job"):
            return self._shown_failure(started)
        for spool in started.get("left_spools") or []:
            self._collect_left(spool, store)
        return self._follow(host, run, started, store, poll_seconds, ProgressPrinter(host, alone))

    def _module_args(self, run: t.Mapping[str, t.Any], host: str, store: t.Any) -> dict[str, t.Any]:
        done = sorted(store.observation_ids(run["run_id"], host)) if store is not None else []
        return {"run_id": run["run_id"], "host": host, "description": dict(run["description"]), "done": done}

    def _choose_disks(self, description: t.Mapping[str, t.Any], variables: dict[str, t.Any]) -> dict[str, t.Any]:
        """Evaluates a JMESPath condition over the records of disk_info; the controller has the library, a target has not."""
        import jmespath

        facts = self._execute_module(
            module_name="plumbline.storage.disk_info", module_args={"content": False}, task_vars=variables
        )
        if facts.get("failed"):
            raise AnsibleActionFail(str(facts.get("msg")))
        try:
            condition = jmespath.compile(str(description["disks"]))
            chosen = [disk for disk in facts["disks"] if condition.search(disk) is True]
        except jmespath.exceptions.JMESPathError as error:
            raise AnsibleActionFail(
                f"disks was given as {description['disks']!r}, which is not a JMESPath condition: {error}"
            ) from None
        names = [disk.get("serial_number") or disk.get("wwn") for disk in chosen]
        if not chosen:
            raise AnsibleActionFail(f"disks was given as {description['disks']!r}, and no disk of this host matches it")
        return {**description, "disks": [name for name in names if name], "choose_idle_of": True}

    def _shown_failure(self, result: dict[str, t.Any]) -> dict[str, t.Any]:
        """A refusal that lists disks is text of several lines; it is shown as such before the task fails."""
        if result.get("failed") and result.get("disks_seen"):
            Display().display(str(result["disks_seen"]))
        return result

    def _collect_left(self, spool: str, store: t.Any) -> None:
        """Stores what an earlier run left behind, then removes its spool."""
        read = self._poll({"pid": 1, "lease": "/dev/null", "status": "/dev/null", "spool": spool}, 0)
        if read is None:
            return
        store.add_observations(read.observations)
        self._remove_spool(spool)

    def _remove_spool(self, spool: str) -> None:
        """Removes the spool of a run whose observations are stored, with its status, lease and log."""
        self._shell(f"rm -f {spool} {spool.removesuffix('.jsonl')}.*")

    def _follow(
        self,
        host: str,
        run: t.Mapping[str, t.Any],
        started: dict[str, t.Any],
        store: t.Any,
        poll_seconds: float,
        progress: ProgressPrinter,
    ) -> dict[str, t.Any]:
        job, offset, parent, seen_at = started["job"], 0, os.getppid(), time.monotonic()
        counts = {"observations": 0, "invalid": 0}
        try:
            while True:
                if os.getppid() != parent:
                    raise AnsibleActionFail("the play that followed this run is gone")
                look = self._poll(job, offset)
                if look is None:
                    if time.monotonic() - seen_at > _LOST_AFTER_SECONDS:
                        raise AnsibleConnectionFailure(
                            f"nothing heard from the run for {_LOST_AFTER_SECONDS} s; run again with resume={run['run_id']}"
                        )
                    time.sleep(poll_seconds)
                    continue
                seen_at = time.monotonic()
                store.add_observations(look.observations)
                counts["observations"] += len(look.observations)
                counts["invalid"] += sum(not seen["valid"] for seen in look.observations)
                moved, offset = look.next_offset != offset, look.next_offset
                if look.status:
                    progress.show(look.status)
                if not moved and _ended(look):
                    break
                time.sleep(poll_seconds if not _ended(look) else 0)
        finally:
            progress.close()
        return self._finish(job, look, {**started, **counts}, run)

    def _finish(
        self, job: t.Mapping[str, t.Any], look: Poll, result: dict[str, t.Any], run: t.Mapping[str, t.Any]
    ) -> dict[str, t.Any]:
        status = look.status or {}
        if status.get("phase") == "finished":
            self._remove_spool(str(job["spool"]))
            return {**result, "changed": True}
        why = status.get("error") or "its process on the host ended without a word; see " + str(job.get("log"))
        return {
            **result,
            "failed": True,
            "msg": f"the run stopped before its end: {why} Go on with: -e resume={run['run_id']}",
        }

    def _poll(self, job: t.Mapping[str, t.Any], offset: int) -> Poll | None:
        try:
            said = self._shell(poll_command(job, offset))
        except AnsibleConnectionFailure:
            return None
        return parse_poll(said, offset)

    def _shell(self, command: str) -> str:
        # With something on its standard input ssh asks for no terminal.
        result = self._low_level_execute_command(command, sudoable=True, in_data=b"\n")
        return str(result.get("stdout", ""))


def _ended(look: Poll) -> bool:
    phase = (look.status or {}).get("phase")
    return phase in ("finished", "failed", "stopped") or not look.alive


def _open_store(database: str) -> t.Any:
    from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore, StoreError

    try:
        return ResultsStore(database)
    except StoreError as error:
        raise AnsibleActionFail(str(error)) from None
