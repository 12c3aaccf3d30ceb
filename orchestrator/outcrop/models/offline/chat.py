"""The offline model as the chat: questions about files are answered by its tools, all else is an objective for a run.

It is no language model, and says so: it does not understand what was said before, and words its answers from results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.words import words_of
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_specialists.brief import CONVERSATION
from outcrop_specialists.completion import COMPLETE

RESEARCH, LIST_FILES, CHECK_MISSING, SUMMARISE = "research", "list_files", "check_missing", "summarise_artifacts"
ABOUT = (
    "This is the offline model, which is no language model: it lists files, counts what is missing, tells what runs "
    "have made, and hands every other message to a run as it is written. Say in one message what is to be done."
)
_GREETING = re.compile(r"(?:hi|hello|hey|help|thanks|thank you|who are you|what can you do|good \w+)[\s,.!?]*", re.I)
_FILES = re.compile(
    r"(?:please )?(?:list|show)(?: me)?(?: all| the| my)*(?: data)? files\b.{0,40}"
    r"|(?:which|what)(?: data)?(?: files| tables| data sets?| data)(?: are| is| do| does| did| have)\b.{0,60}"
    r"|what is (?:here|in (?:the|this) (?:workspace|folder))\W*",
    re.I,
)
_MISSING = re.compile(r"\b(?:missing|gaps?|nulls?|empty cells|how complete|completeness)\b", re.I)
_MADE = re.compile(
    r"(?:what|which|list|show|summari[sz]e)\b.{0,60}\b(?:made|written|produced|created|artifacts?|so far)\b.{0,40}",
    re.I,
)
_WORK = re.compile(
    r"\b(?:clean|fill|remove|drop|replace|plot|draw|map|cluster|correlat\w*|regress\w*|compare|filter|mean|average|"
    r"histogram|then|impute|summar\w+|test)\b",
    re.I,
)
_FILES_SHOWN, _TABLES_CHECKED, _LINES_SHOWN = 20, 5, 20


class ChatTurn:
    """One turn of the chat, worked out anew from the whole conversation."""

    def __init__(self, request: ModelRequest, conversation: Conversation) -> None:
        self._conversation, self._message = conversation, conversation.objective.strip()
        first = request.messages[0].content if request.messages else []
        texts = [block.text for block in first if isinstance(block, TextBlock)]
        self._is_first = not any(text.startswith(CONVERSATION) for text in texts)

    def calls(self) -> list[Call]:
        """What to call now: the tool that answers the message, or `complete`."""
        if _GREETING.fullmatch(self._message):
            return [_complete([ABOUT], [])]
        if _FILES.fullmatch(self._message):
            return self._told(Call(LIST_FILES, {}), _files)
        if _MADE.fullmatch(self._message) and not _MISSING.search(self._message):
            return self._told(Call(SUMMARISE, {"of": "workspace"}), _made)
        if _MISSING.search(self._message) and not _WORK.search(self._message):
            return self._missing()
        objective = self._message[: limits.OBJECTIVE_CHARS]
        return self._told(Call(RESEARCH, {"objective": objective}), _found)

    def _told(self, call: Call, tell: Callable[[Answer], tuple[list[str], list[str]]]) -> list[Call]:
        answer = self._conversation.answer(call)
        if answer is None:
            return [call]
        lines, files = ([f"{call.name}: {answer.error}"], []) if answer.is_error else tell(answer)
        return [self._complete(lines, files)]

    def _missing(self) -> list[Call]:
        """The gaps of the tables that are named, else of those the chat is about, else of those there are."""
        named = [word.text for word in words_of(self._message) if word.kind == "file"]
        paths = named or self._conversation.data
        if not paths:
            listing = Call(LIST_FILES, {})
            answer = self._conversation.answer(listing)
            if answer is None:
                return [listing]
            paths = [string_of(each, "path") for each in answer.records("files") if each.get("kind") == "table"]
        if not paths:
            return [self._complete(["There is no table in the workspace."], [])]
        calls = [Call(CHECK_MISSING, {"path": path}) for path in paths[:_TABLES_CHECKED]]
        answers = [self._conversation.answer(call) for call in calls]
        if waiting := [call for call, answer in zip(calls, answers, strict=True) if answer is None]:
            return waiting
        lines = [_gaps(path, answer) for path, answer in zip(paths, answers, strict=False) if answer]
        return [self._complete(lines, paths[:_TABLES_CHECKED])]

    def _complete(self, lines: list[str], files: list[str]) -> Call:
        return _complete([*lines, *([ABOUT] if self._is_first else [])], files)


def _complete(lines: list[str], files: list[str]) -> Call:
    answer = "\n".join(line for line in lines if line)[: limits.CHAT_ANSWER_CHARS]
    return Call(COMPLETE, {"answer": answer, "files": [path for path in files if path][: limits.CHAT_FILES]})


def _files(answer: Answer) -> tuple[list[str], list[str]]:
    files = answer.records("files")
    shown = [f"- {string_of(each, 'path')} ({string_of(each, 'kind')})" for each in files[:_FILES_SHOWN]]
    more = [f"- and {len(files) - _FILES_SHOWN} more"] if len(files) > _FILES_SHOWN else []
    count = answer.data.get("count", len(files))
    head = f"{count} data files and results:" if files else "There are no data files in the workspace."
    return [head, *shown, *more], [string_of(each, "path") for each in files[:_FILES_SHOWN]]


def _made(answer: Answer) -> tuple[list[str], list[str]]:
    artifacts = answer.records("artifacts")[:_FILES_SHOWN]
    lines = [
        f"- {string_of(each, 'path')} ({', '.join(_traits(each))})"
        + (f": {title}" if (title := string_of(each, "title")) else "")
        for each in artifacts
    ]
    head = "Made by runs so far:" if lines else "No run has made a file yet."
    return [head, *lines], [string_of(each, "path") for each in artifacts]


def _traits(artifact: dict[str, object]) -> Iterator[str]:
    yield string_of(artifact, "kind")
    if tool := string_of(artifact, "tool"):
        yield f"by {tool}"
    if isinstance(artifact.get("rows"), int):
        columns = artifact.get("columns")
        yield f"{artifact['rows']} rows" + (f", {len(columns)} columns" if isinstance(columns, list) else "")


def _found(answer: Answer) -> tuple[list[str], list[str]]:
    """The run's own words; where they were withheld, the run tells them."""
    summary = answer.summary or f"The run ended with {string_of(answer.data, 'status')}."
    said = [f"- {text}" for text in answer.texts("findings")[:_LINES_SHOWN]]
    undone = [f"- not done: {text}" for text in [*answer.texts("blockers"), *answer.texts("errors")][:_LINES_SHOWN]]
    artifacts = answer.records("artifacts")[:_FILES_SHOWN]
    paths = [path for each in artifacts if not (path := string_of(each, "path")).startswith("(")]
    files = [f"- file: {path}" for path in paths]
    return [summary, *said, *undone, *files], paths


def _gaps(path: str, answer: Answer) -> str:
    if answer.is_error:
        return f"{path}: {answer.error}"
    columns = answer.records("columns")
    if not columns:
        return f"{path}: {answer.data.get('rows')} rows, no missing cells"
    told = ", ".join(f"{string_of(each, 'name')} {each.get('missing')}" for each in columns[:_FILES_SHOWN])
    more = f" and {len(columns) - _FILES_SHOWN} more" if len(columns) > _FILES_SHOWN else ""
    return f"{path}: {answer.data.get('rows')} rows, {answer.data.get('missing_cells')} missing cells: {told}{more}"
