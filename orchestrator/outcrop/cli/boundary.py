"""Where errors become text and an exit status, and where signals become a cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from outcrop_schemas.errors import OutcropError, OutputError, UsageError

T = TypeVar("T")
GOOD, BAD, USAGE, CANCELLED = 0, 1, 2, 130


class Cancelled(Exception):
    """The work was cancelled by a signal; everything it had started has ended."""


def guarded(command: Callable[[], int], *, debug: bool) -> int:
    """Run a command; typed errors become one line on stderr."""
    try:
        return command()
    except (BrokenPipeError, OutputError):
        # The reader of our output is gone, or there is no room for it: `main` knows what that means.
        raise
    except (Cancelled, KeyboardInterrupt):
        _tell("cancelled")
        return CANCELLED
    except OutcropError as error:
        if debug:
            traceback.print_exc()
        _tell(str(error))
        return USAGE if isinstance(error, UsageError) else BAD
    except Exception as error:  # noqa: BLE001 - the boundary of the command line
        if debug:
            traceback.print_exc()
        _tell(f"internal error: {type(error).__name__}: {error} (--debug shows where)")
        return BAD


def _tell(text: str) -> None:
    """On stderr; nothing where that is full."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"outcrop: {text}\n")
        sys.stderr.flush()


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run async work; SIGINT, SIGTERM and SIGHUP cancel it, and it is waited for. Raises Cancelled."""

    async def cancellable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            raise Cancelled from None

    return asyncio.run(cancellable())
