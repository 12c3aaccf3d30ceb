"""`outcrop chat`: one question, lines from a pipe, or a conversation on a terminal."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from outcrop.cli.boundary import BAD, CANCELLED, GOOD, Cancelled
from outcrop.cli.chat_output import Ended, say_answer, say_runs
from outcrop.cli.options import settings_of
from outcrop.cli.output import say_json, warn
from outcrop.cli.work import pairs
from outcrop_schemas.errors import ObjectiveError, UsageError

if TYPE_CHECKING:
    from outcrop.background import BackgroundLoop
    from outcrop.chat.answer import Answered
    from outcrop.chat.session import Chat
    from outcrop.events import Event, Watcher
    from outcrop.runs import RunFolder


def chat(options: Namespace) -> int:
    """Talk. The exit status is good where every message was answered."""
    from outcrop.background import BackgroundLoop
    from outcrop.chat.session import Chat
    from outcrop.cli.gaps import asker
    from outcrop.pins import Pins

    _check_message(options)
    settings = settings_of(options)
    pins = Pins(pairs(options.pin, "--pin")).as_dict()
    conversation = Chat(
        workspace=options.workspace,
        data=options.data,
        attach=options.attach,
        pins=pins,
        settings=settings,
        workers=options.workers,
        earlier=_earlier(options),
        on_gap=asker(),
    )
    loop = BackgroundLoop()
    try:
        with _ending_signals():
            loop.run(conversation.__aenter__())
            try:
                return _talk(options, conversation, loop)
            finally:
                loop.run(conversation.__aexit__(None, None, None))
    finally:
        loop.close()


def _talk(options: Namespace, conversation: Chat, loop: BackgroundLoop) -> int:
    for warning in conversation.warnings:
        warn(warning)
    folder = conversation.folder
    is_terminal = options.message is None and sys.stdin.isatty() and not options.json
    if is_terminal:
        from outcrop.cli.chat_terminal import converse

        return converse(conversation, loop, has_failed=_failed)
    code = GOOD
    try:
        for message in _messages(options):
            answered = ask(conversation, loop, message, shows_runs=not options.json)
            code = BAD if _failed(answered) else code
            if not options.json:
                say_answer(answered, is_alone=options.message is not None)
    except KeyboardInterrupt:
        code = CANCELLED
    if options.json:
        say_json(_document(conversation, folder))
    if code == CANCELLED:
        raise Cancelled
    return code


def ask(conversation: Chat, loop: BackgroundLoop, message: str, *, shows_runs: bool = True) -> Answered:
    """One message and its answer, with what its runs do shown on stderr, and what they answered whole on stdout: the
    chat's model is not shown all of it. Raises ObjectiveError, KeyboardInterrupt."""
    before = len(conversation.outcomes)
    try:
        return _asked(conversation, loop, message)
    finally:
        if shows_runs:
            say_runs(conversation.outcomes[before:])


def _asked(conversation: Chat, loop: BackgroundLoop, message: str) -> Answered:
    from outcrop.events import nobody

    with ExitStack() as stack:
        conversation.watcher = _shown_when_needed(stack)
        try:
            return loop.run(conversation.ask(message))
        finally:
            conversation.watcher = nobody


def _shown_when_needed(stack: ExitStack) -> Watcher:
    """What runs do, as `outcrop run` shows it; nothing of a message for which none is begun."""
    from outcrop.view import progress_view

    views: list[Watcher] = []

    def take(event: Event) -> None:
        if not views:
            views.append(stack.enter_context(progress_view(quiet=False)))
        views[0](event)

    return take


def _failed(answered: Answered) -> bool:
    for error in answered.errors:
        warn(error)
    return not answered.is_good


def _check_message(options: Namespace) -> None:
    """Raises UsageError for a question that was taken for a file, since it stands behind the files of an option."""
    for option, files in (("--data", options.data), ("--attach", options.attach)):
        last = files[-1] if files else ""
        if options.message is None and " " in last.strip() and not Path(options.workspace, last).exists():
            raise UsageError(f"{last!r} stands behind {option}, so it is taken for a file; put the question first")


def _messages(options: Namespace) -> Iterator[str]:
    if options.message == "-":
        yield sys.stdin.read().strip()
    elif options.message is not None:
        yield options.message
    else:
        is_asked = False
        for line in sys.stdin:
            if message := line.strip():
                is_asked = True
                yield message
        if not is_asked:
            raise ObjectiveError("Nothing was asked: stdin had no line. Give a MESSAGE, or a line for each.")


def _document(conversation: Chat, folder: RunFolder) -> dict[str, Any]:
    """The conversation: its turns, also one that was cancelled, and what its runs answered, which the chat was not
    shown whole."""
    return {
        "chat_id": folder.run_id,
        "run_folder": str(folder.path),
        "warnings": conversation.warnings,
        "turns": [answered.model_dump(mode="json") for answered in conversation.turns],
        "runs": conversation.runs,
        "outcomes": [outcome.model_dump(mode="json") for outcome in conversation.outcomes],
        "spending": conversation.spending(),
    }


def _earlier(options: Namespace) -> RunFolder | None:
    """The chat to go on with. Raises UsageError, UnknownNameError."""
    if options.earlier is None:
        return None
    from outcrop.runs import all_runs, find_run
    from outcrop.settings import CHAT
    from outcrop.workspace import Workspace

    workspace = Workspace(options.workspace)
    if options.earlier:
        return find_run(options.earlier, workspace)
    for folder in reversed(all_runs(workspace)):
        if (folder.begun_as() or {}).get("kind") == CHAT:
            return folder
    raise UsageError("there is no chat in this workspace to go on with")


@contextmanager
def _ending_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the conversation as Ctrl-C ends a run: with everything that was started."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Ended

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
