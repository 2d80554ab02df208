# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the outputs of a run from the results database, and shows the answer."""

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.plumbline.storage.plugins.plugin_utils._experiment.run import planned_ids


class ActionModule(ActionBase):
    """Runs on the controller only."""

    TRANSFERS_FILES = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Returns the paths of the report and the summary, and the text shown."""
        super().run(tmp, task_vars)
        from ansible_collections.plumbline.storage.plugins.plugin_utils._results.outputs import write_outputs
        from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore, StoreError

        args = self._task.args
        if self._task.check_mode:
            return {"changed": False, "skipped": True, "msg": "check mode: there is nothing to report"}
        run = args["run"]
        again = str(args.get("again") or f"{run['command']} -e resume={run['run_id']}")
        try:
            store = ResultsStore(args["database"])
            taken = {host: set(store.observation_ids(run["run_id"], host)) for host in run["hosts"]}
            if not any(taken.values()):
                return {
                    "changed": False,
                    "skipped": True,
                    "msg": "no observation was taken, so there is nothing to report",
                }
            lost = [host for host, ids in taken.items() if planned_ids(run, host) - ids]
            outputs = write_outputs(store, run["run_id"], args["results_dir"], lost, again)
        except StoreError as error:
            raise AnsibleActionFail(str(error)) from None
        Display().display("\n" + outputs.text)
        return {
            "changed": True,
            "report": str(outputs.report_path),
            "summary": str(outputs.summary_path),
            "text": outputs.text.splitlines(),
        }
