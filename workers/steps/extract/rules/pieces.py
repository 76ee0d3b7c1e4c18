"""Clauses cut finer, where a comma parts two statements; and slips of the tongue mended."""

from __future__ import annotations

import re

from .pack import Pack

_VALUE = r"[\w./:@~+#-]*[\w/]"
_MOST_BEFORE_VERB = 4
"""Words that may stand before the verb of a piece that is a statement of its own."""


def pieces(text: str, pack: Pack) -> list[str]:
    """The statements between a clause's commas and "and"s. A piece without a verb stays with what precedes it."""
    if pack.has("was_now", text):
        return [text]
    cuts = [0]
    for joint in pack.joints.finditer(text):
        following = pack.joints.search(text, joint.end() + 4)
        piece = text[joint.end() : following.start() if following else len(text)]
        before = text[cuts[-1] : joint.start()]
        same_subject = joint[0].isspace() and not pack.has("subordinate", before)
        states = is_statement(before, pack) or pack.match("directive_none", piece) is not None
        if states and _stands_alone(piece, pack, same_subject=same_subject):
            cuts.append(joint.end())
    return [text[a:b].strip(", ") for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _stands_alone(piece: str, pack: Pack, *, same_subject: bool) -> bool:
    """It has a verb near its head, with something before it unless "and" is; or it begins like a directive."""
    piece = expanded(without_filler(piece, pack), pack)
    if pack.match("never_alone", piece):
        return False
    verb = pack.verbs.search(piece)
    if (
        verb is not None
        and (0 if same_subject or pack.pro_drop else 1) <= len(piece[: verb.start()].split()) <= _MOST_BEFORE_VERB
    ):
        return True
    return any(pack.match(cue, piece) for cue in ("directive_no", "directive_none", "directive_yes", "first_taste"))


def is_statement(piece: str, pack: Pack) -> bool:
    """Whether a text, as this language reads it, has a verb or begins like a directive."""
    piece = expanded(without_filler(piece, pack), pack)
    if pack.verbs.search(piece) is not None:
        return True
    return any(pack.match(cue, piece) for cue in ("directive_no", "directive_none", "directive_yes", "first_taste"))


def speaks(text: str, pack: Pack) -> bool:
    """Whether a text, as this language reads it, is anything at all: a statement, a greeting, a question, a taste."""
    return is_statement(text, pack) or any(
        pack.match(cue, text) for cue in ("forbids", "greeting", "question", "third_person_taste")
    )


def mended(text: str, pack: Pack) -> tuple[str, bool]:
    """The clause as meant, where the speaker corrects a value in the same breath: "8899, er, 8898" is 8898."""
    if was := pack.find("was_now", text):
        verb = pack.verbs.search(text, 0, was.start())
        head = text[: verb.start() if verb else was.start()].rstrip(" ,:")
        return f"{head} {pack.copula} {text[was.end() :]}", True
    restart = pack.cues["restart"].pattern
    slip = re.compile(
        rf"(?P<old>{_VALUE})(?:,|\s-|\s–|\.{{2,3}}|…)?\s+(?:{restart})[,:.]?\s+(?P<new>{_VALUE})", re.IGNORECASE
    )

    def keep_new(match: re.Match[str]) -> str:
        return match["new"] if _alike(match["old"], match["new"]) else match[0]

    changed = slip.sub(keep_new, text)
    return changed, changed != text


def _alike(old: str, new: str) -> bool:
    """Both numbers, or both names with a digit or a sign in them: else the words around are no slip."""
    return (any(c.isdigit() for c in old) and any(c.isdigit() for c in new)) or (
        not old.isalpha() and not new.isalpha() and any(c.isalpha() for c in old) and any(c.isalpha() for c in new)
    )


def without_filler(text: str, pack: Pack) -> str:
    """The clause without the words at its head that carry nothing; where nothing else is left, the clause."""
    rest = text
    while (head := pack.match("filler", rest) or pack.match("objection", rest)) and (
        shorter := rest[head.end() :].lstrip(" ,:.!-–")
    ):
        rest = shorter
    return rest


def expanded(text: str, pack: Pack) -> str:
    """Contractions written out, for the parser only."""
    for pattern, full in pack.contractions:
        text = pattern.sub(full, text)
    return text
