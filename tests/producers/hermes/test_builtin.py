"""The host's own memory: each write is mirrored, whoever made it, and what stands in the prompt is not said twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes import install as installer
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.install import install, prepare
from nextlevel.producers.hermes.provider import Provider
from nextlevel.safety.markers import HEADER
from tests.producers.hermes.conftest import Enrol
from tests.producers.hermes.test_provider import events
from tests.support import hermes
from tests.support.service import Service

Agent = Callable[..., Provider]


def put(home: Home, name: str, *entries: str) -> None:
    folder = home.path / "memories"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n§\n".join(entries), encoding="utf-8")


def written(home: Home) -> list[tuple[str, str, object]]:
    return [
        (event["kind"], event["user_text"], event["body"].get("target") or event["body"].get("turns"))
        for event in events(home)
        if event["kind"] != "turn"
    ]


def test_what_is_there_at_the_first_turn_is_taken_over_and_every_change_after(enrol: Enrol, agent: Agent) -> None:
    """By whatever way it came: the host tells of few."""
    home = enrol()
    put(home, "MEMORY.md", "CI runs on port 8080.", "CI needs pytest -n 4.")
    provider = agent(home)
    provider.sync_turn("hello", "Hello.")
    put(home, "USER.md", "Prefers the helix editor.")
    put(home, "MEMORY.md", "CI needs pytest -n 4.", "CI runs on port 8081.")
    provider.on_memory_write("replace", "memory", "CI runs on port 8081.", metadata={"old_text": "8080"})
    provider.on_memory_write("replace", "memory", "CI runs on port 8081.", metadata={"old_text": "8080"})
    agent(home, "s2").sync_turn("hello", "Hello.")
    assert [
        ("core_write", "CI runs on port 8080.", "memory"),
        ("core_write", "CI needs pytest -n 4.", "memory"),
        ("retract", "", ["k3v9wq:2"]),
        ("core_write", "CI runs on port 8081.", "memory"),
        ("core_write", "Prefers the helix editor.", "user"),
    ] == written(home)


def test_it_belongs_to_the_owner_of_the_home_whoever_speaks(enrol: Enrol, agent: Agent) -> None:
    """All users of a gateway share the files; their memories are walled off."""
    home = enrol()
    put(home, "USER.md", "Prefers the helix editor.")
    agent(home, platform="telegram", user_id="7").sync_turn("hello", "Hello.")
    assert ["telegram:7", "local"] == [event["principal"] for event in events(home)]


def test_an_entry_that_comes_back_is_news(enrol: Enrol, agent: Agent) -> None:
    """And one with a secret goes without it."""
    home = enrol()
    provider = agent(home)
    for entries in (
        ["Deploys on Thursdays."],
        [],
        ["Deploys on Thursdays.", "Key: ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"],
    ):
        put(home, "MEMORY.md", *entries)
        provider.on_memory_write()
    kinds = [kind for kind, *_ in written(home)]
    assert ["core_write", "retract", "core_write", "core_write"] == kinds
    assert 4 == len({event["id"] for event in events(home)})
    assert "ghp_" not in json.dumps(events(home))


def test_looking_leaves_no_trace_where_there_is_nothing(enrol: Enrol, agent: Agent) -> None:
    """A home without memory files, and one that is off the record."""
    home = enrol()
    agent(home).on_memory_write()
    put(home, "USER.md", "Prefers helix.")
    enrol(paused=True)
    agent(home).on_memory_write()
    assert not home.has_database


def test_what_stands_in_the_prompt_is_not_injected(
    enrol: Enrol, agent: Agent, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory files, SOUL.md and the project's context file; what says more than they do is."""
    home, project = enrol(service_url=service.url), tmp_path / "crm"
    project.mkdir()
    monkeypatch.chdir(project)
    put(home, "USER.md", "Prefers the helix editor.")
    (home.path / "SOUL.md").write_text("# Soul\n\n- You answer in short sentences.\n")
    (project / "AGENTS.md").write_text("Run the tests with pytest -n 4. Deploy on Thursdays.\n")
    (project / "CLAUDE.md").write_text("The port is 8080.\n")  # the host loads the first one only
    lines = [
        "- user: prefers the helix editor (since 12 May)",
        "- tests: run with pytest -n 4 (since 3 June)",
        "- user: prefers the helix editor with a dark theme (since 13 May)",
        "- port: is 8080 (since 12 May)",
    ]
    service.body = json.dumps({"context": "\n".join([HEADER, *lines])}).encode()
    assert "\n".join([HEADER, *lines[2:]]) == agent(home).prefetch("which editor?")
    service.body = json.dumps({"context": f"{HEADER}\n{lines[0]}"}).encode()
    provider = agent(home, "s2")
    assert "" == provider.prefetch("which editor?")
    put(home, "USER.md", "Lives in Kiel.")
    assert "" == provider.prefetch("which editor?"), "the prompt is frozen, and so is what it holds"
    provider.on_session_switch("s2", parent_session_id="s2", reason="compression")
    assert lines[0] in provider.prefetch("which editor?"), "it was made anew, without the entry"


def test_what_is_copied_from_a_context_file_is_not_learnt(
    enrol: Enrol, agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is loaded anew in each session, and changes there."""
    home = enrol()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("* Run the tests with pytest -n 4 and nothing else.\n")
    agent(home).sync_turn(
        "what do you know?", "From AGENTS.md:\n- Run the tests with pytest -n 4 and nothing else.\nThat is all."
    )
    assert "From AGENTS.md:\nThat is all." == events(home)[0]["assistant_text"]


@pytest.mark.journey
def test_a_real_write_of_the_memory_tool_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's own tool: add, a batch, replace, remove."""
    path = (tmp_path / "hermes").resolve()
    path.mkdir()
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    install(path, prepare(path, service_url="", redis_url=""))

    def memory(**arguments: object) -> dict[str, object]:
        return {"tool_calls": [{"name": "memory", "arguments": arguments}]}

    both = [
        {"action": "add", "content": "CI runs on port 8080."},
        {"action": "add", "content": "CI needs pytest -n 4."},
    ]
    hermes.run(
        "agent_turns",
        path,
        {
            "messages": ["note it down"],
            "script": [
                memory(action="add", target="user", content="Prefers helix."),
                memory(target="memory", operations=both),
                memory(action="replace", target="user", old_text="helix", content="Prefers the helix editor."),
                memory(action="remove", target="memory", old_text="port 8080"),
            ],
        },
    )
    home = homes.of(path)
    base = events(home)[0]["id"].partition(":")[0]
    assert [
        ("core_write", "Prefers helix.", "user"),
        ("core_write", "CI runs on port 8080.", "memory"),
        ("core_write", "CI needs pytest -n 4.", "memory"),
        ("retract", "", [f"{base}:1"]),
        ("core_write", "Prefers the helix editor.", "user"),
        ("retract", "", [f"{base}:2"]),
    ] == written(home)[:6]
    home.database.close()


@pytest.mark.journey
def test_what_the_hosts_own_background_review_wrote_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs on a thread, in an agent without memory: no hook tells of it."""
    path = (tmp_path / "hermes").resolve()
    path.mkdir()
    monkeypatch.setattr(installer, "hermes_python", hermes.python)
    install(path, prepare(path, service_url="", redis_url=""))
    noted = {"action": "add", "target": "memory", "content": "CI needs pytest -n 4."}
    review = {"tool_calls": [{"name": "memory", "arguments": noted}], "match": "Review the conversation", "once": True}
    hermes.run("agent_turns", path, {"messages": ["hello", "go on"], "script": [review], "review_before": 1})
    home = homes.of(path)
    assert [("core_write", "CI needs pytest -n 4.", "memory")] == written(home)[:1]
    assert ["hello", "go on"] == [event["user_text"] for event in events(home) if event["kind"] == "turn"]
    home.database.close()
