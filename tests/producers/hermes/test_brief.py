"""The opening brief is asked for when the model has none: at the start, after a resume, after a compaction."""

from __future__ import annotations

import json
from collections.abc import Callable

from nextlevel.producers.hermes.ledger import Ledger
from nextlevel.producers.hermes.provider import Provider
from nextlevel.safety.markers import HEADER
from tests.producers.hermes.conftest import Enrol
from tests.support.service import Service

Agent = Callable[..., Provider]
BRIEF = f"{HEADER}\n- user: prefers tables"


def asked_for_brief(service: Service) -> list[bool]:
    return [body["brief"] for _, path, _, body in service.asked if path == "/v1/recall"]


def test_the_first_turn_that_completes_has_the_brief(enrol: Enrol, agent: Agent, service: Service) -> None:
    """A turn that fails is not delivered, so its brief was never read."""
    service.body = json.dumps({"context": BRIEF}).encode()
    provider = agent(enrol(service_url=service.url))
    provider.prefetch("morning, let's go on", session_id="s1")
    provider.prefetch("morning, let's go on", session_id="s1")
    provider.sync_turn("morning, let's go on", "Hello.", session_id="s1")
    provider.prefetch("and the port?", session_id="s1")
    assert [True, True, False] == asked_for_brief(service)


def test_another_session_and_a_compacted_one_have_it_again(enrol: Enrol, agent: Agent, service: Service) -> None:
    service.body = json.dumps({"context": BRIEF}).encode()
    provider = agent(enrol(service_url=service.url))
    provider.prefetch("hello", session_id="s1")
    provider.sync_turn("hello", "Hello.", session_id="s1")
    provider.prefetch("hello", session_id="s2")
    provider.on_session_switch("s1", parent_session_id="s1", reason="compression")
    provider.prefetch("go on", session_id="s1")
    assert [True, True, True] == asked_for_brief(service)


def test_a_message_without_words_still_opens_the_session(enrol: Enrol, agent: Agent, service: Service) -> None:
    """A picture or an emoji is a first turn too."""
    service.body = json.dumps({"context": BRIEF}).encode()
    provider = agent(enrol(service_url=service.url))
    assert BRIEF == provider.prefetch("", session_id="s1")


def test_what_a_lower_rung_gave_was_no_brief() -> None:
    """The service was away at the first turn: the second asks again."""
    ledger = Ledger()
    ledger.offer("- 12 May: a line of tier 2")
    ledger.turn_kept([], 2)
    assert ledger.brief_due
    ledger.offer(BRIEF, with_brief=True)
    ledger.turn_kept([], 4)
    assert not ledger.brief_due
