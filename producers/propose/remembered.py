"""What the service is asked for: a profile's blocks, the turns that a block stands on, and what it was before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from nextlevel.client import Client, ScopeName
from nextlevel.errors import NotFound, ScopeDenied

from .facts import Fact

_SAID = frozenset({"turn", "remember"})
"""Kinds of events in which somebody spoke: not the mirror of an entry, which goes when that goes."""
_MOST_ASKED = 5
"""Turns of a block that are looked at for one of these kinds, the latest first."""


class Remembered:
    """The memory of one profile, over the service's API."""

    def __init__(self, client: Client, scope: ScopeName) -> None:
        self._client, self._scope = client, scope
        self._kinds: dict[str, str | None] = {}

    def facts(self, *statuses: str) -> list[Fact]:
        """All blocks in these states, newest first, without their sources."""
        return [Fact.of(block) for block in self._client.blocks(self._scope, status=statuses)]

    def proved(self, facts: Iterable[Fact]) -> list[Fact]:
        """The facts with the turns that they stand on. What was forgotten meanwhile is left out."""
        return [proved for fact in facts if (proved := self._line(fact)[0]) is not None]

    def with_line(self, fact: Fact) -> tuple[Fact | None, frozenset[str]]:
        """A fact with its turns, and the ids of all blocks that it was or became."""
        proved, line = self._line(fact)
        return proved, frozenset(past["block"]["id"] for past in line)

    def said(self, facts: Iterable[Fact]) -> list[Fact]:
        """The facts with just those sources in which somebody said it."""
        found = []
        for fact in self.proved(facts):
            latest = sorted(fact.sources, key=lambda source: source.day)[-_MOST_ASKED:]
            found.append(replace(fact, sources=tuple(each for each in latest if self._kind(each.turn) in _SAID)))
        return found

    def _line(self, fact: Fact) -> tuple[Fact | None, list[dict[str, Any]]]:
        try:
            line = self._client.history(fact.id, self._scope)
        except NotFound:
            return None, []
        own = next((past for past in line if past["block"]["id"] == fact.id), None)
        return (None if own is None else Fact.of(own["block"], own["sources"])), line

    def _kind(self, turn: str) -> str | None:
        """What kind of event a turn is; None for one of another installation, of which this one learns nothing."""
        if turn not in self._kinds:
            try:
                self._kinds[turn] = self._client.trace(turn)["turn"]["kind"]
            except (NotFound, ScopeDenied):
                self._kinds[turn] = None
        return self._kinds[turn]
