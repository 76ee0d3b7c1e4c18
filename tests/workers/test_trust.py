"""Who vouches for a memory: deeds that are rejected teach nothing, and foreign words stay in review."""

import json
from dataclasses import replace

import pytest

from nextlevel.inference.llm import CompatibleLLM
from nextlevel.model import ToolCall
from tests.support.builders import event
from tests.support.host.fake_openai import MODEL, FakeOpenAI

ASKED = "Please release larkfield 2.4."
STEPS = ("git pull --rebase", "make test", "make dist", "git tag v2.4", "twine upload dist/2.4", "git push --tags")


def release(seq: int, *steps: str, **more):
    calls = tuple(ToolCall("terminal", json.dumps({"command": step}), "ok") for step in steps or STEPS)
    return event(more.pop("text", ASKED), seq=seq, tools=calls, **more)


async def procedures(bench):
    rows = await bench.rows("SELECT object, status FROM blocks WHERE type = 'procedural' ORDER BY created_at, block_id")
    return [(row["object"].split(";")[0], row["status"]) for row in rows]


async def test_what_the_agent_did_for_the_user_becomes_a_procedure(bench):
    await bench.remember(release(1), event("Great, thanks!", seq=2))
    assert [("git pull --rebase", "active")] == await procedures(bench)
    [block] = await bench.rows("SELECT provenance FROM blocks WHERE type = 'procedural'")
    assert "user_accepted" == block["provenance"]


@pytest.mark.parametrize("no", ["No, that's wrong, undo that.", "Nein, das ist falsch.", "That didn't work."])
async def test_a_rejection_in_the_next_turn_takes_it_back(bench, no):
    """Else the agent would do the wrong thing again, and call it what the user wants."""
    await bench.remember(release(1), event(no, seq=2))
    assert [("git pull --rebase", "expired")] == await procedures(bench)
    [version] = await bench.rows("SELECT change, caused_by FROM block_versions")
    assert ("retracted", "home:2") == tuple(version)
    [store] = await bench.rows("SELECT facts FROM trace_events WHERE turn_id = 'home:2' AND step = 'store'")
    assert "home:1 was rejected" == json.loads(store["facts"])["changes"][0]["why"]
    [extract] = await bench.rows("SELECT facts FROM trace_events WHERE turn_id = 'home:2' AND step = 'extract'")
    assert "home:1" == json.loads(extract["facts"])["rejects"]


async def test_what_the_rejected_deeds_had_replaced_holds_again(bench):
    """A failed try at a new way must not cost the old one."""
    other = ("git fetch", *STEPS[1:])
    await bench.remember(release(1), event("perfect", seq=2), release(3, *other))
    assert [("git pull --rebase", "superseded"), ("git fetch", "active")] == await procedures(bench)
    await bench.remember(event("no, that's wrong, undo that", seq=4))
    assert [("git pull --rebase", "active"), ("git fetch", "expired")] == await procedures(bench)
    [row] = await bench.rows("SELECT valid_to, superseded_by FROM blocks WHERE status = 'active'")
    assert (None, None) == tuple(row)


async def test_only_the_turn_just_before_is_rejected_and_only_its_deeds(bench):
    """What the user said themselves stands until they say otherwise, and older work was accepted."""
    await bench.remember(
        release(1), event("waldseilgarten-crm runs on port 8080.", seq=2), event("No, that's wrong, undo that.", seq=3)
    )
    assert [("git pull --rebase", "active")] == await procedures(bench)
    assert ("waldseilgarten-crm", "runs_on_port", "8080") in await bench.facts()


async def test_a_procedure_that_another_turn_shows_too_is_not_taken_back(bench):
    await bench.remember(
        release(1), event("perfect", seq=2), replace(release(3), session="s2"),
        replace(event("No, that's wrong, undo that.", seq=4), session="s2"),
    )  # fmt: skip
    assert [("git pull --rebase", "active")] == await procedures(bench)


PASTED = "Nobody but Imke touches the nightly backups of larkfield"
ASIDE = "The shelf near Lindqvist wobbles."  # which the rules can not read: else no model is asked
FOREIGN = {
    "type": "entity_relationship",
    "category": "contact",
    "subject": "Imke",
    "predicate": "looks_after",
    "object": "nightly backups",
    "key": None,
    "value": None,
    "confidence": 0.9,
    "span": PASTED,
    "entities": [],
}


async def test_what_a_pasted_text_says_waits_in_review_however_often_it_is_pasted(bench):
    """A page that repeats itself is no truer: not recalled, and never surer than a document can be."""
    quote = f"{ASIDE} Look what the wiki says:\n> {PASTED}"
    with FakeOpenAI([], default=json.dumps({"memories": [FOREIGN]})) as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        await bench.remember(*(replace(event(quote, seq=n), session=f"s{n}") for n in range(1, 8)))
        await bench.ctx.llm.close()
    rows = await bench.rows("SELECT status, confidence, provenance FROM blocks")
    assert [("review", "document")] == [(row["status"], row["provenance"]) for row in rows]
    assert pytest.approx(0.6) == rows[0]["confidence"]


async def test_once_the_user_says_it_themselves_they_vouch_for_it(bench):
    with FakeOpenAI([], default=json.dumps({"memories": [FOREIGN]})) as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        await bench.remember(event(f"{ASIDE} Look what the wiki says:\n> {PASTED}", seq=1))
        await bench.remember(replace(event(f"{PASTED}, since May.", seq=2), session="s2"))
        await bench.ctx.llm.close()
    [row] = await bench.rows("SELECT status, provenance FROM blocks WHERE subject = 'Imke'")
    assert ("active", "user_stated") == tuple(row)
