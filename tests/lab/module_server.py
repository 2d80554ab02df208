# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a guest: runs modules of the collection for requests that come as JSON lines on standard input.

usage: python3 module_server.py DIRECTORY        which holds ansible/module_utils and ansible_collections/…

Each request {"module": …, "args": {…}} is one line, each answer is the module's JSON on one line. A module runs in a
child of its own through its own main(), just as Ansible runs it; only connecting and starting Python, most of
a task's three seconds in such a guest, is done once.

With C(cut_before: N) in a request the machine resets, without writing its caches, just before the N-th changing command of the
module. The number of changing commands of the last call is in /run/plumbline-changes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
import typing as t

PREFIX = "ansible_collections.plumbline.storage.plugins.modules."


def count_changes(cut_before: int) -> None:
    """Counts the commands that change something, and resets the machine before the one asked for."""
    from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner

    change, count = Runner.change, 0

    def counted(self: Runner, *args: t.Any, **options: t.Any) -> t.Any:
        nonlocal count
        count += 1
        if count == cut_before:
            with open("/proc/sysrq-trigger", "w") as trigger:
                trigger.write("b")
            time.sleep(600)
        with open("/run/plumbline-changes", "w") as file:
            file.write(str(count))
        return change(self, *args, **options)

    Runner.change = counted  # type: ignore[method-assign]
    with open("/run/plumbline-changes", "w") as file:
        file.write("0")


def run_child(module: str, args: dict[str, object], cut_before: int, answer: int) -> None:
    """In the child: the module's main with its standard output in the pipe."""
    from ansible.module_utils import basic

    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(answer, 1)
    os.setsid()
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": args}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    code = 1
    try:
        count_changes(cut_before)
        importlib.import_module(PREFIX + module).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        print(json.dumps({"failed": True, "msg": "traceback", "traceback": traceback.format_exc()}))
    sys.stdout.flush()
    os._exit(code)


def answer_of(request: dict[str, t.Any]) -> str:
    """The module's answer on one line; one that is not JSON becomes a failure that holds it."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        run_child(request["module"], request["args"], request.get("cut_before", 0), write_end)
    os.close(write_end)
    with os.fdopen(read_end, errors="replace") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return json.dumps({"failed": True, "msg": "traceback", "traceback": text})


def main() -> None:
    directory = sys.argv[1]
    sys.path.insert(0, directory)
    # Loaded before the first fork, so that no request pays for it.
    importlib.import_module("ansible.module_utils.basic")
    for name in sorted(os.listdir(f"{directory}/ansible_collections/plumbline/storage/plugins/modules")):
        if name.endswith(".py") and not name.startswith(("experiment_", "lab_", "storage_experiment")):
            importlib.import_module(PREFIX + name[:-3])
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(answer_of(json.loads(line)), flush=True)


main()
