"""What the host takes back is taken back here: the right turns, once each, and nothing in doubt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes import install as installer
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.install import install, prepare
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.hermes.rewind import undone
from nextlevel.producers.shortterm.search import Found
from tests.producers.hermes.conftest import Enrol
from tests.producers.hermes.test_provider import events
from tests.support import hermes

Agent = Callable[..., Provider]
Rows = list[dict[str, Any]]


def rows(*exchanges: tuple[str, str]) -> Rows:
    return [
        {"role": role, "content": text}
        for said, answered in exchanges
        for role, text in (("user", said), ("assistant", answered))
    ]


def told(home: Home) -> list[tuple[str, str, Any]]:
    """Kind, words and body of each event, in order."""
    return [(event["kind"], event["user_text"], event["body"].get("turns")) for event in events(home)]


def say(provider: Provider, conversation: Rows, said: str, answered: str = "Done with that.") -> None:
    conversation += rows((said, answered))
    provider.sync_turn(said, answered, session_id="s1", messages=conversation)


@pytest.mark.journey
def test_a_real_undo_and_a_real_retry_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are the host's own code; only one of the two tells us."""
    path = (tmp_path / "hermes").resolve()
    path.mkdir()
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    install(path, prepare(path, service_url="", redis_url=""))
    hermes.run(
        "agent_turns",
        path,
        {
            "messages": ["we use pnpm", "we use yarn", "we use bun", "the port is 8080", "the port is 8080"],
            "script": [{"text": f"Answer {number}."} for number in range(9)],
            "undo_before": [2],
            "retry_before": [4],
        },
    )
    home = homes.of(path)
    base = events(home)[0]["id"].partition(":")[0]
    assert [
        ("turn", "we use pnpm", None),
        ("turn", "we use yarn", None),
        ("retract", "", [f"{base}:2"]),
        ("turn", "we use bun", None),
        ("turn", "the port is 8080", None),
        ("retract", "", [f"{base}:5"]),
        ("turn", "the port is 8080", None),
        ("session_end", "", None),
    ] == told(home)
    home.database.close()


def test_an_undo_that_nobody_told_of_is_seen(enrol: Enrol, agent: Agent) -> None:
    """The gateway drops its agent and builds another from what is left."""
    home, conversation = enrol(), Rows()
    say(agent(home), conversation, "the api is on port 8080")
    say(agent(home), conversation, "no wait, on 8081 I think")
    say(agent(home), conversation, "or on port 8082")
    del conversation[-4:]
    say(agent(home), conversation, "forget about ports")
    assert ("retract", "", ["k3v9wq:2", "k3v9wq:3"]) == told(home)[3]
    say(agent(home), conversation, "let us go on")
    assert ["turn", "turn", "turn", "retract", "turn", "turn"] == [kind for kind, *_ in told(home)], "once"


def test_what_was_taken_back_is_not_recalled_from_this_machine(enrol: Enrol, agent: Agent) -> None:
    """At once, also while everything else is away."""
    home, conversation = enrol(), Rows()
    provider = agent(home)
    say(provider, conversation, "hello there")
    say(provider, conversation, "the api is on port 8080")
    assert "8080" in agent(home, "s2").prefetch("which port is the api on")
    del conversation[-2:]
    provider.on_session_switch("s1", parent_session_id="", rewound=True)
    say(provider, conversation, "something else altogether")
    assert "8080" not in agent(home, "s3").prefetch("which port is the api on")


def test_everything_can_be_taken_back(enrol: Enrol, agent: Agent) -> None:
    """An undo of the first turn leaves nothing to compare with; it counts because the host says so."""
    home, conversation = enrol(), Rows()
    provider = agent(home)
    say(provider, conversation, "we use pnpm")
    conversation.clear()
    provider.on_session_switch("s1", parent_session_id="", rewound=True)
    say(provider, conversation, "we use yarn")
    assert ("retract", "", ["k3v9wq:1"]) == told(home)[1]


def test_a_turn_with_a_secret_is_known_again(enrol: Enrol, agent: Agent) -> None:
    """Tier 2 has it without the secret."""
    home, conversation = enrol(), Rows()
    provider = agent(home)
    say(provider, conversation, "my key is sk-proj-9aF3kQ7LmZx2Vb8Tn4Wc6Ry1Ue5Hj0Pd and the port is 8080")
    say(provider, conversation, "never mind that one")
    del conversation[-2:]
    say(agent(home), conversation, "we use yarn")
    assert ("retract", "", ["k3v9wq:2"]) == told(home)[2]


TURNS = [
    Found(f"i:{number}", "s1", "2026-05-01T10:00:00+02:00", f"question {number}", f"answer {number}", 1.0)
    for number in (3, 2, 1)
]


@pytest.mark.parametrize(
    "before",
    [
        rows(("question 3", "answer 3")),
        rows(("question 1", "answer 1"), ("[1 image] what is it", "an answer that we keep in other words")),
        rows(("question 1", "answer 1"), ("[CONTEXT COMPACTION — REFERENCE ONLY] question 2", "answer 1")),
        rows(("something a client left of a longer conversation", "answer")),
        [*rows(("question 1", "answer 1")), {"role": "user", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] …"}],
        [],
    ],
    ids=["it only grew", "an answer we don't know", "compacted", "cut by a client", "no tail", "nothing before it"],
)
def test_nothing_is_concluded_in_doubt(before: Rows) -> None:
    """To take back a turn that stands would be a loss; what was undone is also found in the host's own store."""
    assert [] == undone(TURNS, before, {"role": "user", "content": "go on"}, told=False)


def test_a_summary_that_is_merged_into_the_question_proves_nothing() -> None:
    """The host joins two messages of the user in a row."""
    question = {"role": "user", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] …\n\ngo on"}
    assert [] == undone(TURNS, rows(("question 1", "answer 1")), question, told=False)


def test_a_failed_question_between_is_no_answer() -> None:
    """The host keeps the question of a turn that failed."""
    before = [*rows(("question 1", "answer 1")), {"role": "user", "content": "question 2"}]
    assert ["i:2", "i:3"] == undone(TURNS, before, {"role": "user", "content": "go on"}, told=False)


def test_a_session_that_is_left_is_told_to_have_ended(enrol: Enrol, agent: Agent) -> None:
    """Once; a compaction is no end, and a session without turns had none."""
    home, conversation = enrol(), Rows()
    provider = agent(home)
    say(provider, conversation, "hello there")
    provider.on_session_end(conversation)
    provider.on_session_switch("s1", parent_session_id="s1", reason="compression")
    provider.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
    provider.on_session_switch("s3", parent_session_id="s2", reset=True, reason="new_session")
    provider.shutdown()
    assert [("turn", "s1"), ("session_end", "s1")] == [(event["kind"], event["session"]) for event in events(home)]


def test_a_branch_has_what_stood_before_it(enrol: Enrol, agent: Agent) -> None:
    """Its turns are its own, the parent's stay the parent's."""
    home, conversation = enrol(), Rows()
    provider = agent(home)
    say(provider, conversation, "hello there")
    provider.on_session_switch("s2", parent_session_id="s1", reason="branch")
    provider.sync_turn(
        "in the branch", "Yes.", session_id="s2", messages=conversation + rows(("in the branch", "Yes."))
    )
    say(provider, conversation, "back in the first")
    assert ["turn"] * 3 == [kind for kind, *_ in told(home)]
    assert ["s1", "s2", "s1"] == [event["session"] for event in events(home)]
