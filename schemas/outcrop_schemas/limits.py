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
NOTEBOOK_ENTRIES = 10
NOTEBOOK_ENTRY_CHARS = 300
NOTEBOOK_RESULT_CHARS = 4_000
CLAIMS_CHECKED = 20
CLAIMS_OF_A_RUN = 100
FIGURES_TRACED = 200
SCRIPT_CHARS = 50_000
SCRIPT_SECONDS = 30.0
SCRIPT_ANSWER_CHARS = 2_000
SCRIPT_FILES = 20
COMMAND_SECONDS = 30.0
COMMAND_LINES = 500
COMMAND_LOG_LINES = 1_000
COMMAND_LOG_BYTES = 512 << 10
COMMAND_LOG_LINES_SHOWN = 100
COMMAND_CHARS = 40_000
COMMAND_LINE_CHARS = 2_000
ARTIFACT_SECONDS = 20.0

# --- a specialist's own budget ---------------------------------------------------------------------------------------
SPECIALIST_RESULT_CHARS = 2_000
COMPLETE_LIST_RECORDS = 20
TOLD_ENTRIES = 10
GAP_ROUNDS = 3
GAP_INSTALL_SECONDS = 300.0
# A sheet of a laboratory with sixty elements and its labels is an ordinary table.
SMALL_TABLE_COLUMNS = 80
ANSWER_CHARS = 1_200
PREVIEW_ROWS = 20
PREVIEW_COLUMNS = 40
PREVIEW_CELL_CHARS = 200
LIST_FILES_ENTRIES = 500
NEIGHBOURS_COMPARED = 1_000
DATA_LINES = 50
DATA_LINES_SHOWN = 5
READ_JSON_BYTES = 50 << 10
READ_CHARS = 72_000
READ_SHARE = 0.15
READ_CHARS_A_TOKEN = 3
READ_LINE_CHARS = 2_000
READ_COUNT_SECONDS = 0.5
PROFILE_COLUMNS = 200
CACHED_FROM_BYTES = 128 << 10
TABLE_CACHE_BYTES = 8 << 30
UNPACKED_BYTES = 4 << 30
TOOL_RESULT_CHARS = 60_000
TOOL_RESULT_SHARE = 0.2
FACTS_TEXT_CHARS = 2_000_000
EXPRESSION_CHARS = 2_000
EXPRESSION_TERMS = 500
EXPRESSION_DEPTH = 100
EXPRESSION_EXPONENT = 1_000

# --- the lead's view -------------------------------------------------------------------------------------------------
OBJECTIVE_CHARS = 20_000
CONTEXT_CHARS = 20_000
HISTORY_DISPATCHES = 20
HISTORY_OBJECTIVE_CHARS = 300
HISTORY_ERROR_CHARS = 300
PIN_COUNT = 50
PIN_CHARS = 1_000
HYPOTHESES = 20
HYPOTHESES_PROPOSED = 10
HYPOTHESIS_CHARS = 300
HYPOTHESIS_EVIDENCE = 10
HYPOTHESES_SHOWN_CHARS = 8_000

# --- the chat --------------------------------------------------------------------------------------------------------
CHAT_ANSWER_CHARS = 8_000
CHAT_FILES = 40
CHAT_ARTIFACTS = 60
CHAT_ARTIFACT_COLUMNS = 60
CHAT_HISTORY_TURNS = 12
CHAT_HISTORY_TOKENS = 24_000
CHAT_PASTED_ROWS = 20
CHAT_RUNS = 8
CHAT_CLAIMS = 1_000
SCREEN_TABLES = 64
SCREEN_OTHER_BYTES = 64 << 20

# --- the context window ----------------------------------------------------------------------------------------------
WINDOW_TOKENS = 200_000
WINDOW_TOKENS_LEAST = 2_000
WINDOW_TOKENS_MOST = 10_000_000
COMPACT_AT = 0.7
COMPACT_FORCED_AT = 0.9
COMPACT_TARGET = 0.5
COMPACT_TURNS = 4
KEPT_TURNS = 6
CACHED_PRICE = 0.1
WRITTEN_PRICE = 5.0
RESULT_SHARE_WARNED = 0.3
SUMMARY_OF_WORK_CHARS = 6_000
SUMMARISED_RESULT_CHARS = 2_000
SUMMARY_SHARE = 0.15
FACTS_SHARE = 0.15
FACTS_TOKENS_LEAST = 2_000
FACTS_SHARE_MOST = 0.25
FACTS_PART = 0.5
FACTS_OF_A_RESULT = 2_000
FACTS_KNOWN = 20_000
STALE_RESULT_CHARS = 4_000
STALE_FACTS_CHARS = 1_500
CHECKPOINT_CHARS = 4_000
GIST_CHARS = 72
STORE_BYTES = 1 << 30
PAGE_CHARS = 20_000
RECORDS_BYTES = 16 << 20
FOUND_LINES = 20
FOUND_CHARS = 300
ATTACHMENT_TOKENS = 20_000
ATTACHMENTS_TOKENS = 60_000
ATTACHMENTS_SHARE = 0.35
ATTACHED_CHARS = 600_000

SKILLS = 50
SKILL_NAME_CHARS = 64
SKILL_DESCRIPTION_CHARS = 1_024
SKILL_BYTES = 1 << 20
MEMORY_FACTS = 1_000
MEMORY_FACT_CHARS = 500
MEMORY_SHOWN = 3

# --- which tools a model is offered ----------------------------------------------------------------------------------
TOOLS_ALL_OFFERED = 10
TOOLS_OFFERED = 8
TOOLS_OFFERED_MOST = 16
TOOLS_FOUND = 8
TOOL_LINE_CHARS = 160
REQUEST_CLAUSES = 24

# --- tools of outside servers ----------------------------------------------------------------------------------------
OUTSIDE_TOOLS = 128
OUTSIDE_LIST_PAGES = 32
OUTSIDE_DESCRIPTION_CHARS = 1_200
OUTSIDE_SCHEMA_CHARS = 8_000
OUTSIDE_OFFERED_CHARS = 40_000
OUTSIDE_LINE_BYTES = 16_000_000
OUTSIDE_NOISE_BYTES = 64_000_000
OUTSIDE_UNREAD_BYTES = 8_000_000
OUTSIDE_START_SECONDS = 20.0
OUTSIDE_SECONDS = 60.0
OUTSIDE_SECONDS_MOST = 3_000.0
OUTSIDE_STARTS = 4
OUTSIDE_MEMORY_BYTES = 4 << 30
OUTSIDE_PROCESSES = 128
OUTSIDE_FILES = 64
OUTSIDE_ERROR_CHARS = 2_500
OUTSIDE_ENTRIES = 101

# --- the agent loop --------------------------------------------------------------------------------------------------
AGENT_TURNS = 40
LEAD_TURNS = 100
PLAN_STEPS = 90
PLAN_CALLS = 200
PLAN_INPUTS = 50
PLAN_BYTES = 4 << 20
INVALID_COMPLETIONS = 3
REPEATED_CALLS = 3

# --- one dispatch ----------------------------------------------------------------------------------------------------
DISPATCH_SECONDS = 600.0
GRACE_SECONDS = 2.0
FIRST_MESSAGE_SECONDS = 30.0
IDLE_SECONDS = 60.0
BEAT_SECONDS = 5.0
QUEUED_MODEL_SECONDS = 3_600.0
MODEL_SECONDS = 1_800.0
MODEL_SILENCE_SECONDS = 120.0
MODEL_CONNECT_SECONDS = 10.0
MODEL_ATTEMPTS = 8
MODEL_OUTPUT_TOKENS = 16_000
RETRY_FIRST_SECONDS = 1.0
RETRY_LONGEST_SECONDS = 60.0
RETRY_AFTER_SECONDS = 120.0
DISPATCH_MEMORY_BYTES = 8 << 30
DISPATCH_PROCESSES = 512
NURSERY_STARTS = 5
COLD_STARTS = 3
NURSERY_ANSWER_SECONDS = 5.0
OPEN_DISPATCHES = 10_000
EVENTS_WAITING = 1_000
DURATIONS_KEPT = 1_000
STARTS_AT_A_TIME = 4
NODE_FRAME_BYTES = 256 * 1024
NODE_HELLO_SECONDS = 10.0
LOST_NODES = 3
CLUSTER_CONNECT_SECONDS = 15.0
NODE_LOOK_SECONDS = 120.0
NODE_IDLE_SECONDS = 300.0
CLUSTER_LOOK_SECONDS = 2.0
CLUSTER_SPECIALISTS = 256
RESULTS_IN_HAND = 4
PIPE_BYTES = 256 * 1024
STDOUT_BYTES = 512 * 1024 * 1024
STREAM_LINE_BYTES = 16 * 1024 * 1024
COMPLETION_MEMORY_BYTES = 40 << 20
PARTIAL_BYTES = 64 * 1024
TRANSCRIPT_KEPT_BYTES = 32 * 1024 * 1024
STDERR_KEPT_BYTES = 64 * 1024
PROGRESS_PER_SECOND = 10
JOURNAL_INDEXED_BYTES = 32 * 1024 * 1024
REPLAY_DIFF_LINES = 60
REPLAY_DIFF_CHARS = 240
REPLAY_TEXT_CHARS = 400
REPLAY_PIECES = 8
MODEL_LINE_BYTES = 64 * 1024 * 1024

# --- what model calls may cost ---------------------------------------------------------------------------------------
MODEL_OUTPUT_TOKENS_MOST = 300_000
TURNS_MOST = 1_000
# Far above what a server adds: a few tokens for each message and tool, under a thousand for its own words about tools.
MARK_TOKENS = 48
PROMPT_TOKENS_OF_SERVER = 2_500
API_BATCH_REQUESTS = 1_000
API_BATCH_BYTES = 200_000_000
API_BATCH_POLL_SECONDS = 300.0
API_BATCH_HOURS = 26.0
API_BATCH_WORKERS = 16
API_BATCH_JOBS = 100
BATCH_PAGE_FAILED = 1_000
BATCH_PAGE_GOOD = 200
JOB_FILES = 1_000
JOB_ID_CHARS = 200
REQUEST_LOOK_SECONDS = 0.25

# --- the live view ---------------------------------------------------------------------------------------------------
UI_LOOK_SECONDS = 0.5
UI_BEAT_SECONDS = 15.0
UI_TAIL_BYTES = 16 << 10
UI_START_BYTES = 4 << 20
UI_RUNS_PAGE = 50
UI_DISPATCHES_PAGE = 100
UI_JOBS_PAGE = 100
UI_SEARCH_SECONDS = 1.5
UI_COMPARED_BYTES = 100_000_000
UI_TABLE_BYTES = 48 << 10

# --- what programs that speak MCP are given --------------------------------------------------------------------------
MCP_MESSAGE_BYTES = 4 << 20
# With base64 under a million bytes, which is what clients take as one result.
MCP_IMAGE_BYTES = 720_000
MCP_BLOB_BYTES = 3 << 20
MCP_PAGE_CHARS = 6_500
MCP_RESOURCE_CHARS = 24_000
MCP_RUNS_LISTED = 25
MCP_SESSIONS = 100
MCP_END_SECONDS = 1.5

# --- what is told to OpenTelemetry -----------------------------------------------------------------------------------
TELEMETRY_FLUSH_SECONDS = 5.0
TELEMETRY_TOOLS = 2_000
TELEMETRY_NAME_CHARS = 200
TELEMETRY_CONTENT_CHARS = 20_000
TELEMETRY_PARTS = 50

# --- the report of a run ---------------------------------------------------------------------------------------------
REPORT_DISPATCHES = 200
REPORT_FAILED = 100
REPORT_TITLE_CHARS = 300
REPORT_ARTIFACTS = 100
REPORT_IMAGE_BYTES = 2 << 20
REPORT_IMAGES_BYTES = 12 << 20
REPORT_HASHED_BYTES = 64 << 20
REPORT_TABLES = 24
REPORT_TABLE_BYTES = 64 << 10
REPORT_TABLE_ROWS = 5
REPORT_TABLE_COLUMNS = 12
REPORT_CELL_CHARS = 60
REPORT_AGENTS = 12
REPORT_REQUESTS = 150
REPORT_LINEAGE_FILES = 60
REPORT_JOBS = 500
REPORT_JOBS_PAGES = 40
REPORT_TURNS = 200
REPORT_LEDGER_RECORDS = 20_000


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
    Limit("list in a notebook", NOTEBOOK_ENTRIES, "entries", "outcrop_schemas.notebook", "the others are counted"),
    Limit("entry in a notebook", NOTEBOOK_ENTRY_CHARS, "characters", "outcrop_schemas.notebook", "the rest is cut"),
    Limit("results in a notebook", NOTEBOOK_RESULT_CHARS, "characters", "outcrop_schemas.notebook", "the rest is cut"),
    Limit(
        "figures checked in one call",
        CLAIMS_CHECKED,
        "claims",
        "outcrop_specialists.tools.inspection.verify_claims",
        "more are refused",
    ),
    Limit(
        "script", SCRIPT_CHARS, "characters", "outcrop_specialists.tools.scripts.run_script", "a longer one is refused"
    ),
    Limit("script waited for", SCRIPT_SECONDS, "s", "outcrop_specialists.tools.scripts.run_script", "then it goes on"),
    Limit(
        "answer of a script",
        SCRIPT_ANSWER_CHARS,
        "characters",
        "outcrop_specialists.tools.scripts.running",
        "the beginning; all of it is in a file",
    ),
    Limit(
        "files of a script",
        SCRIPT_FILES,
        "files",
        "outcrop_specialists.tools.scripts.running",
        "others stay in scratch",
    ),
    Limit(
        "command waited for", COMMAND_SECONDS, "s", "outcrop_specialists.tools.scripts.run_command", "then it goes on"
    ),
    Limit(
        "output of a command",
        COMMAND_LINES,
        "lines",
        "outcrop_specialists.tools.scripts.commands",
        "of more, half from the start and half from the end",
    ),
    Limit(
        "long output of a command",
        COMMAND_LOG_LINES,
        "lines",
        "outcrop_specialists.tools.scripts.commands",
        "of more, the first and last 100, and the file that holds all",
    ),
    Limit(
        "large output of a command",
        COMMAND_LOG_BYTES,
        "bytes",
        "outcrop_specialists.tools.scripts.commands",
        "of more, the first and last 100 lines, and the file that holds all",
    ),
    Limit(
        "lines shown of a long output",
        COMMAND_LOG_LINES_SHOWN,
        "lines of head and of tail",
        "outcrop_specialists.tools.scripts.commands",
        "the lines between are counted",
    ),
    Limit(
        "output of a command that is shown",
        COMMAND_CHARS,
        "characters",
        "outcrop_specialists.tools.scripts.commands",
        "fewer lines are shown; pages of it are as long",
    ),
    Limit(
        "line of a command's output",
        COMMAND_LINE_CHARS,
        "characters",
        "outcrop_specialists.tools.scripts.commands",
        "the beginning, at the end of the output the end",
    ),
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
        "gaps and questions of a specialist",
        TOLD_ENTRIES,
        "of each",
        "outcrop_specialists.telling",
        "a further one is answered that enough was said",
    ),
    Limit(
        "neighbours of a missing file",
        NEIGHBOURS_COMPARED,
        "files",
        "outcrop_specialists.paths",
        "looked at for names that may have been meant",
    ),
    Limit(
        "table that is told whole",
        SMALL_TABLE_COLUMNS,
        "columns",
        "outcrop_specialists.shortening",
        "answers on wider ones are bounded",
    ),
    Limit(
        "answer on a wide table",
        ANSWER_CHARS,
        "characters",
        "outcrop_specialists.shortening",
        "first entries, and counts of the others; the whole answer is in a file",
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
        "data file of which a typed copy is kept",
        CACHED_FROM_BYTES,
        "bytes",
        "outcrop_specialists.reading.cache",
        "smaller ones are read anew each time",
    ),
    Limit(
        "compressed data file",
        UNPACKED_BYTES,
        "bytes unpacked",
        "outcrop_specialists.reading.packed",
        "a larger one is refused",
    ),
    Limit(
        "typed copies of tables",
        TABLE_CACHE_BYTES,
        "bytes",
        "outcrop_specialists.reading.cache",
        "those used longest ago are removed",
    ),
    Limit(
        "columns of a table that is listed",
        PROFILE_COLUMNS,
        "columns",
        "outcrop_specialists.tools.inspection.list_files",
        "further ones are counted",
    ),
    Limit(
        "list_files",
        LIST_FILES_ENTRIES,
        "entries",
        "outcrop_specialists.tools.inspection.list_files",
        "the rest is counted in a warning",
    ),
    Limit(
        "data file that is read as text",
        DATA_LINES,
        "lines",
        "outcrop_specialists.tools.inspection.data_lines",
        "of a longer one only the first lines are given",
    ),
    Limit(
        "lines shown of a data file",
        DATA_LINES_SHOWN,
        "lines",
        "outcrop_specialists.tools.inspection.data_lines",
        "never others, whatever is asked for",
    ),
    Limit(
        "JSON that is read as text",
        READ_JSON_BYTES,
        "bytes",
        "outcrop_specialists.tools.inspection.read_file",
        "a larger one is a data file",
    ),
    Limit(
        "one read",
        READ_CHARS,
        "characters",
        "outcrop_specialists.tools.inspection.read_file",
        "as JSON text; the page ends at a line, and next goes on",
    ),
    Limit(
        "one read of a small window",
        READ_SHARE,
        "of the usable window",
        "outcrop_specialists.tools.inspection.read_file",
        "where that is less",
    ),
    Limit(
        "characters of a token",
        READ_CHARS_A_TOKEN,
        "characters",
        "outcrop_specialists.tools.inspection.read_file",
        "for the size of a read",
    ),
    Limit(
        "line of a data file",
        READ_LINE_CHARS,
        "characters",
        "outcrop_specialists.tools.inspection.data_lines",
        "the rest is counted, and read on with start_char",
    ),
    Limit(
        "counting lines for a first answer",
        READ_COUNT_SECONDS,
        "s",
        "outcrop_specialists.tools.inspection.read_file",
        "then an estimate, marked as such; count=true counts all",
    ),
    Limit(
        "tool result",
        TOOL_RESULT_CHARS,
        "characters",
        "outcrop_specialists.toolbox",
        "a longer one is put aside whole, with head, tail, its weightiest facts and a handle here",
    ),
    Limit(
        "tool result in a small window",
        TOOL_RESULT_SHARE,
        "of the usable window",
        "outcrop_specialists.context.window",
        "where that is less",
    ),
    Limit(
        "tool result that is searched for facts",
        FACTS_TEXT_CHARS,
        "characters",
        "outcrop_specialists.toolbox",
        "of a longer one head and tail are shown",
    ),
    Limit(
        "expression",
        EXPRESSION_CHARS,
        "characters",
        "outcrop_specialists.expressions.tokens",
        "a longer one is refused",
    ),
    Limit(
        "terms of an expression",
        EXPRESSION_TERMS,
        "terms",
        "outcrop_specialists.expressions.grammar",
        "more are refused",
    ),
    Limit(
        "depth of an expression",
        EXPRESSION_DEPTH,
        "levels",
        "outcrop_specialists.expressions.grammar",
        "deeper nesting and longer chains are refused",
    ),
    Limit(
        "exponent in an expression",
        EXPRESSION_EXPONENT,
        "at most",
        "outcrop_specialists.expressions.compiling",
        "a greater one is refused",
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
    Limit(
        "window of a model",
        WINDOW_TOKENS,
        "tokens",
        "outcrop_schemas.protocol",
        "where nothing is set; a smaller one is known by its refusal",
    ),
    Limit(
        "smallest window that can be set",
        WINDOW_TOKENS_LEAST,
        "tokens",
        "outcrop.settings",
        "a smaller one is refused",
    ),
    Limit(
        "largest window that can be set",
        WINDOW_TOKENS_MOST,
        "tokens",
        "outcrop.settings",
        "a larger one is refused",
    ),
    Limit(
        "compaction is decided",
        COMPACT_AT,
        "of the usable window",
        "outcrop_specialists.context.compaction",
        "by payback",
    ),
    Limit(
        "compaction is forced",
        COMPACT_FORCED_AT,
        "of the usable window",
        "outcrop_specialists.context.compaction",
        "whatever it costs",
    ),
    Limit(
        "what compaction aims at",
        COMPACT_TARGET,
        "of the usable window",
        "outcrop_specialists.context.window",
        "stale results first, then turns",
    ),
    Limit(
        "turns from a compaction to the next",
        COMPACT_TURNS,
        "turns at least",
        "outcrop_specialists.context.window",
        "where opening and last turns leave room for them; else no model is asked for the summary",
    ),
    Limit(
        "facts where turns have no room",
        FACTS_PART,
        "of their room",
        "outcrop_specialists.context.window",
        "the others lie under a handle",
    ),
    Limit(
        "a tool in the lead's short list",
        GIST_CHARS,
        "characters",
        "outcrop.lead.roster",
        "the first clause of what it does; whole where nothing is billed",
    ),
    Limit(
        "turns kept word for word",
        KEPT_TURNS,
        "turns",
        "outcrop_specialists.context.window",
        "fewer only where the window holds no more",
    ),
    Limit(
        "price of a cached token",
        CACHED_PRICE,
        "of an uncached one",
        "outcrop.models",
        "for the decision by payback, where neither a setting nor a price says it",
    ),
    Limit(
        "price of a token that is written",
        WRITTEN_PRICE,
        "of one that is read",
        "outcrop_specialists.context.window",
        "for the decision by payback: what a model's summary costs",
    ),
    Limit(
        "tool results in a window",
        RESULT_SHARE_WARNED,
        "of the window",
        "outcrop.room",
        "more is a warning of the outcome",
    ),
    Limit(
        "summary of removed turns",
        SUMMARY_OF_WORK_CHARS,
        "characters",
        "outcrop_specialists.context.compaction",
        "cut; what it lost stands behind it",
    ),
    Limit(
        "result shown to the one who sums up",
        SUMMARISED_RESULT_CHARS,
        "characters",
        "outcrop_specialists.context.summary",
        "cut in the middle",
    ),
    Limit(
        "summary of removed turns in a small window",
        SUMMARY_SHARE,
        "of the usable window",
        "outcrop_specialists.context.compaction",
        "cut; what it lost stands behind it",
    ),
    Limit(
        "facts behind a summary, said and measured each",
        FACTS_SHARE,
        "of the usable window",
        "outcrop_specialists.context.compaction",
        "what binds stays first; the others are counted and put aside under a handle",
    ),
    Limit(
        "facts behind a summary, said and measured each, at least",
        FACTS_TOKENS_LEAST,
        "tokens",
        "outcrop_specialists.context.compaction",
        "so that a small window holds some",
    ),
    Limit(
        "facts behind a summary, said and measured each, at most",
        FACTS_SHARE_MOST,
        "of the usable window",
        "outcrop_specialists.context.compaction",
        "what binds stays first; the others are counted and put aside under a handle",
    ),
    Limit(
        "facts taken from one result",
        FACTS_OF_A_RESULT,
        "facts",
        "outcrop_specialists.context.facts",
        "the number of the others is a fact",
    ),
    Limit(
        "facts known of removed turns",
        FACTS_KNOWN,
        "facts",
        "outcrop_specialists.context.fact_choice",
        "the half that weighs least is forgotten; the archive has it",
    ),
    Limit(
        "stale result",
        STALE_RESULT_CHARS,
        "characters",
        "outcrop_specialists.context.compaction",
        "a longer one is put aside under a handle",
    ),
    Limit(
        "facts left of a stale result",
        STALE_FACTS_CHARS,
        "characters",
        "outcrop_specialists.context.compaction",
        "files, rows and named fields first; of a result of another form the newest that fit",
    ),
    Limit(
        "each part of a checkpoint",
        CHECKPOINT_CHARS,
        "characters",
        "outcrop_specialists.context.checkpoint",
        "a longer one is refused",
    ),
    Limit(
        "store of one agent",
        STORE_BYTES,
        "bytes",
        "outcrop_specialists.context.store",
        "nothing more is put aside, and that is said",
    ),
    Limit(
        "page of what was put aside",
        PAGE_CHARS,
        "characters",
        "outcrop_specialists.context.paging",
        "goes on where it ended; in a small window as much as one read may give",
    ),
    Limit(
        "what was put aside, in records",
        RECORDS_BYTES,
        "bytes",
        "outcrop_specialists.context.paging",
        "a longer one in lines",
    ),
    Limit(
        "places found in what was put aside",
        FOUND_LINES,
        "places",
        "outcrop_specialists.context.paging",
        "the first ones",
    ),
    Limit(
        "a line found",
        FOUND_CHARS,
        "characters",
        "outcrop_specialists.context.paging",
        "cut around the place",
    ),
    Limit(
        "skills of a workspace",
        SKILLS,
        "skills",
        "outcrop_specialists.context.skills",
        "the first by name; that is said",
    ),
    Limit(
        "name of a skill",
        SKILL_NAME_CHARS,
        "characters",
        "outcrop_specialists.context.skills",
        "a longer one is no skill, and that is said",
    ),
    Limit(
        "description of a skill",
        SKILL_DESCRIPTION_CHARS,
        "characters",
        "outcrop_specialists.context.skills",
        "a longer one is no skill, and that is said",
    ),
    Limit(
        "file of a skill",
        SKILL_BYTES,
        "bytes",
        "outcrop_specialists.context.skills",
        "a larger one is refused",
    ),
    Limit(
        "facts remembered",
        MEMORY_FACTS,
        "facts",
        "outcrop.memory",
        "a further one is refused",
    ),
    Limit(
        "a fact remembered",
        MEMORY_FACT_CHARS,
        "characters",
        "outcrop.memory",
        "a longer one is refused",
    ),
    Limit(
        "facts shown at the start of a run",
        MEMORY_SHOWN,
        "facts",
        "outcrop.memory",
        "the most relevant ones",
    ),
    Limit(
        "attachment",
        ATTACHMENT_TOKENS,
        "tokens",
        "outcrop_specialists.context.attachments",
        "its text is cut, and said where to read on; a data file gives its profile",
    ),
    Limit(
        "all attachments",
        ATTACHMENTS_TOKENS,
        "tokens",
        "outcrop_specialists.context.attachments",
        "further ones are named",
    ),
    Limit(
        "all attachments in a small window",
        ATTACHMENTS_SHARE,
        "of the usable window",
        "outcrop_specialists.context.attachments",
        "further ones are named",
    ),
    Limit(
        "all attachments as JSON text",
        ATTACHED_CHARS,
        "characters",
        "outcrop.order",
        "more is not what the tool gives, so nothing is attached and that is said",
    ),
    Limit("tools of an outside server", OUTSIDE_TOOLS, "tools", "outcrop.outside.listing", "further ones are left out"),
    Limit(
        "pages of a server's list of tools", OUTSIDE_LIST_PAGES, "pages", "outcrop.outside.server", "no more are read"
    ),
    Limit(
        "description of an outside tool",
        OUTSIDE_DESCRIPTION_CHARS,
        "characters",
        "outcrop.outside.listing",
        "the rest is cut off",
    ),
    Limit(
        "schema of an outside tool",
        OUTSIDE_SCHEMA_CHARS,
        "characters",
        "outcrop.outside.listing",
        "of a longer one texts are left out, then all but that it is an object",
    ),
    Limit(
        "outside tools that are all offered",
        OUTSIDE_OFFERED_CHARS,
        "characters of their cards",
        "outcrop_specialists.outside",
        'of more, those that the work needs are offered, as where a role says tools = "select"',
    ),
    Limit(
        "line of an outside server",
        OUTSIDE_LINE_BYTES,
        "bytes",
        "outcrop.outside.transport",
        "a longer one ends the server",
    ),
    Limit(
        "what an outside server writes without an answer",
        OUTSIDE_NOISE_BYTES,
        "bytes",
        "outcrop.outside.transport",
        "more ends the server",
    ),
    Limit(
        "what an outside server leaves unread",
        OUTSIDE_UNREAD_BYTES,
        "bytes",
        "outcrop.outside.transport",
        "more ends the server",
    ),
    Limit(
        "start of an outside server",
        OUTSIDE_START_SECONDS,
        "s",
        "outcrop.outside.server",
        "then the work goes on without its tools",
    ),
    Limit(
        "call of an outside tool",
        OUTSIDE_SECONDS,
        "s",
        "outcrop.outside.config",
        "where timeout_seconds says nothing else; then it is cancelled",
    ),
    Limit(
        "time limit of outside calls", OUTSIDE_SECONDS_MOST, "s", "outcrop.outside.config", "a longer one is refused"
    ),
    Limit(
        "starts of an outside server in a run",
        OUTSIDE_STARTS,
        "starts",
        "outcrop.outside.server",
        "after so many it stays away",
    ),
    Limit(
        "memory of an outside server",
        OUTSIDE_MEMORY_BYTES,
        "bytes",
        "outcrop.outside.launch",
        "of all its processes; beyond it they are ended",
    ),
    Limit(
        "processes of an outside server",
        OUTSIDE_PROCESSES,
        "processes",
        "outcrop.outside.launch",
        "beyond it they are ended",
    ),
    Limit("files of an outside answer", OUTSIDE_FILES, "files", "outcrop.outside.answers", "the others are counted"),
    Limit(
        "error of an outside tool",
        OUTSIDE_ERROR_CHARS,
        "characters",
        "outcrop_specialists.outside",
        "the rest is cut off",
    ),
    Limit(
        "fields of a record of an outside answer",
        OUTSIDE_ENTRIES,
        "fields",
        "outcrop_specialists.outside_answers",
        "the others are counted; the whole answer is in a file",
    ),
    Limit(
        "packages that one piece of work is taken up again for",
        GAP_ROUNDS,
        "packages",
        "outcrop.gaps.deciding",
        "a further gap is refused and stands in the outcome",
    ),
    Limit(
        "installation of a package",
        GAP_INSTALL_SECONDS,
        "s",
        "outcrop.gaps.installing",
        "pip is ended, nothing of it is left, and the gap stands in the outcome",
    ),
    Limit("pins", PIN_COUNT, "pins", "outcrop.pins", "a further pin is refused"),
    Limit("one pin", PIN_CHARS, "characters", "outcrop.pins", "a longer pin is refused"),
    Limit("hypotheses of a run", HYPOTHESES, "hypotheses", "outcrop.hypotheses", "a further one is refused"),
    Limit(
        "hypotheses that specialists propose",
        HYPOTHESES_PROPOSED,
        "at a time that nobody took up",
        "outcrop.hypotheses",
        "a further one stands in the outcome of its dispatch only",
    ),
    Limit("claim of a hypothesis", HYPOTHESIS_CHARS, "characters", "outcrop.hypotheses", "a longer one is refused"),
    Limit(
        "evidence of a hypothesis",
        HYPOTHESIS_EVIDENCE,
        "entries on each side",
        "outcrop.hypotheses",
        "a further one of the lead's is refused, of a specialist's it stands in its outcome only",
    ),
    Limit(
        "hypotheses shown to the lead",
        HYPOTHESES_SHOWN_CHARS,
        "characters with evidence",
        "outcrop.hypotheses",
        "beyond it the evidence is counted",
    ),
    Limit(
        "tools that are all offered",
        TOOLS_ALL_OFFERED,
        "tools",
        "outcrop_specialists.context.selection.selection",
        "an agent with more is offered those that its step needs",
    ),
    Limit(
        "tools offered for a step",
        TOOLS_OFFERED,
        "tools",
        "outcrop_specialists.context.selection.selection",
        "beside the fixed ones and those offered before",
    ),
    Limit(
        "tools offered for a step of many clauses",
        TOOLS_OFFERED_MOST,
        "tools",
        "outcrop_specialists.context.selection.selection",
        "two for each clause",
    ),
    Limit(
        "tools that a search lists",
        TOOLS_FOUND,
        "tools",
        "outcrop_specialists.context.selection.selection",
        "the best of them",
    ),
    Limit(
        "tool in a list",
        TOOL_LINE_CHARS,
        "characters",
        "outcrop_specialists.context.selection.cards",
        "the description is cut",
    ),
    Limit(
        "clauses of a request for which tools are looked for",
        REQUEST_CLAUSES,
        "clauses",
        "outcrop_specialists.context.selection.clauses",
        "of a longer one, neighbours are taken together",
    ),
    Limit("turns of a specialist", AGENT_TURNS, "turns", "outcrop_specialists.agent", "the work ends with what it has"),
    Limit("turns of the lead", LEAD_TURNS, "turns", "outcrop.lead.agent", "the run ends with what it has"),
    Limit("steps of a plan", PLAN_STEPS, "steps", "outcrop_schemas.plan", "a longer plan is refused"),
    Limit("calls of one step of a plan", PLAN_CALLS, "calls", "outcrop_schemas.plan", "a longer plan is refused"),
    Limit("inputs of a plan", PLAN_INPUTS, "files", "outcrop_schemas.plan", "a plan with more is refused"),
    Limit("plan file", PLAN_BYTES, "bytes", "outcrop.plans.files", "a larger file is refused"),
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
        "outcrop.rates",
        "does not count against the dispatch; past it the request fails",
    ),
    Limit(
        "one model call",
        MODEL_SECONDS,
        "seconds",
        "outcrop.models.anthropic.model",
        "then it counts as broken and is made again",
    ),
    Limit(
        "silence of a model's stream",
        MODEL_SILENCE_SECONDS,
        "seconds",
        "outcrop.models.anthropic.client",
        "then it counts as broken and is made again",
    ),
    Limit(
        "connecting to a model's server",
        MODEL_CONNECT_SECONDS,
        "seconds",
        "outcrop.models.anthropic.client",
        "then it is tried again",
    ),
    Limit("attempts at a model call", MODEL_ATTEMPTS, "times", "outcrop.retry", "then the last error is told"),
    Limit(
        "tokens of a model's turn",
        MODEL_OUTPUT_TOKENS,
        "tokens",
        "outcrop.models.anthropic.model",
        "where nothing else is set; a turn that is cut there is not acted on",
    ),
    Limit(
        "wait before the first retry",
        RETRY_FIRST_SECONDS,
        "seconds",
        "outcrop.retry",
        "doubled for each further one, with jitter",
    ),
    Limit(
        "wait before a retry", RETRY_LONGEST_SECONDS, "seconds", "outcrop.retry", "never longer, `retry-after` apart"
    ),
    Limit(
        "retry-after",
        RETRY_AFTER_SECONDS,
        "seconds",
        "outcrop.retry",
        "what a server asks for is waited for up to this",
    ),
    Limit(
        "memory of a dispatch",
        DISPATCH_MEMORY_BYTES,
        "bytes",
        "outcrop.starting",
        "RLIMIT_DATA of each process; resident memory of all together, looked at every half second: status failed",
    ),
    Limit(
        "processes of a dispatch",
        DISPATCH_PROCESSES,
        "processes",
        "outcrop.starting",
        "looked at every half second: status failed",
    ),
    Limit(
        "cold starts before the nursery",
        COLD_STARTS,
        "specialists",
        "outcrop.launching.nursery",
        "a run that needs no more never pays for it; a larger batch starts with it",
    ),
    Limit(
        "starts of the nursery",
        NURSERY_STARTS,
        "a minute",
        "outcrop.launching.nursery",
        "then a start fails: spawn_error",
    ),
    Limit(
        "answer of the nursery",
        NURSERY_ANSWER_SECONDS,
        "s",
        "outcrop.launching.nursery",
        "then it is replaced, and the specialist starts cold",
    ),
    Limit(
        "pipe of a specialist", PIPE_BYTES, "bytes", "outcrop.launching.supervised", "asked of the kernel; less works"
    ),
    Limit(
        "dispatches taken by a pool",
        OPEN_DISPATCHES,
        "dispatches",
        "outcrop.pool",
        "waiting or at work; a further call waits before its order is taken",
    ),
    Limit(
        "events of a dispatch that wait",
        EVENTS_WAITING,
        "events",
        "outcrop.many",
        "of `Pool.stream`; further progress is passed over, never the end",
    ),
    Limit("durations kept", DURATIONS_KEPT, "dispatches", "outcrop.statistics", "percentiles are of the last ones"),
    Limit("frame of a node", NODE_FRAME_BYTES, "bytes", "outcrop.cluster.frames", "a stream is sent in such pieces"),
    Limit("first word of a node", NODE_HELLO_SECONDS, "s", "outcrop.cluster.relay", "then its connection is closed"),
    Limit(
        "nodes lost at one piece of work",
        LOST_NODES,
        "nodes",
        "outcrop.desk",
        "then it is set aside, whatever cluster_retry_lost allows: status crashed",
    ),
    Limit("first look at all nodes", NODE_LOOK_SECONDS, "s", "outcrop.cluster.dask", "then the run does not begin"),
    Limit(
        "workspace that nobody uses",
        NODE_IDLE_SECONDS,
        "s",
        "outcrop.cluster.node",
        "then its node gives up the nursery that it kept for it",
    ),
    Limit(
        "connection to a scheduler", CLUSTER_CONNECT_SECONDS, "s", "outcrop.cluster.dask", "then the run does not begin"
    ),
    Limit(
        "look at the nodes of a cluster",
        CLUSTER_LOOK_SECONDS,
        "s",
        "outcrop.cluster.dask",
        "how often it is seen how many specialists they take",
    ),
    Limit(
        "specialists on a cluster",
        CLUSTER_SPECIALISTS,
        "at a time",
        "outcrop.cluster.dask",
        "however many threads its nodes have; fewer with --workers",
    ),
    Limit("starts", STARTS_AT_A_TIME, "at a time", "outcrop.shared", "others wait; no time of theirs is counted"),
    Limit("results in hand", RESULTS_IN_HAND, "at a time", "outcrop.hands", "capped and spilled one after the other"),
    Limit("stdout of a specialist", STDOUT_BYTES, "bytes", "outcrop.reader", "status output_limit"),
    Limit("one stream line", STREAM_LINE_BYTES, "bytes", "outcrop.stream", "a longer line is skipped and counted"),
    Limit(
        "values of one completion",
        COMPLETION_MEMORY_BYTES,
        "bytes of memory, estimated",
        "outcrop.completion",
        "by its brackets and commas, before it is read: status protocol_error",
    ),
    Limit("partial findings", PARTIAL_BYTES, "bytes", "outcrop.stream", "a longer line is not kept"),
    Limit(
        "transcript kept",
        TRANSCRIPT_KEPT_BYTES,
        "bytes of head and of tail",
        "outcrop.transcript",
        "with the number of bytes between them",
    ),
    Limit("stderr kept", STDERR_KEPT_BYTES, "bytes of head and of tail", "outcrop.reader", "all of it is drained"),
    Limit(
        "journal with an index",
        JOURNAL_INDEXED_BYTES,
        "bytes at least",
        "outcrop.records",
        "a smaller one is looked at each time it is opened",
    ),
    Limit(
        "lines of a difference",
        REPLAY_DIFF_LINES,
        "lines of each segment",
        "outcrop.prompt_diff",
        "of a prompt that `replay --verify` rebuilt otherwise; the number of others is told",
    ),
    Limit(
        "line of a difference",
        REPLAY_DIFF_CHARS,
        "characters",
        "outcrop.prompt_diff",
        "of a longer one what is around the place that differs",
    ),
    Limit(
        "text of a step",
        REPLAY_TEXT_CHARS,
        "characters",
        "outcrop.stepping",
        "what was said, called or given back, in the walk of `replay --step`; more is cut",
    ),
    Limit("texts of a step", REPLAY_PIECES, "entries", "outcrop.stepping", "the number of others is told"),
    Limit("progress decoded", PROGRESS_PER_SECOND, "lines a second", "outcrop.stream", "others are passed over"),
    Limit("one model message", MODEL_LINE_BYTES, "bytes", "outcrop.channel", "a longer one ends the channel"),
    Limit(
        "tokens of one turn", MODEL_OUTPUT_TOKENS, "tokens", "outcrop.settings", "max_tokens where nothing else is said"
    ),
    Limit("max_tokens that can be set", MODEL_OUTPUT_TOKENS_MOST, "tokens", "outcrop.settings", "more is refused"),
    Limit("turns that can be set", TURNS_MOST, "turns", "outcrop.settings", "more is refused"),
    Limit(
        "what marks a message, block or tool",
        MARK_TOKENS,
        "tokens",
        "outcrop.prices",
        "added to the bytes of a request, which its tokens cannot be more than, when a call is reserved for",
    ),
    Limit(
        "what a server adds to a prompt", PROMPT_TOKENS_OF_SERVER, "tokens", "outcrop.prices", "added once a request"
    ),
    Limit(
        "requests of a Message Batch", API_BATCH_REQUESTS, "requests", "outcrop.models.api_batch", "more go in another"
    ),
    Limit("bytes of a Message Batch", API_BATCH_BYTES, "bytes", "outcrop.models.api_batch", "more go in another"),
    Limit(
        "time between looks at a Message Batch",
        API_BATCH_POLL_SECONDS,
        "s",
        "outcrop.models.post_office",
        "it grows by half each time up to this",
    ),
    Limit(
        "waiting for a Message Batch",
        API_BATCH_HOURS,
        "hours",
        "outcrop.models.api_batch",
        "then the turn fails; a server ends a batch after 24",
    ),
    Limit(
        "specialists at a time with --api-batch",
        API_BATCH_WORKERS,
        "processes",
        "outcrop.batch",
        "where `workers` says nothing else: they wait most of the time",
    ),
    Limit(
        "jobs at a time with --api-batch",
        API_BATCH_JOBS,
        "jobs",
        "outcrop.batch",
        "so that one Message Batch has the turns of many",
    ),
    Limit("files of one job", JOB_FILES, "files", "outcrop.jobs", "a line with more is a bad one"),
    Limit("id of a job", JOB_ID_CHARS, "characters", "outcrop.jobs", "a line with a longer one is a bad one"),
    Limit(
        "failed jobs on the page of a batch",
        BATCH_PAGE_FAILED,
        "jobs",
        "outcrop.batch_results",
        "further ones are counted; results.jsonl has all",
    ),
    Limit(
        "jobs that were done on the page of a batch",
        BATCH_PAGE_GOOD,
        "jobs",
        "outcrop.batch_results",
        "further ones are counted; results.jsonl has all",
    ),
    Limit(
        "message of an MCP client",
        MCP_MESSAGE_BYTES,
        "bytes",
        "outcrop.mcp_server.lines",
        "a longer one is refused unread, over HTTP with status 413",
    ),
    Limit(
        "images in one answer to an MCP client",
        MCP_IMAGE_BYTES,
        "bytes",
        "outcrop.mcp_server.images",
        "of further and larger ones only the link is given",
    ),
    Limit(
        "file given whole to an MCP client",
        MCP_BLOB_BYTES,
        "bytes",
        "outcrop.mcp_server.files",
        "of a larger image or report the path is told instead",
    ),
    Limit(
        "page of read_file for an MCP client",
        MCP_PAGE_CHARS,
        "characters",
        "outcrop.mcp_server.host",
        "`next` says where to go on",
    ),
    Limit(
        "text read as an MCP resource",
        MCP_RESOURCE_CHARS,
        "characters",
        "outcrop.mcp_server.host",
        "the address of the next page is told",
    ),
    Limit(
        "runs listed to an MCP client",
        MCP_RUNS_LISTED,
        "runs",
        "outcrop.mcp_server.past",
        "the newest; the others are counted",
    ),
    Limit(
        "sessions of MCP clients over HTTP",
        MCP_SESSIONS,
        "sessions",
        "outcrop.mcp_server.door",
        "a further one is refused with status 503",
    ),
    Limit(
        "time for requests when the MCP server ends",
        MCP_END_SECONDS,
        "s",
        "outcrop.mcp_server.http",
        "then their connections are closed; what they had started has ended before",
    ),
    Limit(
        "delivering telemetry at the end",
        TELEMETRY_FLUSH_SECONDS,
        "s",
        "outcrop.telemetry.exporting",
        "what is left then is lost, and that is said",
    ),
    Limit("tool spans of one agent", TELEMETRY_TOOLS, "spans", "outcrop.channel", "further ones are not told"),
    Limit("names in telemetry", TELEMETRY_NAME_CHARS, "characters", "outcrop.telemetry.names", "longer ones are cut"),
    Limit(
        "content of one attribute in telemetry",
        TELEMETRY_CONTENT_CHARS,
        "characters",
        "outcrop.telemetry.content",
        "the newest messages that fit, long texts cut; none at all unless telemetry_content is set",
    ),
    Limit(
        "parts of a message in telemetry",
        TELEMETRY_PARTS,
        "parts",
        "outcrop.telemetry.content",
        "the last ones are told",
    ),
    Limit(
        "time between looks for requests",
        REQUEST_LOOK_SECONDS,
        "s",
        "outcrop.cancelling",
        "such as that to cancel a dispatch; while dispatches run only",
    ),
    Limit(
        "time between looks at runs in the live view",
        UI_LOOK_SECONDS,
        "s",
        "outcrop.ui.watching",
        "at their journals and transcripts, while somebody has their page open; longer where a look takes long",
    ),
    Limit("time between beats of a stream", UI_BEAT_SECONDS, "s", "outcrop.ui.feed", "where nothing else is sent"),
    Limit(
        "end of a transcript that is looked at",
        UI_TAIL_BYTES,
        "bytes",
        "outcrop.ui.progress",
        "for the last progress of a dispatch under way",
    ),
    Limit(
        "end of a long journal that the first screen has",
        UI_START_BYTES,
        "bytes",
        "outcrop.ui.window",
        "until all of it was read",
    ),
    Limit("runs on a page of the list", UI_RUNS_PAGE, "runs", "outcrop.ui.catalogue", "further ones on further pages"),
    Limit(
        "dispatches on a page of earlier ones",
        UI_DISPATCHES_PAGE,
        "dispatches",
        "outcrop.ui.earlier",
        "further ones on further pages",
    ),
    Limit("jobs on a page of a batch", UI_JOBS_PAGE, "jobs", "outcrop.ui.batch_jobs", "further ones on further pages"),
    Limit(
        "time of one search among dispatches or jobs",
        UI_SEARCH_SECONDS,
        "s",
        "outcrop.ui.earlier",
        "then what was found is shown, and a way to search on",
    ),
    Limit(
        "journals that are compared in the live view",
        UI_COMPARED_BYTES,
        "bytes",
        "outcrop.ui.compare",
        "both together; `outcrop diff` has no such limit",
    ),
    Limit(
        "first rows of a table in the live view",
        UI_TABLE_BYTES,
        "bytes",
        "outcrop.ui.files",
        "whole lines of it; all of the file is to be had as a download",
    ),
    Limit(
        "dispatches in a report",
        REPORT_DISPATCHES,
        "dispatches",
        "outcrop.report.dispatches",
        "the last ones; those before are counted by status",
    ),
    Limit(
        "dispatches in a report that did not succeed",
        REPORT_FAILED,
        "dispatches",
        "outcrop.report.dispatches",
        "the last of them stay when others must go",
    ),
    Limit(
        "files in a report",
        REPORT_ARTIFACTS,
        "files",
        "outcrop.report.artifacts",
        "plots first; further ones are counted",
    ),
    Limit(
        "objective at the top of a report",
        REPORT_TITLE_CHARS,
        "characters",
        "outcrop.report.page",
        "the whole of a longer one is folded below it",
    ),
    Limit(
        "picture in a report",
        REPORT_IMAGE_BYTES,
        "bytes",
        "outcrop.report.artifacts",
        "a larger one is linked, not shown",
    ),
    Limit(
        "all pictures in a report",
        REPORT_IMAGES_BYTES,
        "bytes",
        "outcrop.report.artifacts",
        "further ones are linked, not shown",
    ),
    Limit(
        "files that a report compares with their hashes",
        REPORT_HASHED_BYTES,
        "bytes",
        "outcrop.report.artifacts",
        "of further ones the size alone is compared",
    ),
    Limit(
        "tables of which a report has the head", REPORT_TABLES, "tables", "outcrop.report.artifacts", "the first ones"
    ),
    Limit(
        "what is read of a table for its head",
        REPORT_TABLE_BYTES,
        "bytes",
        "outcrop.report.previews",
        "the first ones; no more is read",
    ),
    Limit("rows of a table's head", REPORT_TABLE_ROWS, "rows", "outcrop.report.previews", "the first ones"),
    Limit("columns of a table's head", REPORT_TABLE_COLUMNS, "columns", "outcrop.report.previews", "the first ones"),
    Limit(
        "cell of a table's head", REPORT_CELL_CHARS, "characters", "outcrop.report.previews", "cut, with an ellipsis"
    ),
    Limit(
        "agents whose tokens a report draws",
        REPORT_AGENTS,
        "agents",
        "outcrop.report.tokens",
        "the lead and those that began first; `outcrop context` has all",
    ),
    Limit(
        "requests of an agent that a report draws",
        REPORT_REQUESTS,
        "requests",
        "outcrop.report.tokens",
        "the last ones; `outcrop context` has all",
    ),
    Limit(
        "files in the lineage of a report",
        REPORT_LINEAGE_FILES,
        "files",
        "outcrop.report.lineage",
        "further ones are left out, and that is said",
    ),
    Limit(
        "jobs in the report of a batch",
        REPORT_JOBS,
        "jobs",
        "outcrop.report.jobs",
        "those that failed first; results.jsonl has all",
    ),
    Limit(
        "pages of all jobs beside a report",
        REPORT_JOBS_PAGES,
        "pages",
        "outcrop.report.writing",
        "of as many jobs each as a report shows; results.jsonl has all",
    ),
    Limit(
        "messages of a chat in its report",
        REPORT_TURNS,
        "messages",
        "outcrop.report.conversation",
        "the last ones; earlier ones are counted",
    ),
    Limit(
        "model calls that a report adds up",
        REPORT_LEDGER_RECORDS,
        "records",
        "outcrop.report.setting",
        "of a run without an answer; with more of them `outcrop show` has the sum",
    ),
    Limit("answer of the chat", CHAT_ANSWER_CHARS, "characters", "outcrop.chat.answer", "a longer one is refused"),
    Limit("files cited by an answer of the chat", CHAT_FILES, "files", "outcrop.chat.answer", "more are refused"),
    Limit(
        "artifacts told in one answer of summarise_artifacts",
        CHAT_ARTIFACTS,
        "artifacts",
        "outcrop.chat.made",
        "the newest; older ones are counted and told when their paths are named",
    ),
    Limit(
        "columns told of an artifact",
        CHAT_ARTIFACT_COLUMNS,
        "columns",
        "outcrop_specialists.unseen.made",
        "further ones are counted",
    ),
    Limit(
        "earlier turns shown to the chat",
        CHAT_HISTORY_TURNS,
        "turns",
        "outcrop.chat.history",
        "the last ones, with question and answer; older ones are counted",
    ),
    Limit(
        "tokens of earlier turns shown to the chat",
        CHAT_HISTORY_TOKENS,
        "tokens",
        "outcrop.chat.history",
        "the last turns within it",
    ),
    Limit(
        "rows pasted into the chat",
        CHAT_PASTED_ROWS,
        "lines",
        "outcrop.chat.pasted",
        "with more of them a note stands in their place, and the user is told to attach a file",
    ),
    Limit("runs for one message of the chat", CHAT_RUNS, "runs", "outcrop.chat.toolbox", "further ones are refused"),
    Limit(
        "claims that the chat keeps",
        CHAT_CLAIMS,
        "claims",
        "outcrop.chat.citations",
        "the last ones: figures of an answer are traced to them",
    ),
    Limit(
        "tables compared with a text for the chat",
        SCREEN_TABLES,
        "tables",
        "outcrop_specialists.unseen.screen",
        "where those of a run are more, nothing of its text is shown to the chat",
    ),
    Limit(
        "other tables compared with a text for the chat",
        SCREEN_OTHER_BYTES,
        "bytes",
        "outcrop_specialists.unseen.screen",
        "those of the workspace that the run does not name, as far as they fit",
    ),
)
