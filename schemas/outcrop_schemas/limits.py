"""Every limit of Outcrop, declared once: its value, its unit, where it is enforced and how.

A prompt may explain a limit; only code that reads it from here enforces it. `outcrop limits` prints `LIMITS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Limit:
    """One limit as `outcrop limits` shows it."""

    name: str
    value: float
    unit: str
    enforced_in: str
    how: str


_declared: list[Limit] = []


def limit(value: Number, name: str, unit: str, enforced_in: str, how: str) -> Number:
    """The value itself, for the constant that is read where it is enforced; the rest is for `LIMITS`."""
    _declared.append(Limit(name, value, unit, enforced_in, how))
    return value


# --- one outcome -----------------------------------------------------------------------------------------------------
RESULT_CHARS = limit(
    8_000,
    "results of one outcome",
    "characters",
    "outcrop.cap",
    "entries over it become notes; all of it goes to a spill file",
)
SUMMARY_CHARS = limit(2_000, "summary of one outcome", "characters", "outcrop.cap", "cut at a grapheme")
LIST_ENTRIES = limit(20, "list of one outcome", "entries", "outcrop.cap", "the rest is counted in a last entry")
ENTRY_CHARS = limit(500, "entry of a list", "characters", "outcrop.cap", "cut at a grapheme")
OUTCOME_CHARS = limit(16_000, "one outcome", "characters", "outcrop.cap", "longest lists are shortened until it fits")
ARTIFACTS_CHECKED = limit(
    1_000, "artifacts checked", "files", "outcrop.artifacts", "further ones are counted in a warning"
)
NOTEBOOK_ENTRIES = limit(10, "list in a notebook", "entries", "outcrop_schemas.notebook", "the others are counted")
NOTEBOOK_ENTRY_CHARS = limit(300, "entry in a notebook", "characters", "outcrop_schemas.notebook", "the rest is cut")
NOTEBOOK_RESULT_CHARS = limit(
    4_000, "results in a notebook", "characters", "outcrop_schemas.notebook", "the rest is cut"
)
CLAIMS_CHECKED = limit(
    20,
    "figures checked in one call",
    "claims",
    "outcrop_specialists.tools.inspection.verify_claims",
    "more are refused",
)
CLAIMS_OF_A_RUN = limit(
    100,
    "claims checked for one answer",
    "claims",
    "outcrop.figures",
    "the first; a figure that only a later one explains stays unverifiable",
)
FIGURES_TRACED = limit(
    200, "figures traced in one answer", "figures", "outcrop.figures", "the first; further ones have no verdict"
)
SCRIPT_CHARS = limit(
    50_000, "script", "characters", "outcrop_specialists.tools.scripts.run_script", "a longer one is refused"
)
SCRIPT_SECONDS = limit(
    30.0, "script waited for", "s", "outcrop_specialists.tools.scripts.run_script", "then it goes on"
)
SCRIPT_ANSWER_CHARS = limit(
    2_000,
    "answer of a script",
    "characters",
    "outcrop_specialists.tools.scripts.running",
    "the beginning; all of it is in a file",
)
SCRIPT_FILES = limit(
    20, "files of a script", "files", "outcrop_specialists.tools.scripts.running", "others stay in scratch"
)
COMMAND_SECONDS = limit(
    30.0, "command waited for", "s", "outcrop_specialists.tools.scripts.run_command", "then it goes on"
)
COMMAND_LINES = limit(
    500,
    "output of a command",
    "lines",
    "outcrop_specialists.tools.scripts.commands",
    "of more, half from the start and half from the end",
)
COMMAND_LOG_LINES = limit(
    1_000,
    "long output of a command",
    "lines",
    "outcrop_specialists.tools.scripts.commands",
    "of more, the first and last 100, and the file that holds all",
)
COMMAND_LOG_BYTES = limit(
    512 << 10,
    "large output of a command",
    "bytes",
    "outcrop_specialists.tools.scripts.commands",
    "of more, the first and last 100 lines, and the file that holds all",
)
COMMAND_LOG_LINES_SHOWN = limit(
    100,
    "lines shown of a long output",
    "lines of head and of tail",
    "outcrop_specialists.tools.scripts.commands",
    "the lines between are counted",
)
COMMAND_CHARS = limit(
    40_000,
    "output of a command that is shown",
    "characters",
    "outcrop_specialists.tools.scripts.commands",
    "fewer lines are shown; pages of it are as long",
)
COMMAND_LINE_CHARS = limit(
    2_000,
    "line of a command's output",
    "characters",
    "outcrop_specialists.tools.scripts.commands",
    "the beginning, at the end of the output the end",
)
ARTIFACT_SECONDS = limit(
    20.0,
    "checking the artifacts of one outcome",
    "seconds",
    "outcrop.artifacts",
    "what is not read by then is named in a warning",
)

# --- a specialist's own budget ---------------------------------------------------------------------------------------
SPECIALIST_RESULT_CHARS = limit(
    2_000,
    "a specialist's results",
    "characters",
    "outcrop_specialists.roles",
    "asked for in the prompt; 8,000 is enforced",
)
COMPLETE_LIST_RECORDS = limit(
    20,
    "list in `complete`",
    "records",
    "outcrop_specialists.completion",
    "a longer list is answered with the field and the reason",
)
TOLD_ENTRIES = limit(
    10,
    "gaps and questions of a specialist",
    "of each",
    "outcrop_specialists.telling",
    "a further one is answered that enough was said",
)
GAP_ROUNDS = limit(
    3,
    "packages that one piece of work is taken up again for",
    "packages",
    "outcrop.gaps.deciding",
    "a further gap is refused and stands in the outcome",
)
GAP_INSTALL_SECONDS = limit(
    300.0,
    "installation of a package",
    "s",
    "outcrop.gaps.installing",
    "pip is ended, nothing of it is left, and the gap stands in the outcome",
)
# A sheet of a laboratory with sixty elements and its labels is an ordinary table.
SMALL_TABLE_COLUMNS = limit(
    80, "table that is told whole", "columns", "outcrop_specialists.shortening", "answers on wider ones are bounded"
)
ANSWER_CHARS = limit(
    1_200,
    "answer on a wide table",
    "characters",
    "outcrop_specialists.shortening",
    "first entries, and counts of the others; the whole answer is in a file",
)
PREVIEW_ROWS = limit(
    20, "row preview", "rows", "outcrop_specialists.tools.inspection.preview", "never more, whatever is asked for"
)
PREVIEW_COLUMNS = limit(
    40, "columns of a preview", "columns", "outcrop_specialists.tools.inspection.preview", "further ones are counted"
)
PREVIEW_CELL_CHARS = limit(
    200, "cell of a preview", "characters", "outcrop_specialists.tools.inspection.preview", "cut at a grapheme"
)
LIST_FILES_ENTRIES = limit(
    500, "list_files", "entries", "outcrop_specialists.tools.inspection.list_files", "the rest is counted in a warning"
)
NEIGHBOURS_COMPARED = limit(
    1_000,
    "neighbours of a missing file",
    "files",
    "outcrop_specialists.paths",
    "looked at for names that may have been meant",
)
DATA_LINES = limit(
    50,
    "data file that is read as text",
    "lines",
    "outcrop_specialists.tools.inspection.data_lines",
    "of a longer one only the first lines are given",
)
DATA_LINES_SHOWN = limit(
    5,
    "lines shown of a data file",
    "lines",
    "outcrop_specialists.tools.inspection.data_lines",
    "never others, whatever is asked for",
)
READ_JSON_BYTES = limit(
    50 << 10,
    "JSON that is read as text",
    "bytes",
    "outcrop_specialists.tools.inspection.read_file",
    "a larger one is a data file",
)
READ_CHARS = limit(
    72_000,
    "one read",
    "characters",
    "outcrop_specialists.tools.inspection.read_file",
    "as JSON text; the page ends at a line, and next goes on",
)
READ_SHARE = limit(
    0.15,
    "one read of a small window",
    "of the usable window",
    "outcrop_specialists.tools.inspection.read_file",
    "where that is less",
)
READ_CHARS_A_TOKEN = limit(
    3, "characters of a token", "characters", "outcrop_specialists.tools.inspection.read_file", "for the size of a read"
)
READ_LINE_CHARS = limit(
    2_000,
    "line of a data file",
    "characters",
    "outcrop_specialists.tools.inspection.data_lines",
    "the rest is counted, and read on with start_char",
)
READ_COUNT_SECONDS = limit(
    0.5,
    "counting lines for a first answer",
    "s",
    "outcrop_specialists.tools.inspection.read_file",
    "then an estimate, marked as such; count=true counts all",
)
PROFILE_COLUMNS = limit(
    200,
    "columns of a table that is listed",
    "columns",
    "outcrop_specialists.tools.inspection.list_files",
    "further ones are counted",
)
CACHED_FROM_BYTES = limit(
    128 << 10,
    "data file of which a typed copy is kept",
    "bytes",
    "outcrop_specialists.reading.cache",
    "smaller ones are read anew each time",
)
TABLE_CACHE_BYTES = limit(
    8 << 30,
    "typed copies of tables",
    "bytes",
    "outcrop_specialists.reading.cache",
    "those used longest ago are removed",
)
UNPACKED_BYTES = limit(
    4 << 30, "compressed data file", "bytes unpacked", "outcrop_specialists.reading.packed", "a larger one is refused"
)
TOOL_RESULT_CHARS = limit(
    60_000,
    "tool result",
    "characters",
    "outcrop_specialists.toolbox",
    "a longer one is put aside whole, with head, tail, its weightiest facts and a handle here",
)
TOOL_RESULT_SHARE = limit(
    0.2,
    "tool result in a small window",
    "of the usable window",
    "outcrop_specialists.context.window",
    "where that is less",
)
FACTS_TEXT_CHARS = limit(
    2_000_000,
    "tool result that is searched for facts",
    "characters",
    "outcrop_specialists.toolbox",
    "of a longer one head and tail are shown",
)
EXPRESSION_CHARS = limit(
    2_000, "expression", "characters", "outcrop_specialists.expressions.tokens", "a longer one is refused"
)
EXPRESSION_TERMS = limit(
    500, "terms of an expression", "terms", "outcrop_specialists.expressions.grammar", "more are refused"
)
EXPRESSION_DEPTH = limit(
    100,
    "depth of an expression",
    "levels",
    "outcrop_specialists.expressions.grammar",
    "deeper nesting and longer chains are refused",
)
EXPRESSION_EXPONENT = limit(
    1_000,
    "exponent in an expression",
    "at most",
    "outcrop_specialists.expressions.compiling",
    "a greater one is refused",
)

# --- the lead's view -------------------------------------------------------------------------------------------------
OBJECTIVE_CHARS = limit(
    20_000, "objective", "characters", "outcrop.objective", "an empty or a longer objective is refused"
)
CONTEXT_CHARS = limit(20_000, "dispatch context", "characters", "outcrop.objective", "a longer context is refused")
HISTORY_DISPATCHES = limit(
    20, "dispatches shown to the lead", "dispatches", "outcrop.history", "older ones become one line of counts"
)
HISTORY_OBJECTIVE_CHARS = limit(300, "objective in the history", "characters", "outcrop.history", "cut at a grapheme")
HISTORY_ERROR_CHARS = limit(300, "errors in the history", "characters", "outcrop.history", "cut at a grapheme")
PIN_COUNT = limit(50, "pins", "pins", "outcrop.pins", "a further pin is refused")
PIN_CHARS = limit(1_000, "one pin", "characters", "outcrop.pins", "a longer pin is refused")
HYPOTHESES = limit(20, "hypotheses of a run", "hypotheses", "outcrop.hypotheses", "a further one is refused")
HYPOTHESES_PROPOSED = limit(
    10,
    "hypotheses that specialists propose",
    "at a time that nobody took up",
    "outcrop.hypotheses",
    "a further one stands in the outcome of its dispatch only",
)
HYPOTHESIS_CHARS = limit(300, "claim of a hypothesis", "characters", "outcrop.hypotheses", "a longer one is refused")
HYPOTHESIS_EVIDENCE = limit(
    10,
    "evidence of a hypothesis",
    "entries on each side",
    "outcrop.hypotheses",
    "a further one of the lead's is refused, of a specialist's it stands in its outcome only",
)
HYPOTHESES_SHOWN_CHARS = limit(
    8_000,
    "hypotheses shown to the lead",
    "characters with evidence",
    "outcrop.hypotheses",
    "beyond it the evidence is counted",
)

# --- the chat --------------------------------------------------------------------------------------------------------
CHAT_ANSWER_CHARS = limit(8_000, "answer of the chat", "characters", "outcrop.chat.answer", "a longer one is refused")
CHAT_FILES = limit(40, "files cited by an answer of the chat", "files", "outcrop.chat.answer", "more are refused")
CHAT_ARTIFACTS = limit(
    60,
    "artifacts told in one answer of summarise_artifacts",
    "artifacts",
    "outcrop.chat.made",
    "the newest; older ones are counted and told when their paths are named",
)
CHAT_ARTIFACT_COLUMNS = limit(
    60, "columns told of an artifact", "columns", "outcrop_specialists.unseen.made", "further ones are counted"
)
CHAT_HISTORY_TURNS = limit(
    12,
    "earlier turns shown to the chat",
    "turns",
    "outcrop.chat.history",
    "the last ones, with question and answer; older ones are counted",
)
CHAT_HISTORY_TOKENS = limit(
    24_000, "tokens of earlier turns shown to the chat", "tokens", "outcrop.chat.history", "the last turns within it"
)
CHAT_PASTED_ROWS = limit(
    20,
    "rows pasted into the chat",
    "lines",
    "outcrop.chat.pasted",
    "with more of them a note stands in their place, and the user is told to attach a file",
)
CHAT_RUNS = limit(8, "runs for one message of the chat", "runs", "outcrop.chat.toolbox", "further ones are refused")
CHAT_CLAIMS = limit(
    1_000,
    "claims that the chat keeps",
    "claims",
    "outcrop.chat.citations",
    "the last ones: figures of an answer are traced to them",
)
SCREEN_TABLES = limit(
    64,
    "tables compared with a text for the chat",
    "tables",
    "outcrop_specialists.unseen.screen",
    "where those of a run are more, nothing of its text is shown to the chat",
)
SCREEN_OTHER_BYTES = limit(
    64 << 20,
    "other tables compared with a text for the chat",
    "bytes",
    "outcrop_specialists.unseen.screen",
    "those of the workspace that the run does not name, as far as they fit",
)

# --- the context window ----------------------------------------------------------------------------------------------
WINDOW_TOKENS = limit(
    200_000,
    "window of a model",
    "tokens",
    "outcrop_schemas.protocol",
    "where nothing is set; a smaller one is known by its refusal",
)
WINDOW_TOKENS_LEAST = limit(
    2_000, "smallest window that can be set", "tokens", "outcrop.settings", "a smaller one is refused"
)
WINDOW_TOKENS_MOST = limit(
    10_000_000, "largest window that can be set", "tokens", "outcrop.settings", "a larger one is refused"
)
COMPACT_AT = limit(
    0.7, "compaction is decided", "of the usable window", "outcrop_specialists.context.compaction", "by payback"
)
COMPACT_FORCED_AT = limit(
    0.9, "compaction is forced", "of the usable window", "outcrop_specialists.context.compaction", "whatever it costs"
)
COMPACT_TARGET = limit(
    0.5,
    "what compaction aims at",
    "of the usable window",
    "outcrop_specialists.context.window",
    "stale results first, then turns",
)
COMPACT_TURNS = limit(
    4,
    "turns from a compaction to the next",
    "turns at least",
    "outcrop_specialists.context.window",
    "where opening and last turns leave room for them; else no model is asked for the summary",
)
KEPT_TURNS = limit(
    6,
    "turns kept word for word",
    "turns",
    "outcrop_specialists.context.window",
    "fewer only where the window holds no more",
)
CACHED_PRICE = limit(
    0.1,
    "price of a cached token",
    "of an uncached one",
    "outcrop.models",
    "for the decision by payback, where neither a setting nor a price says it",
)
WRITTEN_PRICE = limit(
    5.0,
    "price of a token that is written",
    "of one that is read",
    "outcrop_specialists.context.window",
    "for the decision by payback: what a model's summary costs",
)
RESULT_SHARE_WARNED = limit(
    0.3, "tool results in a window", "of the window", "outcrop.room", "more is a warning of the outcome"
)
SUMMARY_OF_WORK_CHARS = limit(
    6_000,
    "summary of removed turns",
    "characters",
    "outcrop_specialists.context.compaction",
    "cut; what it lost stands behind it",
)
SUMMARISED_RESULT_CHARS = limit(
    2_000,
    "result shown to the one who sums up",
    "characters",
    "outcrop_specialists.context.summary",
    "cut in the middle",
)
SUMMARY_SHARE = limit(
    0.15,
    "summary of removed turns in a small window",
    "of the usable window",
    "outcrop_specialists.context.compaction",
    "cut; what it lost stands behind it",
)
FACTS_SHARE = limit(
    0.15,
    "facts behind a summary, said and measured each",
    "of the usable window",
    "outcrop_specialists.context.compaction",
    "what binds stays first; the others are counted and put aside under a handle",
)
FACTS_TOKENS_LEAST = limit(
    2_000,
    "facts behind a summary, said and measured each, at least",
    "tokens",
    "outcrop_specialists.context.compaction",
    "so that a small window holds some",
)
FACTS_SHARE_MOST = limit(
    0.25,
    "facts behind a summary, said and measured each, at most",
    "of the usable window",
    "outcrop_specialists.context.compaction",
    "what binds stays first; the others are counted and put aside under a handle",
)
FACTS_PART = limit(
    0.5,
    "facts where turns have no room",
    "of their room",
    "outcrop_specialists.context.window",
    "the others lie under a handle",
)
FACTS_OF_A_RESULT = limit(
    2_000,
    "facts taken from one result",
    "facts",
    "outcrop_specialists.context.facts",
    "the number of the others is a fact",
)
FACTS_KNOWN = limit(
    20_000,
    "facts known of removed turns",
    "facts",
    "outcrop_specialists.context.fact_choice",
    "the half that weighs least is forgotten; the archive has it",
)
STALE_RESULT_CHARS = limit(
    4_000,
    "stale result",
    "characters",
    "outcrop_specialists.context.compaction",
    "a longer one is put aside under a handle",
)
STALE_FACTS_CHARS = limit(
    1_500,
    "facts left of a stale result",
    "characters",
    "outcrop_specialists.context.compaction",
    "files, rows and named fields first; of a result of another form the newest that fit",
)
CHECKPOINT_CHARS = limit(
    4_000,
    "each part of a checkpoint",
    "characters",
    "outcrop_specialists.context.checkpoint",
    "a longer one is refused",
)
GIST_CHARS = limit(
    72,
    "a tool in the lead's short list",
    "characters",
    "outcrop.lead.roster",
    "the first clause of what it does; whole where nothing is billed",
)
STORE_BYTES = limit(
    1 << 30,
    "store of one agent",
    "bytes",
    "outcrop_specialists.context.store",
    "nothing more is put aside, and that is said",
)
PAGE_CHARS = limit(
    20_000,
    "page of what was put aside",
    "characters",
    "outcrop_specialists.context.paging",
    "goes on where it ended; in a small window as much as one read may give",
)
RECORDS_BYTES = limit(
    16 << 20, "what was put aside, in records", "bytes", "outcrop_specialists.context.paging", "a longer one in lines"
)
FOUND_LINES = limit(
    20, "places found in what was put aside", "places", "outcrop_specialists.context.paging", "the first ones"
)
FOUND_CHARS = limit(300, "a line found", "characters", "outcrop_specialists.context.paging", "cut around the place")
ATTACHMENT_TOKENS = limit(
    20_000,
    "attachment",
    "tokens",
    "outcrop_specialists.context.attachments",
    "its text is cut, and said where to read on; a data file gives its profile",
)
ATTACHMENTS_TOKENS = limit(
    60_000, "all attachments", "tokens", "outcrop_specialists.context.attachments", "further ones are named"
)
ATTACHMENTS_SHARE = limit(
    0.35,
    "all attachments in a small window",
    "of the usable window",
    "outcrop_specialists.context.attachments",
    "further ones are named",
)
ATTACHED_CHARS = limit(
    600_000,
    "all attachments as JSON text",
    "characters",
    "outcrop.order",
    "more is not what the tool gives, so nothing is attached and that is said",
)

SKILLS = limit(
    50, "skills of a workspace", "skills", "outcrop_specialists.context.skills", "the first by name; that is said"
)
SKILL_NAME_CHARS = limit(
    64,
    "name of a skill",
    "characters",
    "outcrop_specialists.context.skills",
    "a longer one is no skill, and that is said",
)
SKILL_DESCRIPTION_CHARS = limit(
    1_024,
    "description of a skill",
    "characters",
    "outcrop_specialists.context.skills",
    "a longer one is no skill, and that is said",
)
SKILL_BYTES = limit(
    1 << 20, "file of a skill", "bytes", "outcrop_specialists.context.skills", "a larger one is refused"
)
MEMORY_FACTS = limit(1_000, "facts remembered", "facts", "outcrop.memory", "a further one is refused")
MEMORY_FACT_CHARS = limit(500, "a fact remembered", "characters", "outcrop.memory", "a longer one is refused")
MEMORY_SHOWN = limit(3, "facts shown at the start of a run", "facts", "outcrop.memory", "the most relevant ones")

# --- which tools a model is offered ----------------------------------------------------------------------------------
TOOLS_ALL_OFFERED = limit(
    10,
    "tools that are all offered",
    "tools",
    "outcrop_specialists.context.selection.selection",
    "an agent with more is offered those that its step needs",
)
TOOLS_OFFERED = limit(
    8,
    "tools offered for a step",
    "tools",
    "outcrop_specialists.context.selection.selection",
    "beside the fixed ones and those offered before",
)
TOOLS_OFFERED_MOST = limit(
    16,
    "tools offered for a step of many clauses",
    "tools",
    "outcrop_specialists.context.selection.selection",
    "two for each clause",
)
TOOLS_FOUND = limit(
    8, "tools that a search lists", "tools", "outcrop_specialists.context.selection.selection", "the best of them"
)
TOOL_LINE_CHARS = limit(
    160, "tool in a list", "characters", "outcrop_specialists.context.selection.cards", "the description is cut"
)
REQUEST_CLAUSES = limit(
    24,
    "clauses of a request for which tools are looked for",
    "clauses",
    "outcrop_specialists.context.selection.clauses",
    "of a longer one, neighbours are taken together",
)

# --- tools of outside servers ----------------------------------------------------------------------------------------
OUTSIDE_TOOLS = limit(
    128, "tools of an outside server", "tools", "outcrop.outside.listing", "further ones are left out"
)
OUTSIDE_LIST_PAGES = limit(
    32, "pages of a server's list of tools", "pages", "outcrop.outside.server", "no more are read"
)
OUTSIDE_DESCRIPTION_CHARS = limit(
    1_200, "description of an outside tool", "characters", "outcrop.outside.listing", "the rest is cut off"
)
OUTSIDE_SCHEMA_CHARS = limit(
    8_000,
    "schema of an outside tool",
    "characters",
    "outcrop.outside.listing",
    "of a longer one texts are left out, then all but that it is an object",
)
OUTSIDE_OFFERED_CHARS = limit(
    40_000,
    "outside tools that are all offered",
    "characters of their cards",
    "outcrop_specialists.outside",
    'of more, those that the work needs are offered, as where a role says tools = "select"',
)
OUTSIDE_LINE_BYTES = limit(
    16_000_000, "line of an outside server", "bytes", "outcrop.outside.transport", "a longer one ends the server"
)
OUTSIDE_NOISE_BYTES = limit(
    64_000_000,
    "what an outside server writes without an answer",
    "bytes",
    "outcrop.outside.transport",
    "more ends the server",
)
OUTSIDE_UNREAD_BYTES = limit(
    8_000_000, "what an outside server leaves unread", "bytes", "outcrop.outside.transport", "more ends the server"
)
OUTSIDE_START_SECONDS = limit(
    20.0, "start of an outside server", "s", "outcrop.outside.server", "then the work goes on without its tools"
)
OUTSIDE_SECONDS = limit(
    60.0,
    "call of an outside tool",
    "s",
    "outcrop.outside.config",
    "where timeout_seconds says nothing else; then it is cancelled",
)
OUTSIDE_SECONDS_MOST = limit(
    3_000.0, "time limit of outside calls", "s", "outcrop.outside.config", "a longer one is refused"
)
OUTSIDE_STARTS = limit(
    4, "starts of an outside server in a run", "starts", "outcrop.outside.server", "after so many it stays away"
)
OUTSIDE_MEMORY_BYTES = limit(
    4 << 30,
    "memory of an outside server",
    "bytes",
    "outcrop.outside.launch",
    "of all its processes; beyond it they are ended",
)
OUTSIDE_PROCESSES = limit(
    128, "processes of an outside server", "processes", "outcrop.outside.launch", "beyond it they are ended"
)
OUTSIDE_FILES = limit(64, "files of an outside answer", "files", "outcrop.outside.answers", "the others are counted")
OUTSIDE_ERROR_CHARS = limit(
    2_500, "error of an outside tool", "characters", "outcrop_specialists.outside", "the rest is cut off"
)
OUTSIDE_ENTRIES = limit(
    101,
    "fields of a record of an outside answer",
    "fields",
    "outcrop_specialists.outside_answers",
    "the others are counted; the whole answer is in a file",
)

# --- the agent loop --------------------------------------------------------------------------------------------------
AGENT_TURNS = limit(40, "turns of a specialist", "turns", "outcrop_specialists.agent", "the work ends with what it has")
LEAD_TURNS = limit(100, "turns of the lead", "turns", "outcrop.lead.agent", "the run ends with what it has")
PLAN_STEPS = limit(90, "steps of a plan", "steps", "outcrop_schemas.plan", "a longer plan is refused")
PLAN_CALLS = limit(200, "calls of one step of a plan", "calls", "outcrop_schemas.plan", "a longer plan is refused")
PLAN_INPUTS = limit(50, "inputs of a plan", "files", "outcrop_schemas.plan", "a plan with more is refused")
PLAN_BYTES = limit(4 << 20, "plan file", "bytes", "outcrop.plans.files", "a larger file is refused")
INVALID_COMPLETIONS = limit(
    3,
    "invalid completions",
    "times",
    "outcrop_specialists.agent",
    "then the work ends with an error that names the field",
)
REPEATED_CALLS = limit(
    3, "the same call again", "times", "outcrop_specialists.agent", "then the work is stopped with the reason"
)

# --- one dispatch ----------------------------------------------------------------------------------------------------
DISPATCH_SECONDS = limit(600.0, "dispatch", "seconds", "outcrop.desk", "then SIGTERM, grace, SIGKILL; status timeout")
GRACE_SECONDS = limit(2.0, "grace", "seconds", "outcrop.desk", "from SIGTERM to SIGKILL of the whole session")
FIRST_MESSAGE_SECONDS = limit(
    30.0, "first message of a built-in specialist", "seconds", "outcrop.watch", "status timeout"
)
IDLE_SECONDS = limit(
    60.0, "silence of a built-in specialist", "seconds", "outcrop.watch", "status timeout; it beats every 5 s"
)
BEAT_SECONDS = limit(
    5.0,
    "beat of a built-in specialist",
    "s",
    "outcrop_specialists.stream",
    "a sign of life whatever it is at; the idle limit counts from the last",
)
QUEUED_MODEL_SECONDS = limit(
    3_600.0,
    "time queued in the gateway",
    "seconds",
    "outcrop.rates",
    "does not count against the dispatch; past it the request fails",
)
MODEL_SECONDS = limit(
    1_800.0, "one model call", "seconds", "outcrop.models.anthropic.model", "then it counts as broken and is made again"
)
MODEL_SILENCE_SECONDS = limit(
    120.0,
    "silence of a model's stream",
    "seconds",
    "outcrop.models.anthropic.client",
    "then it counts as broken and is made again",
)
MODEL_CONNECT_SECONDS = limit(
    10.0, "connecting to a model's server", "seconds", "outcrop.models.anthropic.client", "then it is tried again"
)
MODEL_ATTEMPTS = limit(8, "attempts at a model call", "times", "outcrop.retry", "then the last error is told")
MODEL_OUTPUT_TOKENS = limit(
    16_000,
    "tokens of a model's turn",
    "tokens",
    "outcrop.models.anthropic.model",
    "where nothing else is set; a turn that is cut there is not acted on",
)
limit(MODEL_OUTPUT_TOKENS, "tokens of one turn", "tokens", "outcrop.settings", "max_tokens where nothing else is said")
RETRY_FIRST_SECONDS = limit(
    1.0, "wait before the first retry", "seconds", "outcrop.retry", "doubled for each further one, with jitter"
)
RETRY_LONGEST_SECONDS = limit(
    60.0, "wait before a retry", "seconds", "outcrop.retry", "never longer, `retry-after` apart"
)
RETRY_AFTER_SECONDS = limit(
    120.0, "retry-after", "seconds", "outcrop.retry", "what a server asks for is waited for up to this"
)
DISPATCH_MEMORY_BYTES = limit(
    8 << 30,
    "memory of a dispatch",
    "bytes",
    "outcrop.starting",
    "RLIMIT_DATA of each process; resident memory of all together, looked at every half second: status failed",
)
DISPATCH_PROCESSES = limit(
    512, "processes of a dispatch", "processes", "outcrop.starting", "looked at every half second: status failed"
)
NURSERY_STARTS = limit(
    5, "starts of the nursery", "a minute", "outcrop.launching.nursery", "then a start fails: spawn_error"
)
COLD_STARTS = limit(
    3,
    "cold starts before the nursery",
    "specialists",
    "outcrop.launching.nursery",
    "a run that needs no more never pays for it; a larger batch starts with it",
)
NURSERY_ANSWER_SECONDS = limit(
    5.0,
    "answer of the nursery",
    "s",
    "outcrop.launching.nursery",
    "then it is replaced, and the specialist starts cold",
)
OPEN_DISPATCHES = limit(
    10_000,
    "dispatches taken by a pool",
    "dispatches",
    "outcrop.pool",
    "waiting or at work; a further call waits before its order is taken",
)
EVENTS_WAITING = limit(
    1_000,
    "events of a dispatch that wait",
    "events",
    "outcrop.many",
    "of `Pool.stream`; further progress is passed over, never the end",
)
DURATIONS_KEPT = limit(1_000, "durations kept", "dispatches", "outcrop.statistics", "percentiles are of the last ones")
STARTS_AT_A_TIME = limit(4, "starts", "at a time", "outcrop.shared", "others wait; no time of theirs is counted")
NODE_FRAME_BYTES = limit(
    256 * 1024, "frame of a node", "bytes", "outcrop.cluster.frames", "a stream is sent in such pieces"
)
NODE_HELLO_SECONDS = limit(10.0, "first word of a node", "s", "outcrop.cluster.relay", "then its connection is closed")
LOST_NODES = limit(
    3,
    "nodes lost at one piece of work",
    "nodes",
    "outcrop.desk",
    "then it is set aside, whatever cluster_retry_lost allows: status crashed",
)
CLUSTER_CONNECT_SECONDS = limit(
    15.0, "connection to a scheduler", "s", "outcrop.cluster.dask", "then the run does not begin"
)
NODE_LOOK_SECONDS = limit(120.0, "first look at all nodes", "s", "outcrop.cluster.dask", "then the run does not begin")
NODE_IDLE_SECONDS = limit(
    300.0,
    "workspace that nobody uses",
    "s",
    "outcrop.cluster.node",
    "then its node gives up the nursery that it kept for it",
)
CLUSTER_LOOK_SECONDS = limit(
    2.0,
    "look at the nodes of a cluster",
    "s",
    "outcrop.cluster.dask",
    "how often it is seen how many specialists they take",
)
CLUSTER_SPECIALISTS = limit(
    256,
    "specialists on a cluster",
    "at a time",
    "outcrop.cluster.dask",
    "however many threads its nodes have; fewer with --workers",
)
RESULTS_IN_HAND = limit(4, "results in hand", "at a time", "outcrop.hands", "capped and spilled one after the other")
PIPE_BYTES = limit(
    256 * 1024, "pipe of a specialist", "bytes", "outcrop.launching.supervised", "asked of the kernel; less works"
)
STDOUT_BYTES = limit(512 * 1024 * 1024, "stdout of a specialist", "bytes", "outcrop.reader", "status output_limit")
STREAM_LINE_BYTES = limit(
    16 * 1024 * 1024, "one stream line", "bytes", "outcrop.stream", "a longer line is skipped and counted"
)
COMPLETION_MEMORY_BYTES = limit(
    40 << 20,
    "values of one completion",
    "bytes of memory, estimated",
    "outcrop.completion",
    "by its brackets and commas, before it is read: status protocol_error",
)
PARTIAL_BYTES = limit(64 * 1024, "partial findings", "bytes", "outcrop.stream", "a longer line is not kept")
TRANSCRIPT_KEPT_BYTES = limit(
    32 * 1024 * 1024,
    "transcript kept",
    "bytes of head and of tail",
    "outcrop.transcript",
    "with the number of bytes between them",
)
STDERR_KEPT_BYTES = limit(
    64 * 1024, "stderr kept", "bytes of head and of tail", "outcrop.reader", "all of it is drained"
)
PROGRESS_PER_SECOND = limit(10, "progress decoded", "lines a second", "outcrop.stream", "others are passed over")
JOURNAL_INDEXED_BYTES = limit(
    32 * 1024 * 1024,
    "journal with an index",
    "bytes at least",
    "outcrop.records",
    "a smaller one is looked at each time it is opened",
)
REPLAY_DIFF_LINES = limit(
    60,
    "lines of a difference",
    "lines of each segment",
    "outcrop.prompt_diff",
    "of a prompt that `replay --verify` rebuilt otherwise; the number of others is told",
)
REPLAY_DIFF_CHARS = limit(
    240,
    "line of a difference",
    "characters",
    "outcrop.prompt_diff",
    "of a longer one what is around the place that differs",
)
REPLAY_TEXT_CHARS = limit(
    400,
    "text of a step",
    "characters",
    "outcrop.stepping",
    "what was said, called or given back, in the walk of `replay --step`; more is cut",
)
REPLAY_PIECES = limit(8, "texts of a step", "entries", "outcrop.stepping", "the number of others is told")
MODEL_LINE_BYTES = limit(
    64 * 1024 * 1024, "one model message", "bytes", "outcrop.channel", "a longer one ends the channel"
)

# --- what model calls may cost ---------------------------------------------------------------------------------------
MODEL_OUTPUT_TOKENS_MOST = limit(300_000, "max_tokens that can be set", "tokens", "outcrop.settings", "more is refused")
TURNS_MOST = limit(1_000, "turns that can be set", "turns", "outcrop.settings", "more is refused")
# Far above what a server adds: a few tokens for each message and tool, under a thousand for its own words about tools.
MARK_TOKENS = limit(
    48,
    "what marks a message, block or tool",
    "tokens",
    "outcrop.prices",
    "added to the bytes of a request, which its tokens cannot be more than, when a call is reserved for",
)
PROMPT_TOKENS_OF_SERVER = limit(
    2_500, "what a server adds to a prompt", "tokens", "outcrop.prices", "added once a request"
)
API_BATCH_REQUESTS = limit(
    1_000, "requests of a Message Batch", "requests", "outcrop.models.api_batch", "more go in another"
)
API_BATCH_BYTES = limit(
    200_000_000, "bytes of a Message Batch", "bytes", "outcrop.models.api_batch", "more go in another"
)
API_BATCH_POLL_SECONDS = limit(
    300.0,
    "time between looks at a Message Batch",
    "s",
    "outcrop.models.post_office",
    "it grows by half each time up to this",
)
API_BATCH_HOURS = limit(
    26.0,
    "waiting for a Message Batch",
    "hours",
    "outcrop.models.api_batch",
    "then the turn fails; a server ends a batch after 24",
)
API_BATCH_WORKERS = limit(
    16,
    "specialists at a time with --api-batch",
    "processes",
    "outcrop.batch",
    "where `workers` says nothing else: they wait most of the time",
)
API_BATCH_JOBS = limit(
    100, "jobs at a time with --api-batch", "jobs", "outcrop.batch", "so that one Message Batch has the turns of many"
)
BATCH_PAGE_FAILED = limit(
    1_000,
    "failed jobs on the page of a batch",
    "jobs",
    "outcrop.batch_results",
    "further ones are counted; results.jsonl has all",
)
BATCH_PAGE_GOOD = limit(
    200,
    "jobs that were done on the page of a batch",
    "jobs",
    "outcrop.batch_results",
    "further ones are counted; results.jsonl has all",
)
JOB_FILES = limit(1_000, "files of one job", "files", "outcrop.jobs", "a line with more is a bad one")
JOB_ID_CHARS = limit(200, "id of a job", "characters", "outcrop.jobs", "a line with a longer one is a bad one")
REQUEST_LOOK_SECONDS = limit(
    0.25,
    "time between looks for requests",
    "s",
    "outcrop.cancelling",
    "such as that to cancel a dispatch; while dispatches run only",
)

# --- the live view ---------------------------------------------------------------------------------------------------
UI_LOOK_SECONDS = limit(
    0.5,
    "time between looks at runs in the live view",
    "s",
    "outcrop.ui.watching",
    "at their journals and transcripts, while somebody has their page open; longer where a look takes long",
)
UI_BEAT_SECONDS = limit(15.0, "time between beats of a stream", "s", "outcrop.ui.feed", "where nothing else is sent")
UI_TAIL_BYTES = limit(
    16 << 10,
    "end of a transcript that is looked at",
    "bytes",
    "outcrop.ui.progress",
    "for the last progress of a dispatch under way",
)
UI_START_BYTES = limit(
    4 << 20, "end of a long journal that the first screen has", "bytes", "outcrop.ui.window", "until all of it was read"
)
UI_RUNS_PAGE = limit(50, "runs on a page of the list", "runs", "outcrop.ui.catalogue", "further ones on further pages")
UI_DISPATCHES_PAGE = limit(
    100, "dispatches on a page of earlier ones", "dispatches", "outcrop.ui.earlier", "further ones on further pages"
)
UI_JOBS_PAGE = limit(100, "jobs on a page of a batch", "jobs", "outcrop.ui.batch_jobs", "further ones on further pages")
UI_SEARCH_SECONDS = limit(
    1.5,
    "time of one search among dispatches or jobs",
    "s",
    "outcrop.ui.earlier",
    "then what was found is shown, and a way to search on",
)
UI_COMPARED_BYTES = limit(
    100_000_000,
    "journals that are compared in the live view",
    "bytes",
    "outcrop.ui.compare",
    "both together; `outcrop diff` has no such limit",
)
UI_TABLE_BYTES = limit(
    48 << 10,
    "first rows of a table in the live view",
    "bytes",
    "outcrop.ui.files",
    "whole lines of it; all of the file is to be had as a download",
)

# --- what programs that speak MCP are given --------------------------------------------------------------------------
MCP_MESSAGE_BYTES = limit(
    4 << 20,
    "message of an MCP client",
    "bytes",
    "outcrop.mcp_server.lines",
    "a longer one is refused unread, over HTTP with status 413",
)
# With base64 under a million bytes, which is what clients take as one result.
MCP_IMAGE_BYTES = limit(
    720_000,
    "images in one answer to an MCP client",
    "bytes",
    "outcrop.mcp_server.images",
    "of further and larger ones only the link is given",
)
MCP_BLOB_BYTES = limit(
    3 << 20,
    "file given whole to an MCP client",
    "bytes",
    "outcrop.mcp_server.files",
    "of a larger image or report the path is told instead",
)
MCP_PAGE_CHARS = limit(
    6_500, "page of read_file for an MCP client", "characters", "outcrop.mcp_server.host", "`next` says where to go on"
)
MCP_RESOURCE_CHARS = limit(
    24_000,
    "text read as an MCP resource",
    "characters",
    "outcrop.mcp_server.host",
    "the address of the next page is told",
)
MCP_RUNS_LISTED = limit(
    25, "runs listed to an MCP client", "runs", "outcrop.mcp_server.past", "the newest; the others are counted"
)
MCP_SESSIONS = limit(
    100,
    "sessions of MCP clients over HTTP",
    "sessions",
    "outcrop.mcp_server.door",
    "a further one is refused with status 503",
)
MCP_END_SECONDS = limit(
    1.5,
    "time for requests when the MCP server ends",
    "s",
    "outcrop.mcp_server.http",
    "then their connections are closed; what they had started has ended before",
)

# --- what is told to OpenTelemetry -----------------------------------------------------------------------------------
TELEMETRY_FLUSH_SECONDS = limit(
    5.0,
    "delivering telemetry at the end",
    "s",
    "outcrop.telemetry.exporting",
    "what is left then is lost, and that is said",
)
TELEMETRY_TOOLS = limit(2_000, "tool spans of one agent", "spans", "outcrop.channel", "further ones are not told")
TELEMETRY_NAME_CHARS = limit(200, "names in telemetry", "characters", "outcrop.telemetry.names", "longer ones are cut")
TELEMETRY_CONTENT_CHARS = limit(
    20_000,
    "content of one attribute in telemetry",
    "characters",
    "outcrop.telemetry.content",
    "the newest messages that fit, long texts cut; none at all unless telemetry_content is set",
)
TELEMETRY_PARTS = limit(
    50, "parts of a message in telemetry", "parts", "outcrop.telemetry.content", "the last ones are told"
)

# --- the report of a run ---------------------------------------------------------------------------------------------
REPORT_DISPATCHES = limit(
    200,
    "dispatches in a report",
    "dispatches",
    "outcrop.report.dispatches",
    "the last ones; those before are counted by status",
)
REPORT_FAILED = limit(
    100,
    "dispatches in a report that did not succeed",
    "dispatches",
    "outcrop.report.dispatches",
    "the last of them stay when others must go",
)
REPORT_TITLE_CHARS = limit(
    300,
    "objective at the top of a report",
    "characters",
    "outcrop.report.page",
    "the whole of a longer one is folded below it",
)
REPORT_ARTIFACTS = limit(
    100, "files in a report", "files", "outcrop.report.artifacts", "plots first; further ones are counted"
)
REPORT_IMAGE_BYTES = limit(
    2 << 20, "picture in a report", "bytes", "outcrop.report.artifacts", "a larger one is linked, not shown"
)
REPORT_IMAGES_BYTES = limit(
    12 << 20, "all pictures in a report", "bytes", "outcrop.report.artifacts", "further ones are linked, not shown"
)
REPORT_HASHED_BYTES = limit(
    64 << 20,
    "files that a report compares with their hashes",
    "bytes",
    "outcrop.report.artifacts",
    "of further ones the size alone is compared",
)
REPORT_TABLES = limit(
    24, "tables of which a report has the head", "tables", "outcrop.report.artifacts", "the first ones"
)
REPORT_TABLE_BYTES = limit(
    64 << 10,
    "what is read of a table for its head",
    "bytes",
    "outcrop.report.previews",
    "the first ones; no more is read",
)
REPORT_TABLE_ROWS = limit(5, "rows of a table's head", "rows", "outcrop.report.previews", "the first ones")
REPORT_TABLE_COLUMNS = limit(12, "columns of a table's head", "columns", "outcrop.report.previews", "the first ones")
REPORT_CELL_CHARS = limit(
    60, "cell of a table's head", "characters", "outcrop.report.previews", "cut, with an ellipsis"
)
REPORT_AGENTS = limit(
    12,
    "agents whose tokens a report draws",
    "agents",
    "outcrop.report.tokens",
    "the lead and those that began first; `outcrop context` has all",
)
REPORT_REQUESTS = limit(
    150,
    "requests of an agent that a report draws",
    "requests",
    "outcrop.report.tokens",
    "the last ones; `outcrop context` has all",
)
REPORT_LINEAGE_FILES = limit(
    60,
    "files in the lineage of a report",
    "files",
    "outcrop.report.lineage",
    "further ones are left out, and that is said",
)
REPORT_JOBS = limit(
    500,
    "jobs in the report of a batch",
    "jobs",
    "outcrop.report.jobs",
    "those that failed first; results.jsonl has all",
)
REPORT_JOBS_PAGES = limit(
    40,
    "pages of all jobs beside a report",
    "pages",
    "outcrop.report.writing",
    "of as many jobs each as a report shows; results.jsonl has all",
)
REPORT_TURNS = limit(
    200,
    "messages of a chat in its report",
    "messages",
    "outcrop.report.conversation",
    "the last ones; earlier ones are counted",
)
REPORT_LEDGER_RECORDS = limit(
    20_000,
    "model calls that a report adds up",
    "records",
    "outcrop.report.setting",
    "of a run without an answer; with more of them `outcrop show` has the sum",
)

LIMITS: tuple[Limit, ...] = tuple(_declared)
