"""A document on its way into the library: without secrets, cut by headings, marked where it reads like orders.

Whoever sent it may have none of our rules, so what reaches the store went through here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from nextlevel.lang import markdown
from nextlevel.lang.roots import roots
from nextlevel.lang.tokens import words
from nextlevel.safety import invisible, markers
from nextlevel.safety.injection import suspicious
from nextlevel.safety.redact import redact
from nextlevel.store.library import Document, Edge, Section

LONGEST_TITLE = 200
MOST_DISTILLED = 5_000
"""Characters of a document that are distilled: what is general about it stands at its head. They fit one event."""
_NO_SENTENCE = re.compile(r"^[ \t]*(?:\||[-*+][ \t]+\[[ xX]\]).*$", re.MULTILINE)
"""Rows of tables, and tasks."""
_MARKS = re.compile(
    r"(?P<mark>\*\*|__)(?=\S)(?P<said>[^\n]{1,300}?)(?P=mark)|(?<!!)\[(?P<shown>[^\[\]\n]{1,300})\]\([^()\n]{1,500}\)"
)
_CONTROLS = re.compile("[\x01-\x08\x0b-\x1f\x7f]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Taken:
    """A document as the library keeps it, and how many secrets of each kind went. `cut`: its end is left out."""

    document: Document
    secrets: dict[str, int]
    cut: bool


def document_of(path: str, text: str, *, hash: bytes, changed_at: datetime, project: str | None) -> Taken:
    """A Markdown file, read.

    A section that reads like orders is judged by all that the author wrote, invisible signs included.
    """
    clean = redact(_UNSTORABLE.sub("", markers.strip(text)))
    note = markdown.read(path, clean.text)
    title = invisible.clean(note.title)[:LONGEST_TITLE]
    # A path that reads like orders can't be shown, so nothing under it is to be found.
    sections = () if suspicious(path) else tuple(_section(path, title, each) for each in note.sections)
    edges = tuple(Edge(link.predicate, link.target, link.type) for link in note.links if not suspicious(link.target))
    document = Document(
        path=path,
        title="" if suspicious(title) else title,
        hash=hash,
        changed_at=changed_at,
        project=project,
        name=None if note.name is None or suspicious(note.name) else note.name,
        type=note.type,
        aliases=tuple(alias for alias in note.aliases if not suspicious(alias)),
        sections=sections,
        edges=edges,
    )
    return Taken(document, clean.counts, note.cut)


def to_distil(document: Document) -> str:
    """The head of a document, as far as it may be distilled: without the sections that read like orders."""
    told = (f"{each.heading.rpartition(' › ')[2]}\n{each.body}" for each in document.sections if each.orders is None)
    said = _MARKS.sub(lambda mark: mark["said"] or mark["shown"], _NO_SENTENCE.sub("", "\n\n".join(told)))
    return _CONTROLS.sub(" ", said)[:MOST_DISTILLED]


def _section(path: str, title: str, section: markdown.Section) -> Section:
    heading, body = invisible.clean(section.heading), invisible.clean(section.text)
    said = f"{path}\n{title}\n{heading}\n{body}"
    return Section(heading, body, suspicious(f"{section.heading}\n{section.text}"), tuple(roots(words(said))))
