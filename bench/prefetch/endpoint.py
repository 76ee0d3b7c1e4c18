"""An OpenAI-compatible embedding endpoint that answers in 5 ms, with vectors that the packaged model made before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

from nextlevel.inference import Embedder, Vector, open_embedder
from nextlevel.settings import Settings

MODEL = "e5-in-5-ms"
"""Named as an E5 is, it is asked with E5's prefixes: so it knows what is a question."""

ANSWERS_AFTER_S = 0.005
_QUERY, _PASSAGE = "query: ", "passage: "


@asynccontextmanager
async def running(questions: Sequence[str]) -> AsyncIterator[str]:
    """The endpoint, for as long as the block runs; its base URL. Other texts take as long as their vectors do."""
    embedder = open_embedder(Settings())
    known = {_QUERY + question: await embedder.query(question) for question in questions}
    server = uvicorn.Server(uvicorn.Config(_app(embedder, known), port=0, log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        await serving
        await embedder.close()


def _app(embedder: Embedder, known: dict[str, Vector]) -> FastAPI:
    app = FastAPI()

    async def vector(text: str) -> Vector:
        if text not in known:
            asks = text.startswith(_QUERY)
            bare = text.removeprefix(_QUERY if asks else _PASSAGE)
            known[text] = await embedder.query(bare) if asks else (await embedder.passages([bare]))[0]
        return known[text]

    @app.post("/v1/embeddings")
    async def embeddings(request: Request) -> Response:
        since = time.monotonic()
        body: dict[str, Any] = await request.json()
        rows = [await vector(text) for text in body["input"]]
        data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
        answer = orjson.dumps({"data": data}, option=orjson.OPT_SERIALIZE_NUMPY)
        await asyncio.sleep(ANSWERS_AFTER_S - (time.monotonic() - since))
        return Response(answer, media_type="application/json")

    return app
