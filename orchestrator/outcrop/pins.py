"""The gate that no request passes without its pins: held where requests leave the process, whoever built them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from outcrop_schemas.errors import PinMissingError
from outcrop_schemas.messages import ModelRequest, TextBlock
from outcrop_specialists.brief import PINS, pinned

CurrentPins = Callable[[], Mapping[str, str]]


def no_pins() -> Mapping[str, str]:
    return {}


def check_pins(request: ModelRequest, pins: Mapping[str, str]) -> None:
    """Raises PinMissingError where the block of all current pins does not stand, byte for byte, in the last user
    message: at the end of the request, where nothing that a conversation grows by can push it into the middle."""
    if not pins:
        return
    wanted = pinned(pins)
    last = next((message for message in reversed(request.messages) if message.role == "user"), None)
    texts = [block.text for block in last.content if isinstance(block, TextBlock)] if last else []
    if wanted in texts:
        return
    lines = {line for text in texts if text.startswith(PINS) for line in text.removeprefix(PINS).split("\n")}
    missing = [key for key, value in pins.items() if not set(f"{key} = {value}".split("\n")) <= lines]
    told = (
        f"the pins {', '.join(missing)} are missing or changed" if missing else "the pins are not as they were pinned"
    )
    raise PinMissingError(f"a request was not sent: {told} in it")
