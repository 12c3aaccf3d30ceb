"""The model channel: a specialist's way to a model, over the socket it inherited. It holds no key and no client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ModelError, model_error
from outcrop_schemas.messages import ModelRequest, ModelResponse


class ChannelModel:
    """Asks the orchestrator for model turns, one at a time."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._file = self._socket.makefile("rb", buffering=64 * 1024)
        self._number = 0
        self._writing = threading.Lock()

    async def create(self, request: ModelRequest) -> ModelResponse:
        """One turn. Raises ModelError, also when the channel is closed."""
        return await asyncio.to_thread(self._ask, request)

    def tell(self, line: bytes) -> None:
        """Send a line that nothing answers; where nobody reads any more it is for nobody."""
        with self._writing, contextlib.suppress(OSError):
            self._socket.sendall(line)

    def _ask(self, request: ModelRequest) -> ModelResponse:
        self._number += 1
        # What is said about the request is no part of it.
        about = b',"tail_blocks":%d,"purpose":%s' % (request.tail_blocks, wire.dumps(request.purpose))
        if request.whole_results:
            about += b',"whole_results":%s' % wire.dumps(request.whole_results)
        line = b'{"id":%d,"request":%s%s}\n' % (self._number, request.as_bytes(), about)
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
        message = wire.loads(answer)
        if "error" in message:
            fault = message["error"]
            raise model_error(fault["type"], fault["message"], retryable=fault["retryable"])
        return ModelResponse.model_validate(message["response"])
