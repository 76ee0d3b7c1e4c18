"""Characters that a reader can't see and a model can: they hide orders and break matching."""

from __future__ import annotations

import re

# Soft hyphen, zero-width and bidi controls, word joiners, BOM, variation-selector supplement and tag characters.
# The zero-width joiner goes too, also inside emoji: a family falls into its members, which harms nobody, whereas rules
# for where a joiner is innocent are rules to get around. VS15 and VS16 (️) stay: they only choose an emoji's looks.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def clean(text: str) -> str:
    """The text without invisible characters. Line ends, tabs and ordinary spaces stay.

    >>> clean("pay\\u200bload")
    'payload'
    """
    return text if text.isascii() else INVISIBLE.sub("", text)


def count(text: str) -> int:
    """How many invisible characters the text holds."""
    return 0 if text.isascii() else len(INVISIBLE.findall(text))
