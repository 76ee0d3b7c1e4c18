"""Vectors that a bench makes once: kept under the model's name and the text's hash, where the person's caches are."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import platformdirs

from nextlevel.inference import Embedder, Vector, Vectors

_AT_ONCE = 64


def directory() -> Path:
    """Where NEXTLEVEL_BENCH_CACHE says, else in the person's cache directory."""
    named = os.environ.get("NEXTLEVEL_BENCH_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("nextlevel")) / "bench"


class CachedEmbedder:
    """An `Embedder` that asks another one only for what it has not seen. No text is kept, only its hash."""

    def __init__(self, embedder: Embedder, where: Path) -> None:
        self.model, self.measures = embedder.model, embedder.measures
        self.made = 0
        self._embedder = embedder
        where.mkdir(parents=True, exist_ok=True)
        self._kept = sqlite3.connect(where / f"vectors-{re.sub(r'[^a-z0-9.]+', '-', self.model.lower())}.db")
        self._kept.execute("PRAGMA journal_mode = WAL")
        self._kept.execute(
            "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
        )

    async def passages(self, texts: Sequence[str]) -> Vectors:
        known = {text: row for text in texts if (row := self._read("passage", text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            rows = await self._embedder.passages(part)
            self._write("passage", part, rows)
            known |= dict(zip(part, rows, strict=True))
        if not texts:
            return await self._embedder.passages([])
        return np.stack([known[text] for text in texts])

    async def query(self, text: str) -> Vector:
        known = self._read("query", text)
        if known is None:
            known = await self._embedder.query(text)
            self._write("query", [text], known[None, :])
        return known

    async def close(self) -> None:
        self._kept.close()
        await self._embedder.close()

    def _read(self, kind: str, text: str) -> Vector | None:
        found = self._kept.execute("SELECT row FROM vectors WHERE text = ?", (_key(kind, text),)).fetchone()
        return None if found is None else np.frombuffer(found[0], dtype=np.float32)

    def _write(self, kind: str, texts: Sequence[str], rows: Vectors) -> None:
        self.made += len(texts)
        with self._kept:
            self._kept.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(_key(kind, text), row.astype(np.float32).tobytes()) for text, row in zip(texts, rows, strict=True)],
            )


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "replace")).digest()
