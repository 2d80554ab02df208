# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""A small client of QEMU's control socket (QMP)."""

from __future__ import annotations

import json
import os
import socket
import time
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

__all__ = ["QmpClient"]


class QmpClient:
    """One connection to the control socket of a running machine; a context manager."""

    def __init__(self, directory: str, socket_name: str = "qmp.sock", timeout: float = 10) -> None:
        self._where = os.path.join(directory, socket_name)
        self._buffer = b""
        self._events: list[dict[str, t.Any]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        # A socket's path may have 107 characters only; through the open directory every path is short enough.
        handle = os.open(directory, os.O_PATH | os.O_DIRECTORY)
        try:
            self._socket.connect(f"/proc/self/fd/{handle}/{socket_name}")
            self._read()
            self.execute("qmp_capabilities")
        except OSError as error:
            self._socket.close()
            raise StorageError(f"no answer from QEMU on {self._where}: {error}") from error
        finally:
            os.close(handle)

    def __enter__(self) -> QmpClient:
        return self

    def __exit__(self, *_unused: object) -> None:
        self._socket.close()

    def _read(self) -> dict[str, t.Any]:
        while b"\n" not in self._buffer:
            chunk = self._socket.recv(65536)
            if not chunk:
                raise StorageError(f"QEMU closed its control socket {self._where}")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: dict[str, t.Any] = json.loads(line)
        return message

    def execute(self, command: str, **arguments: t.Any) -> t.Any:
        """What QEMU returns for a command. Raises StorageError with QEMU's words."""
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            message = self._read()
            if "return" in message:
                return message["return"]
            if "error" in message:
                raise StorageError(f"QEMU refused {command}: {message['error'].get('desc', message['error'])}")
            self._events.append(message)

    def wait_event(self, name: str, timeout: float, **data: t.Any) -> dict[str, t.Any]:
        """The first event of that name whose data holds what is given; raises StorageError after C(timeout) seconds."""
        until = time.monotonic() + timeout
        while True:
            for event in self._events:
                if event.get("event") == name and all(event.get("data", {}).get(k) == v for k, v in data.items()):
                    self._events.remove(event)
                    return event
            left = until - time.monotonic()
            if left <= 0:
                raise StorageError(f"QEMU sent no {name} within {timeout:g} s")
            self._socket.settimeout(left)
            try:
                self._events.append(self._read())
            except socket.timeout:
                continue
