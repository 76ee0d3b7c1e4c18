"""`nextlevel import …`: bring in what was said and noted before, and documents to look things up in."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeRemainingColumn

from nextlevel import auth, settings
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Misconfigured

from ..commands import home_of
from ..hermes import builtin
from ..hermes.home import of
from ..hermes.speaker import Speaker
from . import markdown
from .backfill import Progress, history

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Bring in what was said and noted before, and documents to look things up in.",
)

_MOST_SHOWN = 20
_TIMEOUT_S = 60.0

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The agent's home. Default: $HERMES_HOME, else ~/.hermes.")
]


@app.command("hermes", epilog="It may be broken off and repeated: nothing comes twice, and dates stay as they were.")
def import_hermes(home: HomeOption = None) -> None:
    """Bring in the sessions that Hermes keeps, also while it runs. They are remembered behind what is said now."""
    path = home_of(home)
    _must_remember(path)
    done = asyncio.run(_with_a_bar(path))
    typer.echo(
        f"{done.sessions} sessions: {done.new} turns brought in, {done.known} were known, "
        f"{done.undone} taken back, {done.left_out} off the record"
    )


@app.command("core")
def import_core(home: HomeOption = None) -> None:
    """Bring in MEMORY.md and USER.md as they are now. The plugin does it too, after each turn."""
    path = home_of(home)
    _must_remember(path)
    found = of(path)
    builtin.look(found, Speaker(), "import")
    typer.echo(f"{found.counters['core_added']} entries brought in, {found.counters['core_removed']} taken back")


@app.command(
    "markdown",
    epilog="\b\nExamples:\n  nextlevel import markdown ~/vault\n"
    "  nextlevel import markdown ~/crm/docs --project crm\n"
    "  nextlevel import markdown ~/crm/docs --as-memory         its general lines enter memory too\n"
    "  nextlevel import markdown --remove ~/vault               takes its notes out again",
)
def import_markdown(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of Markdown, such as an Obsidian vault.")],
    project: Annotated[str | None, typer.Option(help="The project that the notes belong to.")] = None,
    as_memory: Annotated[
        bool, typer.Option("--as-memory", help="Let a few general lines of each note enter memory too.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the folder's notes out of the library, and of memory.")
    ] = False,
    install: Annotated[str, typer.Option(help="Installation whose library is meant.")] = "local",
    profile: Annotated[str, typer.Option(help="Profile (agent identity) whose library is meant.")] = "default",
) -> None:
    """Bring a folder of notes into the library. Searches find them, by file and heading.

    A library is looked up, not remembered: no note is injected into a turn, and nothing is learnt from it. Links, tags
    and authors join the graph. Run it again when notes have changed: what is as before is not sent, what is gone is
    taken out. Secrets are taken out before anything is sent.

    With --as-memory what a note says plainly (a port, a host, who does what) becomes memory as well, with the note as
    its source: five facts of a note at most, no preference and no rule. They follow the note when it changes or goes.
    Give it each time: an import without it closes them again.
    """
    ours, folder = settings.load(), folder.expanduser().resolve()
    operator = auth.token(auth.secret_of(ours), auth.OPERATOR)
    client, scope = Client(ours.need_service(), operator, timeout_s=_TIMEOUT_S), ScopeName(install, profile)
    if remove:
        typer.echo(f"{client.remove_documents(folder.as_posix(), None, scope)} notes taken out")
        return
    done = _brought(client, folder, scope, project, as_memory=as_memory)
    typer.echo(
        f"{done.of} notes: {done.new} new, {done.changed} changed ({done.sections} sections), "
        f"{done.unchanged} as before, {done.removed} taken out"
    )
    if as_memory and (sent := done.new + done.changed):
        typer.echo(f"{sent} go on to memory; the workers say of each what they kept: `nextlevel status`, the dashboard")
    if done.secrets or done.orders:
        typer.echo(f"{done.secrets} secrets taken out; {done.orders} sections read like orders and are never quoted")
    for each in done.left_out[:_MOST_SHOWN]:
        typer.echo(f"left out: {each.path!r} ({each.why})")
    if len(done.left_out) > _MOST_SHOWN:
        typer.echo(f"and {len(done.left_out) - _MOST_SHOWN} more")


def _brought(
    client: Client, folder: Path, scope: ScopeName, project: str | None, *, as_memory: bool
) -> markdown.Progress:
    done = markdown.Progress(of=0)
    with _bar("notes") as bar:
        task = bar.add_task("import", total=None)
        for done in markdown.bring(client, folder, scope, project, as_memory=as_memory):
            bar.update(task, completed=done.done, total=done.of)
    return done


def _must_remember(path: Path) -> None:
    if of(path).config.paused:
        raise Misconfigured("memory is paused in this home; `hermes nextlevel resume` ends that")


async def _with_a_bar(path: Path) -> Progress:
    done = Progress()
    with _bar("sessions, {task.fields[turns]} turns") as bar:
        task = bar.add_task("import", total=None, turns=0)
        async for done in history(path):
            bar.update(task, completed=done.sessions, total=done.of, turns=done.new + done.known)
    return done


def _bar(what: str) -> Bar:
    columns = (SpinnerColumn(), TextColumn("{task.completed}/{task.total} " + what), TimeRemainingColumn())
    return Bar(*columns, console=Console(stderr=True), transient=True)
