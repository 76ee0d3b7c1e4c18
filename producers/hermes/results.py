"""What the service answers, as the model that called a tool reads it: escaped, with the ids that forget takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nextlevel.safety import markers

Answer = dict[str, Any]


def result(item: Mapping[str, Any]) -> Answer:
    """One hit: a fact by its id, to forget it by; a past turn by its session and time."""
    told = {"text": markers.escape(str(item.get("text", ""))), "score": item.get("score")}
    if passage := item.get("passage"):
        return {**told, "session": passage.get("session"), "at": passage.get("at")}
    return {**told, "block": (item.get("block") or {}).get("id")}


def relations(edges: Sequence[Mapping[str, Any]]) -> Answer:
    """The edges of the graph, a relation each."""
    related = [
        {
            "subject": markers.escape(str(edge.get("subject", ""))),
            "relation": str(edge.get("predicate", "")).replace("_", " "),
            "object": markers.escape(str(edge.get("object", ""))),
            "since": str(edge.get("valid_from", ""))[:10],
            "block": edge.get("block_id"),
        }
        for edge in edges
    ]
    return {"results": related, **({} if related else {"note": "no relations are known"})}


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
