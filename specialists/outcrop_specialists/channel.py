"""The model channel: a specialist's way to a model, and to tools of outside servers, over the socket it inherited.

It holds no key and no client.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ModelError, OutsideError, model_error
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.protocol import OutsideAnswer, OutsideCall


class ChannelModel:
    """Asks the orchestrator for model turns and outside calls, one at a time."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._file = self._socket.makefile("rb", buffering=64 * 1024)
        self._number = 0
        self._writing = threading.Lock()
        # Calls of one turn come from several threads, and each waits for its own answer.
        self._turn = threading.Lock()

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn. Raises ModelError, also when the channel is closed."""
        return await asyncio.to_thread(self._ask, request)

    def tell(self, line: bytes) -> None:
        """Send a line that nothing answers; where nobody reads any more it is for nobody."""
        with self._writing, contextlib.suppress(OSError):
            self._socket.sendall(line)

    async def call(self, asked: OutsideCall) -> OutsideAnswer:
        """One call of an outside tool. Raises OutsideError, ModelError where the channel is closed."""
        return await asyncio.to_thread(self._call, asked)

    def _call(self, asked: OutsideCall) -> OutsideAnswer:
        message = self._exchanged(b'"outside":%s' % wire.dumps(asked.model_dump(mode="json")))
        if "error" in message:
            raise OutsideError(asked.server, message["error"]["message"])
        return OutsideAnswer.model_validate(message["result"])

    def _ask(self, request: ModelRequest) -> ModelResponse:
        # What is said about the request is no part of it.
        about = b',"tail_blocks":%d,"purpose":%s' % (request.tail_blocks, wire.dumps(request.purpose))
        if request.whole_results:
            about += b',"whole_results":%s' % wire.dumps(request.whole_results)
        message = self._exchanged(b'"request":%s%s' % (request.as_bytes(), about))
        if "error" in message:
            fault = message["error"]
            raise model_error(fault["type"], fault["message"], retryable=fault["retryable"])
        return ModelResponse.model_validate(message["response"])

    def _exchanged(self, said: bytes) -> wire.Json:
        """Send a line and wait for its answer. Raises ModelError."""
        with self._turn:
            self._number += 1
            return self._answer_to(b'{"id":%d,%s}\n' % (self._number, said))

    def _answer_to(self, line: bytes) -> wire.Json:
        if len(line) > limits.MODEL_LINE_BYTES:
            raise ModelError(
                f"the request has {len(line)} bytes, {limits.MODEL_LINE_BYTES} are allowed on the model channel"
            )
        try:
            with self._writing:
                self._socket.sendall(line)
            answer = self._file.readline(limits.MODEL_LINE_BYTES + 1)
        except OSError as error:
            raise ModelError(f"the model channel broke: {error.strerror}") from error
        if not answer.endswith(b"\n"):
            raise ModelError("the model channel was closed by the orchestrator")
        return wire.loads(answer)  # type: ignore[no-any-return]
