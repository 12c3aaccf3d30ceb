"""Asking the user at the terminal whether a package may be installed."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import termios

from outcrop.cli.output import one_line
from outcrop.gaps.deciding import GapQuestion, OnGap

_YES = frozenset({"y", "yes"})


def asker() -> OnGap | None:
    """Who answers for the user; None where nobody sits at a terminal."""
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return _ask


async def _ask(question: GapQuestion) -> bool:
    _forget_what_was_typed()
    sys.stderr.write(words(question))
    sys.stderr.flush()
    return (await _line()).strip().lower() in _YES


def words(question: GapQuestion) -> str:
    """The question. What is the specialist's own text is shown as such, in one line."""
    told = [
        f"{question.specialist} ({question.dispatch_id}) lacks a package: {question.requirement} ({question.manager})",
        f"  it says why: {one_line(question.reason)}" if question.reason else "",
        f"  without it: {one_line(question.fallback)}" if question.fallback else "",
        f"  yes runs: {question.manager} install --only-binary :all: '{question.requirement}', with what it needs",
        f"  into: {one_line(str(question.place))}; the work then goes on",
        "Install it? [y/N] ",
    ]
    return "\n".join(line for line in told if line)


def _forget_what_was_typed() -> None:
    """Only what is typed at the sight of the question answers it: a line from before was meant for something else."""
    with contextlib.suppress(termios.error):
        # The terminal is gone: then the line that is read next is empty, which is no yes.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def _line() -> str:
    """The next line that is typed; waiting for it can be cancelled, which a thread that reads could not."""
    loop, typed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
