"""Names in a text: files, hosts, technologies, projects, people. By form and by list, in no language in particular."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from nextlevel.model import EntityType


@dataclass(frozen=True, slots=True)
class Name:
    """One mention: the words as they stand, where, and what kind of thing they name."""

    text: str
    start: int
    type: EntityType


_URL = re.compile(r"(?:https?|ssh|git|redis|postgres(?:ql)?)://[^\s<>\"'`,;]+[^\s<>\"'`,;.)]")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_IP = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_HOST = re.compile(
    r"(?<![\w/@.-])(?:[a-z0-9](?:[\w-]{0,61})\.){1,5}"
    r"(?:com|org|net|io|dev|de|se|pl|eu|cn|jp|uk|lan|local|internal|home|example|invalid|test|cloud|app|ai)"
    r"(?::\d{2,5})?(?![\w-])"
)
_PATH = re.compile(
    r"(?<![\w@:/.~-])(?:~|\.{1,2}|[A-Za-z]{2,8}:/|[\w.@-]{1,64})?(?:/[\w.@~<>*{}-]{1,80}){1,12}/?(?![\w])"
)
_FILE = re.compile(
    r"(?<![\w/.-])[\w-]{0,60}\.?[\w-]{1,60}\."
    r"(?:py|ts|tsx|js|jsx|mjs|go|rs|java|kt|rb|php|c|h|cpp|cs|swift|sql|sh|ps1|toml|ya?ml|json|jsonl|ini|cfg|conf|env|md|"
    r"rst|txt|csv|xlsx?|docx?|pdf|html?|css|scss|svg|png|lock|tf|proto|ipynb|service|timer|gd|dlg)(?![\w/])"
)
_TICKS = re.compile(r"`([^`\n]{2,80})`")
_TICKED_NAME = re.compile(r"[A-Za-z][\w.@/-]*")  # no option, no assignment, no call
_ZONE = re.compile(r"(?<![\w/])(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z]\w+(?:/[A-Z]\w+)?")
_SERVICE = re.compile(r"(?<![\w/@.-])[a-z][\w-]{1,30}\.(?:io|ai|app|dev|com|sh)(?![\w/:.-]*[/:]|\.?\w)")
# Letters, a hyphen and more, with a digit or all in lower case: a host, a repository, a service. Compounds of ordinary
# words ("battery-backed") have that form too, so a digit or one of these endings must show that it is a name.
_SLUG = re.compile(r"(?<![\w/@.-])[A-Za-z][A-Za-z0-9]{0,40}(?:[-_][A-Za-z0-9]{1,40}){1,6}(?![\w/@-])")
_SLUG_ENDING = re.compile(
    r"[-_](?:\d\w*|crm|api|app|shop|svc|service|web|ui|db|prod|dev|staging|stage|test|bot|core|lib|router|worker|server|client|"
    r"backend|frontend|gateway|proxy|site|portal|cli|sdk|main|infra|ops|data|kit|node|pi|nas)$",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(r"(?:^|/)(?:tmp|temp|var/tmp|scratch)(?:/|$)|[/.]tmp[./]|\\Temp\\", re.IGNORECASE)
_ROUTE = re.compile(r"[a-z]+/[a-z]+", re.IGNORECASE)
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Frau|Herrn?|Lady|Sir)\.?\s(?=[A-ZÀ-ÞŁŚŻ])[\w'’-]+(?:\s[A-ZÀ-ÞŁŚŻ][\w'’-]+)?"
)
_FULL_NAME = re.compile(
    r"(?<![\w.!?-])[A-ZÀ-ÞŁŚŻ][a-zà-ÿąćęłńóśźżı]+\s[A-ZÀ-ÞŁŚŻ][a-zà-ÿąćęłńóśźżı]+(?:-[A-Z][a-zà-ÿ]+)?(?![\w-])"
)


@lru_cache(maxsize=2048)
def names(text: str, *, full_names: bool = True) -> tuple[Name, ...]:
    """Every mention that form or list can tell, in order, without overlaps.

    People only where a title shows them, or (`full_names`) two capitals in a row: not in German, where nouns have them.
    """
    found: list[Name] = []
    taken: list[tuple[int, int]] = []

    def add(start: int, end: int, kind: EntityType, shown: str | None = None) -> None:
        if not any(start < b and a < end for a, b in taken):
            taken.append((start, end))
            found.append(Name(shown or text[start:end], start, kind))

    for match in _URL.finditer(text):
        add(*match.span(), EntityType.HOST)
    for match in _EMAIL.finditer(text):
        taken.append(match.span())
    for match in _IP.finditer(text):
        add(*match.span(), EntityType.HOST)
    for match in _ZONE.finditer(text):
        add(*match.span(), EntityType.PLACE)
    if "/" in text:
        for match in _PATH.finditer(text):
            if is_path(match[0]):
                add(*match.span(), EntityType.FILE)
    if "." in text:
        for match in _SERVICE.finditer(text):
            add(*match.span(), EntityType.ORGANISATION)
        for match in _HOST.finditer(text):
            add(*match.span(), EntityType.HOST)
        for match in _FILE.finditer(text):
            add(*match.span(), EntityType.FILE)
    for match in technology().finditer(text):
        add(*match.span(), EntityType.TECHNOLOGY)
    if "`" in text:
        for match in _TICKS.finditer(text):
            if _TICKED_NAME.fullmatch(match[1]):
                add(*match.span(1), EntityType.PROJECT)
    for match in _SLUG.finditer(text):
        if _SLUG_ENDING.search(match[0]):
            add(*match.span(), EntityType.HOST if re.search(r"[-_]\d+$", match[0]) else EntityType.PROJECT)
    for pattern in (_TITLED, _FULL_NAME) if full_names else (_TITLED,):
        for match in pattern.finditer(text):
            add(*match.span(), EntityType.PERSON)
    return tuple(sorted(found, key=lambda name: name.start))


def is_path(text: str) -> bool:
    """A path worth a name: not a temporary one, not "and/or"."""
    return "/" in text.strip("/") + "/" and len(text) > 2 and not is_temporary(text) and not _is_alternative(text)


def is_temporary(text: str) -> bool:
    """A path that will be gone tomorrow: /tmp, scratch folders."""
    return _TEMPORARY.search(text) is not None


def _is_alternative(text: str) -> bool:
    """Two short words with a slash between: "on/off", "he/she", "and/or"."""
    return _ROUTE.fullmatch(text) is not None and all(len(part) <= 4 for part in text.split("/"))


def database(text: str) -> str | None:
    """The database, with its version, that the text begins with: "Postgres 16 on birch" is "Postgres 16"."""
    found = _databases().match(text)
    return found[0] if found else None


@cache
def _lists() -> dict[str, list[str]]:
    return tomllib.loads((Path(__file__).parent / "data" / "tech.toml").read_text(encoding="utf-8"))


@cache
def technology() -> re.Pattern[str]:
    """Known technologies; ambiguous ones only capitalised and followed by a version."""
    lists = _lists()
    known = sorted(
        {n for kind in ("database", "language", "framework", "tool") for n in lists[kind]}, key=len, reverse=True
    )
    doubtful = "|".join(re.escape(n.capitalize()) for n in lists["ambiguous"])
    return re.compile(
        rf"(?<![\w/@.-])(?:(?:{'|'.join(map(re.escape, known))})|(?-i:(?:{doubtful})(?=,|\.$|\s\d|\s\+)))"
        r"(?![\w/@-]|\.\w)",
        re.IGNORECASE,
    )


@cache
def database_form() -> str:
    """A piece of an expression for a database and its version."""
    known = "|".join(map(re.escape, sorted(_lists()["database"], key=len, reverse=True)))
    return rf"(?:{known})(?!\w)(?: v?\d+(?:\.\d+)*)?"


@cache
def _databases() -> re.Pattern[str]:
    return re.compile(database_form(), re.IGNORECASE)
