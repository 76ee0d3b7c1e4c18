"""The hooks of the host: durable before they return, quiet whatever fails."""

from __future__ import annotations

import inspect
import json
import os
import pwd
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis as Client

from nextlevel.event import decode
from nextlevel.producers.hermes import VERSION, status
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import path_of
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.provider import SYSTEM_PROMPT_BLOCK, Provider
from nextlevel.producers.hermes.schemas import SCHEMAS
from nextlevel.producers.shortterm import outbox
from nextlevel.safety.markers import HEADER
from tests.support.ports import free_port
from tests.support.service import Service
from tests.support.stores import TestValkey

Enrol = Callable[..., Home]
Agent = Callable[..., Provider]
CONTEXT = f"{HEADER}\n- waldseilgarten-crm: docker-compose on port 8080 (since 12 May)"


def events(home: Home) -> list[dict[str, Any]]:
    with home.database.reading() as connection:
        return [json.loads(row[0]) for row in connection.execute("SELECT event FROM events ORDER BY row")]


def test_a_turn_is_on_the_disk_when_the_hook_returns_and_sent_when_the_host_ends(
    enrol: Enrol, agent: Agent, valkey: TestValkey
) -> None:
    """Nothing later is promised: the host may end with os._exit."""
    home = enrol(redis_url=valkey.url)
    provider = agent(home)
    provider.sync_turn("We deploy on Thursdays.", "Noted.", session_id="s9", messages=[])
    assert 1 == len(events(home))
    provider.shutdown()
    with Client.from_url(valkey.url) as client:
        ((_, fields), _end) = client.xrange("nl:turns")
    sent = decode(fields)
    assert ("k3v9wq:1", "s9", "We deploy on Thursdays.") == (sent.id, sent.session, sent.user_text)
    assert ("cli", VERSION) == (sent.meta["platform"], sent.meta["plugin"])


def test_a_turn_waits_for_the_disk_once(enrol: Enrol, agent: Agent) -> None:
    """The host waits with it: redaction, index and outbox are one transaction."""
    home = enrol()
    provider, statements = agent(home), list[str]()
    provider.sync_turn("the first one of a session", "ok")
    with home.database.reading() as connection:
        connection.set_trace_callback(statements.append)
    provider.sync_turn("the api runs on port 8080", "Noted.", messages=[{}] * 4)
    with home.database.reading() as connection:
        connection.set_trace_callback(None)
    assert 1 == statements.count("COMMIT")


def test_the_session_comes_with_the_turn(enrol: Enrol, agent: Agent) -> None:
    """After /new, /resume and compaction the instance's own memory of it is old."""
    home = enrol()
    provider = agent(home, "s1")
    provider.sync_turn("a", "b", session_id="s2")
    provider.on_session_switch("s3", parent_session_id="s1", reset=True)
    provider.sync_turn("c", "d")
    assert ["s2", "s3"] == [event["session"] for event in events(home) if event["kind"] == "turn"]


def test_where_a_local_user_works_goes_with_the_turn(enrol: Enrol, agent: Agent, tmp_path: Path) -> None:
    """The repository's name, and a hash of where it comes from, without the token in its address."""
    home, repository = enrol(), tmp_path / "waldseilgarten-crm"
    (repository / ".git").mkdir(parents=True)
    (repository / "src").mkdir()
    told = []
    for address in ("https://user:tok@git.example/crm.git", "https://git.example/crm"):
        (repository / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {address}\n')
        homes_project_cache_clear()
        agent(home).sync_turn(f"from {address[:12]}", "b", cwd=str(repository / "src"))
        told.append(events(home)[-1]["meta"]["project"])
    assert ["waldseilgarten-crm"] * 2 == [project["name"] for project in told]
    assert told[0]["remote"] == told[1]["remote"]
    agent(home, user_id="42", platform="telegram").sync_turn("elsewhere", "b", cwd=str(repository))
    assert "project" not in events(home)[-1]["meta"]


def homes_project_cache_clear() -> None:
    from nextlevel.producers.hermes import project

    project._repository.cache_clear()


def test_what_was_injected_is_not_learnt_and_not_injected_twice(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Also when the assistant repeats it word for word."""
    service.body = json.dumps({"context": CONTEXT}).encode()
    home = enrol(service_url=service.url)
    provider = agent(home)
    injected = provider.prefetch("which port?")
    assert CONTEXT == injected
    provider.sync_turn("which port?", f"I recall:\n{injected.splitlines()[1]}\nSo 8080.", messages=[{}] * 2)
    assert "I recall:\nSo 8080." == events(home)[0]["assistant_text"]
    assert "" == provider.prefetch("which port?")
    assert 1 == len(outbox.injected(home.database, "s1"))
    provider.on_session_switch("s1", parent_session_id="s1", reason="compression")
    assert CONTEXT == provider.prefetch("which port?")
    assert "service" == provider.last_recall.rung


@pytest.mark.parametrize(
    ("mode", "injects", "tools"),
    [("hybrid", True, len(SCHEMAS)), ("context", True, 0), ("tools", False, len(SCHEMAS)), ("observe", False, 0)],
)
def test_the_recall_mode_says_what_is_offered(
    enrol: Enrol, agent: Agent, service: Service, monkeypatch: pytest.MonkeyPatch, mode: str, injects: bool, tools: int
) -> None:
    """Injection, tools, both, or neither; the host asks for the tools before it tells whose home it is."""
    service.body = json.dumps({"context": CONTEXT}).encode()
    home = enrol(service_url=service.url, recall_mode=mode)
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    assert tools == len(Provider().get_tool_schemas())
    provider = agent(home)
    assert injects is bool(provider.prefetch("which port?"))
    assert (bool(tools), injects) == (
        "nextlevel_search" in (told := provider.system_prompt_block()),
        "by itself" in told,
    )
    provider.sync_turn("which port?", "8080.")
    assert 1 == len(events(home)), "each mode learns"


def test_what_stands_before_the_conversation_is_the_same_byte_for_byte(
    enrol: Enrol, agent: Agent, service: Service
) -> None:
    """A byte that changes there makes the model read all of the conversation anew, at the user's expense."""
    service.body = json.dumps({"context": CONTEXT}).encode()
    home = enrol(service_url=service.url)
    provider = agent(home)

    def standing(of: Provider) -> str:
        return json.dumps([of.system_prompt_block(), of.get_tool_schemas()])

    before = standing(provider)
    for turn in range(3):
        provider.prefetch(f"which port has service {turn}?")
        provider.sync_turn(f"Service {turn} runs on port 808{turn}.", "Noted.")
    provider.handle_tool_call("nextlevel_remember", {"text": "I prefer helix."})
    provider.on_pre_compress([])
    provider.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
    service.status = 503
    provider.prefetch("and now?")
    assert before == standing(provider) == standing(agent(home))


def test_starting_leaves_no_trace_and_needs_nothing(tmp_path: Path) -> None:
    """`hermes memory status` and `prompt-size` start providers that never see a turn."""
    provider = Provider()
    assert provider.is_available()
    for _ in range(2):
        provider.initialize("s1", hermes_home=str(tmp_path), platform="cli")
    provider.get_tool_schemas()
    provider.shutdown()
    assert [] == list(tmp_path.iterdir())


def test_a_home_that_nobody_enrolled_keeps_its_turns(tmp_path: Path) -> None:
    """They are delivered once it is."""
    provider = Provider()
    provider.initialize("s1", hermes_home=str(tmp_path))
    provider.sync_turn("a", "b")
    home = homes.of(tmp_path)
    assert events(home)[0]["id"].startswith("local.")
    home.database.close()


@pytest.mark.parametrize("written", ['{"install": 7', '{"version": 99, "install": {"id": "other"}}'])
def test_a_configuration_that_cant_be_read_keeps_turns_under_the_id_in_use(
    enrol: Enrol, agent: Agent, written: str
) -> None:
    """A typing error in a file, or a newer version's file, must not make a stranger of this home."""
    home = enrol()
    provider = agent(home)
    provider.sync_turn("a", "b")
    path_of(home.path).write_text(written)
    provider.sync_turn("c", "d")
    assert ["k3v9wq:1", "k3v9wq:2"] == [event["id"] for event in events(home)]


def test_a_change_of_the_configuration_needs_no_restart(enrol: Enrol, agent: Agent, service: Service) -> None:
    """Enrolled while the agent runs: the next turn asks the service."""
    provider = agent(enrol())
    assert "service" != (provider.prefetch("x port"), provider.last_recall.rung)[1]
    service.body = json.dumps({"context": CONTEXT}).encode()
    enrol(service_url=service.url)
    assert CONTEXT == provider.prefetch("x port")


def test_a_full_disk_is_told_once_and_the_chat_goes_on(enrol: Enrol, agent: Agent) -> None:
    """Silence would be found out weeks later."""
    home, warnings = enrol(), list[str]()
    provider = agent(home, warning_callback=warnings.append)
    provider.sync_turn("fits", "ok")
    with home.database.reading() as connection:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    for _ in range(2):
        provider.sync_turn("too much " * 20_000, "ok")
    assert 1 == len(warnings)
    assert "the disk is full; free some space" in warnings[0]
    assert 2 == home.counters["sync_turn_failed"]
    here = json.loads(provider.handle_tool_call("nextlevel_stats", {}))["this_machine"]
    assert (1, True) == (here["events"], "the disk is full" in here["last_error"])


@pytest.mark.parametrize("before", [False, True], ids=["a new home", "with turns in it"])
def test_in_a_read_only_home_the_chat_goes_on_without_memory(
    enrol: Enrol, agent: Agent, readable: Path, before: bool
) -> None:
    """It is told once, with what to do; once it may be written, it is."""
    home, warnings = homes.of(readable), list[str]()
    if before:
        agent(home).sync_turn("before", "ok")
        home.database.close()
    with read_only(readable):
        provider = agent(home, warning_callback=warnings.append)
        for _ in range(2):
            assert isinstance(provider.prefetch("what was before?"), str)
            provider.sync_turn("lost", "ok")
        assert "error" in json.loads(provider.handle_tool_call("nextlevel_remember", {"text": "the api is new"}))
        home.database.close()
    assert 1 == len(warnings)
    assert "this turn was not remembered" in warnings[0]
    assert any(word in warnings[0] for word in ("writable for this user", "Permission denied"))
    provider.sync_turn("after", "ok")
    assert ["before"] * before + ["after"] == [event["user_text"] for event in events(home)]
    home.database.close()


@pytest.fixture
def readable() -> Iterator[Path]:
    """A home outside of pytest's own folders, which nobody else may look into."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made).resolve()


@contextmanager
def read_only(home: Path) -> Iterator[None]:
    """Nobody may write into it; root always may, and is somebody else meanwhile."""
    paths = [home, *home.rglob("*")]
    modes = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if root := os.geteuid() == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path, mode in zip(paths, modes, strict=True):
            path.chmod(mode)


def test_a_damaged_short_term_memory_is_begun_anew_and_said_aloud(enrol: Enrol, agent: Agent) -> None:
    """To who sits there, in `status`, and to the doctor; the turn that met it is kept."""
    home, warnings = enrol(), list[str]()
    agent(home).sync_turn("before", "ok")
    home.database.close()
    home.database.path.write_bytes(b"no database any more" * 500)
    provider = agent(home, "s2", warning_callback=warnings.append)
    for number in range(2):
        provider.sync_turn(f"after {number}", "ok")
    assert ["after 0", "after 1"] == [event["user_text"] for event in events(home)]
    (told,) = warnings
    assert "the file was damaged and lies in" in told
    assert any(line.startswith("moved aside") and "shortterm.db.damaged-" in line for line in status.lines(home.path))
    assert told.endswith(status.facts(home.path)["moved_aside"])


def test_a_turn_said_while_redis_is_away_is_delivered_by_a_later_start(
    enrol: Enrol, agent: Agent, valkey: TestValkey
) -> None:
    """At initialize, aside: a start must not wait for a backlog."""
    home = enrol(redis_url=f"redis://127.0.0.1:{free_port()}")
    agent(home).sync_turn("said offline", "ok")
    enrol(redis_url=valkey.url)
    arrived = threading.Event()
    with Client.from_url(valkey.url) as client:
        agent(home)
        while not client.xlen("nl:turns"):
            arrived.wait(0.01)
        ((_, fields),) = client.xrange("nl:turns")
    assert "said offline" == decode(fields).user_text


def test_an_instance_for_each_message_costs_no_thread_and_no_connection(
    enrol: Enrol, agent: Agent, valkey: TestValkey
) -> None:
    """An API server makes one a request, and never ends any."""
    home = enrol(redis_url=valkey.url)
    before = threading.active_count()
    for number in range(20):
        agent(home, f"s{number}", platform="api_server").sync_turn(f"request {number}", "Answer.")
    home.finish(30)
    assert 20 == len(events(home))
    assert threading.active_count() <= before
    database = str(home.path / "nextlevel" / "shortterm.db")
    databases = [path for path in Path("/proc/self/fd").iterdir() if os.path.realpath(path).startswith(database)]
    assert 1 <= len(databases) <= 3, "the file, its log, its index"


def test_two_homes_of_one_process_keep_to_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The desktop app serves many profiles; the module is loaded once, and the process has a home of its own."""
    found = []
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "the process's"))
    for name in ("private", "work"):
        provider = Provider()
        provider.initialize("s1", hermes_home=str(tmp_path / name), agent_identity=name)
        provider.sync_turn(f"said in {name}", "Noted.")
        assert "private" not in provider.prefetch("what was said in private") or name == "private"
        found.append([(event["user_text"], event["profile"]) for event in events(homes.of(tmp_path / name))])
        homes.of(tmp_path / name).database.close()
    assert [[("said in private", "private")], [("said in work", "work")]] == found
    assert not (tmp_path / "the process's").exists()


def test_what_a_sub_agent_was_told_is_not_learnt(enrol: Enrol, agent: Agent) -> None:
    """It is the agent's word, and its answer comes back in the parent's own turn."""
    home = enrol()
    agent(home).on_delegation("read the log of kranich", "it is fine", child_session_id="c1")
    assert not home.has_database


def test_no_hook_raises_whatever_it_is_given(enrol: Enrol, agent: Agent) -> None:
    """An exception is swallowed by the host, and the turn with it; a bad argument must not cost one either."""
    for provider in (Provider(), agent(enrol())):
        provider.initialize(None)  # type: ignore[arg-type]
        provider.prefetch(None, session_id=None)  # type: ignore[arg-type]
        provider.queue_prefetch(["x"], new_argument=1)  # type: ignore[arg-type]
        provider.sync_turn(None, None, messages="x", new_argument=1)  # type: ignore[arg-type]
        provider.sync_turn("a", "b", messages=[None, 7])  # type: ignore[list-item]
        provider.on_turn_start(1, None, x=1)  # type: ignore[arg-type]
        provider.on_memory_write("add", "user", None, None)  # type: ignore[arg-type]
        provider.on_session_end(None)
        provider.on_session_switch(None, rewound=True)  # type: ignore[arg-type]
        provider.on_delegation("t", "r", child_session_id="c")
        assert "" == provider.on_pre_compress(None)
        assert [] == provider.backup_paths()
        assert json.loads(provider.handle_tool_call("nextlevel_search", None))["error"]
        assert SYSTEM_PROMPT_BLOCK == provider.system_prompt_block()
        provider.shutdown()


def test_every_hook_takes_what_a_newer_host_may_add() -> None:
    """A keyword we don't know must not end memory."""
    hooks = [member for name, member in inspect.getmembers(Provider, inspect.isfunction) if not name.startswith("_")]
    without = [
        hook.__name__
        for hook in hooks
        if "kwargs" not in str(inspect.signature(hook)) and "replay" not in str(inspect.signature(hook))
    ]
    assert ["is_available"] == without


def test_what_the_model_is_told_holds_no_tag_of_the_host() -> None:
    """The host would cut it out, with what stands between."""
    assert "<" not in SYSTEM_PROMPT_BLOCK


def test_a_kill_right_after_the_hook_loses_nothing(enrol: Enrol) -> None:
    """`hermes -z`: os._exit, no atexit, threads die."""
    home = enrol(redis_url=f"redis://127.0.0.1:{free_port()}")
    code = (
        "import os, sys\nfrom nextlevel.producers.hermes.provider import Provider\n"
        "p = Provider(); p.initialize('s1', hermes_home=sys.argv[1])\n"
        "p.sync_turn('kept', 'ok'); os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home.path)], timeout=60, capture_output=True)
    assert 9 == done.returncode
    assert ["kept"] == [event["user_text"] for event in events(home)]


def test_a_forked_gateway_keeps_turns_in_parent_and_child(enrol: Enrol, agent: Agent, valkey: TestValkey) -> None:
    """Neither uses the other's connections or waits for a lock of a thread that is not there."""
    home = enrol(redis_url=valkey.url)
    provider = agent(home)
    provider.sync_turn("parent", "ok")
    home.finish(30)
    child = os.fork()
    if child == 0:
        try:
            provider.sync_turn("child", "ok")
            home.finish(30)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    provider.sync_turn("parent again", "ok")
    home.finish(30)
    with Client.from_url(valkey.url) as client:
        assert ["parent", "child", "parent again"] == [
            decode(fields).user_text for _, fields in client.xrange("nl:turns")
        ]


def test_the_version_is_the_packages() -> None:
    """The plugin cannot ask for metadata: it is a copy."""
    assert f'version = "{VERSION}"' in (Path(__file__).parents[3] / "pyproject.toml").read_text()
