"""Claude, and whatever else speaks the Messages API, through the official SDK. Only `client.py` imports it."""

from outcrop.models.anthropic.model import AnthropicModel as AnthropicModel
