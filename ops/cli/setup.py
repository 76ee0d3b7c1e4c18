"""`nextlevel setup`: find a language model, try it, and write it into nextlevel.toml."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from nextlevel.errors import Permanent
from nextlevel.ops.setup import file, find, trial

from .commands import examples
from .show import console, printable

if TYPE_CHECKING:
    from nextlevel.settings import Settings

app = typer.Typer(add_completion=False)

NONE_FOUND = """\
No model server answers on this machine (looked for {names}).
You need none: extraction by rules works without a model. A model finds more. To get one:
  install Ollama, then: ollama pull qwen3:8b
  or name a server:     nextlevel setup --llm-base-url http://gpu-box.lan:8000/v1"""

_TO_EMBED = "set NEXTLEVEL_EMBED_BASE_URL and NEXTLEVEL_EMBED_MODEL, then `nextlevel reembed`"


@app.command(
    epilog=examples(
        "nextlevel setup                                                 look on this machine, ask before writing",
        "nextlevel setup --llm-base-url http://gpu-box.lan:8000/v1 --model Qwen/Qwen3-8B --yes",
        "NEXTLEVEL_LLM_API_KEY=… nextlevel setup --llm-base-url https://api.example/v1",
    )
)
def setup(
    llm_base_url: Annotated[str | None, typer.Option(help="Ask this OpenAI-compatible server only.")] = None,
    model: Annotated[str | None, typer.Option(help="Take this model. Default: the first that can extract.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking, if the extraction works.")] = False,
) -> None:
    """Find a language model for extraction, try it, and write it into nextlevel.toml. Rules need none.

    It looks for Ollama, vLLM, llama.cpp and LM Studio on this machine. A key is taken from NEXTLEVEL_LLM_API_KEY and is
    not written anywhere. What else is in the file stays. Exit code 3 if no server answers.
    """
    from nextlevel.settings import load

    settings, out = load(), console()
    found = asyncio.run(_search(settings, llm_base_url))
    if not found:
        out.print(NONE_FOUND.format(names=", ".join(f"{name} on {port}" for name, port in find.KNOWN)), soft_wrap=True)
        raise typer.Exit(3)
    for server in found:
        names = ", ".join(server.models) or "no model yet"
        out.print(f"{server.name} at {server.base_url}: {printable(names)}", soft_wrap=True)
    server, name = _choice(found, model)
    if not asyncio.run(_try(out, settings, server, name)):
        raise Permanent(f"{name} can't be used for extraction: name another with --model; nothing was written")
    _write(out, settings, {"llm_base_url": server.base_url, "llm_model": name}, yes=yes)


async def _search(settings: Settings, base_url: str | None) -> list[find.Server]:
    if base_url is None:
        return await find.on_this_machine()
    key = None if settings.llm_api_key is None else settings.llm_api_key.get_secret_value()
    return [await find.at(base_url, key)]


def _choice(found: list[find.Server], model: str | None) -> tuple[find.Server, str]:
    for server in found:
        if model is not None and model in server.models:
            return server, model
        if model is None and server.chat_models:
            return server, server.chat_models[0]
    if model is not None:
        raise Permanent(f"no server here has the model {model!r}: choose one of those above")
    raise Permanent("no server here has a model that can extract: `ollama pull qwen3:8b` fetches one")


async def _try(out: Console, settings: Settings, server: find.Server, name: str) -> bool:
    """One extraction, which decides; and one embedding where the server has a model for it, which is shown."""
    extracted = await trial.extraction(server.base_url, name, settings)
    _tell(out, "extraction", name, extracted)
    for embedder in server.embedding_models[:1]:
        _tell(out, "embedding", embedder, await trial.embedding(server.base_url, embedder, settings))
        out.print("           nextlevel embeds by itself; on a GPU this one may be faster: " + _TO_EMBED, style="dim")
    return extracted.works


def _tell(out: Console, what: str, model: str, tried: trial.Tried) -> None:
    out.print(
        f"{what:<10} {printable(model)}: {printable(tried.says)}", style="" if tried.works else "red", soft_wrap=True
    )


def _write(out: Console, settings: Settings, values: dict[str, str], *, yes: bool) -> None:
    from nextlevel.settings import config_file, origins

    change = file.planned(config_file(), values)
    if not change.diff:
        out.print(f"{change.path} says so already", soft_wrap=True)
    else:
        out.print(f"{change.path}:", *change.diff, sep="\n", soft_wrap=True)
        if not yes:
            typer.confirm("Write this?", abort=True)
        file.write(change)
        out.print("Written. Start `nextlevel up` again, and it is used.")
    found = origins(settings)
    for name in values:
        if found[name] in {"environment", "secret file"}:
            out.print(f"But NEXTLEVEL_{name.upper()} is set ({found[name]}) and wins.", style="yellow", soft_wrap=True)
