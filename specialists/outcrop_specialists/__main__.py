"""One specialist process: claim the stream, read the request, do the work, complete, be gone."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback

from pydantic import ValidationError

from outcrop_schemas import wire
from outcrop_schemas.errors import OutcropError, ProtocolError
from outcrop_schemas.protocol import Completion, Dispatch, Started
from outcrop_specialists.stream import Stream


def main() -> None:
    """Play the role that the request names. Exit code 0 after a completion, 1 without one."""
    stream = Stream.claim_stdout()
    code = 0
    try:
        request = _read_request()
        stream.send(Started(dispatch_id=request.dispatch_id, pid=os.getpid()))
        stream.start_beating()
        stream.send(_completed(request, stream))
    except OutcropError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        code = 1
    except Exception:  # noqa: BLE001 - the boundary of the process: the orchestrator shows the end of stderr
        traceback.print_exc()
        code = 1
    stream.end()
    sys.stderr.flush()
    # A clean interpreter exit with the data stack loaded costs more than a second; everything is written.
    os._exit(code)


def _read_request() -> Dispatch:
    """The request on stdin. Raises ProtocolError."""
    line = sys.stdin.buffer.readline()
    try:
        return Dispatch.model_validate(wire.loads(line))
    except (ValueError, ValidationError) as error:
        raise ProtocolError(f"stdin holds no request of protocol 1: {error}") from error


def _completed(request: Dispatch, stream: Stream) -> Completion:
    """Do the work; a typed error of ours becomes a completion with status error."""
    from outcrop_specialists.packages import put_on_import_path
    from outcrop_specialists.work import answer_call, play_role

    put_on_import_path()
    try:
        return answer_call(request, stream) if request.call else asyncio.run(play_role(request, stream))
    except OutcropError as error:
        return Completion(
            dispatch_id=request.dispatch_id,
            status="error",
            summary=str(error),
            results={},
            errors=[f"{error.kind}: {error}"],
        )


if __name__ == "__main__":
    main()
