"""A peer on LoCoMo: it indexes the turns and answers the questions by its own search, with its own defaults.

    python -m bench.peers.ranking NAME FOLDER [DSN]

FOLDER holds turns.jsonl and questions.jsonl, and the vectors of both, row by row: turns.npy, questions.npy. Written
there: ranking.jsonl, for each question the ids of turns, best first. Printed: how long each write and search took.

Every peer gets "Speaker: text", a conversation as a scope, and the vectors that we have ourselves. What would come from
a hub or cost a key is left out: cross-encoders, language models, spaCy's models.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ASKED_FOR, KEPT = 50, 20
"""Items of one answer, and how many of them are written: the scorer looks no further."""

Row = dict[str, Any]
Write = Callable[[Row, list[float]], None]
Search = Callable[[Row, list[float]], list[str]]


@dataclass(frozen=True, slots=True)
class Given:
    """The turns and questions, and the vector of each text among them."""

    turns: list[Row]
    questions: list[Row]
    turn_vectors: npt.NDArray[np.float32]
    question_vectors: npt.NDArray[np.float32]
    folder: Path
    dsn: str

    @classmethod
    def read(cls, folder: Path, dsn: str) -> Given:
        turns, questions = (
            [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]
            for name in ("turns", "questions")
        )
        return cls(turns, questions, np.load(folder / "turns.npy"), np.load(folder / "questions.npy"), folder, dsn)

    def known(self) -> dict[str, list[float]]:
        """Each text's vector, by the text with single spaces."""
        turns = ((said(turn), row) for turn, row in zip(self.turns, self.turn_vectors, strict=True))
        asked = ((each["question"], row) for each, row in zip(self.questions, self.question_vectors, strict=True))
        return {_spaced(text): row.tolist() for text, row in (*turns, *asked)}


def said(turn: Row) -> str:
    return f"{turn['speaker']}: {turn['text']}"


def engram(given: Given) -> tuple[Write, Callable[[], None], Search]:
    """engram-search: its pipeline of vectors, BM25 and boosts, fused by ranks. It holds all in memory."""
    from engram.backends.base import Document
    from engram.retrieval.pipeline import RetrievalPipeline

    class Vectors:
        asked: npt.NDArray[np.float32]

        def encode_query(self, _text: str) -> npt.NDArray[np.float32]:
            return self.asked

    vectors = Vectors()
    pipeline = RetrievalPipeline(embedder=vectors, use_reranker=False)
    held: dict[str, list[Document]] = defaultdict(list)

    def write(turn: Row, vector: list[float]) -> None:
        row, at = np.array(vector, dtype=np.float32), {"timestamp": turn["at"]}
        held[turn["conv"]].append(Document(id=turn["dia_id"], text=said(turn), embedding=row, metadata=at))

    def search(question: Row, vector: list[float]) -> list[str]:
        vectors.asked = np.array(vector, dtype=np.float32)
        return [found.id for found in pipeline.search(question["question"], held[question["conv"]], top_k=ASKED_FOR)]

    return write, lambda: None, search


def hexus(given: Given) -> tuple[Write, Callable[[], None], Search]:
    """hexus: vectors and full text in Postgres, weighted. Its table is analyzed, as autovacuum would in a minute."""
    import psycopg
    from hexus.store import MemoryStore

    migrate(given.dsn)
    store = MemoryStore(given.dsn)
    store.ensure_schema()
    turns: dict[int, str] = {}

    def write(turn: Row, vector: list[float]) -> None:
        session, whose = f"{turn['conv']}-{turn['session']}", turn["conv"]
        number = store.append_turn(
            session_id=session, agent_identity=whose, role="user", content=said(turn), embedding=vector
        )
        turns[number] = turn["dia_id"]

    def settle() -> None:
        with psycopg.connect(given.dsn, autocommit=True) as connection:
            connection.execute("ANALYZE conversations")

    def search(question: Row, vector: list[float]) -> list[str]:
        found = store.hybrid_search_turns(
            query_embedding=vector,
            query_text=question["question"],
            agent_identity=question["conv"],
            limit=ASKED_FOR,
        )
        return [turns[row["id"]] for row in found]

    return write, settle, search


def migrate(dsn: str) -> None:
    """Apply hexus's migrations, as its README tells an administrator to."""
    import psycopg

    scripts = sorted(each.name for each in files("hexus").joinpath("migrations").iterdir() if each.name[0].isdigit())
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in scripts:
            text = files("hexus").joinpath("migrations", name).read_text("utf-8")
            for statement in "\n".join(line.partition("--")[0] for line in text.splitlines()).split(";"):
                if statement.strip():  # one by one: some of its indexes are made concurrently
                    connection.execute(statement)


def mem0(given: Given) -> tuple[Write, Callable[[], None], Search]:
    """mem0ai on pgvector, each turn taken as it is: its facts are a language model's."""
    # Its client wants some key, and is never asked: the vectors are given below.
    os.environ |= {"OPENAI_API_KEY": "none", "MEM0_TELEMETRY": "False", "MEM0_DIR": str(given.folder)}
    from mem0 import Memory

    store = {"connection_string": given.dsn, "collection_name": "mem0", "embedding_model_dims": 384}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "pgvector", "config": store},
            "embedder": {"provider": "openai", "config": {"model": "given", "embedding_dims": 384}},
            "history_db_path": ":memory:",
        }
    )
    known = given.known()
    memory.embedding_model.embed = lambda text, *_, **__: known[_spaced(text)]
    memory.embedding_model.embed_batch = lambda texts, *_, **__: [known[_spaced(text)] for text in texts]

    def write(turn: Row, _vector: list[float]) -> None:
        message = {"role": "user", "content": said(turn)}
        memory.add([message], user_id=turn["conv"], infer=False, metadata={"dia_id": turn["dia_id"]})

    def search(question: Row, _vector: list[float]) -> list[str]:
        whose = {"user_id": question["conv"]}
        found = memory.search(question["question"], filters=whose, top_k=ASKED_FOR, threshold=0.0)
        return [row["metadata"]["dia_id"] for row in found["results"]]

    return write, lambda: None, search


def _spaced(text: str) -> str:
    return " ".join(text.split())


PEERS = {"engram-search": engram, "hexus": hexus, "mem0ai": mem0}


def main() -> None:
    name, folder, dsn = sys.argv[1], Path(sys.argv[2]), (*sys.argv[3:], "")[0]
    given = Given.read(folder, dsn)
    write, settle, search = PEERS[name](given)
    writes_ms = [
        _timed(write, turn, row.tolist())[0] for turn, row in zip(given.turns, given.turn_vectors, strict=True)
    ]
    settle()
    searches_ms = []
    with (folder / "ranking.jsonl").open("w", encoding="utf-8") as out:
        for question, row in zip(given.questions, given.question_vectors, strict=True):
            ms, found = _timed(search, question, row.tolist())
            searches_ms.append(ms)
            ranked = list(dict.fromkeys(found))[:KEPT]
            out.write(json.dumps({"conv": question["conv"], "q": question["q"], "ranked": ranked}) + "\n")
    print(json.dumps({"writes_ms": writes_ms, "searches_ms": searches_ms}))


def _timed(do: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    since = time.perf_counter()
    found = do(*args)
    return 1000 * (time.perf_counter() - since), found


if __name__ == "__main__":
    main()
