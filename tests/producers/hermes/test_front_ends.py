"""Each front end of the host, as it really behaves: whose turns arrive, which, how often, and what nobody else sees.

The gateway and the odd turns run once for this module, in Hermes's own Python; the tests look at what came of it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import Config
from nextlevel.producers.hermes.install import install
from tests.producers.hermes.test_compaction import EXACT, SMALL_TALK
from tests.producers.hermes.test_provider import events
from tests.support import hermes

pytestmark = pytest.mark.journey

THREAD = {"chat": "g1", "chat_type": "group", "thread": "t9"}


class Ran:
    """A home after a run of one of the host's scripts: its events, and what the script told."""

    def __init__(self, path: Path, told: dict[str, Any]) -> None:
        self.home, self.told = homes.of(path), told

    def said(self, **wanted: str) -> list[str]:
        """The users' words of the turns, of one session, principal or chat."""
        return [
            event["user_text"]
            for event in events(self.home)
            if event["kind"] == "turn" and all(event[name] == value for name, value in wanted.items())
        ]

    def orders(self) -> list[tuple[str, Any]]:
        return [(event["kind"], event["body"].get("turns")) for event in events(self.home) if event["kind"] != "turn"]


def _run(folder: Path, script: str, wanted: dict[str, Any]) -> Iterator[Ran]:
    path = (folder / "hermes").resolve()
    path.mkdir()
    install(path, Config(install="k3v9wq", home=str(path)))  # nothing to ask: this machine alone
    ran = Ran(path, hermes.run(script, path, wanted))
    yield ran
    ran.home.database.close()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    said = [
        {"user": "42", "text": "the spare key is in the greenhouse"},
        {"user": "42", "text": "we meet at noon"},
        {"user": "42", "text": "/undo"},
        {"user": "42", "text": "we meet at one"},
        {"user": "42", "text": "/retry"},
        {"user": "43", "text": "where is the spare key?"},
        {"user": "42", "text": "the roof is leaking", **THREAD},
        {"user": "43", "text": "since when?", **THREAD},
        {"user": "42", "text": "/new"},
        {"user": "42", "text": "where is the spare key?"},
    ]
    yield from _run(tmp_path_factory.mktemp("gateway"), "chat_gateway", {"said": said})


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    yield from _run(tmp_path_factory.mktemp("odd"), "odd_turns", {})


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    asked = [
        {"text": "the spare key is in the greenhouse", "session": "a1", "key": "ann"},
        {"text": "where is the spare key?", "session": "a2", "key": "ann"},
        {"text": "where is the spare key?", "session": "b1", "key": "ben"},
        {"text": "the cellar is wet", "session": "a1", "key": "ben"},
        {"text": "I have no name"},
    ]
    yield from _run(tmp_path_factory.mktemp("api"), "api_requests", {"asked": asked})


def test_an_api_servers_users_have_turns_of_their_own(api: Ran) -> None:
    """By the key that the client names; a session's id is nobody's name."""
    assert ["the spare key is in the greenhouse", "where is the spare key?"] == api.said(principal="ann")
    assert ["where is the spare key?", "the cellar is wet"] == api.said(principal="ben")
    assert ["I have no name"] == api.said(principal="local")


def test_an_api_server_shows_nobody_what_another_said(api: Ran) -> None:
    """To the one who said it, it comes back in another session."""
    asked = [text for text in api.told["wire"] if text.startswith("where is the spare key?")]
    assert [True, False] == ["greenhouse" in text for text in asked]


def test_an_api_server_that_ends_no_agent_loses_no_turn_and_leaves_no_thread(api: Ran) -> None:
    """It makes an agent for each request, and tells of no end, not even at its own."""
    assert 5 == len(api.said())
    assert ([], []) == (api.orders(), api.told["threads"])


def test_exact_values_come_back_after_a_gateways_own_compaction(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`/compress` runs in an agent without memory: no hook tells, the turn after it shows it, the next one has them."""
    said = [f"{value}. {SMALL_TALK}" for value in EXACT]
    asked = [{"user": "42", "text": text} for text in (*said, "/compress", "let us go on", "and on")]
    for ran in _run(tmp_path_factory.mktemp("compress"), "chat_gateway", {"said": asked}):
        assert "Compressed" in ran.told["replies"][-3]
        assert [] == [value for value in EXACT if value not in ran.told["wire"][-1]]


def test_each_user_of_a_gateway_has_turns_of_their_own(gateway: Ran) -> None:
    """The principal is whom the platform names."""
    assert "the spare key is in the greenhouse" in gateway.said(principal="telegram:42")
    assert ["where is the spare key?"] == [text for text in gateway.said(principal="telegram:43") if "key" in text]


def test_a_gateway_shows_nobody_what_another_said(gateway: Ran) -> None:
    """To the one who said it, it comes back, also in the session after /new."""
    asked = [text for text in gateway.told["wire"] if text.startswith("where is the spare key?")]
    assert [False, True] == ["greenhouse" in text for text in asked]


def test_an_undo_and_a_retry_of_a_gateway_take_turns_back(gateway: Ran) -> None:
    """It tells nobody: its agent is dropped, and another is built from what is left."""
    assert [("retract", ["k3v9wq:2"])] == [order for order in gateway.orders() if order[0] == "retract"][:1]
    assert 2 == len([order for order in gateway.orders() if order[0] == "retract"])
    standing = [text for text in gateway.said(principal="telegram:42") if "we meet" in text]
    assert ["we meet at noon", "we meet at one", "we meet at one"] == standing, "the last one alone was not taken back"


def test_a_new_session_of_a_gateway_ends_the_one_before(gateway: Ran) -> None:
    """And a clean stop those that are left, as far as their agents are still there."""
    sessions = [event["session"] for event in events(gateway.home) if event["kind"] == "session_end"]
    assert sessions
    assert len(sessions) == len(set(sessions))


def test_a_group_has_its_chat_and_both_speakers(gateway: Ran) -> None:
    """One transcript, two principals: each turn is its speaker's, and none takes the other's words along."""
    with gateway.home.database.reading() as connection:
        rows = connection.execute(
            "SELECT principal, event FROM outbox JOIN events USING (row)"
            " WHERE chat IS NOT NULL AND kind = 'turn' ORDER BY row"
        ).fetchall()
    assert ["telegram:42", "telegram:43"] == [row["principal"] for row in rows]
    assert "roof" not in rows[1]["event"]


def test_of_a_skill_only_the_instruction_is_kept(odd: Ran) -> None:
    """Its body is the same for everybody."""
    assert ["ship version 2 to staging"] == odd.said(session="skill")
    assert "secret ingredient" not in str(events(odd.home))


def test_a_message_with_a_picture_is_kept_by_its_text(odd: Ran) -> None:
    """The host asks for no recall there."""
    (kept,) = odd.said(session="image")
    assert "what is on this picture?" in kept
    assert not any("memory-context" in text for text in odd.told["wire"]["image"])


def test_a_turn_that_failed_is_never_a_turn(odd: Ran) -> None:
    """Nor one that was interrupted: the host tells of neither, and we don't guess."""
    assert [] == odd.said(session="interrupt")
    assert 1 == len(odd.said(session="failure"))
    assert [] == [order for order in odd.orders() if order[0] == "retract"]


def test_a_resumed_session_goes_on(odd: Ran) -> None:
    """Another agent, the same conversation: nothing is told twice, nothing taken for undone."""
    assert ["first half", "second half"] == odd.said(session="resume")
    assert [1, 2] == [event["turn"] for event in events(odd.home) if event["session"] == "resume" and event["turn"]]


def test_a_session_id_is_nobodys_name(odd: Ran) -> None:
    """The host mixes two users' transcripts there; our recall does not."""
    assert [["ann keeps the spare key in the greenhouse"], ["ben keeps the spare key in the greenhouse"]] == [
        odd.said(principal=f"key-{user}") for user in ("ann", "ben")
    ]
    assert "ann keeps" not in odd.told["wire"]["shared"][-1]


def test_machines_that_talk_to_themselves_never_load_us(odd: Ran) -> None:
    """Scheduled jobs and sub-agents: no turn, no recall, no tool."""
    assert [] == odd.said(session="machine")
    assert [True, True] == odd.told["machines_skip_memory"]
    assert not any(name.startswith("nextlevel_") for name in odd.told["machine_tools"])


@pytest.mark.journey
@pytest.mark.parametrize("arguments", [["-z"], ["chat", "-q"]], ids=["one shot", "chat"])
def test_the_command_line_keeps_its_one_turn(tmp_path: Path, arguments: list[str]) -> None:
    """`-z` ends by os._exit, and tells of the end before the turn."""
    path = (tmp_path / "hermes").resolve()
    path.mkdir()
    install(path, Config(install="k3v9wq", home=str(path)))
    done = subprocess.run(
        [hermes.python(), hermes.SCRIPTS / "command_line.py", *arguments, "we deploy on Thursdays"],
        env=hermes._environment(path),
        cwd=path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    ran = Ran(path, {})
    assert ["we deploy on Thursdays"] == ran.said()
    ran.home.database.close()
