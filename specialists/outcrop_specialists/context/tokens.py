"""How many tokens a text takes: an estimate that errs high, anchored on what the server reported last.

No tokenizer of the models is public. Plain prose takes about 4 characters a token, JSON and tables about 3, figures
about 2; the estimate takes 3 for letters and 1.6 for digits and signs. What a server reports of a request (its input
tokens, those read from and written to its cache) is exact, so the next request of the same conversation is that figure
plus the estimate of what is new, by the ratio that was met.
"""

from __future__ import annotations

import string

from outcrop_schemas.messages import Usage

_LETTER_TOKENS = 1 / 3
_DENSE_TOKENS = 1 / 1.6
_PLAIN_BYTES = (string.ascii_letters + " \n\t").encode()
# A first answer from a server that counts little (or wrongly) does not make the guard blind.
_LEAST_RATIO, _MOST_RATIO = 0.3, 3.0


def tokens_of_text(text: str) -> int:
    """Tokens of a text, estimated."""
    if not text:
        return 0
    dense = len(text.encode("utf-8", "replace").translate(None, _PLAIN_BYTES))
    plain = max(len(text) - dense, 0)
    return int(plain * _LETTER_TOKENS + dense * _DENSE_TOKENS) + 1


class TokenMeter:
    """Estimates the requests of one conversation, better with each answer."""

    def __init__(self) -> None:
        self.ratio = 1.0
        self._reported = self._estimated = 0

    def reported(self, estimate: int, usage: Usage) -> None:
        """What a request of this estimate took. A model that counts nothing changes nothing."""
        total = usage.prompt_tokens
        if total <= 0 or estimate <= 0:
            return
        self._reported, self._estimated = total, estimate
        self.ratio = min(max(total / estimate, _LEAST_RATIO), _MOST_RATIO)

    def tokens(self, estimate: int) -> int:
        """Tokens of a request of this estimate: the last report, and what came to it since."""
        return max(0, round(self._reported + (estimate - self._estimated) * self.ratio))
