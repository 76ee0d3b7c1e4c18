"""What a session came to, by its own words: title, topics, decisions, open ends, state at its end. No model is asked.

Extractive: each text stands in a turn, with the time of that turn in its speaker's own zone, so that a digest read in
a year still tells when things were said. What is no prose (code, pastes, quotations), is hidden, gives orders or held
a secret is left out, as in extraction.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.lang.dump import without_dump
from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import content_words
from nextlevel.model import Turn

from .extract.rules.accepted import accepted
from .extract.rules.names import is_temporary, names
from .extract.rules.pack import load
from .extract.rules.spoken import language_of
from .extract.rules.stance import unfit

VERSION = 1
LONGEST_TITLE = 80
MOST_TOPICS, MOST_DECISIONS, MOST_OPEN_ENDS = 5, 8, 6
_LONGEST_TEXT = 240
_READ_CHARS = 4_000
_LAST_ANSWERS = 2
"""What the assistant left open counts in its last answers only: earlier ones were replied to."""


@dataclass(frozen=True, slots=True)
class _Said:
    """One clause with its turn; `ends` is the sign that closes its sentence."""

    text: str
    ends: str
    turn: Turn

    @property
    def told(self) -> dict[str, str]:
        return {"text": _cut(self.text, _LONGEST_TEXT), "at": self.turn.at.isoformat()}


def digest(turns: Sequence[Turn]) -> dict[str, Any]:
    """The digest of a session's turns, oldest first; at least one. JSON as kept in sessions.digest."""
    user = [said for turn in turns for said in _clauses(turn, turn.user_text)]
    answers = [said for turn in turns for said in _clauses(turn, turn.assistant_text)]
    topics = _topics(user, answers)
    return {
        "version": VERSION,
        "title": _title(user, topics),
        "topics": topics,
        "decisions": _decisions(turns, user),
        "open_ends": _open_ends(turns, user, answers),
        "state": _state(turns, user, answers),
        "turns": len(turns),
        "from": turns[0].at.isoformat(),
        "to": turns[-1].at.isoformat(),
    }


def _clauses(turn: Turn, text: str) -> Iterator[_Said]:
    own, _ = without_dump(text[:_READ_CHARS])
    for clause in clauses(own):
        if unfit(clause) is None:
            asked = "?" if clause.ends == "?" else ""
            yield _Said(clause.text + asked, clause.ends, turn)


def _title(user: Sequence[_Said], topics: Sequence[str]) -> str:
    """The first thing the user said that has substance; a greeting has none."""
    for said in user:
        if len(content_words(said.text)) >= 3:
            return _cut(said.text, LONGEST_TITLE)
    return _cut(", ".join(topics), LONGEST_TITLE) or (_cut(user[0].text, LONGEST_TITLE) if user else "")


def _topics(user: Sequence[_Said], answers: Sequence[_Said]) -> list[str]:
    """The names that were spoken of most; the user's mention counts twice."""
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for weight, said in [*((2, each) for each in user), *((1, each) for each in answers)]:
        for name in names(said.text):
            if not is_temporary(name.text):
                key = name.text.casefold()
                shown.setdefault(key, name.text)
                counts[key] += weight
    return [shown[key] for key, _ in counts.most_common(MOST_TOPICS)]


def _decisions(turns: Sequence[Turn], user: Sequence[_Said]) -> list[dict[str, str]]:
    """What the user settled, and proposals that they said yes to, in order."""
    found = [(said.turn.at, said.told) for said in user if said.ends != "?" and _cue("decides").search(said.text)]
    for place, turn in enumerate(turns):
        window = turns[max(0, place - 1) : place]
        pack = load(language_of(turn.user_text, window))
        agreed = accepted(turn, window, pack) if pack is not None else None
        if agreed is not None:
            found.append((turn.at, _Said(agreed[0], "", turn).told))
    return _distinct([told for _, told in sorted(found, key=lambda each: each[0])])[-MOST_DECISIONS:]


def _open_ends(turns: Sequence[Turn], user: Sequence[_Said], answers: Sequence[_Said]) -> list[dict[str, str]]:
    """What was put off or asked and not answered: the user's words, and the assistant's last ones."""
    last = {turn.id for turn in turns[-_LAST_ANSWERS:]}
    left = [said for said in user if said.ends != "?" and _cue("open").search(said.text)]
    left += [said for said in answers if said.turn.id in last and _cue("open").search(said.text)]
    left += [said for said in answers if said.turn.id == turns[-1].id and said.ends == "?"]
    left.sort(key=lambda said: said.turn.at)
    return _distinct([said.told for said in left])[-MOST_OPEN_ENDS:]


def _state(turns: Sequence[Turn], user: Sequence[_Said], answers: Sequence[_Said]) -> dict[str, str]:
    """Where it stood at the end: the user's last words of substance, and the assistant's last statement."""
    wanted = next((said for said in reversed(user) if len(content_words(said.text)) >= 2), None)
    done = next((said for said in reversed(answers) if said.ends != "?" and len(content_words(said.text)) >= 2), None)
    return {
        "user": _cut(wanted.text, _LONGEST_TEXT) if wanted else "",
        "assistant": _cut(done.text, _LONGEST_TEXT) if done else "",
        "at": turns[-1].at.isoformat(),
    }


def _distinct(told: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Each text once, where it was said last."""
    latest = {each["text"].casefold(): each for each in told}
    return [each for each in told if latest[each["text"].casefold()] is each]


def _cut(text: str, longest: int) -> str:
    """At most so many characters, cut between words where that is possible."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:-–") + "…"


@cache
def _cue(name: str) -> re.Pattern[str]:
    by_language = tomllib.loads(Path(__file__).with_name("digest.toml").read_text("utf-8"))[name]
    words = "|".join(word for row in by_language.values() for word in row)
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
