"""Secrets never reach disk, wire or model: what goes, what stays, and at what cost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel.safety.redact import redact
from nextlevel.safety.secret_patterns import FAMILIES

# Put together at run time, so that a scanner of this repository finds no literal that looks like a live key.
_TAIL = "Qx7Lr2Vb9Tn4Wz6Kd1Ph8"
SECRETS = {
    "aws_access_key": "AKIA" + "IOSFODNN7EXAMPLE",
    "google_api_key": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "github_token": "ghp" + "_0123456789abcdefABCDEF0123456789abcd",
    "gitlab_token": "glpat" + "-" + _TAIL,
    "slack_token": "xoxb" + "-123456789012-abcdefABCDEF",
    "stripe_key": "sk" + "_live_" + _TAIL,
    "openai_key": "sk" + "-proj-" + _TAIL,
    "anthropic_key": "sk" + "-ant-api03-" + _TAIL,
    "huggingface_token": "hf" + "_AbCdEfGhIjKlMnOpQrStUvWxYz",
    "npm_token": "npm" + "_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "pypi_token": "pypi" + "-AgEIcHlwaS5vcmcCJGFiY2Rl",
    "sendgrid_key": "SG" + ".abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg",
    "telegram_token": "123456789" + ":AAHk5vB2nQ7rT9wXyZ1aC3dE5fG7hI9jK0L",
    "vault_token": "hvs" + ".CAESIJ1b2c3d4e5f6g7h8i9j0",
    "age_key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.abcDEF123_-x",
    "payment_card": "4111 1111 " + "1111 1111",
    "private_key": "-----BEGIN OPENSSH "
    + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----",
}


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items(), ids=SECRETS)
def test_a_key_with_a_known_form_goes_wherever_it_stands(kind: str, secret: str) -> None:
    """No keyword in front is needed: people paste keys bare."""
    found = redact(f"so here it is {secret} use it")
    assert secret not in found.text
    assert {kind: 1} == found.counts
    assert f"so here it is [redacted:{kind}] use it" == found.text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the password is hunter2", "hunter2"),
        ("das Passwort für den Router lautet Sommer2031!", "Sommer2031!"),
        ("my login for the shop: user anna / pw Tulpe!1987 ok", "Tulpe!1987"),
        ("DB_PASSWORD=correcthorse", "correcthorse"),
        ('{"client_secret": "a8f5f167f44f4964e6c998dee827110c"}', "a8f5f167f44f4964e6c998dee827110c"),
        ("export API_KEY=abc123def456ghi7", "abc123def456ghi7"),
        ("postgres://app:s3cr3t@db:5432/shop", "s3cr3t"),
        ("redis://:pa55@cache:6379/0", "pa55"),
        ("Authorization: Bearer abcdefghij123456", "abcdefghij123456"),
        ("curl -u admin:letmein9 https://x.test", "letmein9"),
        ("die PIN ist 4711", "4711"),
        ("lösenordet är Vinter99x", "Vinter99x"),
        ("hasło do bazy to Zima!2030", "Zima!2030"),
        ("数据库的密码是 Abc!2290，谢谢", "Abc!2290"),
        ("the passphrase is correct horse battery staple", "correct horse battery staple"),
    ],
)
def test_a_secret_that_is_told_in_words_goes_and_the_words_stay(text: str, secret: str) -> None:
    """A sentence around a password says where it belongs; that is worth remembering, the password is not."""
    found = redact(text)
    (kind,) = found.counts
    assert text.replace(secret, f"[redacted:{kind}]") == found.text


@pytest.mark.parametrize(
    "text",
    [
        "commit 4c1e0aa93f8a2f6f7c1b2d3e4f5a6b7c8d9e0f1a is on main",
        "order 550e8400-e29b-41d4-a716-446655440000 runs on port 8080",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "PASSWORD=$DB_PASSWORD and TOKEN=${{ secrets.TOKEN }}",
        "password: str = Field(min_length=12)",
        "the secret lives in vault under kv/prod/db-1",
        "pin the version to 1.2.3 and bump the token bucket to 2000 tokens",
        "passwords are hashed with argon2 and need at least 12 characters",
        "http://localhost:8080/users/@me",
        "the primary key is 550e8400-e29b-41d4-a716-446655440000",
        "we rotate the api keys every 90 days",
    ],
)
def test_hashes_ids_ports_and_references_stay(text: str) -> None:
    """A redaction that eats commits and ports makes the memory useless."""
    assert text == redact(text).text


def test_code_hashes_and_prose_about_secrets_lose_nothing() -> None:
    """Measured on lines of our own and on this repository: who pastes code must get it back from recall unharmed."""
    root = Path(__file__).parents[2]
    lines = (root / "tests" / "data" / "no_secrets.txt").read_text("utf-8").splitlines()
    assert [] == [line for line in lines if redact(line).counts]

    ours = [
        path
        for role in ("nextlevel", "workers")
        for path in (root / role).rglob("*.py")
        if "secret" not in path.name and path.name != "redact.py"
    ]
    code = [line for path in ours for line in path.read_text("utf-8").splitlines() if "://" not in line]
    assert len(code) > 5_000
    assert [] == [line for line in code if redact(line).counts]


def test_a_placeholder_is_left_whole() -> None:
    """`user:[redacted:…]@host` would else become a placeholder in a placeholder."""
    assert (
        "postgres://user:[redacted:connection_string]@db:5432/x" == redact("postgres://user:Tulpe!1987@db:5432/x").text
    )


@given(st.text(max_size=300))
def test_doing_it_twice_changes_nothing_more(text: str) -> None:
    """The plugin redacts, the service redacts again: the fingerprint of a turn must not move."""
    once = redact(text).text
    assert once == redact(once).text


@given(
    st.lists(
        st.sampled_from([*SECRETS.values(), "password is", "=", ":", " ", "pw ", "\n", "token", "x9", "/"]), max_size=12
    )
)
def test_doing_it_twice_changes_nothing_more_among_secrets(parts: list[str]) -> None:
    once = redact("".join(parts)).text
    assert once == redact(once).text


@pytest.mark.parametrize(
    "unit",
    [
        "password ",
        "a",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "key ",
        "1",
        "login a",
        "eyJ",
        "bearer ",
        "x_",
        "token a ",
    ],
)
def test_no_input_makes_it_slow(unit: str) -> None:
    """Patterns are linear: 100 kB of the worst text takes ten times 10 kB, so no message can stop a host."""
    short, long = unit * (10_000 // len(unit)), unit * (100_000 // len(unit))
    assert _cost(long) < 60 * _cost(short) + 0.2


def _cost(text: str) -> float:
    started = time.process_time()
    redact(text)
    return time.process_time() - started


def test_every_family_says_by_which_literals_it_is_guarded() -> None:
    """A family without a literal would run on each text of each turn."""
    assert all(
        family.literals and all(literal == literal.lower() for literal in family.literals) for family in FAMILIES
    )
    assert 60 <= len({pattern.kind for family in FAMILIES for pattern in family.patterns})
