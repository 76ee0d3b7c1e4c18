"""A language pack: the cues and patterns of one language, read from its folder and compiled once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.model import BlockType, Category

from ... import predicates
from .names import database_form

_ROOT = Path(__file__).parent
NEVER = re.compile(r"(?!)")
TRIM = " ,.:;!-–—，。：；！、"
"""What stands around a statement, its subject or its object, and belongs to none of them."""

# What stands for `<name>` and so on in a pattern of rules.toml. Capitals matter in a person's name whatever the flags.
_PIECES = {
    "name": r"(?-i:(?:(?:Mrs?|Ms|Dr|Prof|Frau|Herrn?|Lady|Sir)\.?\s)?[A-ZÀ-ÞŁŚŻŹĆ][\w'’]*[\w](?:-[A-ZÀ-Þ]\w+)?"
    r"(?:\s(?:(?:von|van|de|der|den|al)\s)?[A-ZÀ-ÞŁŚŻŹĆ]\w+(?:-[A-ZÀ-Þ]\w+)?){0,2})",
    "id": r"[`„\"']?[\w@~/][\w@~/.:<>+*-]*[\w/>*+][`“\"']?",
    "np": r"(?:[\w@~/.:'’`„“\"-]+\s){0,4}?[\w@~/.:'’`„“\"-]+",
    "path": r"[`\"']?(?:~|\.{1,2}|[\w.-]+:/|[\w.@-]+)?/[\w.@~<>*{}/-]*[`\"']?",
    "number": r"\d+(?:[.,]\d+)*",
}
_PIECES["db"] = database_form()
# In chat many write names small; a pattern that says "who" also takes one small word.
_PIECES["who"] = rf"(?:{_PIECES['name']}|(?-i:[a-zà-žß]{{2,20}}))"
_PIECES["small_name"] = r"(?-i:(?:[a-zà-žß]{2,20} )?[a-zà-žß]{2,20})"


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of rules.toml: what it looks for, and the block it makes of its groups.

    `subject` and `object` are templates over the groups ("port {subject}"), or for the subject one of `user`, `focus`
    (the project), `left` (what stands before the verb) and `person` (who was named). `role` says what kind of name is
    found. `goes_on`: the clause may say more than this. `alone`: nothing else is to be read from it.
    """

    name: str
    regex: re.Pattern[str]
    predicate: str
    subject: str
    object: str
    confidence: float
    type: BlockType | None
    category: Category | None
    corrects: bool
    negated: bool
    role: str | None
    goes_on: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class Pack:
    """One language's cues (name → pattern), verb phrases and rules."""

    language: str
    spaced: bool
    nouns_capitalised: bool
    pro_drop: bool
    copula: str
    cues: Mapping[str, re.Pattern[str]]
    verbs: re.Pattern[str]
    said: Mapping[str, str]
    contractions: tuple[tuple[re.Pattern[str], str], ...]
    recast: tuple[tuple[re.Pattern[str], str], ...]
    slot_nouns: Mapping[str, str]
    joints: re.Pattern[str]
    pronouns: Mapping[str, frozenset[str]]
    rules: tuple[Rule, ...]

    def has(self, cue: str, text: str) -> bool:
        """Whether a cue stands somewhere in the text."""
        return self.cues.get(cue, NEVER).search(text) is not None

    def match(self, cue: str, text: str) -> re.Match[str] | None:
        """The cue at the beginning of the text."""
        return self.cues.get(cue, NEVER).match(text)

    def find(self, cue: str, text: str) -> re.Match[str] | None:
        return self.cues.get(cue, NEVER).search(text)


def groups(match: re.Match[str]) -> dict[str, str]:
    """What a pattern's groups caught. `value` and `value2` are one: no name may stand twice in an expression."""
    caught: dict[str, str] = {}
    for name, text in match.groupdict().items():
        plain = name.rstrip("23")
        caught[plain] = text or caught.get(plain, "")
    return caught


@cache
def load(language: str) -> Pack | None:
    """The pack of a language, or None where there is none yet."""
    folder = _ROOT / language
    if not (folder / "cues.toml").is_file():
        return None
    document = tomllib.loads((folder / "cues.toml").read_text(encoding="utf-8"))
    said = predicates.phrases(language)
    spaced = document.get("spaced", True)
    pieces = _PIECES | {name: _any_of(words) for name, words in document.get("words", {}).items()}
    return Pack(
        language=language,
        spaced=spaced,
        nouns_capitalised=document["nouns_capitalised"],
        pro_drop=document.get("pro_drop", False),
        copula=document["copula"],
        cues={name: _cue(pieces_of, spaced) for name, pieces_of in document["cues"].items()},
        verbs=_verbs(said, spaced),
        said=said,
        contractions=_replacements(document["contractions"]),
        recast=_replacements(document.get("recast", ())),
        slot_nouns={noun: slot for slot, nouns in document["slot_nouns"].items() for noun in nouns},
        joints=re.compile(rf",\s+|\s(?={_any_of(document['words']['joint'])}\s)" if spaced else r"[，、,；]\s*"),
        pronouns={name: frozenset(words) for name, words in document["words"].items() if name != "role"},
        rules=tuple(_rules(tomllib.loads((folder / "rules.toml").read_text(encoding="utf-8"))["rule"], pieces, spaced)),
    )


@cache
def packs() -> tuple[Pack, ...]:
    """All packs there are, in alphabetical order of their languages."""
    folders = sorted(folder.name for folder in _ROOT.iterdir() if (folder / "cues.toml").is_file())
    return tuple(pack for name in folders if (pack := load(name)) is not None)


def _rules(rows: list[dict[str, Any]], pieces: Mapping[str, str], spaced: bool) -> Iterable[Rule]:
    before = r"(?<![\w/-])" if spaced else ""
    for row in rows:
        written = re.sub(r"(?<!\?P)<([a-z_]+)>", lambda found: pieces[found[1]], " ".join(row["find"].split()))
        known = predicates.get(row["predicate"])
        yield Rule(
            name=row["name"],
            regex=re.compile(rf"{before}(?:{written.replace(' ', chr(92) + 's')})", re.IGNORECASE),
            predicate=row["predicate"],
            subject=row.get("subject", "focus"),
            object=row.get("object", "{value}"),
            confidence=row.get("confidence", 0.8),
            type=BlockType(row["type"]) if "type" in row else known.type,
            category=Category(row["category"]) if "category" in row else known.category,
            corrects=row.get("corrects", False),
            negated=row.get("negated", False),
            role=row.get("role"),
            goes_on=row.get("goes_on", False),
            alone=row.get("alone", False),
        )


def _replacements(rows: Iterable[list[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?<![\w'’]){old}(?![\w'’])", re.IGNORECASE), new) for old, new in rows)


def _cue(pieces_of: list[str], spaced: bool) -> re.Pattern[str]:
    """A cue of whole words, where a language parts them. One that ends in a space has ended its word itself."""
    if not pieces_of:
        return NEVER
    if not spaced:
        return re.compile("|".join(pieces_of), re.IGNORECASE)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(pieces_of)})(?:(?<=\s)|(?![\w-]))", re.IGNORECASE)


def _verbs(said: Mapping[str, str], spaced: bool) -> re.Pattern[str]:
    """Any verb phrase, the longest first."""
    phrases = "|".join(_spaced(phrase) for phrase in sorted(said, key=len, reverse=True))
    return re.compile(rf"(?<![\w/.@-])(?:{phrases})(?![\w/@-])" if spaced else f"(?:{phrases})", re.IGNORECASE)


def _any_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def _spaced(phrase: str) -> str:
    # The phrases are case-folded, which writes "heißt" as "heisst".
    return re.escape(phrase).replace(r"\ ", r"\s+").replace("'", "['’]").replace("ss", "(?:ss|ß)")
