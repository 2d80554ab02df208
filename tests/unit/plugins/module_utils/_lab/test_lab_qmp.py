# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import socket
import threading
import typing as t
from pathlib import Path

import pytest
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError
from ansible_collections.plumbline.storage.plugins.module_utils._lab.qmp import QmpClient

GREETING = {"QMP": {"version": {}, "capabilities": []}}


class _Answers:
    """A socket that says what it is told to, one list of messages for each command."""

    def __init__(self, directory: Path, answers: list[list[dict[str, t.Any]]]) -> None:
        self.commands: list[dict[str, t.Any]] = []
        self._answers = answers
        directory.mkdir(parents=True, exist_ok=True)
        self._server = socket.socket(socket.AF_UNIX)
        handle = os.open(directory, os.O_PATH)
        self._server.bind(f"/proc/self/fd/{handle}/qmp.sock")
        self._server.listen(1)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection, connection.makefile("rw") as stream:
            self._say(stream, [GREETING])
            for messages in [[{"return": {}}], *self._answers]:
                self.commands.append(json.loads(stream.readline()))
                self._say(stream, messages)
            stream.readline()

    def _say(self, stream: t.TextIO, messages: list[dict[str, t.Any]]) -> None:
        for message in messages:
            stream.write(json.dumps(message) + "\r\n")
        stream.flush()


def test_an_answer_comes_back_past_events(tmp_path: Path) -> None:
    server = _Answers(tmp_path, [[{"event": "RESUME"}, {"return": [1, 2]}]])
    with QmpClient(str(tmp_path)) as client:
        assert client.execute("query-block", x_y=1) == [1, 2]
    assert server.commands[0]["execute"] == "qmp_capabilities"
    assert server.commands[1] == {"execute": "query-block", "arguments": {"x_y": 1}}


def test_a_refusal_carries_the_words_of_qemu(tmp_path: Path) -> None:
    _Answers(tmp_path, [[{"error": {"class": "GenericError", "desc": "Bus 'ide.2' does not support hotplugging"}}]])
    with QmpClient(str(tmp_path)) as client, pytest.raises(StorageError, match=r"device_del: Bus 'ide\.2' does not"):
        client.execute("device_del", id="disk1")


def test_the_event_of_the_right_device_is_waited_for(tmp_path: Path) -> None:
    deleted = [{"event": "DEVICE_DELETED", "data": {"device": name}} for name in ("disk2", "disk1")]
    _Answers(tmp_path, [[deleted[0], {"return": {}}, deleted[1]]])
    with QmpClient(str(tmp_path)) as client:
        client.execute("device_del", id="disk1")
        assert client.wait_event("DEVICE_DELETED", 5, device="disk1") == deleted[1]


def test_an_event_that_does_not_come_ends_the_wait(tmp_path: Path) -> None:
    _Answers(tmp_path, [[{"return": {}}]])
    with QmpClient(str(tmp_path)) as client:
        client.execute("device_del", id="disk1")
        with pytest.raises(StorageError, match=r"no DEVICE_DELETED within 0\.2 s"):
            client.wait_event("DEVICE_DELETED", 0.2, device="disk1")


def test_a_path_longer_than_a_socket_address_works(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    _Answers(deep, [[{"return": "here"}]])
    with QmpClient(str(deep)) as client:
        assert client.execute("query-status") == "here"


def test_no_socket_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no answer from QEMU on"):
        QmpClient(str(tmp_path))
