"""What a person sees of the memory, printed from a service's answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from nextlevel.ops.cli.commands import app
from tests.support.service import Service, running

Run = Callable[..., tuple[int, str]]
BLOCK = "0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with running() as server:
        monkeypatch.setenv("NEXTLEVEL_SERVICE_URL", server.url)
        monkeypatch.setenv("NEXTLEVEL_SECRET", "a secret")
        yield server


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; its exit code and what it printed."""
    monkeypatch.setenv("COLUMNS", "200")

    def run_it(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            app(words, prog_name="nextlevel")
        return int(ended.value.code or 0), capsys.readouterr().out

    return run_it


def _answer(service: Service, document: object) -> None:
    service.body = json.dumps(document).encode()


RECALLED = {
    "context": "- crm runs on port 8091",
    "items": [{"text": "crm runs on port 8091", "score": 0.91, "why": "words and entity", "channels": {"words": 0.8}}],
    "dropped": [{"text": "crm runs on port 8080", "why": "superseded"}],
    "rung": "service",
    "ms": 12.3,
    "abstained": False,
    "vectors": True,
}


def test_recall_shows_each_memory_with_its_reason(service: Service, run: Run) -> None:
    """A memory without a reason is one that nobody can correct."""
    _answer(service, RECALLED)
    code, out = run("recall", "port of the crm")
    assert code == 0
    assert "0.91" in out
    assert "crm runs on port 8091" in out
    assert "words and entity" in out
    assert "8080" not in out
    assert "service · 12 ms · with vectors" in out


def test_recall_explains_what_was_left_out(service: Service, run: Run) -> None:
    """The right answer under a floor looks like no answer; here one sees it."""
    _answer(service, RECALLED)
    _, out = run("recall", "port", "--explain", "--profile", "work")
    assert "left out: crm runs on port 8080 (superseded)" in out
    assert "words=0.80" in out
    assert service.asked[0][3]["explain"] is True
    assert service.asked[0][3]["scope"]["profile"] == "work"


def test_recall_says_when_nothing_is_known(service: Service, run: Run) -> None:
    """No text at all would look like a fault."""
    _answer(service, RECALLED | {"items": [], "abstained": True})
    assert run("recall", "the weather on Mars")[1].startswith("nothing known that fits")


@pytest.mark.parametrize("command", [("recall", "port"), ("trace", "k3v9:7"), ("status",)])
def test_json_is_the_answer_for_programs(service: Service, run: Run, command: tuple[str, ...]) -> None:
    """Scripts read fields, not tables."""
    _answer(service, RECALLED)
    code, out = run(*command, "--json")
    assert code == 0
    assert json.loads(out)["rung"] == "service"


def test_remember_tells_the_turn_to_trace(service: Service, run: Run) -> None:
    """One can follow what became of it."""
    _answer(service, {"turn": "cli:7", "state": "received"})
    assert run("remember", "tables compact", "--type", "user_preference") == (
        0,
        "received: turn cli:7 (see `nextlevel trace cli:7`)\n",
    )
    assert service.asked[0][3]["type"] == "user_preference"


def test_forget_names_what_would_go_and_asks(
    service: Service, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    """Words fit more than one thinks; without a yes nothing is forgotten."""
    _answer(service, {"matches": [{"id": BLOCK, "text": "crm runs on port 8080"}]})
    (tmp_path / "answer").write_text("n\n")
    with (tmp_path / "answer").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        code, out = run("forget", "crm port")
    assert code == 1
    assert "crm runs on port 8080" in out
    assert "Forget this?" in out
    assert [asked[3] for asked in service.asked if "block" in asked[3]] == []


def test_forget_by_id_with_yes_asks_nobody(service: Service, run: Run) -> None:
    """For scripts."""
    _answer(service, {"forgotten": [BLOCK]})
    code, out = run("forget", BLOCK, "--yes")
    assert code == 0
    assert out.endswith("forgotten: 1\n")
    assert service.asked[0][3]["block"] == BLOCK


def test_forget_of_what_is_not_there_fails(service: Service, run: Run) -> None:
    """Exit code 1, so that a script doesn't take it for done."""
    _answer(service, {"matches": []})
    assert run("forget", "the weather on Mars", "--yes") == (1, "nothing fits; nothing was forgotten\n")


def test_trace_shows_a_turns_life(service: Service, run: Run) -> None:
    """Why is this not remembered? The reason stands at the top."""
    _answer(
        service,
        {
            "turn": {"state": "skipped", "reason": "chit-chat"},
            "events": [{"at": "2026-06-03T10:00:00Z", "event": "prefiltered", "score": 0.25}],
            "blocks": [{"id": BLOCK, "text": "crm runs on port 8091"}],
        },
    )
    code, out = run("trace", "k3v9:7")
    assert code == 0
    assert out.startswith("k3v9:7 skipped (chit-chat)")
    assert "score=0.25" in out
    assert f"→ crm runs on port 8091 {BLOCK}" in out


def test_status_shows_depth_and_age_as_a_person_says_them(service: Service, run: Run) -> None:
    """ "7260" is a number; "2 h" is a reason to look."""
    _answer(
        service,
        {
            "stages": [
                {"stage": "extract", "depth": 3, "oldest_s": 7260},
                {"stage": "link", "depth": 0, "oldest_s": None},
            ],
            "receipts": [{"install": "k3v9", "mark": 41, "gaps": [[43, 44]]}],
            "dead_letters": [],
            "workers": [{"process": "host:1", "seen_s": 3}],
        },
    )
    code, out = run("status")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert ["extract", "3", "2", "h"] in lines
    assert ["link", "0", "–"] in lines
    assert ["k3v9", "41", "[43,", "44]"] in lines
    assert lines[lines.index(["dead", "letters"]) + 1] == ["none"]
