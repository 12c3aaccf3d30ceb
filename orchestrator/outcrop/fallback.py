"""Which model answers one agent: its own, or once that gave no answer the one to fall back on."""

from __future__ import annotations

from outcrop.models import Model, ModelTable
from outcrop.models.remote import RemoteModel
from outcrop_schemas.errors import BudgetError, ContextOverflowError, ModelError
from outcrop_schemas.messages import Message, ModelRequest, ModelResponse

REFUSAL = "refusal"
# A refusal, and what says that a model is not there for us. Whatever is retryable was tried again before.
_UNAVAILABLE = (REFUSAL, "overloaded_error", "not_found_error", "permission_error")
_THINKING = ("thinking", "redacted_thinking")


class Falling:
    """Falls once and stays there: going to and fro would lose the cached conversation each time."""

    def __init__(self, models: ModelTable, role: str, agent_id: str = "") -> None:
        model = models.of(role)
        of_agent = getattr(model, "of_agent", None)
        self._take(of_agent(agent_id) if of_agent else model)
        self._next: Model | None = models.fallback_of(role)
        self._fell_at: int | None = None
        self._about: dict[str, str] = {}
        self.warnings: list[str] = []

    def is_refused(self, response: ModelResponse) -> bool:
        """Whether this is a refusal that somebody else may answer."""
        return response.stop_reason == REFUSAL and self._next is not None

    def fall(self, request: ModelRequest, error: ModelError | None) -> bool:
        """Go over to the other model, after a refusal (no error) or an error; False where that makes no sense."""
        if self._next is None or (error is not None and not _may_help(error)):
            return False
        because = "it refused to answer" if error is None else str(error)
        before = self.name
        self._take(self._next)
        self._about = {"fallback_from": before, "fallback_because": because}
        self.warnings.append(f"from {before} the work went over to {self.name}: {because}")
        self._next, self._fell_at = None, len(request.messages)
        return True

    def _take(self, model: Model) -> None:
        # Asked once: the name of a model may be anyone's code.
        self.model, self.name, self.is_free = model, model.name, bool(getattr(model, "is_free", False))
        self.is_remote = isinstance(model, RemoteModel)

    def fitted(self, request: ModelRequest) -> ModelRequest:
        """The request as the present model can take it: thinking is bound to the model that thought it."""
        if self._fell_at is None:
            return request
        before = [_without_thinking(message) for message in request.messages[: self._fell_at]]
        return request.model_copy(update={"messages": [*before, *request.messages[self._fell_at :]]})

    def about(self, request: ModelRequest) -> dict[str, str]:
        """What the record of this turn says of it: nothing, but in the turn in which it fell."""
        return self._about if self._fell_at == len(request.messages) else {}


def _without_thinking(message: Message) -> Message:
    if message.role != "assistant":
        return message
    kept = [block for block in message.content if block.type not in _THINKING]
    return message.model_copy(update={"content": kept}) if kept else message


def _may_help(error: ModelError) -> bool:
    if isinstance(error, BudgetError | ContextOverflowError):
        return False
    return error.retryable or error.error_type in _UNAVAILABLE
