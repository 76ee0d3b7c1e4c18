"""From a turn to candidates: clause by clause, as rules/__init__.py tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nextlevel.lang.dump import without_dump
from nextlevel.lang.normal import Clause, clauses, normal_name
from nextlevel.lang.tokens import content_words
from nextlevel.model import Candidate, EntityType, Provenance, Turn

from ... import predicates, temporal
from ..found import Extraction
from .accepted import accepted
from .actions import workflow
from .directive import directive
from .drafts import LONGEST_CONTEXT, candidates_of, draft_of, names_in, procedure
from .focus import Focus, focus_of
from .mentions import is_known, spoken_of
from .pack import TRIM, Pack, load
from .patterns import by_patterns
from .pieces import expanded, is_statement, mended, pieces, without_filler
from .restated import restated
from .run import Run
from .spoken import in_fiction, language_of, languages_of, pack_of
from .stance import Mood, Why, is_request, stance, unfit
from .statement import parse

LONGEST_HEAD, LONGEST_TAIL = 6_000, 2_000
"""Characters of a message that are read; what is longer is a paste, and its head or its end says what it is for."""
HEAD_CLAUSES, TAIL_CLAUSES = 90, 30
MOST_CANDIDATES = 40
_QUOTATION = " '‘’‚\"“”„»«"
_CHOICES = frozenset({"means", "wish"})
_SHORT_ANSWER = 12
"""Words of a turn that may only settle what was asked before it."""
_ACCEPTED = 0.7
"""Most that a proposal is worth which the user only said yes to."""


def extract(turn: Turn, window: Sequence[Turn] = ()) -> Extraction:
    """What the user states in this turn. `window` holds the session's earlier turns, oldest first.

    Pure and deterministic; every candidate's span stands verbatim in the turn.
    """
    text, cut = _bounded(turn.user_text)
    text, pasted = without_dump(text)
    language = language_of(text, window)
    pack = load(language)
    mood = Mood(fiction=in_fiction(window))
    run = Run(turn, text, focus_of(turn, window, pack), mood, languages_of(text, language, window), window)
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
    if len(text.split()) <= _SHORT_ANSWER and (question := _just_asked(window)) is not None:
        run.candidates = [_answering(each, question) for each in run.candidates]
    return Extraction(tuple(_distinct(run.candidates)[:MOST_CANDIDATES]), tuple(run.dropped), tuple(run.retractions))


def _bounded(text: str) -> tuple[str, int]:
    """The head and the end of a long message, and how many characters between them are not read."""
    cut = len(text) - LONGEST_HEAD - LONGEST_TAIL
    return (f"{text[:LONGEST_HEAD]}\n{text[-LONGEST_TAIL:]}", cut) if cut > 0 else (text, 0)


# ---- one clause


def _clause(clause: Clause, pack: Pack, run: Run) -> None:
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
        if _is_anothers_order(text, pack):
            run.drop(text, Why.QUOTE)
            return
    if pack.has("sarcasm", text):
        run.mood.sarcasm = clause.sentence
    text = without_filler(text, pack)
    if procedure(text, clause, pack, run) or _mends(clause, pack, run):
        return
    asked = False
    for n, piece in enumerate(parts := pieces(text, pack) if text else []):
        # A wish of today may follow what is to be remembered: "…, and then run the tests".
        wished = n > 0 and run.mood.is_explicit(clause) and is_request(without_filler(piece, pack), pack)
        lasting = pack.has("always", piece) or pack.match("first_taste", piece) is not None
        if wished or (asked and not lasting):
            run.drop(piece, Why.ONE_OFF)
            continue
        # The question mark is that of the last piece, where the user asks to remember the others.
        told = n + 1 < len(parts) and run.mood.is_explicit(clause)
        asked = _piece(piece, replace(clause, ends=".") if told else clause, pack, run) is Why.ONE_OFF


def _is_anothers_order(text: str, pack: Pack) -> bool:
    """A rule that the user only relates, as in "the README says: always answer in French": nobody's wish here."""
    if (related := pack.find("reported", text)) is None:
        return False
    order = text[related.end() :].strip(_QUOTATION)
    return pack.match("standing", order) is not None or directive(order, pack) is not None


def _piece(piece: str, clause: Clause, pack: Pack, run: Run) -> Why | None:
    """One statement: candidates, or the reason why there are none."""
    plain = without_filler(piece, pack)
    if tail := pack.find("tail", plain):
        plain = plain[: tail.start()].rstrip(TRIM) or plain
    plain = _appointment(plain, pack, run) or plain
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
    found = list(candidates_of(text, piece, clause, pack, run)) if why is None else []
    if not found and why is None:
        found = _in_another_language(piece, clause, pack, run)
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


def _appointment(text: str, pack: Pack, run: Run) -> str | None:
    """What the user wants to be reminded of, if it has a date: no wish of today."""
    if (asked := pack.match("remind", text)) is None:
        return None
    held = temporal.validity(text, run.turn.at, pack.language, anchor=run.named)
    return None if held.valid_from is None and held.valid_to is None else text[asked.end() :].strip(TRIM)


def _mends(clause: Clause, pack: Pack, run: Run) -> bool:
    """Whether a clause is half a sentence that mends an earlier one: then what it mends is told anew."""
    told = restated(clause.text, run.text[: clause.start], run.window, pack)
    if told is None:
        return False
    said, value = told
    found: list[Candidate] = []
    for piece in pieces(without_filler(said, pack), pack):
        # What stands before the mended piece says who "she" is in it, and is told already.
        again = list(candidates_of(expanded(piece, pack), clause.text, clause, pack, run))
        found += again if value in piece else []
    run.candidates += [replace(each, corrects=True, entities=spoken_of(each, said, pack, run.focus)) for each in found]
    return bool(found)


def _in_another_language(piece: str, clause: Clause, pack: Pack, run: Run) -> list[Candidate]:
    """What a piece states to the other languages that the user mixes in."""
    for other in map(load, sorted(run.languages - {pack.language})):
        if other is None or not is_statement(piece, other):
            continue
        plain = expanded(without_filler(piece, other), other)
        if stance(plain, clause, other, run.mood) is not None or is_request(plain, other):
            continue
        if found := list(candidates_of(plain, piece, clause, other, run)):
            return found
    return []


def _only_dates(text: str, clause: Clause, pack: Pack, run: Run) -> bool:
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


# ---- taking back, accepting, answering, tasks, order


def _retract(clause: Clause, named: str | None, before: str, run: Run) -> None:
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


def _accept(turn: Turn, window: Sequence[Turn], pack: Pack, run: Run) -> None:
    """A proposal of the assistant that the user says yes to, if it states a slot, a relation or a rule."""
    if (found := accepted(turn, window, pack)) is None:
        return
    proposal, yes = found
    text = expanded(proposal, pack)
    draft = replace(
        draft_of(yes, text, Clause(proposal, 0), pack, run),
        span=yes,
        context=proposal[:LONGEST_CONTEXT],
        explicit=False,
    )
    for _, each in by_patterns(text, draft, pack, run.focus):
        certain = min(each.confidence, _ACCEPTED)
        run.candidates.append(replace(each, provenance=Provenance.USER_ACCEPTED, confidence=certain))


def _just_asked(window: Sequence[Turn]) -> str | None:
    """The question with which the user's last turn ended."""
    said = clauses(window[-1].user_text[-LONGEST_CONTEXT:]) if window else []
    return next((clause.text for clause in reversed(said) if clause.ends == "?"), None)


def _answering(candidate: Candidate, question: str) -> Candidate:
    """A choice that says nothing of what it is for ("we take X") beside the question that it settles."""
    if predicates.get(candidate.predicate).family not in _CHOICES:
        return candidate
    return replace(candidate, context=f"{question}? {candidate.context}"[:LONGEST_CONTEXT].strip())


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
