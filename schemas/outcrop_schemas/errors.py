"""Every error class of Outcrop, one tree.

OutcropError
├── UsageError                what was asked for makes no sense: exit status 2
│   ├── ObjectiveError        no objective, or one that is too long
│   ├── UnknownNameError      no such specialist, tool, run, column: closest names offered
│   ├── MissingExtraError     an optional package is not installed: what installs it is said
│   └── PlanError             a plan is none, or cannot be followed; `field` names the first fault
├── WorkspaceError            the workspace or run folder cannot be used: exit status 1
│   ├── WorkspaceBusyError    another run holds it
│   ├── PathError             outside the workspace, missing, a folder, not a regular file
│   └── SpillError            a spill file could not be written
├── JournalError              the journal cannot be written, or is no journal
│   └── JournalBusyError      a living orchestrator holds it
├── DataError                 a data file cannot be read as a table, or holds no such thing
│   ├── ArgumentError         a tool's argument does not fit the data
│   └── PlanMismatchError     files are not such as a plan needs them; `misfits` has every column
├── ModelError                a model could not answer (`retryable` says whether again may help)
│   ├── BudgetError           the ceiling on money or tokens leaves no room for the call
│   ├── ContextOverflowError  the request is longer than the model's window: a smaller one may pass
│   ├── PinMissingError       the request does not carry all current pins word for word, so it is not sent
│   └── ScriptExhaustedError  a ScriptedModel has no turn left
├── NotUnderWayError          what is to be cancelled has ended, or its orchestrator is gone
├── LaunchError               a specialist could not be started
├── OutsideError              a server that is not ours could not do what it was asked; `server` names it
├── PackageError              a package that was allowed could not be installed
├── OutputError               what a command found could not be written to its stdout: exit status 3
├── ProtocolError             bytes that are not protocol 1; `field` names the first fault
└── PoolClosedError           the pool takes no work any more
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outcrop_schemas.messages import Usage


class OutcropError(Exception):
    """Base of all errors that Outcrop raises; `str()` of it is written for a person."""

    kind = "error"


class UsageError(OutcropError):
    """What was asked for makes no sense as it stands."""

    kind = "usage"


class ObjectiveError(UsageError):
    """The objective is empty or too long."""

    kind = "objective"


class UnknownNameError(UsageError):
    """No such name among those known; the closest are offered."""

    kind = "unknown_name"

    def __init__(self, what: str, name: str, close: Iterable[str] = (), known: Iterable[str] = ()) -> None:
        self.what, self.name, self.close = what, name, tuple(close)
        hint = f" Did you mean {', '.join(map(repr, self.close))}?" if self.close else ""
        listed = list(known)
        if not hint and listed:
            more = f" and {len(listed) - 20} more" if len(listed) > 20 else ""
            hint = f" Known: {', '.join(listed[:20])}{more}."
        super().__init__(f"There is no {what} {name!r}.{hint}")


class MissingExtraError(UsageError):
    """Something optional was asked for whose package is not installed; `install` is the command that helps."""

    kind = "missing_extra"

    def __init__(self, package: str, install: str) -> None:
        self.package, self.install = package, install
        super().__init__(f"{package} is not installed. It comes with: {install}")


class PlanError(UsageError):
    """A plan that is none, or that cannot be followed; `field` names the first fault."""

    kind = "plan"

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        super().__init__(f"{field}: {reason}")


class WorkspaceError(OutcropError):
    """The workspace or a folder of it cannot be used."""

    kind = "workspace"


class WorkspaceBusyError(WorkspaceError):
    """Another run is under way in this workspace."""

    kind = "workspace_busy"


class PathError(WorkspaceError):
    """A path is missing, outside the workspace, or not the kind of file that is needed."""

    kind = "path"

    def __init__(self, path: object, reason: str) -> None:
        self.path, self.reason = str(path), reason
        super().__init__(f"{self.path}: {reason}")


class SpillError(WorkspaceError):
    """A spill file could not be written."""

    kind = "spill"


class JournalError(OutcropError):
    """The journal cannot be written or read."""

    kind = "journal"


class JournalBusyError(JournalError):
    """A living orchestrator holds the journal."""

    kind = "journal_busy"


class NotUnderWayError(OutcropError):
    """What is to be cancelled has ended, or its orchestrator is gone."""

    kind = "not_under_way"


class DataError(OutcropError):
    """A data file cannot be read as a table, or does not hold what was asked for."""

    kind = "data"


class ArgumentError(DataError):
    """A tool's argument does not fit the tool or the data; `field` names it."""

    kind = "argument"

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        super().__init__(f"{field}: {reason}")


class PlanMismatchError(DataError):
    """Files are not such as a plan needs them; `misfits` are records that name input, file, column and reason."""

    kind = "plan_mismatch"

    def __init__(self, message: str, misfits: Iterable[dict[str, Any]]) -> None:
        self.misfits = list(misfits)
        super().__init__(message)


class ModelError(OutcropError):
    """A model could not answer.

    `status` is the HTTP status where there was one, `retry_after` what the server asked for in seconds. `usage` is what
    the failed call took: zeros where the server refused it, None where nobody knows.
    """

    kind = "model"

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        error_type: str = "api_error",
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.retryable, self.error_type = retryable, error_type
        self.status, self.request_id, self.retry_after, self.usage = status, request_id, retry_after, usage
        super().__init__(message)


class ContextOverflowError(ModelError):
    """The request, or request and answer together, are longer than the model's window."""

    kind = "context_overflow"


class PinMissingError(ModelError):
    """A request without all current pins, word for word. It is never sent."""

    kind = "pin_missing"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, **{**fields, "retryable": False, "error_type": self.kind})


class BudgetError(ModelError):
    """The ceiling on money or tokens leaves no room for the call; it was not made."""

    kind = "budget"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, **{**fields, "retryable": False, "error_type": self.kind})


class ScriptExhaustedError(ModelError):
    """A ScriptedModel was asked for more turns than it was given."""

    kind = "script_exhausted"


class LaunchError(OutcropError):
    """A specialist process could not be started."""

    kind = "launch"


class NodeLostError(LaunchError):
    """The node of a cluster that was to start a process was lost before it said what came of it."""

    kind = "node_lost"


class NodeUnfitError(LaunchError):
    """A node that came later cannot do the work of this workspace; `address` is by which its cluster knows it."""

    kind = "node_unfit"

    def __init__(self, message: str, address: str) -> None:
        self.address = address
        super().__init__(message)


class OutsideError(OutcropError):
    """An outside MCP server is not there, said that a call failed, or did not answer as it must; `server` names it."""

    kind = "outside"

    def __init__(self, server: str, reason: str) -> None:
        self.server, self.reason = server, reason
        super().__init__(f"outside server {server}: {reason}")


class ClusterError(OutcropError):
    """A cluster is not there, or its nodes cannot do the work of this workspace."""

    kind = "cluster"


class PackageError(OutcropError):
    """A package that was allowed could not be installed; nothing of it is left."""

    kind = "package"


class OutputError(OutcropError):
    """What a command says could not be written to its stdout."""

    kind = "output"


class ProtocolError(OutcropError):
    """Bytes that are not protocol 1; `field` names the first fault where there is one."""

    kind = "protocol"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        self.field = field
        super().__init__(message)


class PoolClosedError(OutcropError):
    """The pool was closed and takes no work any more."""

    kind = "pool_closed"


class PoolBusyError(OutcropError):
    """As many calls wait as may, or no worker was free before the deadline; nothing was started. Try again later."""

    kind = "pool_busy"


def model_error(error_type: str, message: str, *, retryable: bool) -> ModelError:
    """The error that a channel or a record told of, of the class that it was."""
    kinds: dict[str, type[ModelError]] = {one.kind: one for one in (ContextOverflowError, PinMissingError, BudgetError)}
    return kinds.get(error_type, ModelError)(message, retryable=retryable, error_type=error_type)
