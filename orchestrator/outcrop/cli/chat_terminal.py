"""A conversation on a terminal: a prompt, commands that begin with `/`, a history of what the user typed."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop.cli.boundary import BAD, GOOD
from outcrop.cli.chat_output import Ended, say_answer
from outcrop.cli.output import one_line, say, size, warn
from outcrop_schemas.errors import OutcropError

if TYPE_CHECKING:
    from outcrop.background import BackgroundLoop
    from outcrop.chat.answer import Answered
    from outcrop.chat.session import Chat

PROMPT, GOES_ON = "you> ", "...> "
HISTORY = "chat_history"
"""In the workspace's `.outcrop`, for the owner alone: what the user typed, and nothing else."""
_HISTORY_ENTRIES = 1_000
HELP = """Ask in your own words; what needs the data becomes a run. A line that ends in \\ goes on in the next.
  /attach FILE…  show the chat the text of files (of data their columns, never rows)
  /files         the data files and results of the workspace
  /runs          the runs of this conversation
  /pins          the facts that hold for every run
  /help          this
  /quit          end (Ctrl-D); Ctrl-C cancels the answer under way"""


def converse(conversation: Chat, loop: BackgroundLoop, *, has_failed: Callable[[Answered], bool]) -> int:
    """Talk until the user ends it. Good where every message was answered; a cancelled one is the user's wish."""
    from outcrop.cli.chat import ask

    code = GOOD
    say("Outcrop chat. It sees no rows; runs do. /help tells the commands, Ctrl-D ends.")
    with _history(conversation.folder.path.parents[1] / HISTORY):
        while (text := _read()) is not None:
            if not text.strip():
                continue
            try:
                if text.startswith("/"):
                    if not _command(text, conversation, loop):
                        break
                    continue
                answered = ask(conversation, loop, text)
            except Ended:
                raise
            except KeyboardInterrupt:
                warn("cancelled; everything that it had started has ended")
                continue
            except OutcropError as error:
                warn(str(error))
                continue
            if has_failed(answered):
                code = BAD
            say_answer(answered)
    say(f"Record: {conversation.folder.path}\nGo on with: outcrop chat --continue {conversation.folder.run_id}")
    return code


def _read() -> str | None:
    """The next message; None at its end. What is pasted at once is one message, whatever lines it has."""
    lines: list[str] = []
    while True:
        try:
            line = input(GOES_ON if lines else PROMPT)
            while _waits():
                line += "\n" + input("")
        except EOFError:
            say()
            return "\n".join(lines) if lines else None
        except Ended:
            raise
        except KeyboardInterrupt:
            say("\n(Ctrl-D ends)")
            return ""
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line[:-1])


def _waits() -> bool:
    """Whether more was typed or pasted already."""
    with contextlib.suppress(OSError, ValueError):
        return bool(select.select([sys.stdin], [], [], 0)[0])
    return False


def _command(text: str, conversation: Chat, loop: BackgroundLoop) -> bool:
    """Do what a line with `/` says; False where it ends the conversation."""
    try:
        name, *given = shlex.split(text)
    except ValueError as error:
        warn(f"{error}: {text}")
        return True
    if name in ("/quit", "/exit", "/q"):
        return False
    if name == "/attach" and given:
        loop.run(conversation.attach(given))
        say(f"Attached: {', '.join(map(one_line, conversation.attachments))}")
    elif name == "/files":
        _say_files(loop.run(conversation.list_files()))
    elif name == "/runs":
        say("\n".join(conversation.runs) or "No run was begun in this conversation.")
    elif name == "/pins":
        say("\n".join(f"{key} = {value}" for key, value in conversation.pins.items()) or "Nothing is pinned.")
    else:
        say(HELP)
    return True


def _say_files(found: dict[str, Any]) -> None:
    for each in found["files"]:
        say(f"{one_line(each['path'])}  {each['kind']}, {size(each['bytes'])}")
    say(f"{found['count']} data files and results")


@contextmanager
def _history(path: Path) -> Iterator[None]:
    """Lines can be edited and found again, where the interpreter has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        readline.read_history_file(path)
    readline.set_history_length(_HISTORY_ENTRIES)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            readline.write_history_file(path)
            path.chmod(0o600)
