"""The command line from outside: as a process, with what it prints and how it exits."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest

from nextlevel import errors
from nextlevel.ops.cli import exit_code
from nextlevel.ops.cli.commands import GROUP, app
from tests.support.command import nextlevel, process
from tests.support.ports import free_port

Here = Callable[..., tuple[int, str, str]]
OURS = ("forget", "migrate", "recall", "relay", "remember", "serve", "status", "trace", "up", "work")


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    """The same in this process: quick, for what ends before a command begins."""

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app(words, prog_name="nextlevel")
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


@pytest.mark.parametrize("command", OURS)
def test_every_command_teaches_by_example(here: Here, command: str) -> None:
    """Help that only lists options leaves people to guess what to type."""
    code, out, _ = here(command, "--help")
    assert code == 0
    assert "Examples:" in out
    assert f"nextlevel {command}" in out.replace("--data-dir ./memory ", "")


def test_help_lists_each_command_with_a_whole_sentence(here: Here) -> None:
    """The first thing people read; a summary that is cut off says nothing."""
    code, out, _ = here("--help")
    listed = {line.split()[0]: line for line in out.partition("Commands:")[2].splitlines() if line.strip()}
    assert code == 0
    assert [name for name in OURS if not listed.get(name, "").endswith(".") or listed[name].endswith("...")] == []


def test_commands_come_in_by_entry_point() -> None:
    """A room adds its command without this room knowing of it."""
    assert set(OURS) <= importlib.metadata.entry_points(group=GROUP).names


async def test_an_unreachable_service_is_one_line_and_exit_code_3() -> None:
    """Scripts tell "try again later" from "you asked for something wrong"; people read one line, not a traceback."""
    address = f"http://127.0.0.1:{free_port()}"
    code, out, err = await nextlevel("status", NEXTLEVEL_SERVICE_URL=address, NEXTLEVEL_SECRET="s")
    assert (code, out) == (3, "")
    assert err.count("\n") == 1
    assert address in err
    assert "nextlevel up" in err


async def test_nothing_running_is_exit_code_2_with_the_cure(tmp_path: Path) -> None:
    """A person who never started it should read what to start."""
    code, _, err = await nextlevel("--data-dir", str(tmp_path), "recall", "x")
    assert code == 2
    assert f"nothing runs in {tmp_path}: start `nextlevel up`" in err


@pytest.mark.parametrize("words", [("no-such-command",), ("recall",), ("up", "--port", "0")])
def test_wrong_usage_is_exit_code_2(here: Here, words: tuple[str, ...]) -> None:
    """The same code as other commands have for it."""
    code, _, err = here(*words)
    assert code == 2
    assert err.startswith("Usage: nextlevel")


async def test_a_part_that_no_worker_has_is_named_with_those_there_are() -> None:
    """A typo in a fleet's command must not leave a stage that nobody runs."""
    code, _, err = await process("work", "--only", "extract,cook")
    assert code == 2
    assert "no part is called cook: choose of ingest, extract, link, store" in err


async def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    """A typo in the environment stops with the setting's name, before anything is started."""
    code, _, err = await process("up", NEXTLEVEL_LOG_LEVEL="loud", NEXTLEVEL_DATA_DIR=str(tmp_path))
    assert code == 2
    assert "log_level" in err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.AlreadyRunning("x"), 1),
        (errors.NotFound("x"), 1),
        (errors.MalformedEvent("bad", "x"), 1),
        (errors.Misconfigured("x"), 2),
        (errors.StoreUnreachable("x"), 3),
        (errors.QueueUnreachable("x"), 3),
        (errors.ServiceUnreachable("x"), 3),
    ],
)
def test_each_error_has_its_exit_code(error: errors.NextLevelError, code: int) -> None:
    """Documented, so scripts rely on them."""
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("nextlevel doc", "doctor"), ("nextlevel hermes unin", "uninstall"), ("nextlevel recall --as", "--as-of")],
)
async def test_the_shell_completes_commands_and_options(typed: str, offered: str) -> None:
    """`nextlevel --install-completion` hooks this in; a command that came in by entry point is offered too."""
    words = {"_NEXTLEVEL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    _, said, _ = await nextlevel(**words)
    assert offered in said.split()
