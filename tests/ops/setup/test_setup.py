"""`nextlevel setup` against model servers on sockets: found, tried, written, and nothing lost that was there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nextlevel.errors import Misconfigured
from nextlevel.ops.setup import file, find
from nextlevel.settings import load
from tests.support.command import nextlevel
from tests.support.models import ModelServer, serving
from tests.support.ports import free_port


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with serving("nomic-embed-text", "qwen3:8b", "llama3.2:3b") as server:
        yield server


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file, with a person's own comment and settings in it."""
    path = tmp_path / "nextlevel.toml"
    path.write_text('# my own port\nserve_port = 7800  # behind the router\n\nllm_model = "old"\n')
    monkeypatch.setenv("NEXTLEVEL_CONFIG_FILE", str(path))
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"):
        monkeypatch.delenv(f"NEXTLEVEL_{name}", raising=False)
    return path


def text_of(path: Path) -> str:
    return path.read_text()


async def test_what_is_found_is_tried_and_written(models: ModelServer, toml: Path) -> None:
    """The whole of it: a model that extracts, an embedding that is shown, the change as a diff, the file after it."""
    code, said, _ = await nextlevel("setup", "--llm-base-url", models.base_url, "--yes")
    assert 0 == code, said
    assert "extraction qwen3:8b: valid JSON in 0." in said
    assert "embedding  nomic-embed-text: 384 numbers in " in said
    assert '-llm_model = "old"\n+llm_model = "qwen3:8b"\n' in said
    assert text_of(toml).startswith("# my own port\nserve_port = 7800  # behind the router\n")
    written = load()
    assert (models.base_url, "qwen3:8b", 7800) == (written.llm_base_url, written.llm_model, written.serve_port)
    [format] = [body["response_format"]["type"] for path, _, body in models.asked if path.endswith("completions")]
    assert "json_schema" == format


async def test_a_second_setup_changes_nothing(models: ModelServer, toml: Path) -> None:
    await nextlevel("setup", "--llm-base-url", models.base_url, "--yes")
    before = text_of(toml)
    code, said, _ = await nextlevel("setup", "--llm-base-url", models.base_url, "--yes")
    assert (0, before) == (code, text_of(toml))
    assert f"{toml} says so already" in said


async def test_without_a_yes_nothing_is_written(models: ModelServer, toml: Path) -> None:
    """Standard input is closed here, which is no yes."""
    before = text_of(toml)
    code, said, _ = await nextlevel("setup", "--llm-base-url", models.base_url)
    assert (1, before) == (code, text_of(toml))
    assert "Write this?" in said


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("The port is 8091.", "the answer does not follow the schema"),
        ('{"facts": [{"subject": "x"}]}', "the answer does not follow the schema"),
        ('{"facts": []}', "it misses the port"),
    ],
)
async def test_a_model_that_cannot_extract_is_not_written(models: ModelServer, toml: Path, says: str, why: str) -> None:
    """Valid and right is what counts; the person reads which of the two it was not."""
    models.says = says
    before = text_of(toml)
    code, said, err = await nextlevel("setup", "--llm-base-url", models.base_url, "--yes")
    assert (1, before) == (code, text_of(toml))
    assert why in said
    assert "name another with --model" in err


async def test_a_named_model_is_taken_and_one_that_is_not_there_refused(models: ModelServer, toml: Path) -> None:
    code, _, _ = await nextlevel("setup", "--llm-base-url", models.base_url, "--model", "llama3.2:3b", "--yes")
    assert (0, "llama3.2:3b") == (code, load().llm_model)
    code, _, err = await nextlevel("setup", "--llm-base-url", models.base_url, "--model", "gpt-9", "--yes")
    assert 1 == code
    assert "no server here has the model 'gpt-9'" in err


async def test_the_key_is_sent_and_never_written(models: ModelServer, toml: Path) -> None:
    """A settings file is copied around; the key stays in the environment."""
    arguments = ("setup", "--llm-base-url", models.base_url.removesuffix("/v1"), "--yes")
    code, said, _ = await nextlevel(*arguments, NEXTLEVEL_LLM_API_KEY="hush")
    assert 0 == code
    assert {"Bearer hush"} == {key for _, key, _ in models.asked}
    assert "hush" not in said + text_of(toml)


async def test_a_variable_that_would_win_over_the_file_is_told(models: ModelServer, toml: Path) -> None:
    """Else the next start would ask another model, and nobody knew why."""
    _, said, _ = await nextlevel("setup", "--llm-base-url", models.base_url, "--yes", NEXTLEVEL_LLM_MODEL="other")
    assert "But NEXTLEVEL_LLM_MODEL is set (environment) and wins." in said


async def test_a_server_that_does_not_answer_is_exit_code_3(toml: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    code, _, err = await nextlevel("setup", "--llm-base-url", address)
    assert 3 == code
    assert f"{address} does not answer" in err


async def test_a_server_that_is_something_else_is_told(toml: Path) -> None:
    with serving("qwen3:8b") as server:
        code, _, err = await nextlevel("setup", "--llm-base-url", f"http://127.0.0.1:{server.server_port}/else/v1")
    assert 1 == code
    assert "answers 404" in err


async def test_only_who_answers_as_a_model_server_is_found(models: ModelServer) -> None:
    """On 8000 and 8080 many things listen."""
    models.models = ("qwen3:8b",)
    with serving() as empty, serving("x") as broken:
        broken.status = 500
        ports = (("a", models.server_port), ("b", empty.server_port), ("c", broken.server_port), ("d", free_port()))
        found = await find.on_this_machine(ports)
    assert [("a", ("qwen3:8b",)), ("b", ())] == [(server.name, server.models) for server in found]


async def test_nothing_found_says_that_rules_do_without_and_how_to_get_a_model(toml: Path) -> None:
    """Most who try it first have none; it must not look like a failure of the product."""
    if await find.on_this_machine():
        pytest.skip("a model server runs on this machine")
    code, said, _ = await nextlevel("setup")
    assert 3 == code
    assert "extraction by rules works without a model" in said
    assert "ollama pull" in said


def test_a_file_that_is_no_toml_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "nextlevel.toml"
    path.write_text("serve_port = = 1\n")
    with pytest.raises(Misconfigured, match=r"nextlevel\.toml can't be read: .* Mend it"):
        file.planned(path, {"llm_model": "m"})
    assert "serve_port = = 1\n" == path.read_text()


def test_a_new_file_is_its_owners_and_an_old_one_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "new" / "nextlevel.toml"
    file.write(file.planned(path, {"llm_model": "m"}))
    assert 0o600 == path.stat().st_mode & 0o777
    path.chmod(0o640)
    file.write(file.planned(path, {"llm_model": "n"}))
    assert (0o640, ["nextlevel.toml"]) == (path.stat().st_mode & 0o777, os.listdir(path.parent))


def test_a_place_that_cannot_be_written_is_told_and_leaves_no_draft(tmp_path: Path) -> None:
    """Here a directory stands where the file should be."""
    path = tmp_path / "nextlevel.toml"
    change = file.planned(path, {"llm_model": "m"})
    path.mkdir()
    (path / "in the way").touch()
    with pytest.raises(Misconfigured, match="NEXTLEVEL_CONFIG_FILE"):
        file.write(change)
    assert ["nextlevel.toml"] == os.listdir(tmp_path)
