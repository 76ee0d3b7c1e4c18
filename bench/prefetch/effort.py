"""How much is asked in each part."""

from __future__ import annotations

from dataclasses import dataclass

CLIENTS = 8
"""Agents that ask at once."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is asked in each part; `quick` tells whether it runs, not how fast."""

    rounds: int  # of one client: a hit, a miss and both floors each
    crowded: int  # questions of each of eight clients, hits and misses each
    arrivals_s: float  # how long questions arrive by chance
    cold: int  # scopes that are asked for the first time
    known: int  # questions that are asked again and again
    at_most_s: float  # of one client or of eight: a service that is often late would take for ever
    backlog: int  # turns that keep a worker busy for as long as questions arrive
    sessions: int  # of tier 2
    turns: int  # of each of them

    @classmethod
    def of(cls, quick: bool) -> Effort:
        if quick:
            return cls(10, 3, 2.0, 1, 3, 10.0, 40, 5, 3)
        return cls(300, 60, 40.0, 5, 40, 90.0, 1_500, 100, 40)

    @property
    def from_endpoint(self) -> int:
        """Questions to embed beforehand: those of one client, and more than can arrive at 5 a second."""
        return self.rounds + 8 * round(self.arrivals_s) + 40
