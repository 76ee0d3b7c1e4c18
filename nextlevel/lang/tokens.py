"""Words as search terms. Blocks, passages and queries all go through `words`, so that they meet each other."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files

LONGEST_WORD = 64
"""Longer runs (hashes, base64) are no words of any query; they are cut here."""

# NFKD takes marks off letters; these letters have none to take off.
_LETTERS = str.maketrans(
    {"ß": "ss", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "n"}
)
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
# An identifier: letters and digits joined by the signs that programmers use. It begins and ends with a letter or digit.
WORD = re.compile(rf"[^\W_{_CJK}]+(?:[._@/:+#-]+[^\W{_CJK}]+|_+[^\W_{_CJK}]+)*|[{_CJK}]+")
_PARTS = re.compile(r"[._@/:+#-]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_HUMP = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_LANGUAGES = ("en", "de", "sv", "pl")


def fold(text: str) -> str:
    """Compatibility forms, case and accents folded away: the letters that remain are what two spellings share.

    >>> fold("Ｓtraße Łódź")
    'strasse lodz'
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS))
    bare = "".join(c for c in decomposed if not unicodedata.combining(c) or c in "\u3099\u309a")
    return unicodedata.normalize("NFC", bare)


def words(text: str) -> list[str]:
    """The search terms of a text, in order, with repeats.

    An identifier stands whole and in its parts; a run of CJK characters becomes its bigrams (one alone: itself).
    Plural and possessive endings of English and German are taken off words that have one.

    >>> words("auth.service.ts")
    ['auth.service.ts', 'auth', 'servic', 'ts']
    >>> words("データ")
    ['デー', 'ータ']
    """
    found: list[str] = []
    for token in text.split():
        found += _terms(token) if len(token) <= LONGEST_WORD else _split(token)
    return found


def content_words(text: str) -> list[str]:
    """`words` without function words of the four languages and without single letters; what a text is about."""
    stop = stop_words()
    return [
        word for word in words(text) if word not in stop and (len(word) > 1 or not word.isascii() or word.isdigit())
    ]


def estimate_tokens(text: str) -> int:
    """About how many tokens a model counts: one for four characters, one for each CJK character. Rounded up."""
    if text.isascii():
        return -(-len(text) // 4)
    cjk = sum(len(run) for run in _CJK_RUN.findall(text))
    return cjk - (-(len(text) - cjk) // 4)


@cache
def stop_words(language: str | None = None) -> frozenset[str]:
    """The folded function words of one language, or of all four: `words` yields exactly these forms."""
    if language is None:
        return frozenset().union(*(stop_words(each) for each in _LANGUAGES))
    found: set[str] = set()
    for line in (files(__package__) / "data" / f"stopwords.{language}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            found |= {form for word in line.split() for form in (fold(word), stem(fold(word)))}
    return frozenset(found)


@lru_cache(maxsize=32_768)
def _terms(token: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces, where it is short: people say few words, over and over."""
    return tuple(_split(token))


def _split(token: str) -> list[str]:
    found: list[str] = []
    for run in WORD.findall(_POSSESSIVE.sub("", unicodedata.normalize("NFKC", token))):
        if _CJK_RUN.match(run):
            found += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            found += _of_identifier(run)
    return found


def _of_identifier(run: str) -> list[str]:
    """The whole, then the parts where there are several."""
    parts = [part for piece in _PARTS.split(run) for part in _HUMP.split(piece) if part]
    whole = fold(run)[:LONGEST_WORD]
    pieces = [piece for part in parts for piece in fold(part).split("_") if piece]
    if len(pieces) <= 1:
        return [stem(whole)]
    return [whole, *(stem(piece)[:LONGEST_WORD] for piece in pieces)]


def stem(word: str) -> str:
    """A folded word without its plural ending, where it is safe: at least four letters stay, digits and dots forbid it.

    Small on purpose: what it joins wrongly can't be told apart again, what it misses the vectors find.

    >>> [stem(w) for w in ("tables", "queries", "boxes", "class", "tabellen", "tabelle", "v2")]
    ['table', 'query', 'box', 'class', 'tabell', 'tabell', 'v2']
    """
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "os", "as")):
        word = word[:-1]
    if len(word) > 6:
        word = word[:-2] if word.endswith(("en", "er", "em")) else word.removesuffix("e")
    return word
