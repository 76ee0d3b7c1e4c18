"""What a language model is shown of a session: the turns it is asked of, whole, and what came before them, in brief.

With the prompt's 800 tokens some 3,500 in all: what is beyond a small server's window falls out at the top, without a
word. The end of what came before overlaps with what was asked then, and a line tells what the session is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Turn
from nextlevel.safety import invisible
from nextlevel.safety.redact import redact

from .rules.focus import focus_of
from .rules.names import names
from .rules.pack import load
from .rules.spoken import language_of

_USER_TOKENS, _ASSISTANT_TOKENS, _EARLIER_TOKENS = 1_700, 300, 70
_TURN_TOKENS = 60
"""What the tags and the date of a turn cost."""
_EARLIER_TURNS = 4
_MOST_NAMES = 8
_READ_CHARS = 2_000
_ANGLES = str.maketrans("<>", "‹›")


def document(turns: Sequence[Turn], window: Sequence[Turn]) -> str:
    """The turns that are asked about, numbered, and what came before the first of them: data between tags.

    What goes out is redacted like what is stored.
    """
    parts = [_so_far(turns[0], window)]
    parts += [_tagged(tag, text) for tag, text in _earlier(window)]
    for n, turn in enumerate(turns, 1):
        parts.append(f'<turn n="{n}" date="{turn.at.isoformat(timespec="minutes")} ({turn.at:%A})">')
        parts += [_tagged(tag, text) for tag, text in _own(turn)]
        parts.append("</turn>")
    return "\n".join(part for part in parts if part)


def shown(turn: Turn, window: Sequence[Turn]) -> list[str]:
    """The texts of a session that a model sees of one turn, in order; the last two are the turn's own."""
    return [text for _, text in [*_earlier(window), *_own(turn)]]


def that_fit(turn: Turn, later: Sequence[Turn]) -> list[Turn]:
    """The turn, and those after it that can be shown whole beside it."""
    left = _USER_TOKENS + _ASSISTANT_TOKENS - _tokens(turn)
    fitting = [turn]
    for each in later:
        left -= _TURN_TOKENS + _tokens(each)
        if left < 0:
            break
        fitting.append(each)
    return fitting


def _tokens(turn: Turn) -> int:
    return estimate_tokens(turn.user_text[: 8 * _USER_TOKENS]) + min(
        _ASSISTANT_TOKENS, estimate_tokens(turn.assistant_text[: 8 * _ASSISTANT_TOKENS])
    )


def _so_far(turn: Turn, window: Sequence[Turn]) -> str:
    """What the session speaks of, in a line; nothing where it begins."""
    if not window:
        return ""
    pack = load(language_of(turn.user_text[:_READ_CHARS], window))
    focus = focus_of(turn, window, pack)
    said = [each.user_text[:_READ_CHARS] for each in window]
    spoken = dict.fromkeys(name.text for text in reversed(said) for name in names(text))
    about = [f"project {focus.project}"] if focus.project else []
    about += [name for name in spoken if name != focus.project][:_MOST_NAMES]
    return _tagged("session-so-far", ", ".join(about)) if about else ""


def _earlier(window: Sequence[Turn]) -> list[tuple[str, str]]:
    return [
        (tag, _cut(text, _EARLIER_TOKENS))
        for each in window[-_EARLIER_TURNS:]
        for tag, text in (("earlier-user", each.user_text), ("earlier-assistant", each.assistant_text))
    ]


def _own(turn: Turn) -> list[tuple[str, str]]:
    return [
        ("user", _cut(turn.user_text, _USER_TOKENS)),
        ("assistant", _cut(turn.assistant_text, _ASSISTANT_TOKENS)),
    ]


def _cut(text: str, tokens: int) -> str:
    """The head of a text that has at most about so many tokens."""
    text = text[: 4 * tokens]
    while (count := estimate_tokens(text)) > tokens:
        text = text[: len(text) * tokens // count]
    return text


def _tagged(tag: str, text: str) -> str:
    text = invisible.clean(redact(text).text).translate(_ANGLES).strip()
    return f"<{tag}>\n{text}\n</{tag}>"
