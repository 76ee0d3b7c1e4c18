"""Secrets out of a text, before it is written, sent or shown anywhere. What goes is told by kind, never by content."""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .secret_patterns import FAMILIES, Family, Pattern

_GROUPS = ("secret", "dq", "sq", "bt")
_PLACEHOLDER = "[redacted:"
_LONGEST_PLACEHOLDER = 64
# Taking a secret out can bare another (a token glued to it), so a changed text is looked at again.
_MOST_PASSES = 5


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets, and how many of each kind went."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace each secret by `[redacted:<kind>]`. Doing it twice changes nothing more.

    Time is linear in the text; a family of patterns is tried only where one of its literals stands.

    >>> redact("postgres://app:hunter2@db/shop").text
    'postgres://app:[redacted:connection_string]@db/shop'
    """
    counts: Counter[str] = Counter()
    for _ in range(_MOST_PASSES):
        found = _pass(text, counts)
        if found == text:
            break
        text = found
    return Redacted(text, dict(counts))


def _pass(text: str, counts: Counter[str]) -> str:
    seen = _Seen(text)
    for family in seen.literals:
        starts = seen.starts(family)
        for pattern in family.patterns if starts else ():
            changed = _replaced(seen.text, _matches(seen.text, starts, pattern), _replacer(pattern, counts))
            if changed is not seen.text:
                seen = seen.after(changed)
                starts = seen.starts(family)
    return seen.text


def matches(text: str, family: Family, pattern: Pattern) -> list[re.Match[str]]:
    """What `finditer` finds, though it is looked for only where a match can begin."""
    return list(_matches(text, _Seen(text).starts(family), pattern))


def _matches(text: str, starts: Iterable[int], pattern: Pattern) -> Iterator[re.Match[str]]:
    if starts is _ANYWHERE:
        yield from pattern.regex.finditer(text)
        return
    end = 0
    for start in starts:
        if start >= end and (match := pattern.regex.match(text, start)):
            yield match
            end = match.end()


_ANYWHERE = range(1)
_DIGITS, _PARTING = b"0123456789", b" -"
_AS_DIGITS = bytes(ord("0" if byte in _DIGITS else "x") for byte in range(256))


def _without_digits(raw: bytes) -> bytes:
    """What holds a literal still does so when both have lost their digits; and the words of a log become few."""
    return raw.translate(None, _DIGITS)


def _sought() -> Iterator[tuple[bytes, bool, str, Family]]:
    for family in FAMILIES:
        for literal in family.literals:
            raw = literal.encode("utf-8")
            yield (raw if family.digits else _without_digits(raw)), family.digits, literal, family


_SOUGHT = tuple(_sought())
"""What is sought for each literal, and whether in the text's rows of digits, else in its words."""


class _Seen:
    """A text as it is searched for literals: in lower case, each word once, and words that differ in digits as one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lowered = text.lower()
        raw = self._lowered.encode("utf-8", "surrogatepass")
        words = b"\n".join(set(_without_digits(raw).split()))
        digits = raw.translate(_AS_DIGITS, _PARTING)
        searched = (words, digits)
        found = [(literal, family) for sought, where, literal, family in _SOUGHT if sought in searched[where]]
        self.literals: dict[Family, list[str]] = {}
        """Of each family that can match, those literals that may stand in the text."""
        for literal, family in found:
            self.literals.setdefault(family, []).append(literal)

    def after(self, text: str) -> _Seen:
        """The same with a secret taken out. What its placeholder brings up, the next pass looks for."""
        seen = copy.copy(self)
        seen.text, seen._lowered = text, text.lower()
        return seen

    def starts(self, family: Family) -> Sequence[int]:
        """Where a match of the family can begin, in order; `_ANYWHERE` where only the pattern itself can tell."""
        literals = self.literals.get(family, [])
        before = family.before
        # A letter that is two when lowered shifts all behind it.
        if literals and (before is None or len(self._lowered) != len(self.text)):
            return _ANYWHERE
        starts: set[int] = set()
        for literal in literals:
            place = self._lowered.find(literal)
            while place >= 0:
                starts.update(range(max(0, place - (before or 0)), place + 1))
                place = self._lowered.find(literal, place + 1)
        if family.opens is not None:
            return [start for start in sorted(starts) if family.opens.match(self.text, start)]
        return sorted(starts)


def _replaced(text: str, found: Iterable[re.Match[str]], replace: Callable[[re.Match[str]], str]) -> str:
    """The text with these matches replaced; the very same object where that changes nothing."""
    parts: list[str] = []
    end = 0
    for match in found:
        replacement = replace(match)
        if replacement != match[0]:
            parts += (text[end : match.start()], replacement)
            end = match.end()
    return "".join((*parts, text[end:])) if parts else text


def _replacer(pattern: Pattern, counts: Counter[str]) -> Callable[[re.Match[str]], str]:
    judge = JUDGES[pattern.judge] if pattern.judge else None

    def replace(match: re.Match[str]) -> str:
        start, end = _span(match)
        value = match.string[start:end]
        if _PLACEHOLDER in value or _in_placeholder(match.string, start) or (judge is not None and not judge(value)):
            return match[0]
        counts[pattern.kind] += 1
        return f"{match.string[match.start() : start]}{_PLACEHOLDER}{pattern.kind}]{match.string[end : match.end()]}"

    return replace


def _in_placeholder(text: str, at: int) -> bool:
    """Whether a place lies inside `[redacted:…]`: what stands there is the name of a kind."""
    opened = text.rfind(_PLACEHOLDER, max(0, at - _LONGEST_PLACEHOLDER), at)
    return opened >= 0 and "]" not in text[opened:at]


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Where the secret itself stands. An unquoted one loses the punctuation of the sentence around it."""
    for group in _GROUPS:
        if match.re.groupindex.get(group) and match[group] is not None:
            start, end = match.span(group)
            if group == "secret":
                end -= len(match[group]) - len(match[group].rstrip(".,:)]}"))
            return start, end
    return match.span()


# ---- judges: is this value a secret, where the words around it leave that open?

_REFERENCE = re.compile(
    r"[$%{<(\[*]|(?:os\.|process\.|env\.|env\[|getenv|secrets?\.|var\.|vault:|op://|arn:|file:|https?://|/|~|\.{1,2}/)|"
    r"x{3,}|\*{2,}|\.{3}|[a-z_][\w.]*\(",
    re.IGNORECASE,
)
_INNOCENT = frozenset(
    {
        *(
            "secretstr",
            "true",
            "false",
            "null",
            "none",
            "nil",
            "undefined",
            "string",
            "str",
            "text",
            "int",
            "integer",
            "number",
        ),
        *("bool", "boolean", "optional", "required", "empty", "blank", "unset", "missing", "hidden", "default"),
        *("secret", "password", "passwort", "kennwort", "changeme", "placeholder", "example", "redacted", "todo"),
        *("tbd", "yes", "no", "ja", "nein", "stored", "saved", "hashed", "encrypted", "field", "prompt", "input"),
        *("type", "name", "file", "path", "env", "vault", "here", "below", "above", "never", "always", "not"),
    }
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:sha\d{1,3}[:-])?[0-9a-f]+", re.IGNORECASE)
_WORDY = re.compile(r"[A-Za-z]+(?:[._/:-][A-Za-z]+)*\d{0,2}")
_VERSION_OR_TIME = re.compile(r"v?\d+(?:[.:,/-]\d+)*[A-Za-z%]{0,3}")
_PROSE = frozenset(
    {
        *("the", "a", "an", "in", "is", "are", "was", "not", "stored", "kept", "only", "for", "with", "and", "that"),
        *("this", "from", "your", "our", "my", "his", "her", "it", "must", "should", "will", "can"),
    }
)


def _not_a_reference(value: str) -> bool:
    """Not `$DB_PASSWORD`, `${…}`, `<password>`, `****`, a path: those tell where a secret is, not what it is."""
    return not _REFERENCE.match(value)


def _assigned(value: str) -> bool:
    return _not_a_reference(value) and value.casefold().strip("().") not in _INNOCENT


def _secret_like(value: str) -> bool:
    """No ordinary word: it has a digit or a symbol inside, or capitals in the middle."""
    if not _assigned(value) or (_VERSION_OR_TIME.fullmatch(value) and not value.isdigit()):
        return False
    inner = value[1:]
    return any(c.isdigit() or c.isupper() for c in inner) or any(
        not c.isalnum() and c not in ".-_/'’:" for c in value[:-1]
    )


def _mixed(value: str) -> bool:
    """Letters and digits: for words that have another meaning beside the secret one ("tests pass: all of them")."""
    return _secret_like(value) and any(c.isalpha() for c in value) and any(c.isdigit() for c in value)


def _strong(value: str) -> bool:
    """Letters with digits, and a symbol or eight characters of it: enough without any verb in front."""
    if not _secret_like(value) or len(value) < 6:
        return False
    letter, digit = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    symbol = any(not c.isalnum() and c not in "./:" for c in value)
    return letter and digit and (symbol or any(c.isupper() for c in value[1:])) and not _WORDY.fullmatch(value)


def _token_like(value: str) -> bool:
    """Long enough, with digits among letters, and not words joined by separators."""
    if not _assigned(value) or len(value) < 8 or _WORDY.fullmatch(value) or _VERSION_OR_TIME.fullmatch(value):
        return False
    digits, letters = sum(c.isdigit() for c in value), sum(c.isalpha() for c in value)
    return digits > 0 and letters > 0 and ("/" not in value or _random(value))


def _random(value: str) -> bool:
    """Looks drawn by lot: capitals, small letters and digits, with over 3.5 bits a character; no hash, no UUID."""
    if _HEX.fullmatch(value) or _UUID.fullmatch(value) or not _not_a_reference(value):
        return False
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value) and any(c.isdigit() for c in value)
    return mixed and entropy(value) > 3.5


def _card_number(value: str) -> bool:
    """A card's beginning and length, and the check digit is right."""
    digits = [int(c) for c in value if c.isdigit()]
    number = "".join(map(str, digits))
    known = (number[0] == "4" and len(number) in (13, 16, 19)) or (
        len(number) == (15 if number[:2] in ("34", "37") else 16)
        and (
            number[:2] in ("34", "37")
            or "51" <= number[:2] <= "55"
            or number[:2] in ("60", "65")
            or "22" <= number[:2] <= "27"
        )
    )
    doubled = [d if i % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for i, d in enumerate(reversed(digits))]
    return known and sum(doubled) % 10 == 0


def _not_prose(value: str) -> bool:
    return not _PROSE.intersection(re.split(r"[ -]", value.casefold())[:4])


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character: 0 for "aaaa", 4 for 16 different ones."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


JUDGES: dict[str, Callable[[str], bool]] = {
    "not_a_reference": _not_a_reference,
    "assigned": _assigned,
    "secret_like": _secret_like,
    "mixed": _mixed,
    "strong": _strong,
    "token_like": _token_like,
    "random": _random,
    "card_number": _card_number,
    "not_prose": _not_prose,
}
