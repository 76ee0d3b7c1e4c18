"""The patterns are tried only where one of their literals says that a match can begin; that must lose none."""

from __future__ import annotations

import random
import re

import pytest

from nextlevel.safety.redact import matches
from nextlevel.safety.secret_patterns import FAMILIES

WORDS = (
    *("encryption access key", "recovery codes", "zugangs-token", "api_secret", "mot de passe", "gate code", "the crm"),
    *("personal-key", "zugangscode", "recovery phrase", "dane logowania", "set-cookie", "authorization", "İstanbul"),
    *("x-goog-signature", "discordapp.com", "postgresql+asyncpg", "encryption ", "access", "wpa2 key", "acme_live_"),
)
VALUES = (
    *(
        "Xk9-vQ2!mZr7",
        "hunter2",
        "0123456789",
        "4111 1111 1111 1111",
        "eyJhbGciOiJIUzI1NiJ9",
        "deadbeef" * 4,
        "A1b2" * 9,
    ),
    *(
        "correct horse battery staple",
        "app:s3cret@db/shop",
        "AAE" + "x9_" * 11,
        "12345678901234",
        "Zz0" * 11,
        "q7W" * 4,
    ),
)
HEADS = (
    *(
        "AKIA",
        "AIza",
        "ghp_",
        "glpat-",
        "xoxb-",
        "sk_live_",
        "sk-proj-",
        "hf_",
        "npm_",
        "SG.",
        "hvs.",
        "whsec_",
        "gsk_",
    ),
    *(
        "dop_v1_",
        "AGE-SECRET-KEY-1",
        "shpat_",
        "lin_api_",
        "dckr_pat_",
        "nfp_",
        "acme_live_",
        "NRAK-",
        "figd_",
        "tskey-",
    ),
)
JOINTS = ("", " ", "  ", "=", ": ", "\n", "-", "_", ".", " is ", ' = "', "' ", "://", "/", " till ", "?", "@", "\t")
LITERALS = tuple(literal for family in FAMILIES for literal in family.literals)


def soup(seed: int) -> str:
    """A text in which literals, values and what joins them stand in any order, in any case."""
    pick = random.Random(seed)
    parts = []
    for _ in range(60):
        part = pick.choice(pick.choice((WORDS, VALUES, LITERALS)))
        parts += (pick.choice((part, part.upper(), part.title())), pick.choice(JOINTS))
        tail = "".join(pick.choices(pick.choice(("abcdef0123456789", "ABCDEFGHJKLMNPQRSTUVWXYZ23456789abc")), k=40))
        parts += (pick.choice(HEADS), tail[: pick.choice((16, 32, 40))], pick.choice(JOINTS))
    return "".join(parts)


def spans(found: list[re.Match[str]]) -> list[tuple[int, int]]:
    return [match.span() for match in found]


@pytest.mark.parametrize("seed", range(40))
def test_no_match_is_lost_by_looking_only_near_the_literals(seed: int) -> None:
    """A pattern that is changed and begins further ahead of its literal than its family says would leak its secrets."""
    text = soup(seed)
    for family in FAMILIES:
        near = family.digits or any(literal in text.lower() for literal in family.literals)
        for pattern in family.patterns:
            whole = list(pattern.regex.finditer(text)) if near else []
            assert spans(whole) == spans(matches(text, family, pattern)), pattern.kind


def test_the_soups_hold_secrets_of_most_kinds() -> None:
    """Else the test above compares nothing with nothing."""
    found = {
        pattern.kind
        for seed in range(40)
        for family in FAMILIES
        for pattern in family.patterns
        if matches(soup(seed), family, pattern)
    }
    assert len(found) > 20, sorted(found)
