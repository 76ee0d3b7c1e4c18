"""How a clause is meant: as a fact or rule of the speaker, or as one of the many things that are not to be kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from nextlevel.lang.dump import DATA_LINE
from nextlevel.lang.normal import Clause
from nextlevel.safety import invisible
from nextlevel.safety.injection import suspicious

from .names import is_temporary
from .pack import Pack


class Why(StrEnum):
    """Reasons to drop, as the trace shows them."""

    CHITCHAT = "chitchat"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    THIRD_PERSON = "third_person"
    SARCASM = "sarcasm"
    QUOTE = "quote"
    SECRET = "secret"  # noqa: S105, a reason and no secret
    INJECTION = "injection"
    INVISIBLE = "invisible"
    DUMP = "dump"
    CUT = "too_long"
    TEMP_PATH = "temp_path"
    ONE_OFF = "one_off"
    FICTION = "fiction"
    FORGOTTEN = "forgotten"
    NO_LONGER = "no_longer"
    NOTHING = "nothing_lasting"


LONGEST_CLAUSE = 600
"""Characters: nobody says so much in one breath, so it is pasted; and no pattern has to walk through it."""
_LONGEST_WORD = 60
_SHORT = 16
"""Characters: so few are no data, whatever they are made of ("take 8044")."""
_TEMPORARY_PATH = re.compile(r"\S*/\S+")
_LETTER = re.compile(r"[^\W\d_]")
_MARKUP = re.compile(r"^\s*<[a-z/!][^>]*>", re.IGNORECASE)
_ORDERS = ("directive_no", "directive_none", "directive_yes", "forbids")


@dataclass(slots=True)
class Mood:
    """What one clause leaves behind for the next: a story goes on, irony colours what follows."""

    fiction: bool = False
    sarcasm: int | None = None
    explicit: Clause | None = None
    announced: bool = False

    def asks_to_keep(self, clause: Clause, text: str) -> None:
        """The clause asks to remember something: `text`, its own words beside the asking, or where there are none, what
        comes next."""
        self.explicit, self.announced = clause, not text

    def goes_on(self, clause: Clause) -> None:
        """ "Remember this:" is about the sentence that follows, or about the whole list."""
        if self.announced and self.explicit is not None and clause.start > self.explicit.start:
            self.explicit, self.announced = clause, clause.kind == "list"

    def is_explicit(self, clause: Clause) -> bool:
        """Whether the user asked to keep what this clause says."""
        return self.explicit is not None and clause.start == self.explicit.start


def unfit(clause: Clause) -> Why | None:
    """What no language is needed to see."""
    text = clause.text
    if clause.kind == "code" or len(text) > LONGEST_CLAUSE or (len(text) > _LONGEST_WORD and _is_one_word(text)):
        return Why.DUMP
    if invisible.count(text):
        return Why.INVISIBLE
    if suspicious(text):
        return Why.INJECTION
    if clause.kind == "quote":
        return Why.QUOTE
    if "[redacted:" in text:
        return Why.SECRET
    if DATA_LINE.match(text) or _MARKUP.match(text):
        return Why.DUMP
    if len(text) > _SHORT and len(_LETTER.findall(text)) < 0.3 * len(text):
        return Why.DUMP
    return None


def _is_one_word(text: str) -> bool:
    """A line of base64 or of minified code; Chinese and Japanese part no words, and an address may be long."""
    return " " not in text and text.isascii() and "://" not in text


def stance(text: str, clause: Clause, pack: Pack, mood: Mood) -> Why | None:
    """Why a piece of a clause is not to be kept, or None where it may be a fact or a rule. Updates the mood."""
    if pack.has("fiction_end", text):
        mood.fiction = False
    elif pack.has("fiction_start", text):
        mood.fiction = True
    if mood.fiction:
        return Why.FICTION
    if mood.sarcasm is not None and clause.sentence - mood.sarcasm <= 1 and not mood.is_explicit(clause):
        return Why.SARCASM
    if _is_greeting(text, pack):
        return Why.CHITCHAT
    if clause.ends == "?" or pack.has("question", text):
        return Why.QUESTION
    if pack.has("hypothetical", text) and not pack.has("wish", text):
        return Why.HYPOTHETICAL
    if pack.has("quote_intro", text):
        return Why.QUOTE
    if any(is_temporary(path[0]) for path in _TEMPORARY_PATH.finditer(text)):
        return Why.TEMP_PATH
    if _is_anothers_taste(text, pack):
        return Why.THIRD_PERSON
    if pack.has("emotional", text):
        return Why.CHITCHAT
    return None


def is_request(text: str, pack: Pack) -> bool:
    """A wish of the moment: nothing in it speaks of next time."""
    if pack.has("standing", text):
        return False
    if pack.has("once", text) and any(pack.match(cue, text) for cue in _ORDERS):
        return True
    if pack.match("request", text) is None or (pack.match("directive_yes", text) and pack.has("contrast", text)):
        return False
    if pack.match("errand", text) is not None:
        return True
    return not (pack.match("directive_yes", text) and pack.has("formatting", text))


def _is_greeting(text: str, pack: Pack) -> bool:
    match = pack.match("greeting", text)
    return match is not None and len(text) - match.end() < 3


def _is_anothers_taste(text: str, pack: Pack) -> bool:
    match = pack.match("third_person_taste", text)
    if match is None or pack.match("first_taste", text):
        return False
    return not pack.has("contact_means", text)
