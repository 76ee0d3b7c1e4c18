"""The `next` of a page: where the one after it begins, by a time and a name."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from fastapi.exceptions import RequestValidationError

T = TypeVar("T")


def mark(at: datetime, name: object) -> str:
    return base64.urlsafe_b64encode(f"{at.isoformat()} {name}".encode()).decode()


def read(given: str, named: Callable[[str], T]) -> tuple[datetime, T]:
    """What `mark` was made of; `named` makes the name of its text.

    Raises:
        RequestValidationError: it was made by nobody here.
    """
    try:
        at, _, name = base64.urlsafe_b64decode(given).decode().partition(" ")
        return datetime.fromisoformat(at), named(name)
    except (ValueError, binascii.Error) as error:
        problem = {"loc": ("query", "after"), "msg": "not the `next` of a page", "type": "value_error"}
        raise RequestValidationError([problem]) from error
