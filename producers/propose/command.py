"""`nextlevel propose`: what long-term memory would put into the agent's own memory. Printed; written where accepted."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
    "  nextlevel propose --decline 3f2a9c1d says no for good; --declined shows what was, --reconsider takes it back\n"
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
    decline: Annotated[
        list[str] | None,
        typer.Option(
            "--decline", metavar="ID", help="Don't propose this again until its facts change. May be repeated."
        ),
    ] = None,
    declined: Annotated[
        bool, typer.Option("--declined", help="Show what was declined, and still could be proposed.")
    ] = False,
    reconsider: Annotated[
        list[str] | None,
        typer.Option("--reconsider", metavar="ID", help="Let this be proposed again. May be repeated."),
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
    every = bool(accept or decline or declined or reconsider) and not (consolidate or skills)
    desk = Desk(_chosen(home), of_declined=declined or bool(reconsider))
    found = _found(desk, consolidate=consolidate, skills=skills, every=every)
    if accept or decline or reconsider:
        _decide(desk, found, accept or (), decline or (), reconsider or ())
        return
    if declined:
        _tell_declined(found, limit)
        return
    if not skills:
        typer.echo("\n".join(desk.usage))
    for proposal in found.proposals[:limit]:
        typer.echo(f"\n{_shown(proposal)}")
        if interactive:
            _ask(desk, proposal)
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


def _decide(desk: Desk, found: Found, accept: Sequence[str], decline: Sequence[str], reconsider: Sequence[str]) -> None:
    """Do with each proposal what was said. All must be there, or nothing is done.

    Raises:
        NotFound: one is not.
    """
    known = {proposal.id: proposal for proposal in found.proposals}
    for each in (*accept, *decline, *reconsider):
        if each not in known:
            raise NotFound(
                f"there is no proposal {each} now: the file or the memory changed since, or it was accepted or "
                "declined. Nothing was done; run `nextlevel propose` again"
            )
    for each in dict.fromkeys(accept):
        typer.echo(_shown(known[each]))
        typer.echo(f"written: {desk.write(known[each])}")
    for each in dict.fromkeys(decline):
        desk.decline(known[each])
        typer.echo(f"declined: {each}; `--declined` shows it, `--reconsider {each}` takes that back")
    for each in dict.fromkeys(reconsider):
        desk.reconsider(known[each])
        typer.echo(f"{each} may be proposed again")


def _tell_declined(found: Found, limit: int) -> None:
    for proposal in found.proposals[:limit]:
        typer.echo(f"{_shown(proposal)}\n")
    if (more := len(found.proposals) - limit) > 0:
        typer.echo(f"{more} more: `--limit {len(found.proposals)}` shows all")
    typer.echo(
        "`--reconsider ID` lets one be proposed again"
        if found.proposals
        else "nothing that was declined could be proposed now"
    )


def _ask(desk: Desk, proposal: Proposal) -> None:
    question = "write it? [y]es, [n]o, [d]ecline it for good, [q]uit"
    answer = typer.prompt(question, default="n", show_default=False).strip().lower()
    if answer.startswith("q"):
        raise typer.Exit
    if answer in ("y", "yes"):
        typer.echo(f"written: {desk.write(proposal)}")
    elif answer in ("d", "decline"):
        desk.decline(proposal)
        typer.echo(f"declined: {proposal.id}")


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
