"""What the rules found and what the model found, joined: the same fact is one candidate, as sure as the surer one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import content_words
from nextlevel.model import Candidate

from .found import Extraction

_VAGUE = frozenset({"noted", "is", "has"})
"""Predicates by which the rules say no more than "this was said"."""


def merged(rules: Extraction, model: Extraction) -> Extraction:
    """Both findings. Where they agree, the rules' candidate stays unless it only says that something was noted."""
    left = _distinct(model.candidates)
    kept = []
    for ours in rules.candidates:
        same = next((theirs for theirs in left if _same(ours, theirs)), None)
        if same is None:
            kept.append(ours)
        else:
            left.remove(same)
            kept.append(_joined(ours, same))
    return Extraction(tuple(kept + left), rules.dropped + model.dropped, rules.retractions + model.retractions)


def _same(one: Candidate, other: Candidate) -> bool:
    if one.negated != other.negated or normal_name(one.subject) != normal_name(other.subject):
        return False
    if one.key is not None and one.key == other.key and one.value is not None and other.value is not None:
        return normal_name(one.value) == normal_name(other.value)
    ours, theirs = set(content_words(one.object)), set(content_words(other.object))
    if not ours or not theirs:
        return normal_name(one.object) == normal_name(other.object)
    if one.predicate == other.predicate:
        return ours == theirs
    # Told by the same words, under two names of the relation.
    overlaps = one.span in other.span or other.span in one.span
    return overlaps and (ours <= theirs or theirs <= ours)


def _joined(ours: Candidate, theirs: Candidate) -> Candidate:
    stays = theirs if ours.predicate in _VAGUE and theirs.predicate not in _VAGUE else ours
    return replace(
        stays,
        confidence=max(ours.confidence, theirs.confidence),
        explicit=ours.explicit or theirs.explicit,
        corrects=ours.corrects or theirs.corrects,
        entities=tuple(dict.fromkeys([*ours.entities, *theirs.entities])),
        valid_from=ours.valid_from or theirs.valid_from,
        valid_to=ours.valid_to or theirs.valid_to,
        rule=f"{ours.rule}+model",
    )


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The model's, each fact once: small models repeat themselves, and the parts of a long turn overlap."""
    kept: list[Candidate] = []
    for each in candidates:
        if not any(_same(each, other) for other in kept):
            kept.append(each)
    return kept
