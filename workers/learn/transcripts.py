"""A file of conversations as transcripts, whatever made it: what kind it is shows in its content, not in its name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from nextlevel.errors import UnusableFile
from nextlevel.model import ToolCall

MOST_BYTES = 256 * 1024 * 1024
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\]])")  # "[project]" begins a text
_KINDS = (
    "a Hermes export (JSON Lines), a ChatGPT or Claude conversations.json, or text with lines “User: …”, “Assistant: …”"
)


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said. `role` is `user` or `assistant`; `tools` what the assistant did before it spoke."""

    role: str
    text: str
    at: datetime
    tools: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn: what the user said, the answer, the tool calls between."""

    user: str
    assistant: str
    at: datetime
    tools: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation of a file."""

    name: str
    title: str
    exchanges: tuple[Exchange, ...] = field(default=())


def read(path: Path) -> list[Transcript]:
    """The conversations of a file that hold at least one turn, in the file's order.

    Raises:
        UnusableFile: it can't be read, is too large, or is of no known kind; the message says what was expected.
    """
    from . import exports, plain

    text, changed = _content(path)
    document = _document(path, text)
    if document is None:
        found = plain.transcripts(text, path.stem, changed)
    else:
        try:
            found = exports.transcripts(document, changed)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnusableFile(f"{path}: an export, but not as expected ({type(error).__name__}: {error})") from error
    if found is None:
        raise UnusableFile(f"{path}: not known what this is; expected is {_KINDS}")
    kept = [each for each in found if each.exchanges]
    if not kept:
        raise UnusableFile(f"{path}: there is no turn in it: nobody said anything")
    return kept


def exchanges(messages: Iterable[Message]) -> tuple[Exchange, ...]:
    """Messages as turns: what one side says in a row is one text; an answer before the first question is left out."""
    turns: list[Exchange] = []
    asked: list[str] = []
    answered: list[str] = []
    tools: list[ToolCall] = []
    at: datetime | None = None
    for message in messages:
        if message.role == "user" and (answered or at is None):
            if at is not None:
                turns.append(Exchange("\n\n".join(asked), "\n\n".join(answered), at, tuple(tools)))
            asked, answered, tools, at = [], [], [], message.at
        if at is not None:
            (asked if message.role == "user" else answered).append(message.text)
            tools += message.tools
    if at is not None:
        turns.append(Exchange("\n\n".join(asked), "\n\n".join(answered), at, tuple(tools)))
    return tuple(turns)


def _content(path: Path) -> tuple[str, datetime]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnusableFile(f"{path}: larger than {MOST_BYTES // 1024 // 1024} MiB: split it")
        raw, changed = path.read_bytes(), datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig"), changed
    except UnicodeDecodeError as error:
        raise UnusableFile(
            f"{path}: not UTF-8 text (byte {error.start}); an archive has to be unpacked first"
        ) from error


def _document(path: Path, text: str) -> Any:
    """The file's JSON: a document, or a list of the objects on its lines; None where it is no JSON at all."""
    if not _JSON.match(text):
        return None
    try:
        return json.loads(text)
    except RecursionError as error:
        raise UnusableFile(f"{path}: JSON that is nested too deep") from error
    except ValueError as whole:
        rows = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                if not rows:  # not even the first line: it was to be one document
                    raise UnusableFile(f"{path}: not JSON, or cut off ({whole})") from error
                raise UnusableFile(f"{path}:{number}: not JSON, or cut off ({error})") from error
        return rows
