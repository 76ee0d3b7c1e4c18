"""Off the record means written nowhere: not in tier 2, not on the stream, not as a question to recall."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nextlevel.producers.hermes import status
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.offrecord import NOTICE, asks
from nextlevel.producers.hermes.provider import Provider
from tests.producers.hermes.conftest import Enrol
from tests.producers.hermes.test_provider import events
from tests.support.service import Service

Agent = Callable[..., Provider]


def on_disk(home: Home) -> bytes:
    """All bytes of tier 2."""
    return b"".join(path.read_bytes() for path in (home.path / "nextlevel").glob("shortterm.db*"))


@pytest.mark.parametrize(
    "text",
    [
        "don't remember this session",
        "Please do not save anything from this conversation.",
        "Hello! Could you please not store this chat?",
        "Keep this conversation off the record.",
        "Bitte merk dir dieses Gespräch nicht.",
        "Nichts aus dieser Sitzung speichern!",
        "Merke dir nichts aus diesem Chat",
        "Kom inte ihåg den här sessionen.",
        "Snälla, spara ingenting från det här samtalet",
        "Proszę, nie zapamiętuj tej rozmowy.",
        "Nie zapisuj niczego z tej sesji",
    ],
)
def test_the_wish_is_understood(text: str) -> None:
    """In the four languages, as an order."""
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember this session",
        "Why don't you remember this conversation?",
        "don't save this file",
        "he told me off the record that they will sell",
        "ich merke mir dieses Gespräch nicht so gut",
        "Warum merkst du dir dieses Gespräch nicht?",
        "jag kommer inte ihåg den här sessionen",
        "nie pamiętam tej rozmowy",
        "don't forget this session",
    ],
)
def test_talk_of_remembering_is_no_order(text: str) -> None:
    """A memory that stops by mistake is found out weeks later."""
    assert not asks(text)


def test_a_session_that_is_left_out_is_written_nowhere(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Also what was kept of it before goes, in any later process too; other sessions go on."""
    home = enrol(service_url=service.url)
    provider = agent(home)
    provider.sync_turn("our host is called kranich", "Noted.")
    assert NOTICE == provider.prefetch("Don't remember this session, please.")
    provider.sync_turn("Don't remember this session, please.", "All right.")
    asked = len(service.asked)
    provider.prefetch("the safe opens with rotkehlchen")
    provider.queue_prefetch("the safe opens with rotkehlchen")
    assert "" == provider.on_pre_compress([{"role": "user", "content": "the safe opens with rotkehlchen"}])
    provider.sync_turn("the safe opens with rotkehlchen", "Understood.")
    home.left_out.clear()  # as in another process
    agent(home).sync_turn("and the key is under the blumentopf", "Understood.")
    assert asked == len(service.asked)
    assert [("turn", {}), ("retract", {"turns": ["k3v9wq:1"]})] == [(e["kind"], e["body"]) for e in events(home)]
    assert not any(word in on_disk(home) for word in (b"rotkehlchen", b"blumentopf"))
    provider.shutdown()
    agent(home, "s2").sync_turn("hello there", "Hello.")
    assert ["turn", "retract", "turn"] == [event["kind"] for event in events(home)]


def test_a_paused_home_keeps_nothing_until_it_goes_on(enrol: Enrol, agent: Agent, service: Service) -> None:
    """An agent that runs sees it at its next turn, and the tool says so."""
    home = enrol(service_url=service.url)
    provider = agent(home)
    assert "resume" in status.pause(home.path, True)
    provider.prefetch("the safe opens with rotkehlchen")
    provider.sync_turn("the safe opens with rotkehlchen", "Understood.")
    told = json.loads(provider.handle_tool_call("nextlevel_remember", {"text": "the safe opens with rotkehlchen"}))
    assert ("paused" in told["error"], []) == (True, service.asked)
    assert any(line.startswith("paused") for line in status.lines(home.path))
    assert not home.has_database
    status.pause(home.path, False)
    provider.sync_turn("hello there", "Hello.")
    assert ["hello there"] == [event["user_text"] for event in events(home)]


@pytest.mark.parametrize(
    ("settings", "who", "kept"),
    [
        ({"exclude_folders": "{here}"}, {}, False),
        ({"exclude_folders": "~/elsewhere, {here}"}, {}, False),
        ({"exclude_folders": "{here}-of-another-name"}, {}, True),
        ({"exclude_folders": "{here}"}, {"platform": "telegram", "user_id": "7"}, True),
        ({"exclude_platforms": "discord, Telegram"}, {"platform": "telegram", "user_id": "7"}, False),
        ({"exclude_platforms": "discord"}, {"platform": "telegram", "user_id": "7"}, True),
    ],
)
def test_places_and_platforms_can_be_left_out(
    enrol: Enrol, agent: Agent, tmp_path: Path, settings: dict[str, str], who: dict[str, Any], kept: bool
) -> None:
    """A folder with all below it; only where the speaker sits at this machine is its folder theirs."""
    here = tmp_path / "private"
    (here / "letters").mkdir(parents=True)
    home = enrol(**{name: value.format(here=here) for name, value in settings.items()})
    agent(home, **who).sync_turn("hello there", "Hello.", cwd=str(here / "letters"))
    assert kept == home.has_database
