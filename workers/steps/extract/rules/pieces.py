"""Clauses cut finer, where a comma parts two statements; and slips of the tongue mended."""

from __future__ import annotations

import re

from .pack import Pack

_COMMA = re.compile(r",\s+")
_VALUE = r"[\w./:@~+#-]*[\w/]"
_OPENERS = re.compile(
    r"(?:i|im|i['’]m|we|he|she|it|its|it['’]s|they|that|thats|there|this|my|our|her|his|the|you|u|never|always|no|and|but|so|use|dont|don['’]t|"
    r"ich|wir|er|sie|es|das|die|der|mein\w*|unser\w*|da|dann|nie|immer|kein\w*|nur|bitte|und|aber|also|sonst)\b|[`@~/]|[A-ZÀ-Þ]",
    re.IGNORECASE,
)


def pieces(text: str, pack: Pack) -> list[str]:
    """The statements between the commas of a clause. One without a verb of its own stays with what precedes it."""
    cuts = [0]
    for comma in _COMMA.finditer(text):
        tail = text[comma.end() :]
        nxt = _COMMA.search(tail)
        piece = tail[: nxt.start()] if nxt else tail
        before = text[cuts[-1] : comma.start()]
        if _stands_alone(piece, pack) and _is_statement(before, pack):
            cuts.append(comma.end())
    return [text[a:b].rstrip(", ") for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _stands_alone(piece: str, pack: Pack) -> bool:
    if _OPENERS.match(piece) is None and pack.match("directive_yes", piece) is None:
        return False
    return _is_statement(piece, pack)


def _is_statement(piece: str, pack: Pack) -> bool:
    verb = pack.verbs.search(piece)
    if verb is not None:
        return True
    return any(pack.match(cue, piece) for cue in ("directive_no", "directive_none", "directive_yes", "first_taste"))


def mended(text: str, pack: Pack) -> tuple[str, bool]:
    """The clause as meant, where the speaker corrects a value in the same breath: "8899, er, 8898" is 8898."""
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
    while (filler := pack.match("filler", rest)) and (shorter := rest[filler.end() :].lstrip(" ,:.!-–")):
        rest = shorter
    return rest


def expanded(text: str, pack: Pack) -> str:
    """Contractions written out, for the parser only."""
    for pattern, full in pack.contractions:
        text = pattern.sub(full, text)
    return text
