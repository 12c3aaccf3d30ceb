"""What the SDK raises, as a ModelError: whether again may help, what the server said, what the call took."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from outcrop.models.anthropic.client import scrubbed
from outcrop_schemas.errors import ContextOverflowError, ModelError
from outcrop_schemas.messages import Usage

# By its type, not by its class: an error in a stream comes with status 200.
_PASSING = {"rate_limit_error", "overloaded_error", "api_error", "timeout_error"}
_PASSING_STATUS = {408, 409, 429}
# Refused before any work; whether a call that ended with 500 or 504 was worked on is not known.
_REFUSED_STATUS = {503, 529}
# There is no error code for it; the words are those of the API and of servers that imitate it.
_TOO_LONG = re.compile(
    r"prompt is too long|exceed\w* (?:the )?(?:model'?s? )?(?:available )?(?:context|maximum context|max_model_len)"
    r"|context (?:length|window|size)\b.*exceed|maximum context length|too many (?:input )?tokens"
    r"|too many total text bytes",
    re.IGNORECASE,
)
_REASON_CHARS = 2_000


def is_status(error: Exception) -> bool:
    """Whether a server told this error: those of the SDK that carry its answer."""
    return hasattr(error, "status_code") and hasattr(error, "response")


def status_fault(error: Any) -> ModelError:
    """An error that the server told: before the stream by its status, or in it by an event."""
    body: dict[str, Any] = error.body if isinstance(error.body, dict) else {}
    told: dict[str, Any] = body["error"] if isinstance(body.get("error"), dict) else {}
    kind = str(getattr(error, "type", None) or told.get("type") or _kind_of_status(error.status_code))
    status, in_stream = error.status_code, error.status_code < 400
    reason = str(told.get("message") or error.message)[:_REASON_CHARS]
    request_id = error.request_id or body.get("request_id")
    passing = kind in _PASSING if in_stream else status in _PASSING_STATUS or status >= 500
    if (said := error.response.headers.get("x-should-retry")) in ("true", "false") and not in_stream:
        passing = said == "true"
    text = scrubbed(f"{kind}: {reason} ({_where(None if in_stream else status, request_id)})")
    usage = None if in_stream or (status >= 500 and status not in _REFUSED_STATUS) else Usage()
    after = retry_after(error.response.headers) if passing else None
    about: dict[str, Any] = {"status": None if in_stream else status, "request_id": request_id, "usage": usage}
    if not passing and (status == 413 or (status == 400 and _TOO_LONG.search(reason))):
        return ContextOverflowError(text, error_type=ContextOverflowError.kind, **about)
    return ModelError(text, retryable=passing, error_type=kind, retry_after=after, **about)


def broken(what: str, *, request_id: str | None = None, usage: Usage | None = None) -> ModelError:
    """A connection or stream that broke: what came of the turn is not used."""
    where = f" ({_where(None, request_id)})" if request_id else ""
    return ModelError(
        scrubbed(f"{what}{where}"), retryable=True, error_type="connection_error", request_id=request_id, usage=usage
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """What the server asks for, in seconds: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            return max(float(headers[name]) / unit, 0.0)
        except (KeyError, ValueError):
            continue
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def _kind_of_status(status: int) -> str:
    return {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
        status, "overloaded_error" if status in _REFUSED_STATUS else "api_error" if status >= 500 else f"http_{status}"
    )


def _where(status: int | None, request_id: str | None) -> str:
    said = [f"HTTP {status}" if status else "", f"request {request_id}" if request_id else ""]
    return ", ".join(part for part in said if part) or "no request id"
