"""Vectors from sentence-transformers in this process: for a machine with a GPU. Its packages are an extra, `gpu`."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from nextlevel.errors import EmbedderUnavailable, Misconfigured

from .embedder import Vectors


class SentenceTransformers:
    """A `Backend` behind one thread: tokenizers don't take two at once.

    Raises:
        Misconfigured: the extra `gpu` is not installed.
        EmbedderUnavailable: there is no such model, or it can't be loaded.
    """

    def __init__(self, name: str) -> None:
        try:
            module = importlib.import_module("sentence_transformers")
        except ImportError as error:
            raise Misconfigured(
                f"NEXTLEVEL_EMBED_MODEL={name} without NEXTLEVEL_EMBED_BASE_URL runs in this process, which takes more "
                "packages: pip install 'hermes-nextlevel[gpu]'"
            ) from error
        try:
            self._model: Any = module.SentenceTransformer(name)
        except Exception as error:  # foreign code: a download that fails, no memory on the GPU, odd files
            raise EmbedderUnavailable(f"{name} can't be loaded: {type(error).__name__}: {error}") from error
        self._name = name
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._encode, list(texts))

    async def close(self) -> None:
        """Finish the texts in hand."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)

    def _encode(self, texts: list[str]) -> Vectors:
        try:
            return np.asarray(self._model.encode(texts, show_progress_bar=False), dtype=np.float32)
        except Exception as error:  # as above: whatever it raises, words and graph go on
            raise EmbedderUnavailable(f"{self._name} failed: {type(error).__name__}: {error}") from error
