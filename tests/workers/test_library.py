"""Documents get their vectors behind everything else, and a new model's with everything else."""

from datetime import UTC, datetime

import pytest

from nextlevel.inference import open_embedder
from nextlevel.library import document_of
from nextlevel.settings import Settings
from nextlevel.store import library, vectors
from nextlevel.workers.passages import embed_passages, embed_sections, index_turns
from nextlevel.workers.reembed import make_all
from tests.support.builders import event

NOTE = "# Engine\nThe boat's engine takes two litres of oil.\n## Jib\nThe jib is torn at the clew.\n"
AT = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
async def embedder():
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


async def keep(bench, scope) -> None:
    document = document_of("boat.md", NOTE, hash=b"0" * 32, changed_at=AT, project=None).document
    async with bench.ctx.db.memory(scope) as conn:
        await library.put(conn, scope, "/notes", document)


async def waiting(bench, model) -> int:
    async with bench.ctx.db.pipeline() as conn:
        return (await vectors.count(conn, model)).sections_waiting


async def test_documents_are_embedded_behind_blocks_and_found_by_meaning(bench, embedder):
    """Ten thousand notes take the embedder half an hour: a fact that was just told must not wait for them."""
    await bench.remember(event("waldseilgarten-crm runs on port 8080.", seq=1))
    await index_turns(bench.ctx)
    scope = await bench.scope()
    await keep(bench, scope)
    bench.ctx.embedder = embedder
    assert (0, 0) == (await embed_passages(bench.ctx), await embed_sections(bench.ctx)), "the block first"
    await bench.rows(
        "INSERT INTO embeddings SELECT tenant_id, scope_id, block_id, $1, '[1,0]' FROM blocks", embedder.model
    )
    assert 2 == await embed_sections(bench.ctx)
    assert (0, 0) == (await embed_sections(bench.ctx), await waiting(bench, embedder.model))
    vector = await embedder.query("Wie viel Öl braucht der Motor?")
    async with bench.ctx.db.memory(scope) as conn:
        nearest = await library.by_vector(conn, scope, vector, embedder.model, as_of=None, limit=1)
        [text] = (await library.texts(conn, scope, [nearest.found[0][0]])).values()
    assert "Engine" == text.heading


async def test_another_model_embeds_documents_too(bench, embedder):
    """After a change of models a library that is compared with nothing would be lost to meaning."""
    await keep(bench, await bench.scope())
    told = []
    await make_all(bench.ctx.db, embedder, told.append)
    assert (2, 0) == (told[0].sections_waiting, told[-1].waiting)
    await bench.rows("INSERT INTO embedder (model, dimension, usual, times) VALUES ('other', 2, 0.7, 1)")
    async with bench.ctx.db.memory(await bench.scope()) as conn:
        assert 2 == await vectors.drop_old(conn, await bench.scope())
    assert 2 == await waiting(bench, embedder.model)
