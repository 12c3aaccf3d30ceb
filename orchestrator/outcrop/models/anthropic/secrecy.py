"""What must never be written down: the keys that we hold, in whatever form a server or a library repeats them."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# What is shorter is no secret, and may be part of any text.
_LEAST_CHARS = 8
# Of a key that was cut off, so much is taken for it.
_CUT_CHARS = 12
_SHOWN = "[key]"
# What a cut-off key may go on with: its own letters, plain or written as URLs, JSON, Python and HTML write them.
_REST = r"(?:[\w.~+/=%\-]|\\+u[0-9a-fA-F]{4}|\\+x[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]+;)*"
_NOTHING = re.compile(r"(?!)")
# As often as it may have been quoted.
_SHORT_ESCAPES = {"\n": r"\\+n", "\r": r"\\+r", "\t": r"\\+t", "\\": r"\\+", '"': r"\\+\"", "'": r"\\+'"}
# What the clients of this process were seen to send; a profile's token is known to nobody before that.
_held: set[str] = set()


def hold(*secrets: str | None) -> None:
    """From now on `scrubbed` knows these."""
    _held.update(secret for secret in secrets if secret and len(secret.strip()) >= _LEAST_CHARS)


def hold_header(name: str, value: str) -> None:
    """From now on `scrubbed` knows the secret of a header that is sent."""
    if name.lower() in ("authorization", "x-api-key", "proxy-authorization"):
        scheme, _, rest = value.partition(" ")
        hold(value if not rest else rest if scheme.lower() in ("bearer", "basic") else value)


def scrubbed(text: str) -> str:
    """A text without our secrets: as they are, quoted, escaped, percent-encoded, in base64, or cut off."""
    secrets = sorted({*_held, *_of_environment()}, key=lambda secret: (-len(secret), secret))
    # Whole keys first: keys of one maker begin alike, and the rest of one is no ending of another that was cut off.
    for pattern_of in (_whole, _cut_off):
        for secret in secrets:
            text = pattern_of(secret).sub(_SHOWN, text)
    return text


def scrubbed_json(value: Any) -> Any:
    """The same for all texts of a JSON value, keys apart."""
    if isinstance(value, str):
        return scrubbed(value)
    if isinstance(value, dict):
        return {key: scrubbed_json(item) for key, item in value.items()}
    return [scrubbed_json(item) for item in value] if isinstance(value, list) else value


def logins_of(url: str) -> Iterator[str]:
    """User name and password of an address, alone and as Basic authorisation has them."""
    try:
        parts = urlsplit(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
    except ValueError:
        return
    yield from (password, user if not password else "", parts.password or "")
    if user or password:
        yield base64.b64encode(f"{user}:{password}".encode()).decode()


def _of_environment() -> Iterator[str]:
    found = [os.environ.get(name, "") for name in _VARIABLES]
    found += [line.partition(":")[2] for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")]
    for name in ("ANTHROPIC_BASE_URL", *_PROXIES, *(name.lower() for name in _PROXIES)):
        found += logins_of(os.environ.get(name, ""))
    yield from (secret for secret in found if len(secret.strip()) >= _LEAST_CHARS)


@lru_cache(maxsize=256)
def _whole(secret: str) -> re.Pattern[str]:
    """All forms of one secret. White space around it may be there or not."""
    core = secret.strip()
    around = [_forms(char) for char in dict.fromkeys(secret) if char.isspace()]
    end = f"(?:{'|'.join(around)})*" if around else ""
    raw = core.encode("utf-8", "surrogatepass")
    return re.compile("|".join(["".join(map(_forms, core)) + end, *_in_base64(raw)]))


@lru_cache(maxsize=256)
def _cut_off(secret: str) -> re.Pattern[str]:
    """The beginning of a secret, with what of it stands behind that in any form."""
    core = secret.strip()
    if len(core) <= _CUT_CHARS:
        return _NOTHING
    return re.compile("".join(map(_forms, core[:_CUT_CHARS])) + _REST)


def _forms(char: str) -> str:
    """A character as it is, and as URLs, JSON, Python and HTML write it."""
    code = ord(char)
    percent = "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    utf8 = "".join(rf"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    coded = "|".join([percent, utf8, rf"\\u{code:04x}", rf"\\x{code:02x}", rf"&#{code};", rf"&#x{code:x};"])
    short = f"|{_SHORT_ESCAPES[char]}" if char in _SHORT_ESCAPES else ""
    return f"(?:{re.escape(char)}|(?i:{coded}){short})"


def _in_base64(raw: bytes) -> Iterator[str]:
    """How base64 writes these bytes, at each of the three places at which they may begin in a longer text."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # The characters at either end hold bits of what stands beside it.
        inner = whole[-(-before * 8 // 6) : len(whole) - (1 if (before + len(raw)) % 3 else 0)]
        if len(inner) >= _LEAST_CHARS:
            yield re.escape(inner).replace(r"\+", "[+-]").replace("/", "[/_]") + "[A-Za-z0-9+/_-]{0,2}={0,2}"
