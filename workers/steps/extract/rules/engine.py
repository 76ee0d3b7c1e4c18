"""From a turn to candidates: clause by clause, as rules/__init__.py tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from nextlevel.lang.normal import Clause, clauses, normal_name
from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Candidate, Category, EntityType, Provenance, Turn

from ... import temporal
from ..found import Dropped, Extraction
from .accepted import accepted
from .actions import workflow
from .directive import Directive, directive, implied
from .focus import NOBODYS, Focus, focus_of
from .mentions import is_known, spoken_of
from .names import names
from .pack import TRIM, Pack, load
from .patterns import by_patterns
from .pieces import expanded, mended, pieces, without_filler
from .spoken import in_fiction, language_of, languages_of, pack_of
from .stance import Mood, Why, is_request, stance, unfit, without_dump
from .statement import bare_slot, is_clear, parse
from .weighing import fewest, stated, weight

LONGEST_HEAD, LONGEST_TAIL = 6_000, 2_000
"""Characters of a message that are read; what is longer is a paste, and its head or its end says what it is for."""
HEAD_CLAUSES, TAIL_CLAUSES = 90, 30
MOST_CANDIDATES = 40
_CONTEXT = 300
_ACCEPTED = 0.7
"""Most that a proposal is worth which the user only said yes to."""


@dataclass(slots=True)
class _Run:
    """The state of one extraction. `languages` are those of the session so far, `named` the day last spoken of."""

    turn: Turn
    text: str
    focus: Focus
    mood: Mood
    languages: frozenset[str]
    named: date | None = None
    latest: tuple[int, int] = (-1, 0)
    candidates: list[Candidate] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retractions: list[str] = field(default_factory=list)

    def drop(self, text: str, why: Why) -> None:
        self.dropped.append(Dropped(text, why))


def extract(turn: Turn, window: Sequence[Turn] = ()) -> Extraction:
    """What the user states in this turn. `window` holds the session's earlier turns, oldest first.

    Pure and deterministic; every candidate's span stands verbatim in the turn.
    """
    text, cut = _bounded(turn.user_text)
    text, pasted = without_dump(text)
    language = language_of(text, window)
    pack = load(language)
    mood = Mood(fiction=in_fiction(window))
    run = _Run(turn, text, focus_of(turn, window, pack), mood, languages_of(text, language, window))
    if cut:
        run.drop(f"{cut} characters of {len(turn.user_text)}", Why.CUT)
    if pasted:
        run.drop(pasted, Why.DUMP)
    sentence = -1
    said = clauses(text)
    if (over := len(said) - HEAD_CLAUSES - TAIL_CLAUSES) > 0:
        run.drop(f"{over} clauses of {len(said)}", Why.CUT)
        said = said[:HEAD_CLAUSES] + said[-TAIL_CLAUSES:]
    for clause in said:
        if clause.sentence != sentence:
            sentence, pack = clause.sentence, pack_of(clause.text, language)
        if (why := unfit(clause)) is not None:
            run.drop(clause.text, why)
        elif pack is not None:
            _clause(clause, pack, run)
    if pack is not None:
        _accept(turn, window, pack, run)
    if turn.tools and (found := workflow(turn, *_task(text, run.focus), pack)) is not None:
        run.candidates.append(
            replace(found, entities=spoken_of(found, f"{found.span}; {found.object}", pack, run.focus))
        )
    return Extraction(tuple(_distinct(run.candidates)[:MOST_CANDIDATES]), tuple(run.dropped), tuple(run.retractions))


def _bounded(text: str) -> tuple[str, int]:
    """The head and the end of a long message, and how many characters between them are not read."""
    cut = len(text) - LONGEST_HEAD - LONGEST_TAIL
    return (f"{text[:LONGEST_HEAD]}\n{text[-LONGEST_TAIL:]}", cut) if cut > 0 else (text, 0)


# ---- one clause


def _clause(clause: Clause, pack: Pack, run: _Run) -> None:
    if retract := pack.find("retract", clause.text):
        named = next((what for what in retract.groupdict().values() if what), None)
        _retract(clause, named, clause.text[: retract.start()], run)
        return
    explicit = pack.find("explicit", clause.text)
    text = clause.text
    if explicit is not None:
        text = text[explicit.end() :].strip(TRIM) or text[: explicit.start()].strip(TRIM)
        run.mood.asks_to_keep(clause, text)
        if explicit.start() == 0:  # "can you remember that …?" asks for no answer
            clause = replace(clause, ends=".")
    else:
        run.mood.goes_on(clause)
    if pack.has("sarcasm", text):
        run.mood.sarcasm = clause.sentence
    text = without_filler(text, pack)
    if _procedure(text, clause, pack, run):
        return
    asked = False
    for n, piece in enumerate(parts := pieces(text, pack) if text else []):
        # A wish of today may follow what is to be remembered: "…, and then run the tests".
        wished = n > 0 and run.mood.is_explicit(clause) and is_request(without_filler(piece, pack), pack)
        if wished or (asked and not pack.has("always", piece)):
            run.drop(piece, Why.ONE_OFF)
            continue
        # The question mark is that of the last piece, where the user asks to remember the others.
        told = n + 1 < len(parts) and run.mood.is_explicit(clause)
        asked = _piece(piece, replace(clause, ends=".") if told else clause, pack, run) is Why.ONE_OFF


def _procedure(text: str, clause: Clause, pack: Pack, run: _Run) -> bool:
    """ "how a release goes: build, test, tag": the steps are one memory, however many commas part them."""
    head, colon, steps = text.partition(": ")
    if not colon or steps.count(",") + steps.count(" then ") + steps.count(" dann ") < 2:
        return False
    if pack.match("procedure", head) is None or stance(head, clause, pack, run.mood) not in (None, Why.QUESTION):
        return False
    draft = _draft(text, text, clause, pack, run)
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


def _piece(piece: str, clause: Clause, pack: Pack, run: _Run) -> Why | None:
    """One statement: candidates, or the reason why there are none."""
    plain = without_filler(piece, pack)
    if tail := pack.find("tail", plain):
        plain = plain[: tail.start()].rstrip(TRIM) or plain
    why = stance(plain, clause, pack, run.mood)
    text, slipped = mended(plain, pack)
    text = expanded(text, pack)
    if why is None and not run.mood.is_explicit(clause) and is_request(text, pack):
        why = Why.ONE_OFF
    if why is None and (ceased := _ceased(text, pack, run.focus)) is not None:
        run.retractions.append(ceased)
        why = Why.NO_LONGER
    if why is None and _only_dates(clause.text if clause.text.endswith(piece) else piece, clause, pack, run):
        return None
    found = list(_candidates(text, piece, clause, pack, run)) if why is None else []
    for name, kind in names_in(text, pack):
        run.focus.saw(name, kind)
    if (named := pack.find("named_last", text)) and not is_known(named["name"], pack.language):
        run.focus.saw(named["name"], EntityType.PERSON)
    if not found:
        why = why or Why.NOTHING
        run.drop(piece, why)
    corrects = slipped or pack.has("correction", piece) or pack.match("objection", clause.text) is not None
    run.candidates += [
        replace(each, corrects=each.corrects or corrects, entities=spoken_of(each, clause.text, pack, run.focus))
        for each in found
    ]
    if found:
        run.latest = (clause.sentence, len(found))
    if found and found[-1].subject != "user":
        run.focus.topic = found[-1].subject
    return why


def _only_dates(text: str, clause: Clause, pack: Pack, run: _Run) -> bool:
    """Whether a piece without a verb only tells since or until when what the sentence has just said holds."""
    sentence, size = run.latest
    if sentence != clause.sentence or pack.verbs.search(text) or not temporal.begins_with_bound(text, pack.language):
        return False
    held = temporal.validity(text, run.turn.at, pack.language, anchor=run.named)
    if held.valid_from is None and held.valid_to is None:
        return False
    for n in range(len(run.candidates) - size, len(run.candidates)):
        each = run.candidates[n]
        if each.valid_from is None and each.valid_to is None:
            run.candidates[n] = replace(each, valid_from=held.valid_from, valid_to=held.valid_to)
    return True


def _candidates(text: str, piece: str, clause: Clause, pack: Pack, run: _Run) -> Iterator[Candidate]:
    """By patterns first; then a directive; then a plain statement, if it has weight."""
    draft = _draft(piece, text, clause, pack, run)
    found = list(by_patterns(text, draft, pack, run.focus))
    yield from (candidate for _, candidate in found)
    if found and not any(rule.goes_on for rule, _ in found):
        return
    wish = directive(text, pack)
    if wish is not None:
        yield _wished(wish, draft)
        return
    said = bare_slot(text, run.focus) or parse(text, pack, run.focus)
    points = weight(text, said, draft, pack)
    if said is not None and said.kind != "user":
        run.focus.topic = said.subject
    if said is not None and not is_clear(said, pack):
        said = None
    if said is not None and (points >= fewest(said) or draft.explicit):
        if said.kind == "person":
            run.focus.person = said.subject
        yield stated(said, draft, points, text, pack, run.turn.at)
    elif (fragment := implied(text, pack)) is not None:
        yield _wished(fragment, draft)
    elif not found and (points >= 2 or draft.explicit) and len(content_words(text)) >= 2:
        # What somebody wants remembered and no project is known for is their own.
        whose = "user" if draft.explicit and run.focus.subject == NOBODYS else draft.subject
        yield replace(draft, subject=whose, object=text.strip(TRIM), confidence=0.75)


def _draft(piece: str, text: str, clause: Clause, pack: Pack, run: _Run) -> Candidate:
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
        context="" if whole == text else whole[:_CONTEXT],
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


# ---- taking back, accepting, tasks, order


def _retract(clause: Clause, named: str | None, before: str, run: _Run) -> None:
    """ "Forget what I said about X" takes back X; "forget that", what this turn said so far."""
    run.drop(clause.text, Why.FORGOTTEN)
    if named is not None:
        run.retractions.append(named.strip())
        return
    said = f"{run.text[: clause.start]} {before}".strip()
    if said:
        run.retractions.append(said)
    for each in run.candidates:
        run.drop(each.span, Why.FORGOTTEN)
    run.candidates.clear()


def _ceased(text: str, pack: Pack, focus: Focus) -> str | None:
    """ "X no longer runs on 8080" takes back "X runs on 8080". A rule ("no bullets any more") takes nothing back."""
    if not pack.has("no_longer", text) or directive(text, pack) is not None:
        return None
    held = pack.cues["no_longer"].sub(" ", text)
    said = parse(" ".join(held.split()), pack, focus)
    return None if said is None or said.kind == "user" else f"{said.subject} {said.said} {said.object}".strip()


def _accept(turn: Turn, window: Sequence[Turn], pack: Pack, run: _Run) -> None:
    """A proposal of the assistant that the user says yes to, if it states a slot, a relation or a rule."""
    if (found := accepted(turn, window, pack)) is None:
        return
    proposal, yes = found
    text = expanded(proposal, pack)
    draft = replace(
        _draft(yes, text, Clause(proposal, 0), pack, run), span=yes, context=proposal[:_CONTEXT], explicit=False
    )
    for _, each in by_patterns(text, draft, pack, run.focus):
        certain = min(each.confidence, _ACCEPTED)
        run.candidates.append(replace(each, provenance=Provenance.USER_ACCEPTED, confidence=certain))


def _task(text: str, focus: Focus) -> tuple[str, str]:
    """The words that asked for the agent's work, and a name for it."""
    prose = (clause.text for clause in clauses(text) if clause.kind == "prose")
    asked = next((said for said in prose if content_words(said)), "")
    return asked, (f"{focus.project}: {asked}" if focus.project else asked)[:120]


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Each statement once, in order, without what no block can hold: no object, or one that repeats its subject."""
    seen: set[tuple[str, str, str]] = set()
    kept = []
    for each in candidates:
        key = (normal_name(each.subject), each.predicate, normal_name(each.object))
        if each.object and key not in seen and key[0] != key[2]:
            seen.add(key)
            kept.append(each)
    return kept
