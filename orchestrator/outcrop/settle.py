"""Turns what was seen of a dispatch into its one status, its errors and its warnings. No process, no file, no clock."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Literal

from outcrop.launching import ExitInfo, Swept
from outcrop.launching.environment import signal_name
from outcrop.stream import StreamScanner
from outcrop.text import inert, shorten
from outcrop_schemas import limits
from outcrop_schemas.outcome import Status
from outcrop_schemas.protocol import Completion

EndedBy = Literal["cancelled", "output_limit", "budget", "timeout"]
_STDERR_CHARS = 400


@dataclass
class Observed:
    """What the orchestrator saw of one specialist process."""

    scanner: StreamScanner
    stderr: str = ""
    exit: ExitInfo | None = None
    ended_by: EndedBy | None = None
    ended_because: str = ""
    signals_sent: list[str] = field(default_factory=list)
    strays: Swept = field(default_factory=Swept)
    over: str | None = None
    outlived_completion: bool = False
    is_read_out: bool = True
    transcript_error: str | None = None
    spawn_error: str | None = None
    lost: str | None = None
    """Where it ran is gone, and why nobody knows how it ended."""

    @property
    def completion(self) -> Completion | None:
        return self.scanner.valid.completion if self.scanner.valid else None


def status_of(seen: Observed) -> Status:
    """The first that holds, in the order of the design."""
    if seen.spawn_error:
        return "spawn_error"
    if seen.ended_by in ("cancelled", "output_limit", "budget"):
        return seen.ended_by
    if seen.completion:
        return seen.completion.status
    if seen.scanner.fault:
        return "protocol_error"
    if seen.ended_by == "timeout":
        return "timeout"
    if seen.lost:
        return "crashed"
    if seen.over:
        return "failed"
    if seen.exit and seen.exit.signal and not seen.signals_sent:
        return "crashed"
    if seen.exit and seen.exit.code:
        return "failed"
    return "no_completion"


def errors_of(seen: Observed, status: Status) -> list[str]:
    """Why the status is not a success, the specialist's own words first."""
    errors = list(seen.completion.errors) if seen.completion else []
    if seen.spawn_error:
        errors.append(seen.spawn_error)
    elif status in ("cancelled", "output_limit", "budget", "timeout"):
        # A specialist that could go on reporting has said so itself.
        if not any(seen.ended_because in said for said in errors):
            errors.append(seen.ended_because + _how_it_ended(seen))
    elif status == "protocol_error" and seen.scanner.fault:
        more = f" ({seen.scanner.fault_count} such lines)" if seen.scanner.fault_count > 1 else ""
        errors.append(f"{seen.scanner.fault}{more}")
    elif status == "crashed" and seen.lost:
        errors.append(seen.lost)
    elif status == "crashed" and seen.exit and seen.exit.signal:
        errors.append(f"ended by {signal_name(seen.exit.signal)} without a completion")
    elif status == "failed" and seen.over:
        errors.append(f"ended for what it used: {seen.over}")
    elif status == "failed" and seen.exit:
        errors.append(f"exit code {seen.exit.code} without a completion")
    elif status == "no_completion":
        errors.append(_no_completion(seen))
    if status not in ("success", "partial", "error", "capability_gap"):
        errors += _foreign(seen)
        if seen.stderr.strip():
            errors.append(f"stderr ends: {_tail(seen.stderr)}")
    return errors


def warnings_of(seen: Observed) -> list[str]:
    """What is odd about a result that is kept, and what was lost on the way."""
    warnings: list[str] = []
    if seen.lost and (seen.completion or seen.ended_by):
        warnings.append(seen.lost)
    if seen.completion and seen.scanner.valid:
        warnings += seen.scanner.valid.repairs
        warnings += _about_completion(seen)
    if seen.strays.strays:
        signals = ", ".join(seen.strays.signals)
        warnings.append(f"{seen.strays.strays} processes that it had left behind were ended ({signals})")
    if seen.scanner.long_lines:
        longest = max(seen.scanner.long_lines)
        warnings.append(
            f"{len(seen.scanner.long_lines)} lines over {limits.STREAM_LINE_BYTES} bytes were skipped, "
            f"the longest of {longest} bytes"
        )
    if not seen.is_read_out:
        warnings.append(
            f"its output was not read to the end in the time there was: {seen.scanner.bytes_read} bytes were taken, "
            "the last of them not looked at"
        )
    if seen.transcript_error:
        warnings.append(seen.transcript_error)
    return warnings


def _about_completion(seen: Observed) -> list[str]:
    warnings = []
    if seen.scanner.valid_count > 1:
        warnings.append(f"{seen.scanner.valid_count} completions came; the last one counts, the transcript has all")
    if seen.scanner.fault_count:
        warnings.append(f"{seen.scanner.fault_count} invalid completions came too; the first: {seen.scanner.fault}")
    if seen.outlived_completion:
        warnings.append("it did not exit after its completion" + _how_it_ended(seen))
    elif seen.exit and seen.exit.code:
        said = f"; stderr ends: {_tail(seen.stderr)}" if seen.stderr.strip() else ""
        warnings.append(f"exit code {seen.exit.code} after the completion{said}")
    elif seen.exit and seen.exit.signal and not seen.signals_sent:
        warnings.append(f"ended by {signal_name(seen.exit.signal)} after the completion")
    warnings += _foreign(seen)
    return warnings


def _no_completion(seen: Observed) -> str:
    if seen.exit is None or seen.signals_sent:
        return "stdout was closed without a completion" + _how_it_ended(seen)
    if seen.exit.code is None:
        return "it ended without a completion; its exit status is unknown"
    return "exit code 0 without a completion"


def _foreign(seen: Observed) -> list[str]:
    foreign = seen.scanner.foreign
    if not foreign:
        return []
    first = shlex.quote(shorten(foreign[0], 60))
    return [f"{len(foreign)} completions of another dispatch were ignored (the first: {first})"]


def _how_it_ended(seen: Observed) -> str:
    if seen.signals_sent == ["SIGTERM"]:
        return "; it was ended by SIGTERM"
    if seen.signals_sent:
        return "; it ignored SIGTERM for the grace time and was ended by SIGKILL"
    return ""


def _tail(stderr: str) -> str:
    """The end of stderr, where a traceback names its error."""
    text = " | ".join(line.strip() for line in stderr.strip().splitlines() if line.strip())
    return inert(text if len(text) <= _STDERR_CHARS else f"…{text[-_STDERR_CHARS:]}")
