"""A choice that is made again and again is a preference, though nobody said so: "prefers poetry".

Two observations count as one choice of a turn: the user names a tool as the means ("set it up with poetry"), or the
agent runs its command for them, it ends well, and the next turn does not reject it. A turn that uses two rivals says
nothing about either. Which tools are rivals stands in choices.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import words
from nextlevel.model import Turn

from .extract.rules.focus import told_project
from .extract.rules.stance import unfit
from .rejection import rejected

FEWEST_TURNS = 3
FEWEST_PLACES = 2
"""Sessions, or projects: one long afternoon shows what a project needs, not what a person likes."""
SHARE = 0.75
"""Of a group's turns that must go to one choice; below it, the person uses both."""
MOST_SURE = 0.7
_LONGEST = 4_000

_MEANS = r"(?:with|using|use|via|through|mit|per|nutze?|verwende?|benutze?|nimm|med|använd|via|genom|przez|użyj|z)"
_NOT = re.compile(
    r"\b(?:not|never|no|don['’]?t|without|instead of|rather than|nicht|nie|kein\w*|ohne|statt|inte|aldrig|utan|"
    r"zamiast|bez)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice in one turn; `span` are the words or the command that show it."""

    group: str
    name: str
    turn: str
    session: str
    project: str
    at: datetime
    span: str


@dataclass(frozen=True, slots=True)
class Habit:
    """A choice that was made often enough, with the turns that show it, oldest first."""

    group: str
    name: str
    choices: tuple[Choice, ...]

    @property
    def confidence(self) -> float:
        """0.6 for three turns, a little more for each further one, at most 0.7: nobody has said it."""
        return min(MOST_SURE, 0.6 + 0.02 * (len(self.choices) - FEWEST_TURNS))

    @property
    def sessions(self) -> int:
        return len({choice.session for choice in self.choices})


def habits(turns: Sequence[Turn]) -> list[Habit]:
    """What a person's turns of any number of sessions show, oldest first. Pure: the same turns give the same habits."""
    by_group: dict[str, list[Choice]] = defaultdict(list)
    for choice in _choices(turns):
        by_group[choice.group].append(choice)
    found = []
    for group, choices in by_group.items():
        for name in {choice.name: None for choice in choices}:
            own = tuple(choice for choice in choices if choice.name == name)
            places = max(len({choice.session for choice in own}), len({c.project for c in own if c.project}))
            if len(own) >= FEWEST_TURNS and places >= FEWEST_PLACES and len(own) >= SHARE * len(choices):
                found.append(Habit(group, name, own))
    return found


def speaks_of(text: str, group: str) -> bool:
    """Whether a stated preference names one of a group's rivals: it is about that kind of tool, for or against."""
    return not set(words(text)).isdisjoint(word for name in _groups().get(group, ()) for word in words(name))


def groups() -> tuple[str, ...]:
    return tuple(_groups())


def _choices(turns: Sequence[Turn]) -> list[Choice]:
    """The choices of all turns that their session's next turn does not reject."""
    made: dict[str, list[Choice]] = {}
    last: dict[str, Turn] = {}
    for turn in turns:
        before = last.get(turn.session)
        if before is not None and made.get(before.id) and rejected(turn, [before]) is not None:
            del made[before.id]
        made[turn.id] = _of_turn(turn)
        last[turn.session] = turn
    return [choice for choices in made.values() for choice in choices]


def _of_turn(turn: Turn) -> list[Choice]:
    """At most one choice a group."""
    found: list[Choice] = []
    if not any(_named().search(text[:_LONGEST]) for text in (turn.user_text, *(call.args for call in turn.tools))):
        return found
    project = told_project(turn) or ""
    for group, tools in _groups().items():
        spans = {name: span for name, tool in tools.items() if (span := _span(turn, tool)) is not None}
        if len(spans) == 1:
            [(name, span)] = spans.items()
            found.append(Choice(group, name, turn.id, turn.session, project, turn.at, span[:200]))
    return found


@dataclass(frozen=True, slots=True)
class _Tool:
    said: re.Pattern[str]
    run: re.Pattern[str]


def _span(turn: Turn, tool: _Tool) -> str | None:
    """Where a turn shows that this tool was chosen, or None."""
    for clause in clauses(turn.user_text[:_LONGEST]):
        if clause.ends != "?" and tool.said.search(clause.text) and not _NOT.search(clause.text) and not unfit(clause):
            return clause.text
    for call in turn.tools:
        if call.ok and (run := tool.run.search(call.args[:_LONGEST])):
            return run[0].strip("\"' ;&|")
    return None


@cache
def _groups() -> dict[str, dict[str, _Tool]]:
    table = tomllib.loads(Path(__file__).with_name("choices.toml").read_text("utf-8"))
    return {group: {name: _tool(name, command) for name, command in tools.items()} for group, tools in table.items()}


@cache
def _named() -> re.Pattern[str]:
    """Any tool's name: most turns hold none, and are done with."""
    names = (re.escape(name) for tools in _groups().values() for name in tools)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(names)})", re.IGNORECASE)


def _tool(name: str, command: str) -> _Tool:
    said = re.compile(rf"(?<![\w-]){_MEANS}\s+`?{re.escape(name)}(?![\w-])", re.IGNORECASE)
    # A command begins a line, a JSON string, or what follows `&&`, `;`, `|` or sudo.
    return _Tool(said, re.compile(rf"(?:^|[\"'\n;&|]|\bsudo )\s*(?:{command})(?![\w-])", re.MULTILINE))
