"""JSON Lines that people hand us: each line checked, and the first that is wrong told by file and line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .errors import UnusableFile

Row = TypeVar("Row", bound=BaseModel)


def read(path: Path, of: type[Row]) -> list[Row]:
    """Every line of a file as `of`; blank lines are passed over.

    Raises:
        UnusableFile: it can't be read, ends in the middle of a line, or a line is not what it must be.
    """
    found = []
    for number, document in objects(path):
        try:
            found.append(of.model_validate(document))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UnusableFile(f"{path}:{number}: {where or 'the line'}: {first['msg']}") from error
    return found


def objects(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Every line's number and JSON object.

    Raises:
        UnusableFile: as `read`.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror or error}") from error
    return [(number, _object(path, number, line)) for number, line in enumerate(lines, 1) if line.strip()]


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Overwrite a file with these rows.

    Raises:
        UnusableFile: it can't be written.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise UnusableFile(f"{path}: can't be written: {error.strerror or error}") from error


def _object(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path}:{number}: not UTF-8 (byte {error.start} of the line)") from error
    except (ValueError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise UnusableFile(
            f"{path}:{number}: not JSON, or cut off ({what}): one whole object a line is expected"
        ) from error
    if not isinstance(document, dict):
        raise UnusableFile(f"{path}:{number}: a JSON object is expected, not {type(document).__name__}")
    return document
