"""What a person does with the memory from the command line, on the whole product: real stores, worker and service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nextlevel.ops.up.tree import running
from nextlevel.settings import load
from tests.support import stores
from tests.support.command import nextlevel
from tests.support.ports import free_port


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at a terminal on a machine where `up` runs."""

    data_dir: str

    async def types(self, *words: str) -> tuple[int, str]:
        code, out, err = await nextlevel("--data-dir", self.data_dir, *words)
        return code, out + err


@pytest.fixture(scope="module")
async def person() -> AsyncIterator[Person]:
    directory = stores.make_dir()
    async with running(load(data_dir=directory, serve_port=free_port())):
        yield Person(str(directory))
    stores.remove_dir(directory)


async def test_what_is_remembered_is_recalled_with_its_reason(person: Person) -> None:
    """A memory without a reason is one that nobody can correct."""
    code, out = await person.types("remember", "The crm runs on port 8091")
    assert code == 0
    assert out.startswith("remembered: ")
    code, out = await person.types("recall", "which port does the crm use?")
    assert code == 0
    assert "8091" in out
    assert "vectors" in out.splitlines()[-1]


async def test_recall_says_when_nothing_is_known(person: Person) -> None:
    """No text at all would look like a fault."""
    code, out = await person.types("recall", "the weather on Mars")
    assert code == 0
    assert out.startswith("nothing known that fits")


async def test_json_is_for_programs(person: Person) -> None:
    """Scripts read fields, not tables."""
    await person.types("remember", "The shop runs on port 7000")
    _, out = await person.types("recall", "port of the shop", "--json")
    assert any("7000" in item["text"] for item in json.loads(out)["items"])
    _, out = await person.types("status", "--json")
    assert json.loads(out).keys() == {"store", "queue"}


async def test_forget_asks_and_without_a_yes_keeps_all(person: Person) -> None:
    """Words fit more than one thinks, so what would go is shown first. Nobody is there to answer here: that is a no."""
    await person.types("remember", "The wiki runs on port 7100")
    code, out = await person.types("forget", "port of the wiki")
    assert code == 1
    assert "7100" in out
    assert "Forget th" in out
    assert "7100" in (await person.types("recall", "port of the wiki"))[1]


async def test_what_is_forgotten_is_not_recalled(person: Person) -> None:
    """By query or by id, and gone when the command returns."""
    await person.types("remember", "The intranet runs on port 7200")
    _, found = await person.types("recall", "port of the intranet", "--json")
    block = next(item["block"]["id"] for item in json.loads(found)["items"] if "7200" in item["text"])
    code, out = await person.types("forget", block, "--yes")
    assert code == 0, out
    assert "7200" in out
    assert out.endswith("forgotten: 1\n")
    assert "7200" not in (await person.types("recall", "port of the intranet"))[1]
    code, out = await person.types("forget", block, "--yes")
    assert code == 1
    assert block in out


async def test_feedback_is_seen_in_the_next_recall(person: Person) -> None:
    """Whoever corrects the memory wants to see that it was heard."""
    await person.types("remember", "The archive runs on port 7400")
    _, found = await person.types("recall", "port of the archive", "--json")
    block = next(item["block"]["id"] for item in json.loads(found)["items"] if "7400" in item["text"])
    code, out = await person.types("feedback", block, "used")
    assert (0, f"used: {block}\n") == (code, out)
    assert "was said to be of use" in (await person.types("recall", "port of the archive", "--json"))[1]


async def test_trace_shows_a_turns_way_to_its_blocks(person: Person) -> None:
    """Why is this remembered, or not? The turn tells."""
    await person.types("remember", "The forum runs on port 7300")
    _, status = await person.types("status", "--json")
    installs = json.loads(status)["store"]["installations"]
    turn = next(f"{each['install']}:{each['mark']}" for each in installs if each["mark"] > 0)
    code, out = await person.types("trace", turn)
    assert code == 0
    assert out.startswith(f"{turn} stored")
    assert "→ " in out
    assert (await person.types("trace", turn, "--json"))[0] == 0


async def test_trace_of_no_turn_is_an_error_in_one_line(person: Person) -> None:
    """Exit code 1: what was asked for is not there."""
    code, out = await person.types("trace", "local:999999")
    assert code == 1
    assert out.count("\n") == 1


async def test_status_shows_each_part_of_a_turns_way(person: Person) -> None:
    """Where does it hang? One look from stream to worker."""
    code, out = await person.types("status")
    lines = out.splitlines()
    assert code == 0
    assert [title for title in ("on the streams", "jobs queued", "receipts", "workers") if title not in lines] == []
    assert lines[lines.index("workers") + 1] != "none"


async def test_a_bad_time_is_told_with_its_place(person: Person) -> None:
    """The service's own words, without its status code."""
    for option, field in (("--as-of", "as_of"), ("--known-at", "known_at")):
        code, out = await person.types("recall", "anything", option, "yesterday")
        assert code == 1
        assert field in out


async def test_two_names_of_one_thing_are_joined_and_taken_apart(person: Person) -> None:
    """And the graph shows what it is related to, for a person and for other tools."""
    await person.types("remember", "harbour-api uses Postgres 16")
    await person.types("remember", "quayside-api uses Redis 7")
    code, out = await person.types("entity", "merge", "harbour-api", "quayside-api")
    assert code == 0
    assert "names: harbour-api, quayside-api" in out
    code, out = await person.types("graph", "quayside-api")
    assert code == 0
    assert out.startswith("harbour-api")
    assert "uses → Redis" in out
    assert (await person.types("graph", "harbour-api", "--export", "csv"))[1].startswith("subject,")
    code, out = await person.types("entity", "split", "harbour-api", "quayside-api")
    assert (code, out.split()[0]) == (0, "quayside-api")
    code, out = await person.types("entity", "merge", "harbour-api", "nothing of that name")
    assert (code, out.count("\n")) == (1, 1)


async def test_notes_are_brought_in_looked_up_and_taken_out(person: Person, tmp_path: Path) -> None:
    """A library beside memory: each line says which of the two it is from."""
    (tmp_path / "quay.md").write_text(
        "# Quay\n## Fuel\nThe quay's diesel pump closes at six. See [[harbour office]].\n"
    )
    code, out = await person.types("import", "markdown", str(tmp_path))
    assert code == 0, out
    assert "1 notes: 1 new" in out
    _, out = await person.types("recall", "when does the quay's diesel pump close?", "--json")
    [found] = [item for item in json.loads(out)["items"] if item["tier"] == "library"]
    assert "quay.md › Quay › Fuel: \"The quay's diesel pump closes at six." in found["text"]
    assert "library" in (await person.types("recall", "when does the quay's diesel pump close?"))[1]
    assert "harbour office" in (await person.types("graph", "quay"))[1]
    code, out = await person.types("forget", "diesel pump of the quay", "--yes")
    named = f"document:{found['document']['id']}"
    assert f"quay.md speaks of it: nextlevel forget {named}" in out
    assert (0, "forgotten: 1\n") == await person.types("forget", named)
    assert "diesel" not in (await person.types("recall", "when does the quay's diesel pump close?"))[1]
    code, out = await person.types("import", "markdown", str(tmp_path))
    assert "left out: 'quay.md' (forgotten; it comes back once it changes)" in out
