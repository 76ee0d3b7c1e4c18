"""`nextlevel propose` as a person types it: the real service on real stores, and a home with the plugin's enrolment."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nextlevel.auth import token
from nextlevel.errors import Conflict, Misconfigured, NotFound, ServiceUnreachable
from nextlevel.model import Block, BlockStatus, BlockType
from nextlevel.producers import homes as registry
from nextlevel.producers.hermes import builtin
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.speaker import Speaker
from nextlevel.producers.propose.command import app as command
from nextlevel.producers.propose.gather import Desk
from nextlevel.settings import Settings
from nextlevel.store import blocks, turns
from tests.api.conftest import SECRET, serving, settings_for
from tests.producers.propose.conftest import Put
from tests.support.builders import event
from tests.support.memory import Memory, person
from tests.support.ports import free_port
from tests.support.serving import on_a_socket
from tests.support.stores import Database, TestValkey

INSTALL = "k3v9wq"
MAY, JUNE = datetime(2026, 5, 12, 9, tzinfo=UTC), datetime(2026, 6, 2, 9, tzinfo=UTC)


@dataclass
class Terminal:
    """Somebody with a home of the agent, and what their memory holds."""

    home: Path
    memory: Memory

    async def types(self, *words: str, answers: str = "") -> str:
        """What `nextlevel propose` with these words prints.

        Raises: the command's own error.
        """
        done = await asyncio.to_thread(
            CliRunner().invoke, command, [*words, "--home", str(self.home)], input=answers, catch_exceptions=False
        )
        assert 0 == done.exit_code, done.output
        return done.output

    async def said(self, text: str, *, turn: int, at: datetime = MAY) -> str:
        return await self.memory.say(text, turn=turn, at=at)

    async def prefers(self, what: str, *, turn: int, status: BlockStatus = BlockStatus.ACTIVE) -> Block:
        source = await self.said(f"I prefer {what}", turn=turn)
        taste = BlockType.USER_PREFERENCE
        return await self.memory.tell("user", "prefers", what, type=taste, source=source, status=status, since=MAY)

    def file(self, name: str) -> str:
        path = self.home / "memories" / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
async def terminal(database: Database, valkey: TestValkey, home: Path) -> AsyncIterator[Terminal]:
    async with serving(settings_for(database.dsn, valkey.url)) as app, on_a_socket(app) as url:
        services = app.state.services
        memory = await person(services.db, INSTALL, cache=services.cache)
        save(home, Config(install=INSTALL, home=str(home), service_url=url, token=token(SECRET.encode(), INSTALL)))
        yield Terminal(home, memory)
        if homes.of(home).has_database:
            homes.of(home).database.close()


def ids(told: str) -> list[str]:
    return re.findall(r"^([0-9a-f]{8})  ", told, re.MULTILINE)


async def test_proposals_are_printed_with_their_turns_and_written_when_accepted(terminal: Terminal) -> None:
    """Nothing before that; and what was accepted, or waits in review, is not proposed again."""
    await terminal.prefers("the helix editor", turn=1)
    await terminal.prefers("short answers", turn=2, status=BlockStatus.REVIEW)
    told = await terminal.types()
    assert "USER.md: 0 of 1,375 characters (0%)" in told
    assert "+ User prefers the helix editor" in told
    assert re.search(rf'2026-05-12 ".*helix editor" \({INSTALL}:\d+\)', told)
    assert "short answers" not in told
    assert "nothing was written" in told
    assert [] == [*(terminal.home / "memories").iterdir()]
    [only] = ids(told)
    assert "written: USER.md: 29 of" in await terminal.types("--accept", only)
    assert "User prefers the helix editor" == terminal.file("USER.md")
    assert "nothing to propose" in await terminal.types()
    with pytest.raises(NotFound, match=f"no proposal {only} now"):
        await terminal.types("--accept", only)


async def test_each_is_asked_for(terminal: Terminal) -> None:
    """Only a yes writes; what got a no for now comes again."""
    for turn, what in enumerate(["poetry", "emacs"], 1):
        await terminal.prefers(what, turn=turn)
    spoken = await terminal.said("the crm uses NestJS", turn=3)
    await terminal.memory.tell("crm", "uses", "NestJS", source=spoken, type=BlockType.ENTITY_RELATIONSHIP)
    told = await terminal.types("-i", answers="n\nno\ny\n")
    assert [3, 1] == [len(ids(told)), told.count("written: ")]
    assert ("", "crm uses NestJS") == (terminal.file("USER.md"), terminal.file("MEMORY.md"))
    assert 1 == (await terminal.types("-i", answers="q\n")).count("write it?")
    assert "1 more: `--limit 2` shows all" in await terminal.types("--limit", "1")


async def test_what_was_declined_is_proposed_no_more_until_it_is_told_otherwise(terminal: Terminal) -> None:
    """Who said no once must not be asked each week; and must be able to think again."""
    told = await terminal.prefers("the helix editor", turn=1)
    await terminal.prefers("poetry", turn=2)
    shown = await terminal.types()
    helix, poetry = (
        re.search(rf"^([0-9a-f]{{8}})  .*\n  \+ .*{what}", shown, re.MULTILINE)[1] for what in ("helix", "poetry")
    )
    assert f"`--reconsider {helix}` takes that back" in await terminal.types("--decline", helix)
    assert [poetry] == ids(await terminal.types())
    again = await terminal.said("helix it is, I prefer the helix editor", turn=3, at=JUNE)
    async with terminal.memory.db.memory(terminal.memory.scope) as conn:
        await blocks.add_source(conn, terminal.memory.scope, told.id, again, "I prefer the helix editor", JUNE)
    assert [poetry] == ids(await terminal.types()), "told again it is the same"
    with pytest.raises(NotFound, match="accepted or declined"):
        await terminal.types("--accept", helix)
    assert [helix] == ids(await terminal.types("--declined"))
    assert "may be proposed again" in await terminal.types("--reconsider", helix)
    assert {helix, poetry} == set(ids(await terminal.types()))
    await terminal.types("--decline", helix)
    await terminal.memory.tell(
        "user",
        "prefers",
        "the helix editor, in the dark theme",
        type=BlockType.USER_PREFERENCE,
        source=again,
        replaces=told,
    )
    assert "dark theme" in await terminal.types(), "its facts changed"
    assert "nothing that was declined" in await terminal.types("--declined")


async def test_no_for_good_can_be_said_where_each_is_asked_for(terminal: Terminal) -> None:
    """And it leaves its words nowhere: what is forgotten later is not kept by having been declined."""
    await terminal.prefers("the helix editor", turn=1)
    assert "declined: " in await terminal.types("-i", answers="d\n")
    assert "nothing to propose" in await terminal.types()
    with homes.of(terminal.home).database.reading() as connection:
        assert "helix" not in repr([tuple(row) for row in connection.execute("SELECT name, value FROM notes")])


async def test_a_declined_merge_stays_declined(terminal: Terminal, put: Put) -> None:
    """Until what it would change reads otherwise."""
    put("memory", "The shop is on falke", "The shop is on falke, at Kiel", "f" * 2_000)
    [merge] = ids(await terminal.types("--consolidate"))
    await terminal.types("--consolidate", "--decline", merge)
    assert "nothing to propose" in await terminal.types("--consolidate")
    put("memory", "The shop is on falke now", "The shop is on falke now, at Kiel", "f" * 2_000)
    assert 1 == len(ids(await terminal.types("--consolidate")))


async def test_an_entry_that_was_taken_out_does_not_come_back(terminal: Terminal, put: Put) -> None:
    """The agent's prompt still holds it in this session, and the user did not want it in the next."""
    await terminal.prefers("the helix editor", turn=1)
    put("user", "User prefers the helix editor.")
    builtin.look(homes.of(terminal.home), Speaker(), "s1")
    put("user")
    assert "nothing to propose" in await terminal.types()


async def test_a_full_file_is_consolidated(terminal: Terminal, put: Put) -> None:
    """What holds no longer, what says the same, what memory keeps anyway: each with what it wins, all acceptable."""
    before = await terminal.said("the runner is on port 8080", turn=1)
    after = await terminal.said("the runner is on port 8081 now", turn=2, at=JUNE)
    old = await terminal.memory.tell("runner", "runs_on_port", "8080", source=before, since=MAY)
    await terminal.memory.tell("runner", "runs_on_port", "8081", source=after, since=JUNE, replaces=old)
    spoken = await terminal.said("the crm uses NestJS", turn=3)
    await terminal.memory.tell("crm", "uses", "NestJS", source=spoken, since=MAY)
    fuller, filler = "The shop is on falke, at Kiel", "f" * 1_690
    put("memory", "The runner is on port 8080.", "The shop is on falke", fuller, "crm uses NestJS", filler)
    told = await terminal.types("--consolidate")
    assert "- The runner is on port 8080.\n  + The runner is on port 8081." in told
    assert "- The shop is on falke\n" in told
    assert "- crm uses NestJS\n" in told
    assert "18 characters won" in told
    assert f'2026-05-12 "crm uses NestJS" ({spoken})' in told
    await terminal.types(*(word for each in ids(told) for word in ("--accept", each)))
    assert ["The runner is on port 8081.", fuller, filler] == terminal.file("MEMORY.md").split("\n§\n")
    assert "nothing to propose" in await terminal.types("--consolidate")
    assert "NestJS" not in await terminal.types(), "it was left to long-term memory"


async def test_what_stands_on_the_entry_alone_is_not_called_safe(terminal: Terminal, put: Put) -> None:
    """Its removal takes it back: it would be gone from both."""
    put("memory", "crm uses NestJS", "f" * 2_000)
    builtin.look(homes.of(terminal.home), Speaker(), "s1")
    mirrored = homes.of(terminal.home).database
    with mirrored.reading() as connection:
        [turn] = [row[0] for row in connection.execute("SELECT install || ':' || seq FROM outbox LIMIT 1")]
    told = event("crm uses NestJS", install=INSTALL, seq=int(turn.partition(":")[2]), kind="core_write", turn=0)
    async with terminal.memory.db.pipeline() as conn:
        await turns.receive(conn, told, terminal.memory.scope)
    await terminal.memory.tell("crm", "uses", "NestJS", source=turn)
    assert "nothing to propose" in await terminal.types("--consolidate")


async def test_a_procedure_seen_twice_becomes_a_skill(terminal: Terminal) -> None:
    """Its steps change, and so does the skill, once it is accepted."""
    way = {"type": BlockType.PROCEDURAL, "project": "crm"}
    first = await terminal.said("how a release goes: build, test, tag", turn=1)
    second = await terminal.said("the release: build, test, tag, as always", turn=2, at=JUNE)
    old = await terminal.memory.tell("release", "done_by", "build, test, tag", source=first, since=MAY, **way)
    assert "nothing to propose" in await terminal.types("--skills")
    async with terminal.memory.db.memory(terminal.memory.scope) as conn:
        await blocks.add_source(conn, terminal.memory.scope, old.id, second, "build, test, tag, as always", JUNE)
    told = await terminal.types("--skills")
    assert "skills/crm-release/SKILL.md  (seen 2 times)" in told
    await terminal.types("--accept", *ids(told))
    path = terminal.home / "skills" / "crm-release" / "SKILL.md"
    assert "1. build\n2. test\n3. tag\n" in path.read_text()
    assert "nothing to propose" in await terminal.types("--skills")
    await terminal.memory.tell("release", "done_by", "build, sign, tag", source=second, since=JUNE, replaces=old, **way)
    told = await terminal.types("--skills")
    assert "-2. test\n  +2. sign" in told
    await terminal.types("--skills", "--accept", *ids(told))
    assert "1. build\n2. sign\n3. tag\n" in path.read_text()


async def test_a_file_that_the_agent_writes_meanwhile_is_left_to_it(terminal: Terminal, put: Put) -> None:
    """Between what was shown and what is written there is a person who reads."""
    await terminal.prefers("the helix editor", turn=1)
    desk = await asyncio.to_thread(Desk, terminal.home)
    [proposal] = (await asyncio.to_thread(desk.additions)).proposals
    put("user", "the agent's own")
    with pytest.raises(Conflict, match="changed meanwhile; nothing was written"):
        desk.write(proposal)
    assert "the agent's own" == terminal.file("USER.md")


def run(*words: str) -> None:
    CliRunner().invoke(command, words, catch_exceptions=False)


def test_faults_say_what_to_do(home: Path, ours: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No service, no plugin, a broken configuration, several homes."""
    monkeypatch.delenv("HERMES_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(Misconfigured, match="run `hermes` once"):
        run()
    with pytest.raises(Misconfigured, match=r"the plugin is not in .*: run `nextlevel hermes install --home"):
        run("--home", str(home))
    save(home, Config(install=INSTALL, home=str(home), service_url=f"http://127.0.0.1:{free_port()}"))
    with pytest.raises(ServiceUnreachable, match="is `nextlevel up` running"):
        run("--home", str(home))
    registry.register_home(ours, home)
    with pytest.raises(ServiceUnreachable):
        run()
    other = tmp_path / "other"
    other.mkdir()
    registry.register_home(ours, other)
    with pytest.raises(Misconfigured, match=r"several homes have the plugin, name one with --home: .*hermes.*other"):
        run()
    (home / "nextlevel" / "config.json").write_text("{")
    with pytest.raises(Misconfigured, match="run `nextlevel hermes install` again"):
        run("--home", str(home))
    assert "HERMES_HOME" not in os.environ
