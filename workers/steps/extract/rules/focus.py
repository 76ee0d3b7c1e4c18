"""What "it", "she" and "the app" point to: the project, thing and person last spoken of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from nextlevel.model import EntityType, Turn

from .names import names
from .pack import Pack, groups

LOOK_BACK = 6
"""Earlier turns that are searched for names."""
_LONGEST = 2_000
NOBODYS = "project"
"""The subject of what is said of a project whose name nobody told."""
_THINGS = frozenset({EntityType.PROJECT, EntityType.HOST})


@dataclass(slots=True)
class Focus:
    """Changes as clauses go by. `project` is fixed where the host told it; `topic` is the last statement's subject."""

    project: str | None = None
    fixed: bool = False
    thing: str | None = None
    person: str | None = None
    topic: str | None = None

    @property
    def subject(self) -> str:
        """What a fact without a subject of its own is about."""
        return self.project or self.thing or NOBODYS

    @property
    def who(self) -> str | None:
        """Whom "she" means: the person last named, else a subject that is written like a first name."""
        if self.person is None and self.topic is not None and self.topic.isalpha() and self.topic.istitle():
            return self.topic
        return self.person

    def saw(self, name: str, kind: EntityType) -> None:
        """A name went by."""
        if kind is EntityType.PERSON:
            self.person = name
        elif kind in _THINGS and "/" not in name and "." not in name:
            self.thing = name
            if not self.fixed and self.project is None and kind is EntityType.PROJECT:
                self.project = name

    def introduced(self, name: str) -> None:
        """The speaker says what their project is called."""
        self.thing = name
        if not self.fixed:
            self.project = name


def focus_of(turn: Turn, window: Sequence[Turn], pack: Pack | None) -> Focus:
    """The focus before the turn's first clause: the host's project, else what the session spoke of."""
    told = told_project(turn)
    focus = Focus(project=told, fixed=told is not None)
    for earlier in window[-LOOK_BACK:]:
        text = earlier.user_text[:_LONGEST]
        for name in names(text, full_names=pack is None or not pack.nouns_capitalised):
            focus.saw(name.text, name.type)
        if pack is not None:
            for rule in pack.rules:
                if rule.role in ("project", "person") and (match := rule.regex.search(text)):
                    _learn(focus, rule.role, match)
    return focus


def _learn(focus: Focus, role: str, match: re.Match[str]) -> None:
    caught = groups(match)
    if role == "project":
        focus.introduced(caught["value"].strip("`„“\"'"))
    elif caught.get("subject", "")[:1].isupper():
        focus.person = caught["subject"]


def told_project(turn: Turn) -> str | None:
    """The project that the host named for a turn, or the folder it was told in."""
    project = turn.meta.get("project")
    if isinstance(project, dict):
        project = project.get("name")
    if isinstance(project, str) and project.strip():
        return project.strip()
    cwd = turn.meta.get("cwd")
    if isinstance(cwd, str) and len(parts := PurePath(cwd).parts) > 3:
        # A home (/home/ada) names nobody's project; a folder below it does.
        return parts[-1]
    return None
