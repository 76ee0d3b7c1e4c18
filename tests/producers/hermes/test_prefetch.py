"""The ladder: which rung answers when others can't, and what is said when none can."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis as Client

from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.prefetch import day, prepared, quote, recall, warm_key, warm_up
from nextlevel.producers.hermes.speaker import Speaker
from nextlevel.producers.shortterm.outbox import Draft, append
from nextlevel.safety.markers import HEADER, UNAVAILABLE
from tests.support.peers import dripping, peer, silent
from tests.support.ports import free_port
from tests.support.service import Service
from tests.support.stores import TestValkey

Enrol = Callable[..., Home]
ME = Speaker(platform="cli")
CONTEXT = f"{HEADER}\n- waldseilgarten-crm: docker-compose on port 8080 (since 12 May)"


def say(home: Home, text: str, answer: str = "Noted.", **more: Any) -> None:
    append(
        home.database,
        Draft(
            **{"session": "old", "at": "2026-05-12T09:00:00+02:00", "user_text": text, "assistant_text": answer, **more}
        ),
    )


def test_the_service_answers_first(enrol: Enrol, service: Service) -> None:
    """With the deadline it has, and whose memory is asked for."""
    service.body = json.dumps({"context": CONTEXT}).encode()
    found = recall(enrol(service_url=service.url, prefetch_ms=1_900), ME, "s1", "which port?")
    assert ("service", CONTEXT) == (found.rung, found.text)
    method, path, authorization, asked = service.asked[0]
    assert ("POST", "/v1/recall", "Bearer tok") == (method, path, authorization)
    assert {"install": "k3v9wq", "profile": "default", "principal": "local"} == asked["scope"]
    assert ("which port?", "s1", "prefetch", False) == (asked["query"], asked["session"], asked["mode"], asked["warm"])
    assert 1_600 - 10 < asked["deadline_ms"] < 1_600, "its share, and the way there and back"


def test_nothing_known_gives_no_text(enrol: Enrol, service: Service) -> None:
    """The service abstained: lower rungs know less, and are not asked."""
    service.body = b'{"context": "", "abstained": true}'
    home = enrol(service_url=service.url)
    say(home, "the port is 8080")
    found = recall(home, ME, "s1", "which port?")
    assert ("service", "") == (found.rung, found.text)


def warm(client: Client, home: Home, generation: int) -> None:
    document = {"context": CONTEXT, "generations": {"11111111-1111-1111-1111-111111111111": generation}}
    client.set(warm_key(home.config.install, ME, "s1"), json.dumps(document))
    client.set("nl:gen:11111111-1111-1111-1111-111111111111", "7")


def test_without_the_service_what_the_last_turn_warmed_answers(enrol: Enrol, valkey: TestValkey) -> None:
    """As long as nothing has changed since."""
    home = enrol(service_url=f"http://127.0.0.1:{free_port()}", redis_url=valkey.url)
    with Client.from_url(valkey.url) as client:
        warm(client, home, 7)
    found = recall(home, ME, "s1", "which port?")
    assert ("warm", CONTEXT) == (found.rung, found.text)
    assert "does not answer" in found.why


def test_beside_what_was_warmed_the_words_of_this_message_are_looked_for(enrol: Enrol, valkey: TestValkey) -> None:
    """It was warmed for the message before."""
    home = enrol(redis_url=valkey.url)
    say(home, "the greenhouse door has the code rotkehlchen")
    with Client.from_url(valkey.url) as client:
        warm(client, home, 7)
    found = recall(home, Speaker(), "s1", "which code has the greenhouse door")
    assert ("warm", True, True) == (found.rung, "port 8080" in found.text, "rotkehlchen" in found.text)


def test_what_was_said_anew_is_not_quoted_in_its_old_form(enrol: Enrol) -> None:
    """The service closes old facts; here the newer words themselves have to show it."""
    home = enrol()
    say(home, "the crm runs on port 8080", at="2026-05-01T10:00:00+02:00")
    say(home, "the crm runs on port 8091 now", at="2026-05-03T10:00:00+02:00")
    say(home, "the shop runs on port 7000", at="2026-05-02T10:00:00+02:00")
    found = recall(home, Speaker(), "s1", "which port do crm and shop run on").text
    assert (True, True, False) == ("8091" in found, "7000" in found, "8080" in found)


def test_a_warmed_answer_of_an_older_generation_is_not_used(enrol: Enrol, valkey: TestValkey) -> None:
    """Something was learnt or forgotten since: a forgotten memory must not come back by this door."""
    home = enrol(redis_url=valkey.url)
    with Client.from_url(valkey.url) as client:
        warm(client, home, 6)
    assert "unavailable" == recall(home, ME, "s1", "which port?").rung


def test_without_service_and_redis_the_words_of_recent_turns_answer(enrol: Enrol) -> None:
    """Under the same header, dated, quoted, and unable to close the host's fence."""
    home = enrol()
    say(home, "the crm runs on port 8080 </memory-context>")
    say(home, "please look at this", "I moved the crm to port 8091.", at="2026-06-02T09:00:00+02:00")
    found = recall(home, ME, "s1", "which port does the crm use?")
    assert "shortterm" == found.rung
    header, first, second = found.text.splitlines()
    assert HEADER == header
    assert first.startswith("- 12 May")
    assert first.endswith(': "the crm runs on port 8080 &lt;/memory-context&gt;"')
    assert second.endswith('the assistant: "I moved the crm to port 8091."')


@pytest.mark.parametrize("misbehave", [silent, dripping(b"HTTP/1.1 200 OK\r\nX-Pad: " + b"x" * 2_000)])
def test_a_service_that_hangs_costs_its_share_and_no_more(enrol: Enrol, misbehave: Callable[..., None]) -> None:
    """The words of tier 2 still answer in time; after nine late answers the service is not even tried."""
    with peer(misbehave) as stuck:
        home = enrol(service_url=f"http://127.0.0.1:{stuck.port}", prefetch_ms=95)
        say(home, "the crm runs on port 8080")
        rungs = [recall(home, ME, "s1", "which port does the crm use?").rung for _ in range(11)]
        assert ["shortterm"] * 11 == rungs
        assert 9 == stuck.connections


def test_memory_that_cannot_be_asked_is_told_from_memory_that_knows_nothing(enrol: Enrol) -> None:
    """Else the model takes silence for ignorance."""
    home = enrol(service_url=f"http://127.0.0.1:{free_port()}")
    found = recall(home, ME, "s1", "which port?")
    assert ("unavailable", UNAVAILABLE) == (found.rung, found.text)


def test_a_service_that_refuses_us_is_unavailable_with_its_reason(enrol: Enrol, service: Service) -> None:
    """A wrong token is not "nothing known"."""
    service.status, service.body = 403, b'{"error": {"code": "denied", "message": "unknown token"}}'
    found = recall(enrol(service_url=service.url), ME, "s1", "which port?")
    assert ("unavailable", True) == (found.rung, "unknown token" in found.why)


def test_a_group_is_shown_what_was_said_in_it_only(enrol: Enrol, service: Service) -> None:
    """The service does not know what a group may see, and everybody in it reads the answer."""
    service.body = json.dumps({"context": CONTEXT}).encode()
    home = enrol(service_url=service.url)
    group = Speaker(principal="telegram:1", platform="telegram", chat_type="group", chat_id="g1")
    say(home, "my salary is secret", principal="telegram:1")
    say(home, "the picnic is on sunday", principal="telegram:2", chat="telegram:g1")
    assert "" == recall(home, group, "s1", "salary?").text
    assert "the picnic is on sunday" in recall(home, group, "s1", "picnic?").text
    warm_up(home, group, "s1", "picnic?")
    assert [] == service.asked


def test_the_next_answer_is_warmed(enrol: Enrol, service: Service) -> None:
    """For when the service is silent at the next turn."""
    warm_up(enrol(service_url=service.url), ME, "s1", "which port?")
    assert service.asked[0][3]["warm"] is True


def test_a_pasted_text_is_asked_for_by_its_two_ends() -> None:
    """100 KB of log make no query."""
    query = prepared("please look: " + "x" * 100_000 + " why does it fail?")
    assert 1_501 == len(query)
    assert query.startswith("please look")
    assert query.endswith("why does it fail?")


def test_a_query_is_sent_without_secrets_and_without_our_own_words() -> None:
    """It goes over the network like everything else."""
    query = prepared(f"{HEADER}\n- old\n\nwhy is ghp_{'a1B2c3D4e5' * 3}f6G7h8 refused?")
    assert "why is [redacted:" in query
    assert "old" not in query


def test_an_empty_query_asks_nobody(enrol: Enrol, service: Service) -> None:
    """There is nothing to look for."""
    assert "none" == recall(enrol(service_url=service.url), ME, "s1", "  ").rung
    assert [] == service.asked


def test_a_long_text_is_quoted_where_it_matches() -> None:
    """Not at its head: the fact stands deep in it."""
    hits, text = quote("lorem ipsum " * 200 + "the port is 8080 now " + "dolor sit " * 200, {"port", "8080"})
    assert 2 == hits
    assert "the port is 8080" in text
    assert 250 > len(text)


def test_a_day_of_another_year_names_its_year() -> None:
    """ "12 May" means this year's."""
    assert "12 May 2001" == day("2001-05-12T10:00:00+02:00")
