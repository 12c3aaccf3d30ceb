"""What the SDK raises, as a ModelError: whether again may help, what the server said, what the call took."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from outcrop.models.anthropic.secrecy import scrubbed
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
_REQUEST_ID_CHARS = 200
# By their names: the SDK and its transport are not imported here.
_NO_ADDRESS = ("InvalidURL", "UnsupportedProtocol")
_NO_CREDENTIALS = {"CredentialsError", "WorkloadIdentityError"}


def is_status(error: Exception) -> bool:
    """Whether a server told this error: those of the SDK that carry its answer."""
    return hasattr(error, "status_code") and hasattr(error, "response")


def status_fault(error: Any) -> ModelError:
    """An error that the server told: before the stream by its status, or in it by an event."""
    body: dict[str, Any] = error.body if isinstance(error.body, dict) else {}
    told: dict[str, Any] = body["error"] if isinstance(body.get("error"), dict) else {}
    kind = scrubbed(str(getattr(error, "type", None) or told.get("type") or _kind_of_status(error.status_code)))
    status, in_stream = error.status_code, error.status_code < 400
    # Before it is cut: half a key would not be known again.
    reason = scrubbed(str(told.get("message") or error.message))[:_REASON_CHARS]
    request_id = request_id_of(error.request_id or body.get("request_id"))
    passing = kind in _PASSING if in_stream else status in _PASSING_STATUS or status >= 500
    if (said := error.response.headers.get("x-should-retry")) in ("true", "false") and not in_stream:
        passing = said == "true"
    text = f"{kind}: {reason} ({_where(None if in_stream else status, request_id)})"
    usage = None if in_stream or (status >= 500 and status not in _REFUSED_STATUS) else Usage()
    after = retry_after(error.response.headers) if passing else None
    about: dict[str, Any] = {"status": None if in_stream else status, "request_id": request_id, "usage": usage}
    if not passing and (status == 413 or (status == 400 and _TOO_LONG.search(reason))):
        return ContextOverflowError(text, error_type=ContextOverflowError.kind, **about)
    return ModelError(text, retryable=passing, error_type=kind, retry_after=after, **about)


def broken(what: str, *, request_id: str | None = None, usage: Usage | None = None) -> ModelError:
    """A connection or stream that broke: what came of the turn is not used."""
    return _fault(what, request_id, usage, retryable=True, error_type="connection_error")


def unreadable(what: str, *, request_id: str | None = None, usage: Usage | None = None) -> ModelError:
    """A turn that came whole and is none: asked again it would be as odd, and as dear."""
    return _fault(what, request_id, usage, error_type="invalid_response")


def unsent(error: Exception) -> ModelError | None:
    """A fault on our side, found before anything was sent: it took nothing. None where it is another one."""
    cause = error.__cause__
    if any(isinstance(one, Exception) and _is_ours(one) for one in (error, cause)):
        told = f"the request could not be sent: {cause or error}"
        return _fault(told, None, Usage(), error_type="invalid_request_error")
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _NO_CREDENTIALS:
        again = cause is not None and any(kind.__name__ == "HTTPError" for kind in type(cause).__mro__)
        told = f"there is no key for the request: {error}"
        return _fault(told, None, Usage(), retryable=again, error_type="authentication_error")
    return None


def request_id_of(said: object) -> str | None:
    """The id under which a server keeps a request, as it may be written down."""
    return scrubbed(str(said))[:_REQUEST_ID_CHARS] if said else None


def _fault(text: str, request_id: str | None, usage: Usage | None, **about: Any) -> ModelError:
    request_id = request_id_of(request_id)
    where = f" ({_where(None, request_id)})" if request_id else ""
    return ModelError(f"{scrubbed(text)[:_REASON_CHARS]}{where}", request_id=request_id, usage=usage, **about)


def _is_ours(error: Exception) -> bool:
    """Whether the transport refused what we gave it: an address that is none, or a header with control characters."""
    name = type(error).__name__
    return name in _NO_ADDRESS or (name == "LocalProtocolError" and str(error).startswith("Illegal "))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """What the server asks for, in seconds: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError, OverflowError):
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
