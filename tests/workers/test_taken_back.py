"""From the host's undo to Postgres: the real plugin tells, the real workers take back."""

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.provider import Provider
from nextlevel.wire import resp


async def test_what_was_undone_in_the_host_is_no_memory(bench, valkey, tmp_path):
    """The turn was stored long before it was taken back; what another turn says too stays."""
    path = (tmp_path / "home").resolve()
    path.mkdir()
    save(path, Config(install="local", home=str(path), redis_url=valkey.url))
    provider, conversation = Provider(), []
    provider.initialize("s1", hermes_home=str(path), platform="cli")

    async def say(text):
        conversation.extend([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted, all of it."}])
        provider.sync_turn(text, "Noted, all of it.", session_id="s1", messages=conversation)
        homes.of(path).finish(30)
        await bench.ingest()
        await bench.drain()

    await say("waldseilgarten-crm runs on port 8080.")
    await say("waldseilgarten-crm uses PostgreSQL.")
    assert 2 == len(await bench.facts())
    del conversation[-2:]
    await say("thanks for that")
    provider.shutdown()
    homes.of(path).finish(30)
    await bench.ingest()
    homes.of(path).database.close()
    resp.shared(valkey.url).close()
    assert ["8080"] == [object for _, _, object in await bench.facts()]
    found = await bench.rows("SELECT kind, state FROM turns ORDER BY seq")
    assert [
        ("turn", "stored"),
        ("turn", "erased"),
        ("retract", "stored"),
        ("turn", "skipped"),
        ("session_end", "skipped"),
    ] == [(row["kind"], row["state"]) for row in found]
    [session] = await bench.rows("SELECT ended_at FROM sessions WHERE session = 's1'")
    assert session["ended_at"] is not None
