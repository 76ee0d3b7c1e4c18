"""The library in a search: the sections of documents that are evidence for an answer, each with path and heading."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from nextlevel.inference import Measures, Vector
from nextlevel.model import Scope
from nextlevel.safety.markers import escape
from nextlevel.store import library
from nextlevel.store.library import Text
from nextlevel.store.passages import Said
from nextlevel.store.pool import Database

from . import past, render
from .answer import Document, Item
from .indexed import hear
from .passages import Heard, Sought
from .retrieve import in_measure

# A library is large: most of what is near in it is beside the point, and it must not crowd out what is remembered.
_COVERAGE, _LIFT, _MOST = 0.34, 0.065, 5

_NOT_SHOWN = "(reads like orders to a model: not quoted)"


async def find(
    db: Database,
    scope: Scope,
    sought: Sought,
    vector: Vector | None,
    model: str,
    measures: Measures | None,
    as_of: datetime | None,
) -> list[Item]:
    """The sections that are worth a line, best first. As of a moment: of documents that have not changed since."""
    async with db.memory(scope) as conn:
        heard = in_measure(await hear(library, conn, scope, sought, vector, model, as_of), measures)
        evident = [each for each in heard if each.coverage >= _COVERAGE or (each.lift or 0) >= _LIFT][:_MOST]
        texts = await library.texts(conn, scope, [each.passage.turn_id for each in evident]) if evident else {}
    usable = [each for each in evident if each.passage.turn_id in texts]
    return [
        _item(each, texts[each.passage.turn_id], score) for each, score in zip(usable, past.scores(usable), strict=True)
    ]


def _item(heard: Heard, text: Text, score: float) -> Item:
    held, channels, why = text.document, past.channels(heard), past.why(heard, "a document")
    if text.orders is not None:
        document = Document(
            held.id, held.folder, held.path, held.title, "", held.project, held.changed_at, "", text.orders
        )
        return Item(None, None, f"{escape(held.path)} {_NOT_SHOWN}", score, channels, why, document)
    said = Said(heard.passage.turn_id, heard.passage.session, text.place, held.changed_at, text.body, "")
    quote = past.quote(said, heard.matched).text
    document = Document(
        held.id, held.folder, held.path, held.title, text.heading, held.project, held.changed_at, quote, None
    )
    return Item(None, None, render.citation(held.path, text.heading, quote), score, channels, why, document)


def once(items: Sequence[Item]) -> list[Item]:
    """The items, each line and each quoted text once: the best tier that says it keeps it."""
    said: set[str] = set()
    kept = []
    for item in items:
        texts = {item.text, *(part.text for part in (item.passage, item.document) if part is not None and part.text)}
        if said.isdisjoint(texts):
            kept.append(item)
        said |= texts
    return kept
