"""Names in the form in which two spellings are equal, and text cut into clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .tokens import fold

_ARTICLE = re.compile(
    r"^(?:the|a|an|our|my|your|his|her|its|their|this|that|der|die|das|den|dem|des|ein|eine|einen|einem|einer|"
    r"unser\w{0,2}|mein\w{0,2}|dein\w{0,2}|sein\w{0,2}|ihr\w{0,2}|dies\w{0,2}|den|det|en|ett|var|vart|vara|min|mitt|mina)\s+(?=\S)"
)
_POSSESSIVE = re.compile(r"(?<=\w)(?:['’]s|s['’](?=\s|$)|['’](?=\s|$))")
_OUTER = "\"'`“”„«»‘’()[]{}<>.,;:!?*|"
_SPACES = re.compile(r"[\s_]+")


def normal_name(name: str) -> str:
    """The key of an alias: folded, without outer punctuation, leading article and possessive, spaces made single.

    Signs inside a name stay (`pomelo-2` is not `pomelo 2`), so that two hosts never fall together by chance.

    >>> normal_name("The  Waldseilgarten CRM's")
    'waldseilgarten crm'
    """
    folded = _SPACES.sub(" ", fold(name)).strip(_OUTER + " ")
    folded = _POSSESSIVE.sub("", folded)
    while (shorter := _ARTICLE.sub("", folded)) != folded:
        folded = shorter
    return folded.strip(_OUTER + " ")


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a text that says one thing. `text` stands verbatim at `start`.

    `kind` is `prose`, `code` (a fenced block), `quote` (a quoted passage or a `>` line) or `list` (an item of a list).
    `ends` is the sign that closes its sentence ("." "?" "!" or ""); `sentence` numbers the text's sentences from 0.
    """

    text: str
    start: int
    kind: str = "prose"
    ends: str = ""
    sentence: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n.*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(r"[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t]+")
# Quoted passages of four words or more; shorter ones are names and terms.
# Between single marks only whole sentences: what apostrophes part by chance seldom ends in a full stop.
_PASSAGE = re.compile(
    r"[\"“„«「『](?=[^\"“”„«»「」『』\n]{20})[^\"“”„«»「」『』\n]{20,2000}[\"”“»」』]"
    r"|(?<![\w'’])['‘‚](?=\w)(?:[^'‘’\n]|['’](?=\w)){20,300}+(?<=[.!?])['‘’](?!\w)"
)
# A full stop ends a sentence before white space, unless a number, a single letter or an abbreviation stands before it.
_SENTENCE_END = re.compile(r"(?P<sign>[.!?]+|[。！？]+|…)(?:[)\"'”»]*)(?=\s|$)|(?P<wide>[。！？])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|nr|st|dr|mr|mrs|ms|prof|inc|ltd|cf|ca|bzw|usw|z\.b|d\.h|u\.a|evtl|ggf|bspw|vgl|inkl|"
    r"max|min|str|tel|t\.ex|dvs|bl\.a|m\.m|np|itd|itp|m\.in|ul|godz)|\b[A-Za-z]|"
    r"(?:\b(?:am|der|den|dem|zum|vom|ab|bis|seit|und|im)\s|^)\d{1,2})\.$",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?<![\d.])\d{1,2}\.\d{1,2}\.$")
"""A date without its year, as in "until 24.7. in Oslo": the sentence goes on, if a small letter follows."""
# A sign that is spoken of, and ends nothing: "umlauts come out as ? in the file".
_MENTIONED = re.compile(r"\s[.!?]\s+[a-zß-ÿ]")
_SEPARATOR = re.compile(
    r";\s+|(?<=\s)(?:[–—]|-{1,2})\s+|"
    r",\s+(?=(?:but|so|and|because|since|aber|und|denn|weil|sondern|men|och|ale|bo|więc)\s)"
)


def clauses(text: str) -> list[Clause]:
    """The clauses of a text in order; what stands between them (white space, separators) belongs to none.

    Cut at sentence ends, line ends, semicolons, dashes and before a comma's conjunction. Fenced code and quoted
    passages are pieces of their own, so that nobody takes them for the speaker's word.
    """
    found: list[Clause] = []
    sentence = 0
    for start, end, kind in _regions(text):
        if kind in ("code", "quote"):
            found.append(Clause(text[start:end], start, kind, "", sentence))
            sentence += 1
            continue
        for line in _LINE.finditer(text, start, end):
            # The rest of a line after a quoted passage may begin with a dash and is no item.
            at_margin = line.start() == 0 or text[line.start() - 1] == "\n"
            item = _ITEM.match(text, line.start(), line.end()) if at_margin else None
            quoted = line[0].lstrip().startswith(">")
            kind_here = "quote" if quoted else "list" if item else "prose"
            for left, right, sign in _sentences(text, item.end() if item else line.start(), line.end()):
                for a, b in _split(text, left, right):
                    found.append(Clause(text[a:b], a, kind_here, sign, sentence))
                sentence += 1
    return found


def _regions(text: str) -> Iterator[tuple[int, int, str]]:
    """Prose, fenced code and quoted passages, in order."""
    at = 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        yield from _passages(text, at, fence.start())
        yield fence.start(), fence.end(), "code"
        at = fence.end()
    yield from _passages(text, at, len(text))


def _passages(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    at = start
    for passage in _PASSAGE.finditer(text, start, end):
        if passage[0].count(" ") >= 3 or not passage[0].isascii():
            yield at, passage.start(), "prose"
            yield passage.start(), passage.end(), "quote"
            at = passage.end()
    if at < end:
        yield at, end, "prose"


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    at = start
    for match in _SENTENCE_END.finditer(text, start, end):
        sign = (match["sign"] or match["wide"])[-1]
        head = text[max(at, match.start() - 10) : match.start() + 1]
        if sign == "." and (_ABBREVIATION.search(head) or (_DAY.search(head) and text[match.end() :][1:2].islower())):
            continue
        if _MENTIONED.match(text, match.start() - 1):
            continue
        yield at, match.start(), {"。": ".", "！": "!", "？": "?", "…": "."}.get(sign, "?" if "?" in match[0] else sign)
        at = match.end()
    if at < end:
        yield at, end, ""


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for separator in _SEPARATOR.finditer(text, start, end):
        yield from _trimmed(text, at, separator.start())
        at = separator.end()
    yield from _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    if stripped := piece.strip():
        yield start + lead, start + lead + len(stripped)
