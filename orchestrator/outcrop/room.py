"""How one agent's requests fill its window: none above it is sent, and the outcome says what filled it."""

from __future__ import annotations

from collections.abc import Mapping

from outcrop.models import ModelTable
from outcrop_schemas import limits
from outcrop_schemas.errors import ContextOverflowError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_specialists.context.segments import Segment, estimated, scaled
from outcrop_specialists.context.tokens import TokenMeter
from outcrop_specialists.server_calls import is_call


class Room:
    """Measures each request before it is sent, anchored on what the server reported of the one before."""

    def __init__(self, models: ModelTable, role: str) -> None:
        self._models, self._role = models, role
        self._meter, self._most, self._results_share = TokenMeter(), 0, 0.0
        self.segments: Mapping[Segment, int] = {}

    @property
    def _window(self) -> int:
        return self._models.window(self._role).tokens

    def measure(self, request: ModelRequest) -> None:
        self.segments = estimated(request)

    def check(self, model: str, *, is_free: bool) -> None:
        """Raises ContextOverflowError for a request above the window: the agent made it as short as it could, or is
        asked for less by it. A model that costs nothing has no window; there it becomes a warning."""
        tokens = self._meter.tokens(sum(self.segments.values()))
        if tokens <= self._window:
            return
        if is_free:
            self._most = max(self._most, tokens)
            return
        largest = sorted(self.segments.items(), key=lambda segment: -segment[1])[:3]
        told = ", ".join(f"{name} ({count})" for name, count in largest)
        raise ContextOverflowError(
            f"a request was not sent: it has about {tokens} tokens, and the window of {model} is set to "
            f"{self._window}; most of it is {told}. Set a larger window_tokens in [roles.{self._role}], or give less",
            error_type=ContextOverflowError.kind,
        )

    def answered(self, response: ModelResponse) -> None:
        """What the server counted of the request."""
        usage, estimate = response.usage, sum(self.segments.values())
        # A turn in which the server worked too read its prompt more than once: its account is no measure of it.
        if not any(is_call(block) for block in response.content):
            self._meter.reported(estimate, usage)
        told = scaled(self.segments, usage.prompt_tokens) if usage.prompt_tokens else self.segments
        self._results_share = max(self._results_share, told.get("tool_results", 0) / self._window)

    def warnings(self, model: str) -> list[str]:
        """What the outcome should say of it."""
        told = []
        if self._results_share > limits.RESULT_SHARE_WARNED:
            told.append(f"tool results filled {self._results_share:.0%} of the window of {model}")
        if self._most:
            told.append(
                f"a request of about {self._most} tokens was above the window_tokens = {self._window} of {self._role}; "
                f"{model} was asked all the same, since it costs nothing and has no window of its own"
            )
        return told
