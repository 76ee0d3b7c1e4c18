"""What the service answers, as the model that called a tool reads it: escaped, with the ids that forget takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nextlevel.lang.tokens import content_words
from nextlevel.producers.shortterm.search import Found
from nextlevel.safety import markers

from .prefetch import day
from .prefetch import quote as best_line

Answer = dict[str, Any]


DOCUMENT = "document:"
"""What stands before the id of a document where forget takes ids of blocks too."""


def result(item: Mapping[str, Any]) -> Answer:
    """One hit, with its tier: a fact or a document by its id, to forget it by; a past turn by its session and time."""
    told = {
        "tier": item.get("tier", "long-term"),
        "text": markers.escape(str(item.get("text", ""))),
        "score": item.get("score"),
    }
    if passage := item.get("passage"):
        return {**told, "session": passage.get("session"), "at": passage.get("at")}
    if document := item.get("document"):
        file = markers.escape(f"{document.get('folder')}/{document.get('path')}")
        return {**told, "file": file, "block": f"{DOCUMENT}{document.get('id')}"}
    return {**told, "block": (item.get("block") or {}).get("id")}


def discussed(session: Mapping[str, Any]) -> Answer:
    """A past session in which it was spoken of, without what is empty."""
    told = {
        "session": session.get("session"),
        "date": str(session.get("at", ""))[:10],
        **({} if session.get("in_time", True) else {"note": "not at the time that was asked for"}),
        **{name: session.get(name) for name in ("title", "topics", "decisions", "open_ends", "ended_with")},
        "quotes": [
            {"at": quote.get("at"), "text": markers.escape(str(quote.get("text", "")))}
            for quote in session.get("quotes", [])
        ],
        "then_and_now": [
            {"then": change.get("then"), "now": change.get("now") or "holds no longer"}
            for change in session.get("changes", [])
        ],
    }
    return {name: value for name, value in told.items() if value}


def short_term(turn: Found, terms: set[str]) -> Answer:
    """A turn of this machine; without an answer it is an order to remember, on its way."""
    told: Answer = {"tier": "short-term", "date": day(turn.at)}
    if not turn.assistant_text:
        return {**told, "text": markers.escape(turn.user_text), "pending": True}
    return {
        **told,
        "session": turn.session,
        "user": markers.escape(best_line(turn.user_text, terms)[1]),
        "assistant": markers.escape(best_line(turn.assistant_text, terms)[1]),
    }


def says(hits: Sequence[Answer], text: str) -> bool:
    """True where one of the hits says all of a text: it is the same, from another tier."""
    wanted = set(content_words(text))
    return any(wanted <= set(content_words(str(each.get("text", "")))) for each in hits)


def document(match: Mapping[str, Any]) -> Answer:
    """A document that a forget may mean, by the id that it takes."""
    return {
        "id": f"{DOCUMENT}{match.get('id')}",
        "text": markers.escape(f"the file {match.get('folder')}/{match.get('path')}"),
    }


def relations(edges: Sequence[Mapping[str, Any]]) -> Answer:
    """The edges of the graph, a relation each."""
    related = [
        {
            "subject": markers.escape(str(edge.get("subject", ""))),
            "relation": str(edge.get("predicate", "")).replace("_", " "),
            "object": markers.escape(str(edge.get("object", ""))),
            "since": str(edge.get("valid_from", ""))[:10],
            **_told_by(edge),
        }
        for edge in edges
    ]
    return {"results": related, **({} if related else {"note": "no relations are known"})}


def _told_by(edge: Mapping[str, Any]) -> Answer:
    path = edge.get("document")
    return {"file": markers.escape(str(path))} if path else {"block": edge.get("block_id")}


def gathered(items: Sequence[Mapping[str, Any]]) -> Answer:
    """Many memories of one topic, laid out for the model that asked: it draws the conclusion, sources in hand."""
    if not items:
        return {"results": [], "note": "nothing is known about this"}
    facts = sorted((item for item in items if item.get("block")), key=lambda item: str(item["block"]["valid_from"]))
    subjects: dict[str, list[Answer]] = {}
    for item in facts:
        subjects.setdefault(markers.escape(str(item["block"].get("subject", ""))), []).append(result(item))
    said = sorted((result(item) for item in items if item.get("passage")), key=lambda each: str(each["at"]))
    how = "Conclude from these, oldest first, and name those it rests on; what they don't say is not known."
    return {"how": how, "facts": subjects, "results": said}
