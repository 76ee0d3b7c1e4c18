"""What a refusal of an OpenAI-compatible server means: whether it passes, how long to wait, the reason for a person."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import APIStatusError

_LONGEST_REST_S = 3_600.0
_PASSING = frozenset({408, 409, 425, 429})  # and every 5xx


def passes(status: int) -> bool:
    """True where the same request may be answered later."""
    return status in _PASSING or status >= 500


def retry_after_s(headers: Mapping[str, str]) -> float:
    """How long a server asks us to wait, in seconds, at most an hour; 0 where it does not say.

    >>> retry_after_s({"retry-after": "7"})
    7.0
    """
    told = headers.get("retry-after", "")
    try:
        wait_s = float(told)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(told).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(wait_s, 0.0), _LONGEST_REST_S)


def reason(error: APIStatusError) -> str:
    return " ".join(str(error.message).split())[:200]
