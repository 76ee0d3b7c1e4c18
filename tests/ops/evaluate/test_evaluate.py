"""`nextlevel eval` as a person runs it: nothing of their own is touched, and every fault has its sentence and code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from nextlevel import settings
from nextlevel.errors import UnusableFile
from nextlevel.ops.evaluate import ground, locomo, retrieval
from tests.support.ports import free_port

SESSION = {
    "id": "one",
    "turns": [
        {"n": 1, "at": "2026-05-12T09:30:00+02:00", "user": "waldseilgarten-crm runs on port 8080.", "assistant": "Ok."}
    ],
}


@pytest.fixture
def scratch() -> Iterator[Path]:
    """The place for temporary directories: short, for sockets, and open to the servers' user."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="nl-eval-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def environment(scratch: Path, **more: str) -> dict[str, str]:
    """What a person has set for their own memory, all of it out of reach."""
    own = {
        "NEXTLEVEL_POSTGRES_DSN": "postgresql://mine@127.0.0.1:1/memory",
        "NEXTLEVEL_REDIS_URL": "redis://127.0.0.1:1",
    }
    return {**os.environ, **own, "TMPDIR": str(scratch), "NEXTLEVEL_CONFIG_FILE": os.devnull, **more}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from nextlevel.ops.cli import main; main()", "eval", *map(str, arguments)]


def run(scratch: Path, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=100, env=environment(scratch, **more)
    )


@pytest.mark.journey
def test_extraction_runs_on_stores_of_its_own_and_leaves_nothing_behind(scratch, tmp_path):
    """The person's Postgres is set, and does not answer: it is never asked."""
    source, out = tmp_path / "sessions.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(SESSION) + "\n")
    done = run(scratch, "extraction", "--in", source, "--out", out)
    assert 0 == done.returncode, done.stderr
    [row] = [json.loads(line) for line in out.read_text().splitlines()]
    assert ("one", 1, "8080", "active") == (row["session"], row["turn"], row["value"], row["status"])
    assert [] == list(scratch.iterdir())


@pytest.mark.journey
def test_ctrl_c_stops_everything_and_leaves_nothing_behind(scratch, tmp_path):
    source = tmp_path / "sessions.jsonl"
    source.write_text("".join(json.dumps(SESSION | {"id": f"s{n}"}) + "\n" for n in range(2_000)))
    with subprocess.Popen(
        command("extraction", "--in", source, "--out", tmp_path / "out.jsonl"),
        env=environment(scratch),
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            _wait_for(lambda: any("nextlevel.workers.evaluate" in _argv(each) for each in _below(running.pid)))
            children = _below(running.pid)
        finally:
            running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert 130 == running.returncode
    assert "Stopped; nothing was written." in said
    assert [] == list(scratch.iterdir())
    assert not any(child.is_running() for child in children)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "one", "turns": [', "sessions.jsonl:1: not JSON, or cut off"),
        ('{"id": "one"}', "sessions.jsonl:1: turns:"),
    ],
)
def test_a_file_that_can_not_be_used_ends_it_with_2(scratch, tmp_path, text, told):
    source = tmp_path / "sessions.jsonl"
    source.write_text(text)
    done = run(scratch, "extraction", "--in", source, "--out", tmp_path / "out.jsonl")
    assert 2 == done.returncode
    assert told in done.stderr


def test_an_out_that_can_not_be_written_is_told_before_the_work(scratch, tmp_path):
    source = tmp_path / "pairs.jsonl"
    source.write_text("")
    done = run(scratch, "dedup", "--in", source, "--out", tmp_path / "absent" / "out.jsonl")
    assert (2, True) == (done.returncode, "can't be written" in done.stderr)


def test_locomo_that_is_not_there_ends_it_with_2_and_the_reason(scratch, tmp_path):
    done = run(scratch, "retrieval", "--out", tmp_path / "out.jsonl", LOCOMO=str(tmp_path))
    assert 2 == done.returncode
    assert f"no LoCoMo in {tmp_path}" in done.stderr


def test_locomos_own_reader_writes_what_is_read(monkeypatch, tmp_path):
    (tmp_path / "retrieval.py").write_text("import sys; print('{\"what\": \"' + sys.argv[1] + '\"}')")
    monkeypatch.setenv("LOCOMO", str(tmp_path))
    assert '{"what": "turns"}\n' == locomo.extract("turns", tmp_path).read_text()
    (tmp_path / "retrieval.py").write_text("raise SystemExit('no data')")
    with pytest.raises(UnusableFile, match="questions failed: no data"):
        locomo.extract("questions", tmp_path)


def test_models_and_thresholds_are_judged_as_set_but_places_are_fresh(monkeypatch):
    monkeypatch.setenv("NEXTLEVEL_REVIEW_BELOW", "0.7")
    monkeypatch.setenv("NEXTLEVEL_POSTGRES_DSN", "postgresql://mine@127.0.0.1:1/memory")
    monkeypatch.setenv("NEXTLEVEL_SERVE_PORT", str(free_port()))
    own = settings.load()
    with ground.fresh() as fresh:
        assert 0.7 == fresh.review_below
        assert fresh.postgres_dsn is None
        assert own.serve_port != fresh.serve_port
        assert own.data_dir != fresh.data_dir
        assert "NEXTLEVEL_POSTGRES_DSN" not in os.environ
    assert "NEXTLEVEL_POSTGRES_DSN" in os.environ
    assert not fresh.data_dir.exists()


@pytest.mark.journey
async def test_retrieval_goes_through_the_served_product_and_no_conversation_sees_another(
    scratch, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    turns, questions, out = (tmp_path / name for name in ("turns.jsonl", "questions.jsonl", "out.jsonl"))
    said = [
        ("c1", "D1:1", "Ada", "The waldseilgarten-crm runs on port 8080."),
        ("c1", "D1:2", "Ben", "Good morning to you."),
        ("c2", "D1:1", "Cleo", "The waldseilgarten-crm runs on port 9999."),
    ]
    names = ("conv", "dia_id", "speaker", "text")
    lines = [dict(zip(names, row, strict=True)) | {"session": 1, "at": "2026-05-08T13:56:00"} for row in said]
    turns.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = [("c1", 0, "Which port does waldseilgarten-crm run on?"), ("c1", 1, "Who won the chess tournament?")]
    questions.write_text(
        "".join(json.dumps({"conv": conv, "q": q, "question": text}) + "\n" for conv, q, text in asked)
    )
    steps: set[str] = set()
    assert 2 == await retrieval.predict(turns, questions, out, lambda what, done, total: steps.add(what))
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert ("c1", 0, "D1:1", False) == (first["conv"], first["q"], first["ranked"][0], first["abstain"])
    assert {"conv": "c1", "q": 1, "ranked": [], "abstain": True} == second
    assert {"told", "remembered", "indexed", "asked"} == steps
    assert [] == list(scratch.iterdir())


def _below(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has just ended
        return []


def _wait_for(condition, *, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
