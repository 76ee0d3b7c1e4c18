"""What must survive a compaction word for word: ports, files and lines, branches, commands, decisions.

A summary keeps the gist of a conversation and loses its figures. The sentences that hold them are found here, without a
model, in the turns of tier 2: for the prompt of the summary, and for the turn after it, whatever the summary kept.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nextlevel.lang.tokens import content_words, estimate_tokens
from nextlevel.safety import markers

_TITLE = "Exact values from this conversation and from long-term memory:"
MOST_TOKENS = 300
_LINES_TOKENS = MOST_TOKENS - estimate_tokens(_TITLE)
_FRAME_TOKENS = 8
"""What a line has around its sentence: the dash, the day, who said it."""
_LEAST_TOKENS = 12
_WITHIN_S = 0.03
_SIDE_CHARS = 2_000
"""Of each text; what follows is mostly pasted."""
_SENTENCE_CHARS = 240

_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_EXACT = re.compile(
    r"""
      \b(?:ports?|portar|porty|portu|porcie)\W{1,3}\d{2,5}\b | (?<=[\w\]]):\d{2,5}\b       # a port
    | \b(?:lines?|zeilen?|rad|rader|lini[aię]|linii|wiersz\w*)\W{1,3}\d+\b                 # a line
    | \b[\w-]+(?:[./][\w-]+)*\.[a-z]\w{0,5}\b(?!\.)                                         # a file, a host
    | (?<![\w/])~?/[\w.-]+(?:/[\w.-]+)+                                                     # a path
    | \b(?:branch|branchen|zweig|gren|gałą[źz]\w*)\W{1,3}[\w./-]+ | \b(?:feature|fix|hotfix|release|bugfix)/[\w.-]+
    | (?<=\s)--?[a-zA-Z][\w-]* | `[^`\n]{2,80}`                                             # a command
    | \bv?\d+\.\d+(?:\.\d+)*\b | \b[A-Z]{2,}-\d+\b | \b[0-9a-f]{7,40}\b                     # a version, a ticket
    | [^\w\s!-/:-@\[-`{-~…‘’“”„–—«»\U0001F000-\U0001FAFF]                                  # a sign one has to type
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DECIDES = re.compile(
    r"""\b(?:
      decided?|decision|agreed|let'?s\ (?:use|go|keep)|we(?:'ll)?\ (?:use|go\ with)|always|never|instead|must
    | no\ (?!problem|worr|idea|thank|way|one|doubt)\w+
    | from\ now\ on | only
    | entschieden|beschlossen|immer|nie|niemals|kein\w*|stattdessen|ab\ jetzt|nur|wir\ nehmen
    | beslutat|bestämt|alltid|aldrig|ing[ea]\w*|istället|hädanefter|bara|vi\ kör
    | postanowi\w+|ustalili\w+|zawsze|nigdy|żadn\w+|bez|zamiast|od\ teraz|tylko
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn, as far as it is looked at: its day as one says it, and both sides' words."""

    day: str
    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    day: str
    by_user: bool
    worth: float

    @property
    def line(self) -> str:
        who = "" if self.by_user else ", the assistant"
        return f'- {self.day}{who}: "{markers.escape(self.text)}"'


def lines(turns: Iterable[Said], known: str = "", *, within_s: float = _WITHIN_S) -> list[str]:
    """The lines that hold exact values, at most 300 tokens of them, as they were said. `turns` come newest first.

    What a line of `known`, a text that the model gets anyway, already says is left out. After `within_s` seconds older
    turns are not looked at any more.
    """
    ends = time.monotonic() + within_s
    found: dict[str, _Sentence] = {}
    for age, turn in enumerate(turns):
        if time.monotonic() > ends:
            break
        for sentence in _sentences(turn, age):
            found.setdefault(" ".join(sentence.text.lower().split()), sentence)
    said = [set(content_words(line)) for line in known.splitlines()]
    left, taken = _LINES_TOKENS, []
    for sentence in sorted(found.values(), key=lambda each: -each.worth):
        cost = estimate_tokens(sentence.text) + _FRAME_TOKENS
        if cost <= left:
            words = set(content_words(sentence.text))
            if words and not any(words <= line for line in said):
                taken.append(sentence)
                left -= cost
        if left < _LEAST_TOKENS:
            break
    order = {id(sentence): place for place, sentence in enumerate(found.values())}
    return [each.line for each in sorted(taken, key=lambda each: -order[id(each)])]  # oldest first, as it was said


def exact(text: str) -> list[str]:
    """Those lines of a text that hold an exact value."""
    return [line for line in text.splitlines() if line != markers.HEADER and _values(line)]


def _sentences(turn: Said, age: int) -> Iterator[_Sentence]:
    for text, by_user in ((turn.user, True), (turn.assistant, False)):
        for part in _SENTENCES.split(text[:_SIDE_CHARS]):
            worth = _worth(part, by_user=by_user)
            if worth > 0:
                yield _Sentence(part.strip(), turn.day, by_user, worth - age * 0.02)


def _worth(sentence: str, *, by_user: bool) -> float:
    """How much would be lost with a sentence; 0 for one without an exact value or a decision, and for a question."""
    if not 4 <= len(sentence) <= _SENTENCE_CHARS or sentence.endswith("?"):
        return 0.0
    values, decides = _values(sentence), bool(_DECIDES.search(sentence))
    if not values and not (decides and by_user):
        return 0.0
    # The user's word is what holds; a short sentence is denser, and many fit.
    return min(values, 3) + 1.5 * decides + 2.0 * by_user - len(sentence) / _SENTENCE_CHARS


def _values(text: str) -> int:
    return len(set(_EXACT.findall(text)))


def block(texts: Sequence[str]) -> str:
    """Lines as a text for the summary, within the budget; "" without any."""
    left, taken = _LINES_TOKENS, []
    for text in texts:
        if (cost := estimate_tokens(text) + 1) <= left:
            taken.append(text)
            left -= cost
    return "\n".join([_TITLE, *taken]) if taken else ""
