"""The real Hermes loads and drives the plugin: its loader and manager, and one whole turn of its agent."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from redis import Redis as Client

from nextlevel.event import decode
from nextlevel.producers.hermes import VERSION
from nextlevel.producers.hermes import install as installer
from nextlevel.producers.hermes.config import Config, path_of
from nextlevel.producers.hermes.install import install, prepare, uninstall
from nextlevel.producers.hermes.provider import SYSTEM_PROMPT_BLOCK
from nextlevel.producers.hermes.schemas import NAMES
from nextlevel.safety.markers import HEADER, UNAVAILABLE
from tests.support import hermes
from tests.support.service import Service
from tests.support.stores import TestValkey

CONTEXT = f"{HEADER}\n- waldseilgarten-crm: docker-compose on port 8080 (since 12 May)"


@pytest.fixture
def home(tmp_path: Path, service: Service, valkey: TestValkey, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the agent with the plugin in it, enrolled at a service that knows one thing."""
    made = (tmp_path / "hermes für 日本").resolve()
    made.mkdir()
    (made / "config.yaml").write_text("memory:\n  provider: nextlevel\n")
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    service.body = json.dumps({"context": CONTEXT, "items": [{"text": "port 8080", "score": 0.9}]}).encode()
    enrolled = prepare(made, service_url=service.url, redis_url=valkey.url)
    done = install(made, dataclasses.replace(enrolled, prefetch_ms=2_000))  # patient, on a busy machine too
    assert "Hermes" == done.checked_with
    return made


def on_stream(valkey: TestValkey) -> list[tuple[str, str, int]]:
    with Client.from_url(valkey.url) as client:
        events = [decode(fields) for _, fields in client.xrange("nl:turns")]
    return [(event.user_text, event.assistant_text, event.turn) for event in events if event.kind == "turn"]


def test_the_hosts_manager_drives_the_plugin(home: Path, valkey: TestValkey, service: Service) -> None:
    """Loader, manager and hooks are the host's own; each turn arrives, recall is injected, tools answer."""
    told = hermes.run(
        "manager_layer",
        home,
        {
            "turns": [["my editor is helix", "Noted."], ["and I use fish", "Noted too."]],
            "tools": [["nextlevel_search", {"query": "editor"}], ["nextlevel_stats", {}]],
        },
    )
    assert ("nextlevel", sorted(NAMES), True) == (told["name"], told["tools"], told["is_host_class"])
    assert set(told["settings"]) <= set(Config.__dataclass_fields__)
    assert f"/plugins/nextlevel/_lib-{VERSION}-" in told["library"]
    assert (True, True) == (SYSTEM_PROMPT_BLOCK in told["prompt"], told["prompt_is_stable"])
    assert CONTEXT in told["recalled"][0]
    assert "" == told["recalled"][1], "the model has the line already"
    assert [("my editor is helix", "Noted.", 1), ("and I use fish", "Noted too.", 2)] == on_stream(valkey)
    assert ("long-term", 2) == (told["answers"][0]["results"][0]["tier"], told["answers"][1]["this_machine"]["events"])
    assert (True, 0) == (told["flushed"], told["drain"].get("abandoned_writes", 0))
    assert [True, True] == [asked[3]["warm"] for asked in service.asked if asked[3] and asked[3].get("warm")]


@pytest.mark.journey
def test_the_hosts_own_commands_set_it_up_and_tell_its_state(home: Path) -> None:
    """Non-interactive, with words on what was done; both are the host's command line."""
    (home / "config.yaml").unlink()
    assert "active in" in hermes.command(home, "memory", "setup", "nextlevel")
    assert "provider: nextlevel" in (home / "config.yaml").read_text()
    assert "none yet" in hermes.command(home, "nextlevel", "status")
    assert "remembers nothing" in hermes.command(home, "nextlevel", "pause")
    assert "paused" in hermes.command(home, "nextlevel", "status")
    assert "remembers again" in hermes.command(home, "nextlevel", "resume")
    assert "nextlevel" in hermes.command(home, "memory", "status")
    hermes.command(home, "memory", "off")
    assert "provider: nextlevel" not in (home / "config.yaml").read_text()
    assert uninstall(home)
    assert [path_of(home)] == [each for each in home.rglob("*nextlevel*/*") if each.is_file()], "the enrolment stays"


def test_setting_up_takes_the_hosts_recall_mode_and_status_says_whose_word_counts(home: Path) -> None:
    """The host itself ignores the key; a person who writes it there means us."""
    (home / "config.yaml").write_text("memory:\n  provider: nextlevel\n  # gently\n  recall_mode: observe\n")
    assert "config.yaml says observe" in hermes.command(home, "nextlevel", "status")
    assert "observe mode" in hermes.command(home, "memory", "setup", "nextlevel")
    assert "observe (as memory.recall_mode in config.yaml)" in hermes.command(home, "nextlevel", "status")


def test_a_gateways_speaker_is_the_principal(home: Path, service: Service) -> None:
    """Whom the platform names, not whom the machine belongs to."""
    hermes.run(
        "manager_layer",
        home,
        {"turns": [["hi", "hello"]], "identity": {"user_id": "42", "chat_type": "dm", "chat_id": "c1"}},
    )
    assert {"cli:42"} == {asked[3]["scope"]["principal"] for asked in service.asked}


def test_a_whole_turn_of_the_agent(home: Path, valkey: TestValkey, service: Service) -> None:
    """What goes over the wire to the model: the block after the user's words, the tools, their answers."""
    told = hermes.run(
        "agent_turns",
        home,
        {
            "messages": ["which port does the crm use?"],
            "script": [
                {"tool_calls": [{"name": "nextlevel_search", "arguments": {"query": "crm port"}}]},
                {"text": "It uses port 8080."},
            ],
        },
    )
    assert ["It uses port 8080."] == told["replies"]
    (asked,) = told["wire"][0]
    assert asked.startswith("which port does the crm use?\n\n<memory-context>")
    assert asked.rstrip().endswith(f"{CONTEXT.splitlines()[1]}\n</memory-context>")
    assert told["system"][0].count(SYSTEM_PROMPT_BLOCK) == 1
    assert set(told["tools"]) >= NAMES
    assert "port 8080" in told["results"][-1][0]
    assert [("which port does the crm use?", "It uses port 8080.", 1)] == on_stream(valkey)


def test_the_host_goes_on_with_everything_of_ours_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start, turn and end: memory says that it is unavailable, and the turn waits on the disk."""
    home = (tmp_path / "hermes").resolve()
    home.mkdir()
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    install(home, prepare(home, service_url="http://127.0.0.1:9", redis_url="redis://127.0.0.1:9"))
    told = hermes.run("manager_layer", home, {"turns": [["hello", "hi"]], "tools": [["nextlevel_stats", {}]]})
    assert UNAVAILABLE in told["recalled"][0]
    assert (1, True) == (told["answers"][0]["this_machine"]["pending"], "error" in told["answers"][0]["pipeline"])
