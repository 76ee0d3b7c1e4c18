"""Bearer tokens: whoever holds one reads a person's memory, so they must be stable, separate and made once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from nextlevel import auth
from nextlevel.errors import Misconfigured
from nextlevel.settings import Settings


def test_a_token_proves_its_own_purpose_only() -> None:
    """One installation's token must not open another's memory, nor the operator's door."""
    secret = b"s3cret"
    assert auth.proves(secret, "k3v9", auth.token(secret, "k3v9"))
    assert not auth.proves(secret, "k3va", auth.token(secret, "k3v9"))
    assert not auth.proves(secret, auth.OPERATOR, auth.token(secret, "k3v9"))
    assert not auth.proves(b"another", "k3v9", auth.token(secret, "k3v9"))


@pytest.mark.parametrize("presented", ["", "Bearer", "\ud800", "ü", "x" * 10_000])
def test_rubbish_proves_nothing(presented: str) -> None:
    """A header can hold anything; the comparison must not fall over it."""
    assert not auth.proves(b"s3cret", "k3v9", presented)


def test_a_token_never_changes() -> None:
    """Each installed plugin holds one in its config file: another value would lock all of them out."""
    assert "lfo1qGPhXAgml76Hs0s5H2_xRzhmVaQxSZMlF-R8gmg" == auth.token(b"s3cret", "k3v9")


def test_the_secret_is_made_at_first_use_for_its_owner_only(tmp_path: Path) -> None:
    """Enrolling needs no running service, and no other account of the machine can sign."""
    settings = Settings(data_dir=tmp_path / "new" / "data")
    first = auth.secret_of(settings)
    assert first == auth.secret_of(settings)
    assert len(first) >= 32
    assert 0o600 == (settings.data_dir / "secret").stat().st_mode & 0o777
    assert ["secret"] == os.listdir(settings.data_dir)


def test_a_secret_in_the_settings_wins(tmp_path: Path) -> None:
    """On a fleet every process is given the same one; no file is made."""
    settings = Settings(data_dir=tmp_path, secret=SecretStr("given"))
    assert b"given" == auth.secret_of(settings)
    assert [] == os.listdir(tmp_path)


def test_makers_at_the_same_moment_agree_on_one_secret(tmp_path: Path) -> None:
    """`up` and `hermes install` may both be first; a token signed with a secret that lost would never be accepted."""
    settings = Settings(data_dir=tmp_path)
    gate, found = threading.Barrier(8), []

    def make() -> None:
        gate.wait()
        found.append(auth.secret_of(settings))

    makers = [threading.Thread(target=make) for _ in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert {auth.secret_of(settings)} == set(found)
    assert 8 == len(found)


def test_an_unreadable_secret_is_told_with_its_path(tmp_path: Path) -> None:
    """Never replaced silently: that would lock out every installed plugin."""
    (tmp_path / "secret").mkdir()
    with pytest.raises(Misconfigured, match="secret"):
        auth.secret_of(Settings(data_dir=tmp_path))
