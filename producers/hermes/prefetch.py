"""Recall before a turn, as a ladder: each rung has its share of the deadline, and which one answered is known.

The recall service (80 ms), what the last turn warmed (5 ms) and the words of tier 2 (10 ms), one line that says that
memory is unavailable. "Nothing known" is an answer, and gives no text.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nextlevel.errors import NextLevelError, QueueUnreachable, ServiceUnreachable, ShortTermUnavailable
from nextlevel.lang.tokens import content_words
from nextlevel.producers.shortterm.search import Found, search
from nextlevel.safety import markers
from nextlevel.safety.redact import redact
from nextlevel.wire.sockets import Deadline

from . import project
from .home import Home
from .speaker import Speaker

SERVICE_SHARE, WARM_SHARE = 80 / 95, 5 / 95
_TRANSIT_S = 0.008
"""What the way to the service and back may take of its share; the service gets the rest."""
_WARM_SEARCH_S = 1.0
_QUERY_HEAD, _QUERY_TAIL = 1_000, 500
_LINES = 5
_QUOTE_CHARS = 240
_STILL_SEEN_TURNS = 10
"""Turns of the session that tier 2 leaves out: the model has them before its eyes, unless they were compacted away."""
# Not strftime: its names depend on the host's locale.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Recalled:
    """The text to inject ("" where nothing is known), which rung gave it, and why higher ones did not."""

    text: str
    rung: str
    why: str = ""


def recall(home: Home, speaker: Speaker, session: str, query: str, *, brief: bool = False) -> Recalled:
    """What is known for a query, within the deadline of the home's configuration. Never raises for what is down.

    `brief` asks the service for the opening brief too.
    """
    ends = time.monotonic() + home.config.prefetch_ms / 1000
    total = home.config.prefetch_ms / 1000
    query = prepared(query)
    if not query and not brief:
        return Recalled("", "none", "no words to ask for")
    why: list[str] = []
    warm: str | None = None
    # The service does not know yet what a group may see: there only this machine's own turns of that chat are recalled.
    if speaker.chat is None:
        try:
            share_s = total * SERVICE_SHARE
            return Recalled(ask_service(home, speaker, session, query, share_s, brief=brief), "service")
        except NextLevelError as error:
            why.append(str(error))
        try:
            warm = _warmed(home, speaker, session, min(total * WARM_SHARE, ends - time.monotonic()))
        except NextLevelError as error:
            why.append(str(error))
    # What was warmed was asked for by the message before: the words of this one are looked for beside it.
    try:
        lines = _short_term(home, speaker, session, query, max(0.005, ends - time.monotonic()))
    except ShortTermUnavailable as error:
        why.append(str(error))
        lines = []
    if warm is not None:
        return Recalled("\n".join([warm or markers.HEADER, *lines]) if warm or lines else "", "warm", "; ".join(why))
    if lines:
        return Recalled("\n".join([markers.HEADER, *lines]), "shortterm", "; ".join(why))
    if speaker.chat is not None:
        return Recalled("", "shortterm", "; ".join(why))
    return Recalled(markers.UNAVAILABLE, "unavailable", "; ".join(why))


def warm_up(home: Home, speaker: Speaker, session: str, query: str) -> None:
    """Have the service prepare what the next turn will need, should it then be silent.

    Raises:
        ServiceUnreachable: it does not answer.
    """
    query = prepared(query)
    if query and speaker.chat is None and home.service is not None:
        ask_service(home, speaker, session, query, _WARM_SEARCH_S, warm=True)


def prepared(query: str) -> str:
    """The query as it is sent: free of our own words and of secrets, and of a pasted text the two ends."""
    query = markers.strip(query).strip()
    if len(query) > _QUERY_HEAD + _QUERY_TAIL:
        query = f"{query[:_QUERY_HEAD]}\n{query[-_QUERY_TAIL:]}"
    return redact(query).text


def scope_of(home: Home, speaker: Speaker) -> dict[str, str]:
    return {"install": home.config.install, "profile": speaker.profile, "principal": speaker.principal}


def ask_service(
    home: Home,
    speaker: Speaker,
    session: str,
    query: str,
    timeout_s: float,
    *,
    warm: bool = False,
    brief: bool = False,
) -> str:
    """The service's context for a prepared query.

    Raises:
        ServiceUnreachable: it does not answer in time, or refuses.
    """
    service = home.service
    if service is None:
        raise ServiceUnreachable("no service_url in config.json")
    body: dict[str, Any] = {
        "query": query,
        "scope": scope_of(home, speaker),
        "session": session,
        "mode": "prefetch",
        "deadline_ms": max(1, int((timeout_s - _TRANSIT_S) * 1000)),
        "warm": warm,
        "brief": brief,
        "project": _project(speaker),
    }
    answer = service.request("POST", "/v1/recall", body, token=home.config.token, timeout_s=timeout_s)
    if not answer.ok:
        raise ServiceUnreachable(answer.reason)
    return str(answer.body.get("context") or "")


def _project(speaker: Speaker) -> str | None:
    """The project in focus, where the agent works on this machine."""
    found = project.describe().get("project") if speaker.is_local else None
    return found["name"] if found else None


def _warmed(home: Home, speaker: Speaker, session: str, timeout_s: float) -> str | None:
    """What the last turn warmed, if nothing has changed since in any scope that it was read from."""
    redis = home.redis
    if redis is None:
        raise QueueUnreachable("no redis_url in config.json")
    deadline = Deadline(timeout_s)
    try:
        raw = redis.call("GET", warm_key(home.config.install, speaker, session), timeout_s=deadline.left())
        document = json.loads(raw) if raw else None
        if not isinstance(document, dict) or not document.get("generations"):
            return None
        generations: dict[str, int] = document["generations"]
        now = redis.call("MGET", *(f"nl:gen:{scope}" for scope in generations), timeout_s=deadline.left())
    except (TimeoutError, ValueError) as error:
        raise QueueUnreachable(f"no warmed answer: {error}") from error
    if [str(generation).encode() for generation in generations.values()] != now:
        return None
    return str(document.get("context") or "")


def warm_key(install: str, speaker: Speaker, session: str) -> str:
    whose = "\n".join([install, speaker.profile, speaker.principal, session])
    return f"nl:warm:{hashlib.sha256(whose.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _short_term(home: Home, speaker: Speaker, session: str, query: str, wait_s: float) -> list[str]:
    if not home.has_database:
        return []
    in_prompt = home.ledgers.of(session).turns_in_prompt
    found = search(
        home.database,
        query,
        _LINES,
        reader=speaker.reader,
        session=session,
        skip_last=_STILL_SEEN_TURNS if in_prompt is None else min(in_prompt, _STILL_SEEN_TURNS),
        wait_s=wait_s,
    )
    terms = set(content_words(query))
    lines: list[str] = []
    newer: list[set[str]] = []
    for turn in sorted(found, key=lambda turn: turn.at, reverse=True):
        line, said = _line(turn, terms)
        words = set(content_words(said))
        # "runs on port 8091 now" has replaced "runs on port 8080": but for values, its words all stand there.
        if not any({word for word in words if not word.isdigit()} <= others for others in newer):
            lines.insert(0, line)
        newer.append(words)
    return lines


def _line(turn: Found, terms: set[str]) -> tuple[str, str]:
    """The line for a turn, and what is quoted in it."""
    said, theirs = quote(turn.user_text, terms), quote(turn.assistant_text, terms)
    if theirs[0] > said[0]:
        return f'- {day(turn.at)}, the assistant: "{markers.escape(theirs[1])}"', theirs[1]
    return f'- {day(turn.at)}: "{markers.escape(said[1])}"', said[1]


def quote(text: str, terms: set[str]) -> tuple[int, str]:
    """How many of the terms the best line of a text holds, and that line around them: what matched, not its head."""
    best = max(text.splitlines() or [""], key=lambda line: _matches(line, terms))
    if len(best) > _QUOTE_CHARS:
        starts: Sequence[int] = range(0, len(best) - _QUOTE_CHARS // 2, _QUOTE_CHARS // 2)
        start = max(starts, key=lambda place: _matches(best[place : place + _QUOTE_CHARS], terms))
        best = f"{'…' if start else ''}{best[start : start + _QUOTE_CHARS].strip()}…"
    return _matches(best, terms), best


def _matches(text: str, terms: set[str]) -> int:
    return len(terms.intersection(content_words(text)))


def day(at: str) -> str:
    """The day of a time stamp as one says it; with its year where that is not this one.

    >>> day("2001-05-12T10:00:00+02:00")
    '12 May 2001'
    """
    moment = datetime.fromisoformat(at)
    year = "" if moment.year == datetime.now().year else f" {moment.year}"
    return f"{moment.day} {_MONTHS[moment.month - 1]}{year}"
