"""Markdown notes as Obsidian writes them: front matter, sections by heading, wiki links, tags.

Only what a library needs, of any text without complaint: what is no well-formed front matter is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import unquote

from nextlevel.model import EntityType

SECTION_CHARS = 1_200
"""Longest section; a longer one is cut between paragraphs. What an embedder reads well, and a person at a glance."""
MOST_SECTIONS = 2_000
MOST_LINKS = 200

_MOST_FRONT_LINES = 200
_LONGEST_FRONT_LINE = 1_000
_LONGEST_HEADING = 200
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*)$")
_UNDERLINE = re.compile(r"\s{0,3}(=+|-{2,})\s*$")
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_WIKI = re.compile(r"(?P<embed>!?)\[\[(?P<target>[^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|(?P<shown>[^\[\]\n]*))?\]\]")
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\(<?(?P<target>[^()<>\s]+\.(?:md|markdown))(?:#[^()\s]*)?>?\)", re.IGNORECASE)
_TAG = re.compile(r"(?<![\w/#&`])#(?P<tag>[^\W\d_][\w/-]*)")
_KEY = re.compile(r"(?P<key>[^\s:#-][^:#]{0,60}?)\s*:(?:\s+(?P<value>.*))?$")
_ITEM = re.compile(r"\s*-\s+(?P<value>.+)$")
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|pdf|mp[34]|mov|webm|wav|ogg|m4a|zip|csv|canvas)$", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}(?:-\d{2}){0,2}|\d{4}-w\d{2}|\d{8}", re.IGNORECASE)
_UNTOLD = frozenset({"readme", "index", "untitled", "unbenannt", "moc", "home"})
"""File names that name no thing: the note is called by its title, else by its folder."""
_PERSON_KEYS = frozenset({"author", "authors", "by", "autor", "autorin", "attendees", "people"})


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a note. `heading` are those above it, outermost first ("Network › Ports"); `text` reads as prose."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """What a note is related to: the predicate, the name of the other end, and of what kind that is."""

    predicate: str
    target: str
    type: EntityType = EntityType.TOPIC


@dataclass(frozen=True, slots=True)
class Note:
    """A note, read. `name` is what others link to, None where it names no thing (a day); `aliases` are other names.

    `cut`: it had more than MOST_SECTIONS, and the others are left out.
    """

    title: str
    name: str | None
    type: EntityType
    aliases: tuple[str, ...]
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    cut: bool


def read(path: str, text: str) -> Note:
    """Take a note apart. `path` is where it stands in its folder.

    >>> note = read("net/docker.md", "---\\ntags: [infra]\\n---\\n# Docker\\n## MTU\\nSee [[Birch-2|birch]].\\n")
    >>> note.title, note.sections, [(link.predicate, link.target) for link in note.links]
    ('Docker', (Section(heading='Docker › MTU', text='See birch.'),), [('tagged', 'infra'), ('links_to', 'Birch-2')])
    """
    front, body = _front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    where = PurePosixPath(path)
    pieces = (piece for heading, part in _by_heading(body) for piece in _cut(heading, part))
    sections = tuple(islice(pieces, MOST_SECTIONS))
    title = _first(front, "title") or _first_heading(body) or where.stem
    return Note(
        title=title,
        name=_name(where, title),
        type=_type(_first(front, "type") or _first(front, "kind")),
        aliases=tuple(front.get("aliases", [])) + tuple(front.get("alias", [])),
        sections=sections,
        links=_links(front, body),
        cut=next(pieces, None) is not None,
    )


def _front_matter(text: str) -> tuple[dict[str, list[str]], str]:
    """The keys of the YAML at the head with their plain values, and the rest of the text. Nested maps are left out."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    ends = next((n for n, line in enumerate(lines[1:_MOST_FRONT_LINES], 1) if line.rstrip() in ("---", "...")), None)
    if ends is None:
        return {}, text
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for line in lines[1:ends]:
        if len(line) > _LONGEST_FRONT_LINE:
            continue
        if (item := _ITEM.match(line)) is not None:
            values += _scalars(item["value"])
        elif (pair := _KEY.match(line)) is not None:
            values = found.setdefault(pair["key"].strip().casefold(), [])
            values += _scalars(pair["value"] or "")
    return found, "\n".join(lines[ends + 1 :])


def _scalars(value: str) -> list[str]:
    """`a`, `"a"`, `[a, "b"]`; links whole, whatever stands around them.

    >>> _scalars('[a, "b"]'), _scalars('"[[X|y]]"'), _scalars("|")
    (['a', 'b'], ['[[X|y]]'], [])
    """
    if links := [match[0] for match in _WIKI.finditer(value)]:
        return links
    value = re.sub(r"\s+#.*$", "", value).strip()
    parts = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
    plain = [part.strip().strip("\"'").strip() for part in parts]
    return [part for part in plain if part and part not in ("|", ">", "|-", ">-", "null", "~")]


def _by_heading(body: str) -> Iterator[tuple[str, str]]:
    """Each stretch of text under its headings. A heading with nothing under it is its own text."""
    above: list[tuple[int, str]] = []
    told: list[str] = []
    fence = ""
    bare = False  # a heading stands alone so far

    def ended(level: int) -> Iterator[tuple[str, str]]:
        text = "\n".join(told).strip()
        if text or (bare and level <= above[-1][0]):
            yield " › ".join(name for _, name in above), text or above[-1][1]

    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence or mark is not None else _heading(line, told)
        if heading is None:
            told.append(line)
            continue
        level, name = heading
        yield from ended(level)
        told.clear()
        above = [*(each for each in above if each[0] < level), (level, name)]
        bare = True
    yield from ended(0)


def _heading(line: str, told: list[str]) -> tuple[int, str] | None:
    """A line that is a heading, or that makes one of the line before it, which is then told no more."""
    if (match := _HEADING.match(line)) is not None:
        return len(match[1]), _heading_text(match[2])
    if (match := _UNDERLINE.match(line)) is None or not told or not told[-1].strip():
        return None
    alone = len(told) == 1 or not told[-2].strip()
    if not alone or told[-1].lstrip().startswith(("-", "*", "|", ">", "#", "```")):
        return None
    return (1 if match[1].startswith("=") else 2), _heading_text(told.pop())


def _heading_text(text: str) -> str:
    return _plain(text[:_LONGEST_HEADING].strip().rstrip("#").rstrip())


def _cut(heading: str, text: str) -> Iterator[Section]:
    """A section, in pieces of at most SECTION_CHARS: between paragraphs, else between lines, else where it must be."""
    piece = ""
    for part in _parts(_plain(text)):
        if piece and len(piece) + len(part) > SECTION_CHARS:
            yield Section(heading, piece.strip())
            piece = ""
        piece += part
    if piece.strip():
        yield Section(heading, piece.strip())


def _parts(text: str) -> Iterator[str]:
    for paragraph in re.split(r"(?<=\n)(?=\n)", text):
        if len(paragraph) <= SECTION_CHARS:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from (line[start : start + SECTION_CHARS] for start in range(0, len(line), SECTION_CHARS))


def _plain(text: str) -> str:
    """A wiki link as it is shown: by its own words, else by the name of what it leads to."""
    return _WIKI.sub(lambda match: match["shown"] or match["target"], text)


def _links(front: dict[str, list[str]], body: str) -> tuple[Link, ...]:
    found: dict[Link, None] = {}
    bare = _CODE.sub(" ", body)
    tags = [tag for key in ("tags", "tag") for value in front.get(key, []) for tag in value.split()]
    for tag in [*tags, *(match["tag"] for match in _TAG.finditer(bare))]:
        found[Link("tagged", tag.strip("#/").rsplit("/", 1)[-1])] = None
    for key, values in front.items():
        for value in values:
            if (link := _of_front(key, value)) is not None:
                found[link] = None
    for match in (*_WIKI.finditer(bare), *_LINK.finditer(bare)):
        found[Link("links_to", _target(match["target"]))] = None
    return tuple(link for link in found if _names(link.target))[:MOST_LINKS]


def _of_front(key: str, value: str) -> Link | None:
    """A front matter's value that is a relation: a link under any key, a person or a project under theirs."""
    kind = EntityType.PERSON if key in _PERSON_KEYS else EntityType.PROJECT if key == "project" else EntityType.TOPIC
    predicate = "part_of" if key == "project" else re.sub(r"\W+", "_", key).strip("_")
    if (match := _WIKI.fullmatch(value)) is not None:
        return Link(predicate or "links_to", _target(match["target"]), kind)
    return Link(predicate, value, kind) if kind is not EntityType.TOPIC else None


def _target(text: str) -> str:
    """The name of the note that a link leads to; empty where it leads to an attachment."""
    name = unquote(text).strip().rsplit("/", 1)[-1]
    return "" if _ATTACHMENT.search(name) else re.sub(r"\.(?:md|markdown)$", "", name, flags=re.IGNORECASE).strip()


def _names(name: str) -> bool:
    """True for a name of something that is related to others: not a day, not one sign."""
    return len(name) > 1 and _DATE.fullmatch(name) is None


def _name(where: PurePosixPath, title: str) -> str | None:
    name = where.stem
    if name.casefold() in _UNTOLD:
        name = title if title != name else where.parent.name
    return name if _names(name) else None


def _type(value: str) -> EntityType:
    try:
        return EntityType(value.casefold())
    except ValueError:
        return EntityType.TOPIC


def _first(front: dict[str, list[str]], key: str) -> str:
    return next(iter(front.get(key, [])), "")


def _first_heading(body: str) -> str:
    for line in _CODE.sub(" ", body).split("\n"):
        if (match := _HEADING.match(line)) is not None and len(match[1]) == 1:
            return _heading_text(match[2])
    return ""
