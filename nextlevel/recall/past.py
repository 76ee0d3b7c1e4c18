"""Past turns in an answer: which of them are worth a line beside the blocks, and what is quoted of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nextlevel.lang.roots import root
from nextlevel.lang.tokens import fold, words
from nextlevel.safety.injection import suspicious
from nextlevel.store.passages import Said

from .answer import Mode
from .coverage import nearness
from .passages import Heard

# A prefetch joins a turn uninvited, and a turn of long ago is no fact: it must share most of what is asked.
_PREFETCH_COVERAGE, _PREFETCH_LIFT, _PREFETCH_MOST = 0.6, 0.04, 2
# Where the question is what was said, a turn is what it asks for.
_ASKED_COVERAGE, _ASKED_LIFT, _ASKED_MOST = 0.34, 0.065, 5
# In a search a person chooses: the nearest are shown, and where even they are no evidence, the answer says that.
_SEARCH_COVERAGE, _SEARCH_LIFT, _SEARCH_LOOKED_AT = 0.10, 0.045, 5
_SEARCH_SHOWN_FROM = 0.02
_MISPLACED_LOOKED_AT = 30
# What a shown block says of the query too, a quote need not say again.
_NEWS = 0.2
QUOTE_CHARS = 240

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of a past turn: the words around what matched, and whose they are."""

    said: Said
    text: str
    by_assistant: bool


def asks_what_was_said(text: str) -> bool:
    """True for "what did I say about …", in the languages we know."""
    return _asked_before().search(fold(text)) is not None


def aside_words(text: str) -> frozenset[str]:
    """The roots of the words by which a question asks what was said."""
    return frozenset(root(word) for match in _asked_before().finditer(fold(text)) for word in words(match[0]))


def worth_showing(heard: Sequence[Heard], mode: Mode, *, asked: bool, known: frozenset[str], most: int) -> list[Heard]:
    """The past turns that are evidence enough, best first. `known` are the roots that shown blocks say."""
    if mode is Mode.SEARCH:
        some = any(each.matched or (each.lift or 0) >= _SEARCH_SHOWN_FROM for each in heard[:_SEARCH_LOOKED_AT])
        return list(heard[:most]) if some else []
    if asked:
        return [each for each in heard if speaks_of_it(each) and not each.passage.weak][:_ASKED_MOST]
    strong = [
        each
        for each in heard
        if each.coverage >= _PREFETCH_COVERAGE
        and (each.lift is None or each.lift >= _PREFETCH_LIFT)
        and len(each.matched) > 1
        and not each.passage.weak
        and each.weighed.covered(each.matched - known) >= _NEWS
    ]
    return strong[:_PREFETCH_MOST]


def speaks_of_it(heard: Heard) -> bool:
    """True for a past turn that says or means enough of what a question about the past is about."""
    return heard.coverage >= _ASKED_COVERAGE or (heard.lift or 0) >= _ASKED_LIFT


def evident(heard: Sequence[Heard]) -> bool:
    """True where past turns are evidence for an answer; the nearest may be shown where they are none."""
    best = heard[:_SEARCH_LOOKED_AT]
    return any(each.coverage >= _SEARCH_COVERAGE or (each.lift or 0) >= _SEARCH_LIFT for each in best)


def misplaced(heard: Sequence[Heard], names: frozenset[str]) -> bool:
    """True where a question names one speaker, and another said more of what is asked: it is not known of the one.

    On LoCoMo's tuning half this tells questions about the wrong person from the others with a balanced accuracy of .72
    (it declines .55 and .11 of them); coverage or cosine alone, .56 and .50.
    """
    looked_at = heard[:_MISPLACED_LOOKED_AT]
    named = {each.passage.speaker for each in looked_at} & names
    if len(named) != 1:
        return False
    theirs = max(each.coverage for each in looked_at if each.passage.speaker in named)
    others = max((each.coverage for each in looked_at if each.passage.speaker not in named), default=0.0)
    return others > theirs


def scores(heard: Sequence[Heard]) -> list[float]:
    """A score from 0 to 1 for each, in their order and never rising: how strong the evidence among them is."""
    return sorted((round((each.coverage + nearness(each.lift or 0.0)) / 2.25, 4) for each in heard), reverse=True)


def quote(said: Said, matched: frozenset[str]) -> Quote:
    """The sentence that holds most of what matched, and as much of what follows it as fits."""
    best, text, by_assistant = -1.0, "", False
    for side, theirs in ((said.said, False), (said.answered, True)):
        sentences = [each.strip() for each in _SENTENCE.split(side) if each.strip()]
        for place, sentence in enumerate(sentences):
            found = len(matched.intersection(root(word) for word in words(sentence)))
            weight = found - (0.5 if sentence.endswith(("?", "？")) else 0.0) - (0.25 if theirs else 0.0)
            if weight > best:
                best, text, by_assistant = weight, _from(sentences, place, matched), theirs
    return Quote(said, text, by_assistant)


def channels(heard: Heard) -> dict[str, float]:
    """What each channel says for it."""
    return {"words": round(heard.coverage, 3), "lift": round(heard.lift or 0.0, 4), "place": round(heard.score, 3)}


def why(heard: Heard, what: str = "a past turn") -> str:
    """The reason for a person."""
    reasons = []
    if heard.matched:
        reasons.append("says " + ", ".join(f"“{word}”" for word in sorted(heard.matched)[:5]))
    if heard.lift is not None and heard.lift > 0:
        reasons.append(f"is near in meaning ({heard.lift:+.3f} over the average)")
    return f"{what} that " + ("; ".join(reasons) or "stands beside one that matches")


def usable(said: Mapping[str, Said], heard: Heard, mode: Mode) -> bool:
    """True unless the turn went meanwhile, or a prefetch would say what holds no longer."""
    turn = said.get(heard.passage.turn_id)
    return turn is not None and not (turn.outdated and mode is Mode.PREFETCH)


def gives_orders(quote: Quote) -> bool:
    """True for a quote that would give a model orders: a turn may hold whatever its speaker pasted."""
    return suspicious(quote.text) is not None


def _from(sentences: Sequence[str], place: int, matched: frozenset[str]) -> str:
    text = sentences[place]
    if len(text) > QUOTE_CHARS:
        return _window(text, matched)
    for following in sentences[place + 1 :]:
        if len(text) + len(following) >= QUOTE_CHARS:
            break
        text = f"{text} {following}"
    return text


def _window(text: str, matched: frozenset[str]) -> str:
    """The part of a long sentence that holds most of what matched."""
    starts = range(0, len(text) - QUOTE_CHARS // 2, QUOTE_CHARS // 2)

    def held(start: int) -> int:
        return len(matched.intersection(root(word) for word in words(text[start : start + QUOTE_CHARS])))

    start = max(starts, key=held)
    return f"{'…' if start else ''}{text[start : start + QUOTE_CHARS].strip()}…"


@cache
def _asked_before() -> re.Pattern[str]:
    lines = (files(__package__) / "asked_before.txt").read_text("utf-8").splitlines()
    phrases = [phrase.strip() for line in lines if not line.startswith("#") for phrase in line.split(",")]
    return re.compile(r"\b(?:" + "|".join(re.escape(each) for each in sorted(phrases, key=len, reverse=True)) + r")\b")
