"""`nextlevel propose`: what long-term memory would put into the agent's own memory. Printed; written where accepted."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from nextlevel import settings
from nextlevel.errors import Misconfigured, NotFound

from .. import homes
from ..commands import home_of
from .facts import Source
from .gather import Desk, Found
from .proposal import Proposal

app = typer.Typer(add_completion=False)

_SPAN_CHARS = 90


@app.command(
    "propose",
    epilog="\b\nExamples:\n"
    "  nextlevel propose                    prints entries for MEMORY.md and USER.md, each with its turns\n"
    "  nextlevel propose --accept 3f2a9c1d  writes this one\n"
    "  nextlevel propose -i                 asks for each\n"
    "  nextlevel propose --consolidate      what makes room in a file that is over 80 %\n"
    "  nextlevel propose --skills           SKILL.md drafts of procedures that were seen twice or more",
)
def propose(
    consolidate: Annotated[
        bool,
        typer.Option("--consolidate", help="Entries to merge, to bring up to date, or to leave to long-term memory."),
    ] = False,
    skills: Annotated[
        bool, typer.Option("--skills", help="Skills from procedures, and changes of their steps.")
    ] = False,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="ID", help="Write this proposal. May be repeated.")
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Show one after the other, and ask.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many are shown, the best first.")] = 12,
    home: Annotated[
        Path | None,
        typer.Option("--home", help="The agent's home. Default: $HERMES_HOME, else the one with the plugin."),
    ] = None,
) -> None:
    """Propose entries for the agent's own memory, distilled from what is remembered. You accept, or nothing is written.

    Only what you said, accepted or chose yourself is proposed: nothing that waits in review, comes from a document or a
    tool, or stands in the prompt already. The agent reads an accepted entry from its next session on.
    """
    desk = Desk(_chosen(home))
    if accept:
        _accept(desk, accept, _found(desk, consolidate=consolidate, skills=skills, every=not (consolidate or skills)))
        return
    found = _found(desk, consolidate=consolidate, skills=skills)
    if not skills:
        typer.echo("\n".join(desk.usage))
    for proposal in found.proposals[:limit]:
        typer.echo(f"\n{_shown(proposal)}")
        if interactive and _agreed():
            typer.echo(f"written: {desk.write(proposal)}")
    more = len(found.proposals) - limit
    for note in (*([f"{more} more: `--limit {len(found.proposals)}` shows all"] if more > 0 else ()), *found.notes):
        typer.echo(f"\n{_plain(note)}")
    if not found.proposals:
        typer.echo("\nnothing to propose")
    elif not interactive:
        typer.echo("\nnothing was written; `--accept ID` writes one, `--interactive` asks for each")


def _found(desk: Desk, *, consolidate: bool, skills: bool, every: bool = False) -> Found:
    parts = [desk.additions()] if every or not (consolidate or skills) else []
    parts += [desk.consolidation()] if every or consolidate else []
    parts += [desk.skills()] if every or skills else []
    return Found([each for part in parts for each in part.proposals], [note for part in parts for note in part.notes])


def _accept(desk: Desk, ids: Iterable[str], found: Found) -> None:
    known = {proposal.id: proposal for proposal in found.proposals}
    wanted = list(dict.fromkeys(ids))
    for each in wanted:
        if each not in known:
            raise NotFound(
                f"there is no proposal {each} now: the file or the memory changed since, or it was accepted. "
                "Nothing was written; run `nextlevel propose` again"
            )
    for each in wanted:
        typer.echo(_shown(known[each]))
        typer.echo(f"written: {desk.write(known[each])}")


def _agreed() -> bool:
    answer = typer.prompt("write it? [y]es, [n]o, [q]uit", default="n", show_default=False).strip().lower()
    if answer.startswith("q"):
        raise typer.Exit
    return answer in ("y", "yes")


def _shown(proposal: Proposal) -> str:
    won = f", {proposal.won} characters won" if proposal.won > 0 else ""
    lines = [f"{proposal.id}  {proposal.change.file}  ({_plain(proposal.why)}{won})"]
    lines += [f"  {_plain(line)}" for line in proposal.change.diff()]
    return "\n".join([*lines, *(f"    {_told(source)}" for source in proposal.evidence)])


def _told(source: Source) -> str:
    span = _plain(" ".join(source.span.split()))
    return f'{source.day} "{span if len(span) <= _SPAN_CHARS else f"{span[:_SPAN_CHARS]}…"}" ({source.turn})'


def _plain(text: str) -> str:
    """What was remembered is foreign text: it does not steer the terminal."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _chosen(given: Path | None) -> Path:
    """The home that is named, else the one that has the plugin.

    Raises:
        Misconfigured: there is none, or several.
    """
    if given is None and not os.environ.get("HERMES_HOME"):
        listed = homes.registered(settings.load())
        if len(listed) > 1:
            raise Misconfigured(f"several homes have the plugin, name one with --home: {', '.join(map(str, listed))}")
        given = listed[0] if listed else None
    return home_of(given)
