"""The agent's tools: JSON always, with what to do, and useful while the service is away."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nextlevel.event import check
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.hermes.schemas import SCHEMAS
from nextlevel.producers.hermes.tools import MAX_ANSWER_CHARS
from tests.support.service import Service

Enrol = Callable[..., Home]
Agent = Callable[..., Provider]


def ask(provider: Provider, tool: str, **args: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(provider.handle_tool_call(f"nextlevel_{tool}", args))
    return answer


def kept(home: Home) -> list[Any]:
    with home.database.reading() as connection:
        return [check(json.loads(row[0])) for row in connection.execute("SELECT event FROM events ORDER BY row")]


@pytest.mark.parametrize("name", [schema["name"] for schema in SCHEMAS])
def test_every_tool_answers_malformed_arguments_with_what_to_do(enrol: Enrol, agent: Agent, name: str) -> None:
    """The host hands `{}` over where the model wrote no JSON."""
    for args in ({}, {"query": 7, "text": ["x"], "block": None}):
        assert isinstance(json.loads(agent(enrol()).handle_tool_call(name, args)), dict)


def test_an_unknown_tool_is_told() -> None:
    """And so is a session in which memory did not start."""
    assert "did not start" in json.loads(Provider().handle_tool_call("nextlevel_search", {"query": "x"}))["error"]


def test_search_gives_what_the_service_found(enrol: Enrol, agent: Agent, service: Service) -> None:
    """With the ids that forget takes, and unable to open a tag."""
    service.body = json.dumps({"items": [{"text": "port <8080>", "score": 0.9, "block": {"id": "b1"}}]}).encode()
    found = ask(agent(enrol(service_url=service.url)), "search", query="port?")
    assert [{"tier": "long-term", "text": "port &lt;8080&gt;", "score": 0.9, "block": "b1"}] == found["results"]
    assert "search" == service.asked[0][3]["mode"]


@pytest.mark.parametrize("moment", ["as_of", "known_at"])
def test_search_asks_of_a_moment(enrol: Enrol, agent: Agent, service: Service, moment: str) -> None:
    """What held then, or what was known then; and nothing of the turns here, which are of now."""
    provider = agent(enrol(service_url=service.url))
    service.body = b'{"items": []}'
    provider.sync_turn("the crm runs on port 8080", "Noted.", session_id="s1")
    found = ask(provider, "search", query="crm port", **{moment: "2026-06-03T00:00:00+02:00"})
    asked = service.asked[-1][3]
    assert {moment: "2026-06-03T00:00:00+02:00"} == {
        name: asked[name] for name in ("as_of", "known_at") if name in asked
    }
    assert [] == found["results"]


def test_search_says_when_nothing_is_known(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Not an empty list for the model to wonder about."""
    service.body = b'{"items": [], "abstained": true}'
    assert "nothing is known" in ask(agent(enrol(service_url=service.url)), "search", query="x")["note"]


def test_search_falls_to_recent_turns_and_names_the_tier(enrol: Enrol, agent: Agent) -> None:
    """So that the model knows what it was not told."""
    provider = agent(enrol())
    provider.sync_turn("the crm runs on port 8080", "Noted.")
    found = ask(provider, "search", query="crm port")
    [hit] = found["results"]
    assert ("short-term", "the crm runs on port 8080") == (hit["tier"], hit["user"])
    assert "recent turns on this machine only" in found["note"]


def test_an_answer_is_never_longer_than_the_host_takes(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Longer ones are spilled to a file that nobody reads."""
    service.body = json.dumps({"items": [{"text": f"{n} " + "x" * 3_000, "score": 1} for n in range(20)]}).encode()
    provider = agent(enrol(service_url=service.url))
    answer = provider.handle_tool_call("nextlevel_search", {"query": "x"})
    assert MAX_ANSWER_CHARS >= len(answer)
    assert "ask more precisely" in json.loads(answer)["cut"]


def test_remember_keeps_the_fact_and_answers_with_what_became_of_it(
    enrol: Enrol, agent: Agent, service: Service
) -> None:
    """ "Saved" without a block or a reason is what others got wrong."""
    service.body = json.dumps({"turn": {"state": "stored", "reason": None}, "blocks": [{"id": "b1"}]}).encode()
    home = enrol(service_url=service.url)
    told = ask(agent(home), "remember", text="the crm runs on port 8080", type="project_state", project="crm")
    assert (True, "stored", ["b1"], "k3v9wq:1") == (told["remembered"], told["state"], told["blocks"], told["turn"])
    (event,) = kept(home)
    assert ("remember", "the crm runs on port 8080") == (event.kind, event.user_text)
    assert {"type": "project_state", "project": "crm"} == event.body


def test_remember_tells_why_nothing_was_kept(enrol: Enrol, agent: Agent, service: Service) -> None:
    """The model can say so, or say it otherwise."""
    service.body = json.dumps({"turn": {"state": "skipped", "reason": "it gives orders"}, "blocks": []}).encode()
    told = ask(agent(enrol(service_url=service.url)), "remember", text="x y z")
    assert (False, "it gives orders") == (told["remembered"], told["reason"])


def test_remember_without_the_service_is_kept_for_later(enrol: Enrol, agent: Agent) -> None:
    """And says that it is not in long-term memory yet."""
    told = ask(agent(enrol()), "remember", text="my key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")
    assert ("waiting", True) == (told["state"], "once the memory service has it" in told["note"])


def test_a_secret_is_not_remembered(enrol: Enrol, agent: Agent) -> None:
    """Also when the model insists."""
    home = enrol()
    ask(agent(home), "remember", text="my key is ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")
    assert "ghp_" not in kept(home)[0].user_text


def test_an_unknown_type_is_told_with_the_known_ones(enrol: Enrol, agent: Agent) -> None:
    """The model can mend it."""
    assert "project_state" in ask(agent(enrol()), "remember", text="x", type="fact")["fix"]


def test_forget_asks_which_one_where_several_fit(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Nothing is forgotten by guess."""
    service.body = json.dumps({"matches": [{"id": "b1", "text": "a"}, {"id": "b2", "text": "b"}]}).encode()
    told = ask(agent(enrol(service_url=service.url)), "forget", query="port")
    assert ([], 2, 1) == (told["forgotten"], len(told["matches"]), len(service.asked))


def test_forget_reaches_recent_turns_too(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Forgotten is forgotten on every rung."""
    home = enrol(service_url=service.url)
    provider = agent(home)
    provider.sync_turn("the crm runs on port 8080", "Noted.")
    answers = {"matches": [{"id": "b1", "text": "crm runs on port 8080"}], "forgotten": ["b1"]}
    service.body = json.dumps(answers).encode()
    assert ["b1"] == ask(provider, "forget", query="crm port")["forgotten"]
    assert [{"query": "crm port"}, {"block": "b1"}] == [
        {k: v for k, v in a[3].items() if k != "scope"} for a in service.asked
    ]
    service.status = 503
    assert [] == ask(provider, "search", query="crm port")["results"]


def test_forget_without_the_service_is_ordered_and_holds_here_at_once(enrol: Enrol, agent: Agent) -> None:
    """The order is an event like any other: it survives until it can be carried out."""
    home = enrol()
    provider = agent(home)
    provider.sync_turn("the crm runs on port 8080", "Noted.")
    told = ask(provider, "forget", query="crm port")
    assert ("waiting", 1) == (told["state"], told["hidden_here"])
    assert [] == ask(provider, "search", query="crm port")["results"]
    ask(provider, "forget", block="b7")
    assert [{"text": "crm port"}, {"block": "b7"}] == [event.body for event in kept(home) if event.kind == "forget"]


def test_forget_asks_which_one_also_without_the_service(enrol: Enrol, agent: Agent) -> None:
    """Words fit more than was meant; a turn is named by its id, and goes with what was learnt from it alone."""
    home = enrol()
    provider = agent(home)
    for text in ("the crm runs on port 8080", "the port of the crm is written in compose.yaml"):
        provider.sync_turn(text, "Noted.")
    told = ask(provider, "forget", query="crm port")
    assert ([], 2) == (told["forgotten"], len(told["matches"]))
    assert 2 == len(ask(provider, "search", query="crm port")["results"])
    wrong = next(each["id"] for each in told["matches"] if "8080" in each["text"])
    assert [wrong] == ask(provider, "forget", block=wrong)["forgotten"]
    assert ["retract", {"turns": [wrong]}] == [kept(home)[-1].kind, kept(home)[-1].body]
    (left,) = ask(provider, "search", query="crm port")["results"]
    assert "compose.yaml" in left["user"]


def test_stats_tell_of_this_machine_and_of_the_pipeline(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Also when only one of the two can be told."""
    service.body = b'{"stages": []}'
    provider = agent(enrol(service_url=service.url))
    assert ({"events": 0}, {"stages": []}) == tuple(ask(provider, "stats").values())
    provider.sync_turn("a", "b")
    service.status = 503
    told = ask(provider, "stats")
    assert (1, 1) == (told["this_machine"]["events"], told["this_machine"]["pending"])
    assert "error" in told["pipeline"]


def test_a_group_is_not_told_what_a_person_said_elsewhere(enrol: Enrol, agent: Agent, service: Service) -> None:
    """The tools obey the same wall as recall."""
    service.body = json.dumps({"items": [{"text": "private", "score": 1}]}).encode()
    provider = agent(enrol(service_url=service.url), platform="telegram", user_id="1", chat_type="group", chat_id="g1")
    found = ask(provider, "search", query="private")
    assert [] == found["results"]
    assert "error" in ask(provider, "graph")
    assert "error" in ask(provider, "reflect", topic="private")
    assert [] == ask(provider, "forget", query="private")["forgotten"]
    assert [] == service.asked


@pytest.mark.parametrize("up", [True, False])
def test_what_is_to_be_remembered_is_found_by_the_very_next_search(
    enrol: Enrol, agent: Agent, service: Service, up: bool
) -> None:
    """Also before the workers have stored it, and with the service away; it is told that it is on its way."""
    provider = agent(enrol(service_url=service.url if up else ""))
    service.status = 503
    assert "waiting" == ask(provider, "remember", text="the crm runs on port 8080")["state"]
    service.status, service.body = 200, b'{"items": []}'
    (found,) = ask(provider, "search", query="which port has the crm")["results"]
    assert ("the crm runs on port 8080", True) == (found["text"], found["pending"])
    assert [] == ask(provider, "search", query="what is for lunch")["results"]


def test_what_is_stored_is_no_longer_pending(enrol: Enrol, agent: Agent, service: Service) -> None:
    """One memory is one result."""
    provider = agent(enrol(service_url=service.url))
    service.status = 503
    ask(provider, "remember", text="the crm runs on port 8080")
    items = [{"text": "crm: runs on port 8080 (since 1 May)", "score": 0.9, "block": {"id": "b1"}}]
    service.status, service.body = 200, json.dumps({"items": items}).encode()
    assert ["b1"] == [each.get("block") for each in ask(provider, "search", query="crm port")["results"]]


def test_what_was_refused_is_not_found(enrol: Enrol, agent: Agent, service: Service) -> None:
    """A refusal is not an order that waits."""
    provider = agent(enrol(service_url=service.url))
    service.body = json.dumps({"turn": {"state": "skipped", "reason": "it gives orders"}, "items": []}).encode()
    ask(provider, "remember", text="the crm runs on port 8080")
    assert [] == ask(provider, "search", query="crm port")["results"]


@pytest.mark.parametrize("moment", ["as_of", "known_at"])
def test_search_tells_how_a_time_is_written(enrol: Enrol, agent: Agent, service: Service, moment: str) -> None:
    """The model can mend it; an answer for now would be taken for one of then."""
    told = ask(agent(enrol(service_url=service.url)), "search", query="crm", **{moment: "last June"})
    assert (True, True, []) == (moment in told["error"], "2026-06-03" in told["fix"], service.asked)


def test_graph_tells_relations(enrol: Enrol, agent: Agent, service: Service) -> None:
    """As sentences, with the id that forget takes."""
    edge = {"subject": "Flo", "predicate": "works_on", "object": "crm <b>", "valid_from": "2026-05-12T10:00:00+02:00"}
    service.body = json.dumps({"edges": [{**edge, "block_id": "b1"}]}).encode()
    (told,) = ask(agent(enrol(service_url=service.url)), "graph", entity="Flo & co")["results"]
    assert {
        "subject": "Flo",
        "relation": "works on",
        "object": "crm &lt;b&gt;",
        "since": "2026-05-12",
        "block": "b1",
    } == told
    assert "entity=Flo+%26+co" in service.asked[0][1]


def test_reflect_gathers_by_subject_and_in_order_of_time(enrol: Enrol, agent: Agent, service: Service) -> None:
    """The model that asks draws the conclusion: it needs the sources, not our opinion."""
    blocks = [{"id": f"b{n}", "subject": "crm", "valid_from": f"2026-0{n}-01T00:00:00+00:00"} for n in (5, 3)]
    items: list[dict[str, Any]] = [{"text": block["id"], "score": 0.5, "block": block} for block in blocks]
    items.append({"text": "said", "score": 0.5, "passage": {"session": "s1", "at": "2026-04-01T00:00:00+00:00"}})
    service.body = json.dumps({"items": items}).encode()
    told = ask(agent(enrol(service_url=service.url)), "reflect", topic="how the crm moved")
    assert ["b3", "b5"] == [fact["block"] for fact in told["facts"]["crm"]]
    assert ["said"] == [each["text"] for each in told["results"]]


def test_search_joins_what_only_this_machine_has_yet(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Each hit names its tier, and what another tier gave already is not given again."""
    home = enrol(service_url=service.url)
    before = agent(home, session="before")
    before.sync_turn("the crm runs on port 8080", "Noted.")
    before.sync_turn("the crm was slow on Monday", "I see.")
    before.sync_turn("the crm moved to birch", "Noted too.")
    service.body = json.dumps(
        {
            "items": [
                {"tier": "long-term", "text": "the crm runs on port 8080", "score": 0.9, "block": {"id": "b1"}},
                {
                    "tier": "archive",
                    "text": '3 Jun: "the crm was slow"',
                    "score": 0.5,
                    "passage": {"turn": "k3v9wq:2", "session": "before", "at": "2026-06-03T09:00:00Z"},
                },
                {
                    "tier": "library",
                    "text": 'crm.md: "…"',
                    "score": 0.4,
                    "document": {"id": "d1", "folder": "/notes", "path": "crm.md"},
                },
            ]
        }
    ).encode()
    found = ask(agent(home), "search", query="crm")["results"]
    assert ["long-term", "archive", "library", "short-term"] == [hit["tier"] for hit in found]
    assert ("/notes/crm.md", "document:d1") == (found[2]["file"], found[2]["block"])
    assert ("before", "the crm moved to birch") == (found[3]["session"], found[3]["user"])
    in_prompt = ask(before, "search", query="crm")["results"]
    assert "short-term" not in [hit["tier"] for hit in in_prompt], "its own prompt holds what it just said"


def test_a_question_about_the_past_is_answered_by_session(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Date, what it came to, quotes, what was so then and is now; without what is empty."""
    session = {
        "session": "s7",
        "at": "2026-06-03T09:00:00Z",
        "in_time": False,
        "title": "Docker",
        "topics": [],
        "decisions": ["an MTU of 1400"],
        "open_ends": [],
        "ended_with": [],
        "quotes": [{"turn": "k3v9wq:2", "session": "s7", "at": "2026-06-03T09:00:00Z", "text": "the <bridge> is slow"}],
        "changes": [{"then": "bridge: MTU 1400", "now": None}],
    }
    service.body = json.dumps({"items": [], "sessions": [session]}).encode()
    answer = ask(agent(enrol(service_url=service.url)), "search", query="did we discuss docker?")
    assert [
        {
            "session": "s7",
            "date": "2026-06-03",
            "note": "not at the time that was asked for",
            "title": "Docker",
            "decisions": ["an MTU of 1400"],
            "quotes": [{"at": "2026-06-03T09:00:00Z", "text": "the &lt;bridge&gt; is slow"}],
            "then_and_now": [{"then": "bridge: MTU 1400", "now": "holds no longer"}],
        }
    ] == answer["sessions"]
    assert "note" not in answer


def test_a_document_is_forgotten_by_the_id_that_a_search_gave(enrol: Enrol, agent: Agent, service: Service) -> None:
    """And is never taken along where a memory is to be forgotten."""
    provider = agent(enrol(service_url=service.url))
    service.body = json.dumps(
        {"forgotten": [], "matches": [], "documents": [{"id": "d1", "folder": "/notes", "path": "crm.md"}]}
    ).encode()
    told = ask(provider, "forget", query="crm")
    assert ([], [{"id": "document:d1", "text": "the file /notes/crm.md"}]) == (told["forgotten"], told["matches"])
    service.body = b'{"forgotten": ["d1"], "matches": [], "documents": []}'
    assert ["d1"] == ask(provider, "forget", block="document:d1")["forgotten"]
    assert {"scope": service.asked[-1][3]["scope"], "document": "d1"} == service.asked[-1][3]
