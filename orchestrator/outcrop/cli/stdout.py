"""The streams of a command: a stdout that cannot be written to is told from every other error of a file."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from outcrop_schemas.errors import OutputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NUMBER = 1


class _Stdout(io.FileIO):
    """Descriptor 1; a reader that is gone (`| head`) stays a BrokenPipeError."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"the output could not be written: {error.strerror}") from error


def watch_stdout() -> None:
    """From now on writing raises OutputError. What a test or an application put in the place of stdout stays."""
    was = sys.stdout
    if was is not sys.__stdout__ or not isinstance(was, io.TextIOWrapper) or was.fileno() != NUMBER:
        return
    was.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(NUMBER, "wb", closefd=False)),
        encoding=was.encoding,
        errors=was.errors,
        line_buffering=was.line_buffering,
        write_through=was.write_through,
    )


def give_up_stdout() -> None:
    """What waits in the buffer goes nowhere at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def give_up_full_stderr() -> None:
    """What could not be written there goes nowhere at exit, where it would take the place of the exit status."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
