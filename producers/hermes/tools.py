"""The tools that the model may call: their answers are JSON in any case, and an error says what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from nextlevel.errors import NextLevelError, ServiceUnreachable, ShortTermUnavailable
from nextlevel.lang.tokens import content_words
from nextlevel.model import TERMINAL_STATES
from nextlevel.producers.shortterm import outbox
from nextlevel.producers.shortterm.search import Found, hide, search
from nextlevel.safety import markers
from nextlevel.safety.redact import redact

from . import offrecord, project, results
from .home import Home
from .prefetch import prepared, scope_of
from .prefetch import quote as best_line
from .recording import order
from .results import Answer
from .schemas import NAMES, TYPES
from .speaker import Speaker

MAX_ANSWER_CHARS = 8_000
_ASK_S = 5.0
_STORED_WITHIN_S = 3.0
_RECEIPTS_S = 0.5
_PRIVATE = ("/v1/recall", "/v1/graph", "/v1/forget")
"""What answers with a person's own memories, which nobody else in a group may see."""
_RESULTS = 10
_ONLY_HERE = 3
_IN_PROMPT = 20
"""Turns of the running session that its prompt holds, about: they are no news to who asks."""
_REFLECTED, _EDGES = 40, 100
_PENDING_S = 3600.0
"""How long what was asked to be remembered is shown as pending: by then it is stored, or its refusal is known."""


class Tools:
    """The tools as one speaker in one session sees them."""

    def __init__(self, home: Home, speaker: Speaker, session: str) -> None:
        self._home, self._speaker, self._session = home, speaker, session

    def call(self, name: str, args: Mapping[str, Any]) -> str:
        """The answer as JSON, at most 8,000 characters of it."""
        known: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
            "nextlevel_search": self._search,
            "nextlevel_remember": self._remember,
            "nextlevel_forget": self._forget,
            "nextlevel_graph": self._graph,
            "nextlevel_reflect": self._reflect,
            "nextlevel_stats": self._stats,
        }
        if name not in known:
            return failure(f"there is no tool {name}", f"use one of {', '.join(sorted(NAMES))}")
        return _short(known[name](args))

    def _search(self, args: Mapping[str, Any]) -> Answer:
        query = prepared(_text(args, "query"))
        if not query:
            return _asking_for("query", "what to look for")
        body: dict[str, Any] = {"query": query, "scope": self._scope, "session": self._session, "mode": "search"}
        moments = {name: told for name in ("as_of", "known_at") if (told := _text(args, name))}
        for name, told in moments.items():
            if not _is_moment(told):
                fix = "give it as 2026-06-03T12:00:00+02:00, or leave it out"
                return {"error": f"`{name}` is no time with an offset: {told[:40]!r}", "fix": fix}
        body |= moments
        try:
            found = self._ask("POST", "/v1/recall", body)
        except NextLevelError as error:
            return self._search_short_term(query, str(error))
        items = found.get("items", [])[:_RESULTS]
        hits = [results.result(item) for item in items]
        if not moments:
            given = {passage.get("turn") for item in items if (passage := item.get("passage"))}
            hits = [*self._pending(query, hits), *hits, *self._only_here(query, hits, given)]
        sessions = [results.discussed(each) for each in found.get("sessions", [])]
        return {
            "results": hits,
            **({"sessions": sessions} if sessions else {}),
            **({} if hits or sessions else {"note": "nothing is known about this"}),
        }

    def _pending(self, query: str, hits: Sequence[Answer]) -> list[Answer]:
        """What was asked to be remembered and is not among the results yet: it is on its way."""
        if not self._home.has_database:
            return []
        orders = search(
            self._home.database,
            query,
            _RESULTS,
            reader=self._speaker.reader,
            kind="remember",
            since=time.time() - _PENDING_S,
        )
        return [
            {**results.short_term(each, set()), "turn": each.id}
            for each in orders
            if not results.says(hits, each.user_text)
        ]

    def _only_here(self, query: str, hits: Sequence[Answer], given: Collection[str]) -> list[Answer]:
        """Turns of this machine that no other tier gave: not yet delivered, or not yet to be found there.

        Without those of this session that the model still has before its eyes.
        """
        if not self._home.has_database:
            return []
        reader, session = self._speaker.reader, self._session
        turns = search(
            self._home.database, query, _RESULTS, reader=reader, kind="turn", session=session, skip_last=_IN_PROMPT
        )
        terms = set(content_words(query))
        fresh = [each for each in turns if each.id not in given and not results.says(hits, each.user_text)]
        return [results.short_term(each, terms) for each in fresh[:_ONLY_HERE]]

    def _search_short_term(self, query: str, why: str) -> Answer:
        note = f"Long-term memory can't be asked now ({why}). These are recent turns on this machine only."
        if not self._home.has_database:
            return {"results": [], "note": note}
        terms = set(content_words(query))
        found = search(self._home.database, query, _RESULTS, reader=self._speaker.reader)
        return {"results": [results.short_term(each, terms) for each in found], "note": note}

    def _remember(self, args: Mapping[str, Any]) -> Answer:
        if why := offrecord.reason(self._home, self._speaker, self._session):
            return {"error": f"nothing is remembered here: {why}", "fix": "tell the user; a new session is remembered"}
        text = redact(markers.strip(_text(args, "text"))).text.strip()
        if not text:
            return _asking_for("text", "the fact to remember")
        kind = _text(args, "type")
        if kind and kind not in TYPES:
            return {"error": f"there is no type {kind!r}", "fix": f"use one of {', '.join(TYPES)}, or leave it out"}
        about = _text(args, "project") or _project(self._speaker)
        body = {name: value for name, value in (("type", kind), ("project", about)) if value}
        turn = self._publish("remember", text, body)
        traced = self._await_stored(turn)
        state = traced.get("turn", {}).get("state")
        if state is None:
            note = "kept on this machine; it enters long-term memory once the memory service has it"
            return {"remembered": True, "turn": turn, "state": "waiting", "note": note}
        if state != "stored":
            hide(self._home.database, [turn])  # it was refused: no search may give it as remembered
        return {
            "remembered": state == "stored",
            "turn": turn,
            "state": state,
            "reason": traced.get("turn", {}).get("reason"),
            "blocks": [block.get("id") for block in traced.get("blocks", [])],
        }

    def _forget(self, args: Mapping[str, Any]) -> Answer:
        block, query = _text(args, "block"), prepared(_text(args, "query"))
        if not block and not query:
            return _asking_for("query", "what to forget, or `block`, its id")
        if block.startswith(results.DOCUMENT):
            return self._forget_document(block)
        if ":" in block:
            return self._take_back(block)
        try:
            fitting = {} if block else self._ask("POST", "/v1/forget", {"scope": self._scope, "query": query})
            matches = [*fitting.get("matches", []), *map(results.document, fitting.get("documents", []))]
            if len(matches) > 1 or (matches and fitting.get("documents")):
                return {"forgotten": [], "matches": matches, "fix": "call again with the `block` of the right one"}
            if not block and not matches:
                return {"forgotten": [], "note": "nothing that fits is remembered"}
            wanted = block or matches[0]["id"]
            answer = self._ask("POST", "/v1/forget", {"scope": self._scope, "block": wanted})
        except ServiceUnreachable as error:
            return self._forget_later(block, query, str(error))
        for match in matches:
            hide(self._home.database, [each.id for each in self._said_here(str(match.get("text", "")))])
        self._home.deliver()  # with the receipts: they name the turns that tier 2 must not show any more
        self._home.finish(_RECEIPTS_S)
        return answer

    def _forget_later(self, block: str, query: str, why: str) -> Answer:
        """The service is away: what is on this machine is hidden at once, the rest is ordered by an event."""
        here = self._said_here(query)
        if len(here) > 1:
            terms = set(content_words(query))
            matches = [{"id": each.id, "text": markers.escape(best_line(each.user_text, terms)[1])} for each in here]
            fix = "call again with the id of the right one as `block`, once for each that is meant"
            return {
                "forgotten": [],
                "matches": matches,
                "fix": fix,
                "note": f"only this machine could be asked ({why})",
            }
        turn = self._publish("forget", "", {"block": block} if block else {"text": query})
        hide(self._home.database, [each.id for each in here])
        note = f"The memory service does not answer ({why}). The order is kept and carried out once it does."
        return {"forgotten": [], "state": "waiting", "turn": turn, "hidden_here": len(here), "note": note}

    def _forget_document(self, block: str) -> Answer:
        document = block.removeprefix(results.DOCUMENT)
        try:
            return self._ask("POST", "/v1/forget", {"scope": self._scope, "document": document})
        except ServiceUnreachable as error:
            return {"forgotten": [], "error": str(error), "fix": "try again when the memory service answers"}

    def _take_back(self, turn: str) -> Answer:
        """Forget one turn that was found on this machine, and what was learnt from it alone."""
        order = self._publish("retract", "", {"turns": [turn]})
        hide(self._home.database, [turn])
        return {"forgotten": [turn], "state": "waiting", "turn": order}

    def _said_here(self, text: str) -> list[Found]:
        """The turns of this machine in which this was said, as far as their words tell."""
        if not text or not self._home.has_database:
            return []
        return search(self._home.database, text, _RESULTS, reader=self._speaker.reader)

    def _graph(self, args: Mapping[str, Any]) -> Answer:
        about = {**self._scope, "limit": _EDGES, **({"entity": entity} if (entity := _text(args, "entity")) else {})}
        try:
            edges = self._ask("GET", f"/v1/graph?{urlencode(about)}").get("edges", [])
        except ServiceUnreachable as error:
            return {"error": str(error), "fix": "search for the name with nextlevel_search; relations need the service"}
        return results.relations(edges)

    def _reflect(self, args: Mapping[str, Any]) -> Answer:
        topic = prepared(_text(args, "topic"))
        if not topic:
            return _asking_for("topic", "what to think about")
        body = {"query": topic, "scope": self._scope, "session": self._session, "mode": "search", "k": _REFLECTED}
        try:
            return results.gathered(self._ask("POST", "/v1/recall", body).get("items", []))
        except ServiceUnreachable as error:
            return {
                "error": str(error),
                "fix": "use nextlevel_search, which also knows the recent turns on this machine",
            }

    def _stats(self, args: Mapping[str, Any]) -> Answer:
        answer: Answer = {"this_machine": self._here()}
        try:
            answer["pipeline"] = self._ask("GET", "/v1/status")
        except NextLevelError as error:
            answer["pipeline"] = {"error": str(error), "fix": "see `nextlevel status` on the machine of the service"}
        return answer

    def _here(self) -> Answer:
        failed = {"last_error": self._home.last_error} if self._home.last_error else {}
        if not self._home.has_database:
            return {"events": 0, **failed}
        try:
            return {**outbox.counts(self._home.database), **failed}
        except ShortTermUnavailable as error:
            return {"error": str(error)}

    @property
    def _scope(self) -> dict[str, str]:
        return scope_of(self._home, self._speaker)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, timeout_s: float = _ASK_S) -> Answer:
        service = self._home.service
        if service is None:
            raise ServiceUnreachable("no service_url in config.json; run `nextlevel hermes install`")
        if self._speaker.chat is not None and path.startswith(_PRIVATE):
            raise ServiceUnreachable("in a group only what was said in this chat may be shown")
        answer = service.request(method, path, body, token=self._home.config.token, timeout_s=timeout_s)
        if not answer.ok:
            raise ServiceUnreachable(answer.reason)
        return answer.body

    def _publish(self, kind: str, text: str, body: Mapping[str, Any]) -> str:
        """An event outside the conversation, on the disk and then on its way."""
        self._home.before_first_write()
        draft = order(self._speaker, self._session, kind, user_text=text, body=dict(body))
        written = outbox.append(self._home.database, draft)
        self._home.deliver()
        return written.id

    def _await_stored(self, turn: str) -> Answer:
        """The trace of a turn that ends within a few seconds, else {}: a memory is recallable when the call returns."""
        ends = time.monotonic() + _STORED_WITHIN_S
        while (left := ends - time.monotonic()) > 0:
            try:
                traced = self._ask("GET", f"/v1/trace/{quote(turn, safe='')}", timeout_s=left)
            except ServiceUnreachable:
                if self._home.service is None or self._home.service.breaker.is_open:
                    return {}
                traced = {}
            if (traced.get("turn") or {}).get("state") in TERMINAL_STATES:
                return traced
            time.sleep(0.05)
        return {}


def _project(speaker: Speaker) -> str:
    """The name of the project a local speaker works in, else ""."""
    here = project.describe() if speaker.is_local else {}
    return str(here.get("project", {}).get("name", ""))


def failure(error: str, fix: str) -> str:
    return json.dumps({"error": error, "fix": fix}, ensure_ascii=False)


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _asking_for(name: str, what: str) -> Answer:
    return {"error": f"`{name}` is missing", "fix": f"give `{name}`: {what}"}


def _text(args: Mapping[str, Any], name: str) -> str:
    value = args.get(name)
    return value.strip() if isinstance(value, str) else ""


def _short(answer: Answer) -> str:
    """As JSON; where it is too long, results are dropped from the end and that is said."""
    for name in ("results", "sessions", "matches", "forgotten"):
        while len(text := json.dumps(answer, ensure_ascii=False, default=str)) > MAX_ANSWER_CHARS and answer.get(name):
            answer = {**answer, name: answer[name][:-1], "cut": "more was found; ask more precisely"}
    if len(text) > MAX_ANSWER_CHARS:
        return failure("the answer is too long", "ask more precisely")
    return text
