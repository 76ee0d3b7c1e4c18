"""What a language model is shown in one call: turns that it is asked of, what came before them in brief, and a summary
of their session by rules.

With the prompt's 800 tokens at most 3,500 in all: what is beyond a small server's window falls out at the top, without
a word. The summary reaches back further than what is quoted of the turns before; both are there to be understood only,
and nothing of the summary grounds a memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Turn
from nextlevel.safety import invisible
from nextlevel.safety.redact import redact

from ..digest import digest
from .parts import ASSISTANT_TOKENS, USER_TOKENS, Part, Shown, head
from .rules.focus import focus_of
from .rules.pack import load
from .rules.spoken import language_of

MOST_SUMMED_UP = 60
"""Turns before the one that is asked of, that the summary looks at: a millisecond each."""
_SUMMARY_TOKENS, _EARLIER_TOKENS = 150, 70
_TURN_TOKENS = 60
"""What the tags and the date of a turn cost."""
_EARLIER_TURNS = 3
_DECISIONS, _OPEN_ENDS = 3, 2
_READ_CHARS = 2_000
_ANGLES = str.maketrans("<>", "‹›")


def before(turn: Turn, window: Sequence[Turn], session: Sequence[Turn]) -> str:
    """What stands above a turn, between tags: its session's summary, made of `session`, and the end of its `window`."""
    parts = [_tagged("session-so-far", summary)] if (summary := _summary(turn, window, session)) else []
    return "\n".join([*parts, *(_tagged(tag, text) for tag, text in _earlier(window))])


def document(parts: Sequence[Part], above: str) -> str:
    """What is asked about, numbered, under what `before` gave: data between tags, redacted like what is stored."""
    shown = [above] if above else []
    for n, part in enumerate(parts, 1):
        piece = f' part="{part.number} of {part.of}"' if part.of > 1 else ""
        shown.append(f'<turn n="{n}" date="{part.at.isoformat(timespec="minutes")} ({part.at:%A})"{piece}>')
        shown.append(_tagged("user", part.user))
        shown += [_tagged("assistant", part.assistant)] if part.assistant else []
        shown.append("</turn>")
    return "\n".join(shown)


def quoted(window: Sequence[Turn]) -> list[str]:
    """The texts of earlier turns that a model sees, in order."""
    return [text for _, text in _earlier(window)]


def that_fit(turns: Sequence[Shown]) -> int:
    """How many of some turns in a row can be shown whole in one call; the first in any case."""
    left = USER_TOKENS + ASSISTANT_TOKENS + _TURN_TOKENS
    for count, turn in enumerate(turns):
        left -= _TURN_TOKENS + sum(estimate_tokens(part.user) + estimate_tokens(part.assistant) for part in turn.parts)
        if count and (left < 0 or len(turn.parts) > 1):
            return count
    return len(turns)


def _summary(turn: Turn, window: Sequence[Turn], session: Sequence[Turn]) -> str:
    """What the session speaks of, what was decided and what was left open in it; nothing where it begins."""
    lines: list[str] = []
    left = _SUMMARY_TOKENS
    for line in _told(turn, window, session):
        if (size := estimate_tokens(line)) <= left:
            lines.append(line)
            left -= size
    return "\n".join(lines)


def _told(turn: Turn, window: Sequence[Turn], session: Sequence[Turn]) -> Iterator[str]:
    """The summary's lines, the most useful first."""
    project = focus_of(turn, window, load(language_of(turn.user_text[:_READ_CHARS], window))).project
    if window and project is not None:
        yield f"project: {project}"
    if not session:
        return
    made = digest(session)
    if made["topics"]:
        yield f"about: {', '.join(made['topics'])}"
    if made["title"]:
        yield f"began with: {made['title']}"
    yield from (f"decided: {each['text']}" for each in made["decisions"][: -_DECISIONS - 1 : -1])
    yield from (f"open: {each['text']}" for each in made["open_ends"][: -_OPEN_ENDS - 1 : -1])


def _earlier(window: Sequence[Turn]) -> list[tuple[str, str]]:
    return [
        (tag, head(redact(text[:_READ_CHARS]).text, _EARLIER_TOKENS))
        for each in window[-_EARLIER_TURNS:]
        for tag, text in (("earlier-user", each.user_text), ("earlier-assistant", each.assistant_text))
    ]


def _tagged(tag: str, text: str) -> str:
    text = invisible.clean(redact(text).text).translate(_ANGLES).strip()
    return f"<{tag}>\n{text}\n</{tag}>"
