"""From a home and its memory to the proposals for it, and back into the home what was accepted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from nextlevel.client import Client, ScopeName
from nextlevel.errors import Misconfigured
from nextlevel.model import BlockStatus

from ..hermes import builtin, inprompt
from ..hermes import config as configuration
from ..hermes.home import of
from ..hermes.inprompt import FILES
from ..hermes.speaker import Speaker, profile_of
from ..shortterm.mirror import ever_mirrored
from . import consolidate, declined, distil, files, skills
from .facts import words
from .files import Change
from .guard import why_not
from .proposal import Proposal, key_of
from .remembered import Remembered


@dataclass(slots=True)
class Found:
    """What is proposed, and what a person is told beside it."""

    proposals: list[Proposal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Desk:
    """One home's files and its profile's memory. Without what was declined, or with nothing else."""

    def __init__(self, home: Path, *, of_declined: bool = False) -> None:
        """Read the files.

        Raises:
            Misconfigured: the plugin is not in this home, or its configuration is broken.
            UnusableFile: a file can't be read.
        """
        self.home, self._of_declined = home, of_declined
        self.files = {target: file for target in FILES if (file := files.read(home, target)) is not None}
        self._memory = Remembered(*_service_of(home))

    @property
    def usage(self) -> list[str]:
        """How full each file is, or that the host's configuration turns it off."""
        return [
            self.files[target].usage if target in self.files else f"{name}: off in config.yaml"
            for target, name in FILES.items()
        ]

    def additions(self) -> Found:
        """New entries distilled from blocks."""
        known = self._memory.facts(BlockStatus.ACTIVE)
        keys = declined.keys(of(self.home))
        # Before the budget is counted: what was declined takes no room.
        shown = [fact for fact in known if (key_of(fact.statement) in keys) is self._of_declined]
        proved = self._memory.proved(distil.candidates(shown, self._standing()))
        found, left_out = distil.additions(proved, self.files)
        notes = [
            f"{count} more would not fit into {FILES[target]}: `nextlevel propose --consolidate` shows what makes room"
            for target, count in left_out.items()
            if count
        ]
        return Found(found, notes)

    def consolidation(self) -> Found:
        """What makes room in files that are nearly full, and what holds no longer in any."""
        found, known = Found(), self._memory.facts(BlockStatus.ACTIVE, BlockStatus.SUPERSEDED)
        ended = [fact for fact in known if fact.status is BlockStatus.SUPERSEDED]
        proved = self._memory.proved(consolidate.touched(ended, self.files.values()))
        facts = {fact.id: fact for fact in (*known, *proved)}
        for each in consolidate.outdated(self.files.values(), facts):
            for new in self._memory.proved([each.new]):
                outcome = replace(each, new=new).proposal
                if isinstance(outcome, str):
                    found.notes.append(outcome)
                else:
                    found.proposals.append(outcome)
        full = [file for file in self.files.values() if file.share > consolidate.FULL]
        found.proposals += consolidate.merges(full, consolidate.entries_of(found.proposals))
        said = self._memory.said(fact for fact in consolidate.touched(known, full) if fact.may_be_proposed)
        for file in full:
            found.proposals += consolidate.safe(file, said, consolidate.entries_of(found.proposals))
        found.notes += [
            f"{FILES[file.target]} has room: merges and what memory keeps anyway are shown above {consolidate.FULL:.0%}"
            for file in self.files.values()
            if file not in full
        ]
        return self._shown(found)

    def skills(self) -> Found:
        """Drafts of procedures that were seen twice or more, and new steps of those that are skills already."""
        found, known = Found(), skills.kept(self.home)
        for fact in self._memory.facts(BlockStatus.ACTIVE):
            if not (fact.may_be_proposed and skills.is_procedure(fact)):
                continue
            proved, line = self._memory.with_line(fact)
            skill = None if proved is None else skills.skill(proved, line, self.home, known)
            if isinstance(skill, str):
                found.notes.append(skill)
            elif skill is not None and proved is not None and why_not(skill.text) is None:
                why = "its steps changed" if skill.seen else f"seen {len({s.turn for s in proved.sources})} times"
                found.proposals.append(Proposal(skill, why, proved.sources))
        return self._shown(found)

    def decline(self, proposal: Proposal) -> None:
        """Propose it no more until what it says changes; `reconsider` takes that back.

        Raises:
            ShortTermUnavailable: tier 2 can't be written.
        """
        declined.decline(of(self.home), proposal.key)

    def reconsider(self, proposal: Proposal) -> None:
        """Let what was declined be proposed again.

        Raises:
            ShortTermUnavailable: tier 2 can't be written.
        """
        declined.reconsider(of(self.home), proposal.key)

    def write(self, proposal: Proposal) -> str:
        """Do what was proposed, and say where.

        Raises:
            Conflict: the file changed meanwhile, or what is proposed does not fit it.
            UnusableFile: it is not in the host's format, locked for long, or can't be written.
            ShortTermUnavailable: tier 2 can't note what goes; nothing was written.
        """
        change = proposal.change
        if not isinstance(change, Change):
            files.write_over(change.path, seen=change.seen, text=change.text)
            return str(change.path)
        if change.old:  # what goes must be known, so that it is not proposed again
            builtin.look(of(self.home), Speaker(profile_of(self.home)), "propose")
        self.files[change.target] = self.files[change.target].write(change)
        return self.files[change.target].usage

    def _shown(self, found: Found) -> Found:
        keys = declined.keys(of(self.home))
        return replace(found, proposals=[each for each in found.proposals if (each.key in keys) is self._of_declined])

    def _standing(self) -> list[frozenset[str]]:
        """What a prompt of this home says, or said until an entry was taken out: that is not proposed again."""
        home = of(self.home)
        entries: Iterable[str] = (entry for file in self.files.values() for entry in file.entries)
        before = ever_mirrored(home.database) if home.has_database else set()
        prompt = inprompt.read(self.home, Path.cwd()).statements
        return [*prompt, *(words(entry) for entry in (*entries, *before))]


def _service_of(home: Path) -> tuple[Client, ScopeName]:
    try:
        config = configuration.load(home)
    except ValueError as error:
        raise Misconfigured(str(error)) from error
    if not config.service_url:
        raise Misconfigured(f"the plugin is not in {home}: run `nextlevel hermes install --home {home}`")
    scope = ScopeName(install=config.install, profile=profile_of(home))
    return Client(config.service_url, config.token), scope
