"""A model server on a socket, as far as `/v1/models`, `/v1/chat/completions`, `/v1/embeddings`, `/v1/rerank` go."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from nextlevel.inference import Embedder

GOOD = '{"facts": [{"subject": "staging server", "predicate": "runs on port", "object": "8091"}]}'


_ABOUT_NOTHING = ["It was a quiet evening.", "Nobody knows.", "query: What then?", "Es war einmal.", "Och sedan?"]


class ModelServer(ThreadingHTTPServer):
    """Has `models`; a language model says `says`, an embedding model gives `vector`; all answer with `status`.

    A reranker gives each text its `relevance`, if it gets them under the name that is its `dialect`. `embed`, where it
    is set, makes the vectors instead. Texts longer than `longest` characters are refused. While
    `going` is not set, nothing is answered.
    """

    def __init__(self, models: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self.models, self.says, self.vector, self.status = models, GOOD, [0.1] * 384, 200
        self.headers: dict[str, str] = {}
        self.embed: Callable[[Sequence[str]], list[list[float]]] | None = None
        self.longest = 100_000
        self.dialect = "documents"
        self.relevance: Callable[[str], float] = lambda text: 0.5
        self.going = threading.Event()
        self.going.set()
        self.asked: list[tuple[str, str | None, Any]] = []

    def fits(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """How well each text answers, by `relevance`, best first."""
        rows = [{"index": index, "relevance_score": self.relevance(text)} for index, text in enumerate(texts)]
        return sorted(rows, key=lambda row: -row["relevance_score"])

    def vectors(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Last first: a client must go by their index."""
        rows = [self.vector for _ in texts] if self.embed is None else self.embed(texts)
        return [{"embedding": row, "index": index} for index, row in enumerate(rows)][::-1]


class _Answer(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else {}
        self.server.asked.append((self.path, self.headers.get("Authorization"), body or None))
        self.server.going.wait()
        texts = body.get("input", [])
        compared = body.get(self.server.dialect)
        said = {
            "/v1/models": {"data": [{"id": name, "object": "model"} for name in self.server.models]},
            "/v1/chat/completions": {
                "choices": [{"message": {"role": "assistant", "content": self.server.says}, "finish_reason": "stop"}]
            },
            "/v1/embeddings": {"data": self.server.vectors(texts)},
            "/v1/rerank": {"results": self.server.fits(compared or [])},
        }.get(self.path)
        too_long = any(len(text) > self.server.longest for text in texts)
        status = 413 if too_long else 422 if self.path == "/v1/rerank" and compared is None else self.server.status
        self.send_response(404 if said is None else status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        with suppress(BrokenPipeError):  # who asked has given up
            self.wfile.write(json.dumps(said or {"error": {"message": "no such path"}}).encode())

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


async def other_cosines(embedder: Embedder) -> Callable[[Sequence[str]], list[list[float]]]:
    """An embedder's meaning as another model might give it: the order of what is near, and quite other cosines."""
    loop = asyncio.get_running_loop()
    centre = (await embedder.passages(_ABOUT_NOTHING)).mean(axis=0)

    def embed(texts: Sequence[str]) -> list[list[float]]:
        rows = asyncio.run_coroutine_threadsafe(embedder.passages(texts), loop).result()
        return [[float(number) for number in row] for row in rows - 0.8 * centre]

    return embed


@contextmanager
def serving(*models: str) -> Iterator[ModelServer]:
    """A server that listens for as long as the block runs."""
    with ModelServer(models) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
