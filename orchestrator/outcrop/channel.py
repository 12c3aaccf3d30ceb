"""The model channel as the orchestrator serves it: what a specialist asks, line by line, is answered or refused.

Any program may be at its other end; nothing that it sends can hurt. Who answers is `gateway.py`'s.
"""

from __future__ import annotations

import asyncio
import logging
import socket

from pydantic import ValidationError

from outcrop.exchanges import WHOLE_RESULTS
from outcrop.gateway import CHARS_PER_TOKEN, Line
from outcrop.outside.servers import NOTHING, Offered
from outcrop.telemetry import SILENT_RUN, RunSpans
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import JournalError, ModelError, OutsideError
from outcrop_schemas.messages import ModelRequest
from outcrop_schemas.protocol import TOLD, OutsideCall

# What a specialist may say about a request beside it.
_ABOUT = ("tail_blocks", "purpose", WHOLE_RESULTS)
_log = logging.getLogger(__name__)


class Channel:
    """One specialist's channel: turns are answered over its `line`, calls of outside tools by `outside`."""

    def __init__(self, agent_id: str, line: Line, outside: Offered = NOTHING, spans: RunSpans = SILENT_RUN) -> None:
        self._agent_id, self._line, self._outside, self._spans = agent_id, line, outside, spans
        self._tools_told = 0

    async def serve(self, end: socket.socket) -> None:
        """Answer what comes until the specialist's end closes."""
        reader, writer = await asyncio.open_unix_connection(sock=end, limit=limits.MODEL_LINE_BYTES)
        try:
            while line := await reader.readline():
                if line.startswith(TOLD):
                    self._tool_told(line)
                    continue
                writer.write(wire.dumps(await self._answer(line)) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.LimitOverrunError):
            # The specialist is gone, or sent a line beyond the limit: the channel ends, its outcome says the rest.
            return
        finally:
            self._line.close()
            writer.close()

    def _tool_told(self, line: bytes) -> None:
        """A tool call in the specialist's process, for telemetry; nothing depends on it."""
        self._tools_told += 1
        if self._tools_told > limits.TELEMETRY_TOOLS:
            return
        try:
            self._spans.tool_elsewhere(wire.loads(line)["span"])
        except ValueError as error:
            _log.debug("%s told of a tool call what is no JSON: %s", self._agent_id, error)

    async def _answer(self, line: bytes) -> wire.Json:
        number = None
        try:
            message = wire.loads(line)
            number = message.get("id")
            if "count_tokens" in message:
                request = ModelRequest.model_validate(message["count_tokens"])
                return {"id": number, "response": {"input_tokens": len(request.as_bytes()) // CHARS_PER_TOKEN}}
            if "outside" in message:
                # Its time limit is its own, and it is part of the work: the clock of the dispatch goes on.
                called = await self._outside.call(OutsideCall.model_validate(message["outside"]))
                return {"id": number, "result": called.model_dump(mode="json")}
            asked = {**message["request"], **{name: message[name] for name in _ABOUT if name in message}}
            response = await self._line.create(ModelRequest.model_validate(asked))
        except ModelError as error:
            return _error(number, error.error_type, str(error), error.retryable)
        except OutsideError as error:
            return _error(number, error.kind, error.reason, False)
        except JournalError as error:
            return _error(number, "api_error", str(error), False)
        except (ValidationError, ValueError, KeyError, AttributeError) as error:
            return _error(number, "invalid_request_error", f"not a request of protocol 1: {error}", False)
        return {"id": number, "response": response.model_dump(mode="json")}


def _error(number: object, kind: str, message: str, retryable: bool) -> wire.Json:
    return {"id": number, "error": {"type": kind, "message": message, "retryable": retryable}}
