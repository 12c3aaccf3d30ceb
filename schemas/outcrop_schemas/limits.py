"""Every limit of Outcrop: its value, its unit, where it is enforced and how.

A prompt may explain a limit; only code that reads it from here enforces it. `outcrop limits` prints `LIMITS`.
"""

from __future__ import annotations

from dataclasses import dataclass

# --- one outcome -----------------------------------------------------------------------------------------------------
RESULT_CHARS = 8_000
SUMMARY_CHARS = 2_000
LIST_ENTRIES = 20
ENTRY_CHARS = 500
OUTCOME_CHARS = 16_000
ARTIFACTS_CHECKED = 1_000
ARTIFACT_SECONDS = 20.0

# --- a specialist's own budget ---------------------------------------------------------------------------------------
SPECIALIST_RESULT_CHARS = 2_000
COMPLETE_LIST_RECORDS = 20
PREVIEW_ROWS = 20
PREVIEW_COLUMNS = 40
PREVIEW_CELL_CHARS = 200
LIST_FILES_ENTRIES = 500
PROFILE_COLUMNS = 200
TOOL_RESULT_CHARS = 60_000

# --- the lead's view -------------------------------------------------------------------------------------------------
OBJECTIVE_CHARS = 20_000
CONTEXT_CHARS = 20_000
HISTORY_DISPATCHES = 20
HISTORY_OBJECTIVE_CHARS = 300
HISTORY_ERROR_CHARS = 300
PIN_COUNT = 50
PIN_CHARS = 1_000

# --- the agent loop --------------------------------------------------------------------------------------------------
AGENT_TURNS = 40
LEAD_TURNS = 100
INVALID_COMPLETIONS = 3
REPEATED_CALLS = 3

# --- one dispatch ----------------------------------------------------------------------------------------------------
DISPATCH_SECONDS = 600.0
GRACE_SECONDS = 2.0
FIRST_MESSAGE_SECONDS = 30.0
IDLE_SECONDS = 60.0
BEAT_SECONDS = 5.0
QUEUED_MODEL_SECONDS = 3_600.0
DISPATCH_MEMORY_BYTES = 8 << 30
DISPATCH_PROCESSES = 512
NURSERY_STARTS = 5
PIPE_BYTES = 256 * 1024
STDOUT_BYTES = 512 * 1024 * 1024
STREAM_LINE_BYTES = 16 * 1024 * 1024
PARTIAL_BYTES = 64 * 1024
TRANSCRIPT_KEPT_BYTES = 32 * 1024 * 1024
STDERR_KEPT_BYTES = 64 * 1024
PROGRESS_PER_SECOND = 10
MODEL_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Limit:
    """One limit as `outcrop limits` shows it."""

    name: str
    value: float
    unit: str
    enforced_in: str
    how: str


LIMITS: tuple[Limit, ...] = (
    Limit("objective", OBJECTIVE_CHARS, "characters", "outcrop.objective", "an empty or a longer objective is refused"),
    Limit("dispatch context", CONTEXT_CHARS, "characters", "outcrop.objective", "a longer context is refused"),
    Limit(
        "results of one outcome",
        RESULT_CHARS,
        "characters",
        "outcrop.cap",
        "entries over it become notes; all of it goes to a spill file",
    ),
    Limit("summary of one outcome", SUMMARY_CHARS, "characters", "outcrop.cap", "cut at a grapheme"),
    Limit("list of one outcome", LIST_ENTRIES, "entries", "outcrop.cap", "the rest is counted in a last entry"),
    Limit("entry of a list", ENTRY_CHARS, "characters", "outcrop.cap", "cut at a grapheme"),
    Limit("one outcome", OUTCOME_CHARS, "characters", "outcrop.cap", "longest lists are shortened until it fits"),
    Limit(
        "artifacts checked", ARTIFACTS_CHECKED, "files", "outcrop.artifacts", "further ones are counted in a warning"
    ),
    Limit(
        "checking the artifacts of one outcome",
        ARTIFACT_SECONDS,
        "seconds",
        "outcrop.artifacts",
        "what is not read by then is named in a warning",
    ),
    Limit(
        "a specialist's results",
        SPECIALIST_RESULT_CHARS,
        "characters",
        "outcrop_specialists.roles",
        "asked for in the prompt; 8,000 is enforced",
    ),
    Limit(
        "list in `complete`",
        COMPLETE_LIST_RECORDS,
        "records",
        "outcrop_specialists.completion",
        "a longer list is answered with the field and the reason",
    ),
    Limit(
        "row preview",
        PREVIEW_ROWS,
        "rows",
        "outcrop_specialists.tools.inspection.preview",
        "never more, whatever is asked for",
    ),
    Limit(
        "columns of a preview",
        PREVIEW_COLUMNS,
        "columns",
        "outcrop_specialists.tools.inspection.preview",
        "further ones are counted",
    ),
    Limit(
        "cell of a preview",
        PREVIEW_CELL_CHARS,
        "characters",
        "outcrop_specialists.tools.inspection.preview",
        "cut at a grapheme",
    ),
    Limit(
        "columns of a profile",
        PROFILE_COLUMNS,
        "columns",
        "outcrop_specialists.tools.inspection.inspect_dataset",
        "of up to 2,000 more the names are given, then a count",
    ),
    Limit(
        "list_files",
        LIST_FILES_ENTRIES,
        "entries",
        "outcrop_specialists.tools.inspection.list_files",
        "the rest is counted in a warning",
    ),
    Limit(
        "tool result",
        TOOL_RESULT_CHARS,
        "characters",
        "outcrop_specialists.toolbox",
        "longer ones go to a file in the scratch folder, with head, tail and path",
    ),
    Limit(
        "dispatches shown to the lead",
        HISTORY_DISPATCHES,
        "dispatches",
        "outcrop.history",
        "older ones become one line of counts",
    ),
    Limit("objective in the history", HISTORY_OBJECTIVE_CHARS, "characters", "outcrop.history", "cut at a grapheme"),
    Limit("errors in the history", HISTORY_ERROR_CHARS, "characters", "outcrop.history", "cut at a grapheme"),
    Limit("pins", PIN_COUNT, "pins", "outcrop.lead.pins", "a further pin is refused"),
    Limit("one pin", PIN_CHARS, "characters", "outcrop.lead.pins", "a longer pin is refused"),
    Limit("turns of a specialist", AGENT_TURNS, "turns", "outcrop_specialists.agent", "the work ends with what it has"),
    Limit("turns of the lead", LEAD_TURNS, "turns", "outcrop.lead.agent", "the run ends with what it has"),
    Limit(
        "invalid completions",
        INVALID_COMPLETIONS,
        "times",
        "outcrop_specialists.agent",
        "then the work ends with an error that names the field",
    ),
    Limit(
        "the same call again",
        REPEATED_CALLS,
        "times",
        "outcrop_specialists.agent",
        "then the work is stopped with the reason",
    ),
    Limit("dispatch", DISPATCH_SECONDS, "seconds", "outcrop.desk", "then SIGTERM, grace, SIGKILL; status timeout"),
    Limit("grace", GRACE_SECONDS, "seconds", "outcrop.desk", "from SIGTERM to SIGKILL of the whole session"),
    Limit(
        "first message of a built-in specialist", FIRST_MESSAGE_SECONDS, "seconds", "outcrop.watch", "status timeout"
    ),
    Limit(
        "silence of a built-in specialist",
        IDLE_SECONDS,
        "seconds",
        "outcrop.watch",
        "status timeout; it beats every 5 s",
    ),
    Limit(
        "time queued in the gateway",
        QUEUED_MODEL_SECONDS,
        "seconds",
        "outcrop.gateway",
        "does not count against the dispatch; past it the request fails",
    ),
    Limit(
        "memory of a dispatch",
        DISPATCH_MEMORY_BYTES,
        "bytes",
        "outcrop.dispatch",
        "RLIMIT_DATA of each process; resident memory of all together, looked at every half second: status failed",
    ),
    Limit(
        "processes of a dispatch",
        DISPATCH_PROCESSES,
        "processes",
        "outcrop.dispatch",
        "looked at every half second: status failed",
    ),
    Limit(
        "starts of the nursery",
        NURSERY_STARTS,
        "a minute",
        "outcrop.launching.nursery",
        "then a start fails: spawn_error",
    ),
    Limit(
        "pipe of a specialist", PIPE_BYTES, "bytes", "outcrop.launching.supervised", "asked of the kernel; less works"
    ),
    Limit("stdout of a specialist", STDOUT_BYTES, "bytes", "outcrop.reader", "status output_limit"),
    Limit("one stream line", STREAM_LINE_BYTES, "bytes", "outcrop.stream", "a longer line is skipped and counted"),
    Limit("partial findings", PARTIAL_BYTES, "bytes", "outcrop.stream", "a longer line is not kept"),
    Limit(
        "transcript kept",
        TRANSCRIPT_KEPT_BYTES,
        "bytes of head and of tail",
        "outcrop.transcript",
        "with the number of bytes between them",
    ),
    Limit("stderr kept", STDERR_KEPT_BYTES, "bytes of head and of tail", "outcrop.reader", "all of it is drained"),
    Limit("progress decoded", PROGRESS_PER_SECOND, "lines a second", "outcrop.stream", "others are passed over"),
    Limit("one model message", MODEL_LINE_BYTES, "bytes", "outcrop.gateway", "a longer one ends the channel"),
)
