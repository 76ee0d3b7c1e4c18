"""From a piece of a clause to candidates: by patterns, as a directive, as a statement, or as steps in an order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nextlevel.lang.normal import Clause
from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Candidate, Category, EntityType, Provenance

from ... import temporal
from .directive import Directive, directive, implied
from .focus import NOBODYS
from .names import names
from .pack import TRIM, Pack
from .patterns import by_patterns
from .pieces import expanded, mended
from .run import Run
from .stance import Why, stance
from .statement import bare_slot, is_bare_verb, is_clear, parse, points_back
from .weighing import fewest, noted, stated, weight

LONGEST_CONTEXT = 300
"""Characters of a clause that stand beside what was made of a piece of it."""


def candidates_of(text: str, piece: str, clause: Clause, pack: Pack, run: Run) -> Iterator[Candidate]:
    """What a piece states; each with the whole piece as its context where it says less than that."""
    for each in _read(text, piece, clause, pack, run):
        told = content_words(f"{each.subject} {each.predicate} {each.object}")
        partial = not each.context and not set(content_words(text)) <= set(told)
        yield replace(each, context=text[:LONGEST_CONTEXT]) if partial else each


def _read(text: str, piece: str, clause: Clause, pack: Pack, run: Run) -> Iterator[Candidate]:
    """By patterns first; then a directive; then a plain statement, if it has weight."""
    draft = draft_of(piece, text, clause, pack, run)
    found = list(by_patterns(text, draft, pack, run.focus))
    yield from (candidate for _, candidate in found)
    if found and not any(rule.goes_on for rule, _ in found):
        return
    wish = directive(text, pack)
    if wish is not None:
        yield _wished(wish, draft)
        return
    said = bare_slot(text, run.focus) or parse(text, pack, run.focus)
    if said is not None and said.kind != "user":
        run.focus.topic = said.subject
    if said is not None and (is_bare_verb(said) or points_back(said, pack)) and not draft.explicit:
        return
    points = weight(text, said, draft, pack)
    if said is not None and not is_clear(said, pack):
        said = None
    if said is not None and (points >= fewest(said) or draft.explicit):
        if said.kind == "person":
            run.focus.person = said.subject
        plain = stated(said, draft, points, text, pack, run.turn.at)
        if not _repeats(plain, [candidate for _, candidate in found]):
            yield plain
    elif (fragment := implied(text, pack)) is not None:
        yield _wished(fragment, draft)
    elif not found and (points >= 2 or draft.explicit) and len(content_words(text)) >= 2:
        # What somebody wants remembered and no project is known for is their own.
        whose = "user" if draft.explicit and run.focus.subject == NOBODYS else draft.subject
        yield noted(draft, whose, text, pack)


def _repeats(plain: Candidate, found: list[Candidate]) -> bool:
    """Whether a statement says in its own words what the patterns have found in the same piece."""
    if plain.key is not None and any((each.subject, each.key) == (plain.subject, plain.key) for each in found):
        return True
    words = set(content_words(f"{plain.subject} {plain.object}"))
    known = {word for each in found for word in content_words(f"{each.subject} {each.object}")}
    return bool(found) and plain.value is None and 2 * len(words & known) >= len(words)


def draft_of(piece: str, text: str, clause: Clause, pack: Pack, run: Run) -> Candidate:
    """What all candidates of a piece share."""
    also = [other for other in run.languages if other != pack.language]
    held = temporal.validity(text, run.turn.at, pack.language, also=also, anchor=run.named)
    run.named = held.named or run.named
    whole = expanded(mended(clause.text, pack)[0], pack)
    return Candidate(
        type=BlockType.PROCEDURAL if pack.has("steps", text) else BlockType.LEARNED_PATTERN,
        category=Category.PROJECT,
        subject=run.focus.subject,
        predicate="noted",
        object="",
        confidence=0.6,
        provenance=Provenance.USER_STATED,
        span=piece if piece in clause.text else clause.text,
        rule="statement",
        context="" if whole == text else whole[:LONGEST_CONTEXT],
        entities=names_in(text, pack),
        explicit=run.mood.is_explicit(clause),
        project=run.focus.project,
        valid_from=held.valid_from,
        valid_to=held.valid_to,
    )


def names_in(text: str, pack: Pack) -> tuple[tuple[str, EntityType], ...]:
    """The names of a text as a candidate carries them."""
    return tuple((name.text, name.type) for name in names(text, full_names=not pack.nouns_capitalised))


def _wished(wish: Directive, draft: Candidate) -> Candidate:
    return replace(
        draft,
        type=wish.type,
        category=wish.category,
        subject="user",
        predicate=wish.predicate,
        object=wish.object,
        negated=wish.negated,
        confidence=wish.confidence,
        rule=wish.rule,
    )


def procedure(text: str, clause: Clause, pack: Pack, run: Run) -> bool:
    """ "how a release goes: build, test, tag": the steps are one memory, however many commas part them."""
    head, colon, steps = text.partition(": ")
    if not colon or steps.count(",") + steps.count(" then ") + steps.count(" dann ") < 2:
        return False
    if pack.match("procedure", head) is None or stance(head, clause, pack, run.mood) not in (None, Why.QUESTION):
        return False
    draft = draft_of(text, text, clause, pack, run)
    run.candidates.append(
        replace(
            draft,
            type=BlockType.PROCEDURAL,
            category=Category.WORKFLOW,
            subject=_title(head, pack) or run.focus.subject,
            predicate="done_by",
            object=steps.strip(TRIM),
            confidence=0.9,
            rule="procedure",
            entities=names_in(steps, pack),
        )
    )
    return True


def _title(head: str, pack: Pack) -> str:
    """ "so you know how a release goes here" is about the release."""
    lead, tail = pack.match("procedure_lead", head), pack.find("procedure_tail", head)
    return head[lead.end() if lead else 0 : tail.start() if tail else len(head)].strip(TRIM)
