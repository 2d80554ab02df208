# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One family of errors. Every message is a sentence: what was asked, what was found, what to do."""

from __future__ import annotations

import typing as t

if t.TYPE_CHECKING:
    from ansible_collections.plumbline.storage.plugins.module_utils._core.plan import Step

__all__ = [
    "CommandError",
    "DriftFound",
    "MissingTool",
    "ParseError",
    "PlanRefused",
    "StepFailed",
    "StorageError",
    "VerifyFailed",
]


class StorageError(Exception):
    """Base of every error that a module turns into its one failure exit."""

    @property
    def message(self) -> str:
        return str(self)

    def details(self) -> dict[str, t.Any]:
        """What a module returns beside the message."""
        return {}


class MissingTool(StorageError):
    """A program or kernel part is not there; the message names the package or module."""


class CommandError(StorageError):
    """A program ended with an exit code that its caller did not allow, or ran out of time (rc None)."""

    def __init__(self, argv: t.Sequence[str], rc: int | None, stdout: str, stderr: str, why: str | None = None) -> None:
        self.argv, self.rc, self.stdout, self.stderr = list(argv), rc, stdout, stderr
        said = (stderr.strip() or stdout.strip() or "nothing was printed").splitlines()
        reason = why or f"exit code {rc}"
        super().__init__(f"`{' '.join(self.argv)}` failed ({reason}): {' / '.join(said[-3:])}")

    def details(self) -> dict[str, t.Any]:
        return {"cmd": self.argv, "rc": self.rc, "stdout": self.stdout, "stderr": self.stderr}


class ParseError(StorageError):
    """Output or an on-disk structure lacks what it must hold; quotes the input."""

    def __init__(self, what: str, text: str | bytes = "") -> None:
        quoted = repr(text[:200])
        super().__init__(f"could not read {what}; it began with {quoted}" if text else f"could not read {what}")


class PlanRefused(StorageError):
    """The wish cannot or must not be carried out; nothing was changed."""


class DriftFound(PlanRefused):
    """An existing object differs from the wish in what cannot change in place; the sentence has both values."""


class StepFailed(StorageError):
    """A step of a plan failed; the steps before it are done."""

    def __init__(self, completed: t.Sequence[Step], step: Step, cause: StorageError) -> None:
        self.completed, self.step, self.cause = list(completed), step, cause
        # What was done to take back the leavings of the failed step, as sentences.
        self.cleanup: list[str] = []
        done = "; ".join(s.summary for s in completed) or "nothing"
        super().__init__(f"{step.summary}: {cause.message}. Done before it: {done}")

    def details(self) -> dict[str, t.Any]:
        return {
            **self.cause.details(),
            "failed_step": self.step.summary,
            "completed_steps": [s.summary for s in self.completed],
            "cleanup": self.cleanup,
        }


class VerifyFailed(StorageError):
    """All steps ran, but reading again shows that something still differs."""
