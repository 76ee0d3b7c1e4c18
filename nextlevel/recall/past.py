"""Past turns in an answer: which of them are worth a line beside the blocks, and what is quoted of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nextlevel.lang.dump import without_dump
from nextlevel.lang.roots import root
from nextlevel.lang.tokens import fold, words
from nextlevel.safety.injection import suspicious
from nextlevel.store.passages import Said as Turn

from .answer import Mode
from .asked import is_question
from .coverage import Said, evidence, nearness
from .demand import Demand
from .passages import Heard

# A prefetch joins a turn uninvited, and a turn of long ago is no fact: it must be evidence of both kinds, and say more
# of what is asked than any fact that is shown, and at least half of it. Where nothing is compared, words alone must do.
_PREFETCH_LOOKED_AT, _PREFETCH_LIFT, _NEAR_LIFT = 10, 0.03, 0.09
_PREFETCH_EVIDENCE, _PREFETCH_WORDS, _PREFETCH_SHARE, _AHEAD = 1.05, 0.8, 0.5, 0.1
# Where the question is what was said, a turn is what it asks for.
_ASKED_COVERAGE, _ASKED_LIFT, _ASKED_BESIDE, _ASKED_MOST = 0.34, 0.065, 0.6, 5
# In a search a person chooses: the nearest are shown, and where even they are no evidence, the answer says that.
_SEARCH_COVERAGE, _SEARCH_LIFT, _SEARCH_LOOKED_AT = 0.10, 0.045, 5
_SEARCH_SHOWN_FROM = 0.02
_MISPLACED_LOOKED_AT = 30
QUOTE_CHARS = 240

# A sign between spaces is spoken of, and ends nothing: "it comes out as ? in the file".
_SENTENCE = re.compile(r"(?<=\S[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of a past turn: the words around what matched, and whose they are."""

    said: Turn
    text: str
    by_assistant: bool


def asks_what_was_said(text: str) -> bool:
    """True for "what did I say about …", in the languages we know."""
    return _asked_before().search(fold(text)) is not None


def aside_words(text: str) -> frozenset[str]:
    """The roots of the words by which a question asks what was said."""
    return frozenset(root(word) for match in _asked_before().finditer(fold(text)) for word in words(match[0]))


def worth_showing(heard: Sequence[Heard], mode: Mode, *, most: int) -> list[Heard]:
    """The past turns that are evidence enough for who asks for them, best first."""
    if mode is Mode.SEARCH:
        some = any(each.matched or (each.lift or 0) >= _SEARCH_SHOWN_FROM for each in heard[:_SEARCH_LOOKED_AT])
        return list(heard[:most]) if some else []
    telling = [each for each in heard if speaks_of_it(each) and not each.passage.weak]
    best = max((each.coverage for each in telling), default=0.0)
    return [each for each in telling if each.coverage >= _ASKED_BESIDE * best][:_ASKED_MOST]


def worth_reading(heard: Sequence[Heard]) -> list[Heard]:
    """The past turns that may say more than any fact does, for a prefetch that does not ask for turns."""
    near = [each for each in heard if each.lift is None or each.lift >= _PREFETCH_LIFT]
    return [each for each in near if not each.passage.weak][:_PREFETCH_LOOKED_AT]


def telling(read: Sequence[tuple[Heard, Turn]], demand: Demand, shown: float) -> list[Heard]:
    """The one past turn that says most of what is asked, if it says more than the facts that are `shown` (evidence)."""
    judged = []
    for each, turn in read:
        said = _said(turn)
        if not is_question(turn.said) and demand.agrees(turn.project, said):  # it tells something, and not of elsewhere
            judged.append((_evidence(each, turn, said, demand), each))
    evidence, best = max(judged, key=lambda pair: pair[0], default=(0.0, None))
    if best is None or (shown and evidence < shown + _AHEAD):
        return []
    return [best] if evidence >= (_PREFETCH_WORDS if best.lift is None else _PREFETCH_EVIDENCE) else []


def _evidence(heard: Heard, turn: Turn, said: Said, demand: Demand) -> float:
    if not demand.about.matched(said) and (heard.lift or 0.0) < _NEAR_LIFT:
        return 0.0
    if demand.about.covered(said) < _PREFETCH_SHARE:
        return 0.0
    share = demand.share_of_turn(said, turn.said)
    return share if heard.lift is None else evidence(share, nearness(heard.lift))


def _said(turn: Turn) -> Said:
    return Said.of(words(without_dump(turn.said)[0]))


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
    return sorted((round(_score(each), 4) for each in heard), reverse=True)


def _score(heard: Heard) -> float:
    """On the scale of a fact's in a search, which knows no nearness either where nothing is compared."""
    if heard.lift is None:
        return heard.coverage / 1.25
    return (heard.coverage + nearness(heard.lift)) / 2.25


def quote(said: Turn, matched: frozenset[str]) -> Quote:
    """The sentence that holds most of what matched, and as much of what follows it as fits."""
    best, text, by_assistant = -1.0, "", False
    for side, theirs in ((said.said, False), (said.answered, True)):
        sentences = [each.strip() for each in _SENTENCE.split(without_dump(side)[0] or side) if each.strip()]
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


def usable(said: Mapping[str, Turn], heard: Heard, mode: Mode) -> bool:
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
