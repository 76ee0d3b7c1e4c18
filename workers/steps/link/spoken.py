"""A mention as it stands in its text, taken apart once: its words, its title, whether an article points at it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from nextlevel.lang.detect import certain, language
from nextlevel.lang.inflection import LANGUAGES, base_forms
from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import WORD, fold, stop_words

from . import lexicon
from .lexicon import Gender

_LONGEST = 200


@dataclass(frozen=True)
class Mention:
    """The characters `start`..`end` of a text that name or point at something. `text` may begin with earlier turns.

    `spoken` are the text's languages, where they are known already.
    """

    text: str
    start: int
    end: int
    spoken: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def key(self) -> str:
        """In normal form; empty where it is no name: too long, or made of signs."""
        return normal_name(self.said) if self.end - self.start <= _LONGEST else ""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The key's words without a leading article or title, identifiers whole."""
        words = [fold(word) for word in WORD.findall(self.key)]
        while len(words) > 1 and (lexicon.points(words[0]) or lexicon.title(words[0]) is not None):
            words.pop(0)
        return tuple(words)

    @cached_property
    def title(self) -> Gender | str | None:
        """What a title before the name tells; None where there is none."""
        for word in WORD.findall(self.key)[:-1]:
            if (found := lexicon.title(word)) is not None:
                return found
        return None

    @cached_property
    def points(self) -> bool:
        """Whether an article or a demonstrative stands before it, or begins it."""
        inside = WORD.search(self.said)
        if inside is not None and lexicon.points(fold(inside[0])) and inside.end() < len(self.said):
            return True
        return lexicon.points(self.word_before)

    @cached_property
    def word_before(self) -> str:
        """The word that stands just before it, folded; empty at a sentence's start."""
        head = self.text[max(0, self.start - 80) : self.start].rstrip("\"'„“‚‘`( ")
        words = WORD.findall(head)
        return fold(words[-1]) if words and head.endswith(words[-1]) else ""

    @cached_property
    def word_after(self) -> str:
        """The word that follows without a sign between, as it is written; empty where none does."""
        tail = self.text[self.end : self.end + 80]
        word = WORD.search(tail)
        return word[0] if word is not None and tail[: word.start()].strip() == "" and word.start() > 0 else ""

    @cached_property
    def capitalised(self) -> bool:
        """Whether it is written as a name, or might be: by a capital in its first or last word."""
        found = WORD.findall(self.said)
        return any(word[:1].isupper() for word in found)

    @cached_property
    def deliberate(self) -> bool:
        """Whether its spelling is no slip: capitals inside a word ("ElasticPress"), or digits."""
        return any(char.isdigit() for char in self.said) or re.search(r"\w[A-ZÀ-Þ]", self.said) is not None

    @property
    def is_function_word(self) -> bool:
        """A stop word is a name only where a capital inside a sentence says so: "ask Will", not "will it run"."""
        if self.capitalised and self.word_before:
            return False
        return any(self.key in stop_words(each) for each in {self.languages[0], "en"} & set(LANGUAGES))

    def cases_of(self, word: str) -> tuple[str, ...]:
        """What a person's name that stands here may be in the first case, as it stands first of all."""
        if not self.may_decline(word):
            return (word,)
        polish = self.languages[0] == "pl"
        return base_forms(word, ["pl"] if polish else [each for each in self.languages if each != "pl"], name=True)

    def may_decline(self, word: str) -> bool:
        """Whether a person's name may stand here in another case than the first; "Hannes" is nobody's genitive."""
        if lexicon.is_given_name(word) and (not self.word_before or self.languages[0] != "pl"):
            return False
        if word.endswith("a") and not self.word_before and not lexicon.negates(self.word_after):
            return False  # a Polish genitive, or a woman's name: at a sentence's start the latter
        if self.languages[0] == "de" and self.word_before:  # a genitive owns something, which has a capital
            return self.word_after[:1].isupper()
        return self.languages[0] == "pl" or self.word_after != ""

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose endings are looked for, the likeliest first: all where the text tells too little."""
        return self.spoken or languages_of(self.text)


def languages_of(text: str) -> tuple[str, ...]:
    """The likeliest language of a text first; English beside it; all four where little tells."""
    sure = certain(text)
    if sure is not None:
        return tuple(dict.fromkeys((sure, "en")))
    return tuple(dict.fromkeys((language(text), *LANGUAGES)))


def at(text: str, words: str, start: int = 0) -> Mention | None:
    """The first place from `start` where these words stand whole in a text."""
    if not words.strip():
        return None
    found = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)").search(text, start)
    return None if found is None else Mention(text, found.start(), found.end())
