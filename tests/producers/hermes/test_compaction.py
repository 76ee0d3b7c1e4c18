"""Exact values survive the host's compaction: its own compressor runs, and its summary keeps nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.producers.hermes import carry
from nextlevel.producers.hermes import install as installer
from nextlevel.producers.hermes.carry import Said
from nextlevel.producers.hermes.install import install, prepare
from nextlevel.producers.hermes.provider import Provider
from nextlevel.safety.markers import HEADER
from tests.producers.hermes.conftest import Enrol
from tests.support import hermes
from tests.support.service import Service

Agent = Callable[..., Provider]
EXACT = ("compose on port 8080", "line 47 in auth.service.ts", "tables with │, no bullets", "pytest -n 4 works here")
SMALL_TALK = "that went well and I am glad about it, let us see what the afternoon will bring to all of us " * 5


@pytest.mark.journey
@pytest.mark.parametrize("in_place", [True, False])
def test_exact_values_are_on_the_wire_after_a_real_compaction(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch, in_place: bool
) -> None:
    """In both modes of the host; the fake model's summary is one word, as bad as a summary can be."""
    home = (tmp_path / "hermes").resolve()
    home.mkdir()
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    service.body = json.dumps({"context": f"{HEADER}\n- crm: deploys from branch release/2.1"}).encode()
    install(home, prepare(home, service_url=service.url, redis_url=""))
    said = [part for value in EXACT for part in (f"{value}.", SMALL_TALK)]
    told = hermes.run(
        "agent_turns",
        home,
        {"messages": [*said, "let us go on"], "compact_before": len(said), "in_place": in_place},
    )
    assert in_place == ("sess-basic" == told["session"])
    (summarised,) = [asked for asked in told["aside"] if "MEMORY PROVIDER CONTEXT" in asked]
    given = summarised.partition("<memory-provider-context>")[2].partition("</memory-provider-context>")[0]
    assert [] == [value for value in (*EXACT, "release/2.1") if value not in given]
    assert 1 == " ".join(told["last"]).count("SUMMARY."), "the host's compressor did run"
    last = told["wire"][-1][-1]
    assert [] == [value for value in EXACT if value not in last]
    assert "release/2.1" in last, "what was injected before is gone from the prompt, and is due again"


def test_a_compaction_without_a_hook_is_noticed_by_fewer_messages(enrol: Enrol, agent: Agent, service: Service) -> None:
    """The gateway compacts in an agent without memory: nobody tells."""
    provider = agent(enrol(service_url=service.url))
    for number, text in enumerate(("compose on port 8080", "thank you so much")):
        provider.prefetch(text)
        provider.sync_turn(text, "Noted.", messages=[{}] * (2 * number + 2))
    assert "8080" not in provider.prefetch("go on")
    provider.sync_turn("go on", "Yes.", messages=[{}] * 3)
    assert "compose on port 8080" in provider.prefetch("and now")
    provider.sync_turn("and now", "Yes.", messages=[{}] * 5)
    assert "8080" not in provider.prefetch("and then"), "the model has it again"


def test_a_turn_without_its_messages_is_no_compaction(enrol: Enrol, agent: Agent, service: Service) -> None:
    """An older host tells none."""
    provider = agent(enrol(service_url=service.url))
    provider.sync_turn("compose on port 8080", "Noted.", messages=[{}] * 8)
    provider.sync_turn("go on", "Yes.")
    assert "" == provider.prefetch("which port")


def test_another_persons_values_are_not_carried(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Two users of one API server may send the same session id."""
    home = enrol(service_url=service.url)
    agent(home, platform="api_server", gateway_session_key="a").sync_turn("compose on port 8080", "Noted.")
    other = agent(home, platform="api_server", gateway_session_key="b")
    assert "8080" not in other.on_pre_compress([])
    other.on_session_switch("s1", parent_session_id="s1", reason="compression")
    assert "8080" not in other.prefetch("go on")


def test_the_summary_is_given_at_most_300_tokens() -> None:
    """Whatever was said: what the user said, and the newest, comes first."""
    turns = [
        Said("1 May", f"service {n} listens on port {9000 + n}", f"I put it on port {9000 + n}") for n in range(99)
    ]
    text = carry.block(carry.lines(turns))
    assert estimate_tokens(text) <= carry.MOST_TOKENS
    assert "port 9000" in text
    assert "port 9098" not in text


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("wir nehmen ab jetzt nur noch pnpm", True),
        ("gräver vidare på branch fix/login", True),
        ("ustaliliśmy, że zawsze używamy TypeScriptu", True),
        ("the fix is in src/api/users.py:112", True),
        ("it is ticket CRM-412", True),
        ("what runs on port 8080?", False),
        ("thanks, that was very kind of you", False),
        ("no problem at all", False),
        ("good morning 😀", False),
    ],
)
def test_values_and_decisions_are_told_from_talk(text: str, carried: bool) -> None:
    """In the four languages; a question states nothing."""
    assert carried == bool(carry.lines([Said("1 May", text, "")]))


def test_what_the_brief_says_is_not_said_twice() -> None:
    """The budget is for what the model would not get otherwise."""
    assert [] == carry.lines([Said("1 May", "compose on port 8080", "")], known="- crm: compose on port 8080")
    scattered = "- crm: compose is used\n- shop: runs on port 9000\n- ticket: number 8080"
    assert 1 == len(carry.lines([Said("1 May", "compose on port 8080", "")], known=scattered))
