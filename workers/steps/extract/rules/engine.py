"""From a turn to candidates: clause by clause, as rules/__init__.py tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nextlevel.lang import detect
from nextlevel.lang.normal import Clause, clauses, normal_name
from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Candidate, Category, EntityType, Provenance, Turn

from ... import predicates, temporal
from ..found import Dropped, Extraction
from .actions import workflow
from .directive import directive, implied
from .focus import Focus, focus_of
from .names import is_database, names
from .pack import Pack, Rule, load
from .pieces import expanded, mended, pieces, without_filler
from .stance import Mood, Why, is_request, stance, unfit
from .statement import KEEPS_VERB, Statement, parse, resolve

LONGEST_TEXT = 12_000
"""Characters of a message that are read; what is longer is a paste, and its head says what it is for."""
MOST_CANDIDATES = 40
_CONTEXT = 300
_TRIM = " ,.:;!-–—"
_PORT = re.compile(r"\d{2,5}")


@dataclass(slots=True)
class _Run:
    """The state of one extraction."""

    turn: Turn
    focus: Focus
    mood: Mood
    candidates: list[Candidate] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retractions: list[str] = field(default_factory=list)


def extract(turn: Turn, window: Sequence[Turn] = ()) -> Extraction:
    """What the user states in this turn. `window` holds the session's earlier turns, oldest first.

    Pure and deterministic; every candidate's span stands verbatim in the turn.
    """
    text = turn.user_text[:LONGEST_TEXT]
    language = _language(text, window)
    pack = load(language)
    run = _Run(turn, focus_of(turn, window, pack), Mood(fiction=_in_fiction(window)))
    sentence = -1
    for clause in clauses(text):
        if clause.sentence != sentence:
            sentence, pack = clause.sentence, _pack_of(clause.text, language)
        if (why := unfit(clause)) is not None:
            run.dropped.append(Dropped(clause.text, why))
        elif pack is not None:
            _clause(clause, pack, run)
    if turn.tools and (found := workflow(turn, *_task(text, run.focus), pack)) is not None:
        run.candidates.append(found)
    return Extraction(tuple(_distinct(run.candidates)[:MOST_CANDIDATES]), tuple(run.dropped), tuple(run.retractions))


# ---- language


def _language(text: str, window: Sequence[Turn]) -> str:
    """The turn's language; a short turn speaks that of its session."""
    if len(text.split()) < 5 and window:
        text = " ".join([*(turn.user_text[:500] for turn in window[-3:]), text])
    return detect.language(text)


def _pack_of(text: str, language: str) -> Pack | None:
    """The pack for one sentence: people mix languages, so a long sentence may choose its own."""
    if len(text.split()) >= 4:
        language = detect.language(text, otherwise=language)
    return load(language)


def _in_fiction(window: Sequence[Turn]) -> bool:
    fiction = False
    for turn in window:
        pack = load(detect.language(turn.user_text))
        if (
            pack is not None
            and pack.has("fiction_start", turn.user_text)
            and not pack.has("fiction_end", turn.user_text)
        ):
            fiction = True
        elif pack is not None and pack.has("fiction_end", turn.user_text):
            fiction = False
    return fiction


# ---- one clause


def _clause(clause: Clause, pack: Pack, run: _Run) -> None:
    if retract := pack.find("retract", clause.text):
        _retract(clause, clause.text[: retract.start()], run)
        return
    explicit = pack.find("explicit", clause.text)
    run.mood.explicit = run.mood.explicit or explicit is not None
    text = clause.text
    if explicit is not None:
        text = text[explicit.end() :].strip(_TRIM) or text[: explicit.start()].strip(_TRIM)
    if not text:
        return
    for piece in pieces(text, pack):
        _piece(piece, clause, pack, run)


def _piece(piece: str, clause: Clause, pack: Pack, run: _Run) -> None:
    plain = without_filler(piece, pack)
    why = stance(plain, clause, pack, run.mood)
    if why is not None:
        run.dropped.append(Dropped(piece, why))
        return
    mended_text, slipped = mended(plain, pack)
    text = expanded(mended_text, pack)
    if not run.mood.explicit and is_request(text, pack):
        run.dropped.append(Dropped(piece, Why.ONE_OFF))
        _see(text, run)
        return
    found = list(_candidates(text, piece, clause, pack, run))
    _see(text, run)
    if not found:
        run.dropped.append(Dropped(piece, Why.NOTHING))
    corrects = slipped or pack.has("correction", piece)
    run.candidates += [replace(each, corrects=each.corrects or corrects) for each in found]


def _candidates(text: str, piece: str, clause: Clause, pack: Pack, run: _Run) -> Iterator[Candidate]:
    """By patterns first; then a directive; then a plain statement, if it has weight."""
    draft = _draft(piece, text, clause, pack, run)
    by_rule = list(_by_rules(text, draft, pack, run))
    yield from by_rule
    if by_rule and not any(rule.goes_on for rule in pack.rules if rule.name in {c.rule for c in by_rule}):
        return
    wish = directive(text, pack)
    if wish is not None:
        yield replace(
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
        return
    said = parse(text, pack, run.focus)
    weight = _weight(text, said, draft, pack)
    if said is not None and (weight >= 1 or draft.explicit):
        if said.kind == "person":
            run.focus.person = said.subject
        yield _stated(said, draft, weight, text, pack)
        return
    fragment = implied(text, pack)
    if fragment is not None:
        yield replace(
            draft,
            type=fragment.type,
            category=fragment.category,
            subject="user",
            predicate=fragment.predicate,
            object=fragment.object,
            confidence=fragment.confidence,
            rule=fragment.rule,
        )
    elif not by_rule and (weight >= 2 or draft.explicit) and len(content_words(text)) >= 2:
        yield replace(draft, object=text.strip(_TRIM), confidence=0.8 if draft.explicit else 0.55)


def _draft(piece: str, text: str, clause: Clause, pack: Pack, run: _Run) -> Candidate:
    """What all candidates of a piece share."""
    held = temporal.validity(text, run.turn.at, pack.language)
    return Candidate(
        type=BlockType.LEARNED_PATTERN,
        category=Category.PROJECT,
        subject=run.focus.subject,
        predicate="noted",
        object="",
        confidence=0.6,
        provenance=Provenance.USER_STATED,
        span=piece if piece in clause.text else clause.text,
        rule="statement",
        context=expanded(mended(clause.text, pack)[0], pack)[:_CONTEXT] if clause.text != piece else "",
        entities=tuple((name.text, name.type) for name in names(text)),
        explicit=run.mood.explicit,
        project=run.focus.project,
        valid_from=held.valid_from,
        valid_to=held.valid_to,
    )


# ---- patterns


def _by_rules(text: str, draft: Candidate, pack: Pack, run: _Run) -> Iterator[Candidate]:
    taken: set[str | tuple[str, str | None]] = set()
    # In the order of the text, so that "she" is the person named last.
    hits = [(match.start(), n, rule, match) for n, rule in enumerate(pack.rules) if (match := rule.regex.search(text))]
    for _, _, rule, match in sorted(hits, key=lambda hit: hit[:2]):
        if rule.name in taken:
            continue
        made = _made(rule, match, text, draft, pack, run)
        if made is None or (made.predicate, made.value) in taken:
            continue
        taken.add(rule.name)
        if made.value is not None:
            taken.add((made.predicate, made.value))
        yield made


def _made(rule: Rule, match: re.Match[str], text: str, draft: Candidate, pack: Pack, run: _Run) -> Candidate | None:
    groups = {name: (value or "").strip(_TRIM + "`") for name, value in match.groupdict().items()}
    subject = _subject(rule, groups, text, pack, run.focus)
    object_ = _filled(rule.object, groups)
    if not subject or not object_:
        return None
    predicate, object_ = _predicate(rule, object_, pack)
    known = predicates.get(predicate)
    entities = draft.entities
    if rule.role == "person":
        run.focus.person = subject
        entities = _with(entities, subject, EntityType.PERSON)
    elif rule.role == "value_person":
        entities = _with(entities, groups["value"], EntityType.PERSON)
    elif rule.role == "project":
        run.focus.introduced(groups["value"])
        entities = _with(entities, groups["value"], EntityType.PROJECT)
    return replace(
        draft,
        type=rule.type or known.type or BlockType.ENTITY_RELATIONSHIP,
        category=rule.category or known.category or (Category.CONTACT if rule.role == "person" else Category.PROJECT),
        subject=subject,
        predicate=predicate,
        object=object_,
        key=known.key,
        value=object_ if known.key else None,
        confidence=rule.confidence,
        rule=rule.name,
        corrects=rule.corrects,
        negated=rule.negated,
        entities=entities,
    )


def _filled(template: str, groups: dict[str, str]) -> str:
    for name, value in groups.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _subject(rule: Rule, groups: dict[str, str], text: str, pack: Pack, focus: Focus) -> str | None:
    """Whom or what a pattern speaks of, pronouns resolved."""
    if rule.subject == "user":
        return "user"
    if rule.subject == "focus":
        return focus.subject
    if rule.subject == "left":
        said = parse(text, pack, focus)
        return said.subject if said is not None and said.kind != "user" else focus.subject
    named = _filled(rule.subject, groups)
    if not named:
        return focus.subject
    if rule.role == "person":
        pronoun = not named[:1].isupper() or named.casefold() in pack.pronouns["person"]
        return focus.person if pronoun else _person(named, pack)
    return resolve(named, pack, focus)[0]


def _person(named: str, pack: Pack) -> str | None:
    """A person's name as it stands; words that are capitalised only because they begin a sentence are none."""
    first, _, rest = named.partition(" ")
    if first.casefold() in pack.pronouns["article"]:
        return rest or None
    common = (
        first.casefold() in pack.pronouns["thing"]
        or first.casefold() in pack.pronouns["first"]
        or not content_words(first)
    )
    return None if common else named


def _predicate(rule: Rule, object_: str, pack: Pack) -> tuple[str, str]:
    """A pattern's predicate, made exact by the value's form, or by the verb that a person's `responsible_for` begins with."""
    if rule.predicate == "uses" and is_database(object_):
        return "uses_database", object_
    if rule.predicate == "uses" and _PORT.fullmatch(object_):
        return "runs_on_port", object_
    verb = pack.verbs.match(object_) if rule.predicate == "responsible_for" else None
    if verb is None:
        return rule.predicate, object_
    predicate, rest = pack.said[" ".join(verb[0].casefold().split())], object_[verb.end() :].strip(_TRIM)
    if predicate in ("behaves", "needs", "uses", "goes_to", "on_host"):
        return "responsible_for", object_
    return (predicate, object_) if predicate in KEEPS_VERB or not rest else (predicate, rest)


def _with(
    entities: tuple[tuple[str, EntityType], ...], name: str, kind: EntityType
) -> tuple[tuple[str, EntityType], ...]:
    return entities if any(name == known for known, _ in entities) else (*entities, (name, kind))


# ---- statements


def _weight(text: str, said: Statement | None, draft: Candidate, pack: Pack) -> int:
    """How much speaks for keeping a plain statement. 0: small talk. 1: enough for a subject that is named."""
    if pack.has("momentary", text) and not pack.has("standing", text):
        return 0
    points = min(2, len(draft.entities))
    points += bool(draft.valid_from or draft.valid_to)
    points += pack.has("standing", text) + pack.has("quirk", text)
    if said is not None:
        points += 2 * (said.value is not None)
        points += said.predicate not in ("is", "has", "behaves", "noted") and said.kind != "user"
        points += said.kind == "person" or any(c.isdigit() for c in said.object)
        points += (
            said.subject[:1].isupper()
            and pack.language == "en"
            and said.subject.casefold() not in pack.pronouns["first"]
        )
        points += said.said == ":" or said.subject.startswith("user's ")
    return int(points) if len(content_words(text)) >= 2 else 0


def _stated(said: Statement, draft: Candidate, weight: int, text: str, pack: Pack) -> Candidate:
    known = predicates.get(said.predicate)
    kind = known.type
    if kind is None:
        quirky = pack.has("quirk", text) or pack.has("standing", text)
        kind = (
            BlockType.LEARNED_PATTERN
            if quirky or said.predicate in ("behaves", "noted")
            else BlockType.ENTITY_RELATIONSHIP
        )
    category = known.category or (
        Category.CONTACT if said.kind == "person" else Category.TECH_STACK if draft.entities else Category.PROJECT
    )
    return replace(
        draft,
        type=kind,
        category=category,
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        key=known.key if said.value else None,
        value=said.value,
        confidence=min(0.85, 0.5 + 0.1 * weight),
        rule="slot" if said.value else "statement",
    )


# ---- taking back, tasks, order


def _retract(clause: Clause, before: str, run: _Run) -> None:
    """ "Forget that": what this turn said so far; where it said nothing yet, the message before."""
    said = run.turn.user_text[: clause.start].strip() + (" " + before.strip() if before.strip() else "")
    if said.strip():
        run.retractions.append(said.strip())
    run.dropped += [Dropped(each.span, Why.FORGOTTEN) for each in run.candidates]
    run.candidates.clear()
    run.dropped.append(Dropped(clause.text, Why.FORGOTTEN))


def _task(text: str, focus: Focus) -> tuple[str, str]:
    """The words that asked for the agent's work, and a name for it."""
    asked = next(
        (clause.text for clause in clauses(text) if clause.kind == "prose" and len(content_words(clause.text)) >= 1), ""
    )
    return asked, f"{focus.project}: {asked}"[:120] if focus.project else asked[:120]


def _see(text: str, run: _Run) -> None:
    for name in names(text):
        run.focus.saw(name.text, name.type)


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Each statement once, in order, without what no block can hold: no object, or one that only repeats its subject."""
    seen: set[tuple[str, str, str]] = set()
    kept = []
    for each in candidates:
        key = (normal_name(each.subject), each.predicate, normal_name(each.object))
        if each.object and key not in seen and key[0] != key[2]:
            seen.add(key)
            kept.append(each)
    return kept
