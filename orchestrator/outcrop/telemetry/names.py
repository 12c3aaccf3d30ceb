"""Names and attributes by OpenTelemetry's GenAI semantic conventions; what they have no word for is `outcrop.*`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outcrop.text import inert, shorten
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelResponse, Usage

Attributes = dict[str, Any]

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
CONVERSATION = "gen_ai.conversation.id"
TOKEN_TYPE = "gen_ai.token.type"
ERROR = "error.type"
STATUS = "outcrop.status"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
OBJECTIVE = "outcrop.objective"


def short(text: object) -> str:
    """A name that may come from anyone, as an attribute or in the name of a span."""
    return shorten(inert(str(text), keep_newlines=False), limits.TELEMETRY_NAME_CHARS)


def workflow(name: str) -> Attributes:
    return {OPERATION: "invoke_workflow", "gen_ai.workflow.name": name}


def agent(name: str, agent_id: str, run_id: str) -> Attributes:
    own = {"gen_ai.agent.name": short(name), "gen_ai.agent.id": agent_id}
    return {OPERATION: "invoke_agent", PROVIDER: "outcrop", **own, CONVERSATION: run_id}


def tool(name: str, call_id: str, run_id: str) -> Attributes:
    own = {"gen_ai.tool.name": short(name), "gen_ai.tool.type": "function"}
    ids = {CONVERSATION: run_id, "gen_ai.tool.call.id": short(call_id)}
    return {OPERATION: "execute_tool", **own, **{key: value for key, value in ids.items() if value}}


def chat(agent_id: str, model: object, run_id: str) -> Attributes:
    asked = {PROVIDER: provider_of(model), REQUEST_MODEL: short(getattr(model, "name", "?"))}
    return {OPERATION: "chat", **asked, "gen_ai.agent.id": agent_id, CONVERSATION: run_id}


def provider_of(model: object) -> str:
    """Who answers: what the model says, or that it is one of ours."""
    said = getattr(model, "provider", None)
    if said is not None:
        return short(said)
    return "outcrop" if type(model).__module__.startswith("outcrop.") else "custom"


def answer(response: ModelResponse) -> Attributes:
    found: Attributes = {"gen_ai.response.id": short(response.id), RESPONSE_MODEL: short(response.model)}
    if response.stop_reason:
        found["gen_ai.response.finish_reasons"] = [short(response.stop_reason)]
    return {**found, **usage(response.usage)}


def usage(used: Usage) -> Attributes:
    """Tokens as the conventions count them: those from and to the cache are among the input."""
    return {
        "gen_ai.usage.input_tokens": used.prompt_tokens,
        "gen_ai.usage.output_tokens": used.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read_input_tokens,
        "gen_ai.usage.cache_creation.input_tokens": used.cache_creation_input_tokens,
    }


def failure(told: Mapping[str, Any]) -> Attributes:
    """One failed attempt, without its message: that may quote anything."""
    found = {ERROR: short(told["type"]), "outcrop.attempt.seconds": told["seconds"]}
    if "status" in told:
        found["http.response.status_code"] = told["status"]
    if "request_id" in told:
        found["outcrop.request_id"] = short(told["request_id"])
    return found
