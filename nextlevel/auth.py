"""Who may ask: bearer tokens derived from one secret, so that enrolling needs no running service.

An installation's token proves its enrolled id; the operator's token may name any scope. Both are
HMAC-SHA256(secret, purpose), url-safe base64 without padding.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path

from .errors import Misconfigured
from .settings import Settings

OPERATOR = ":operator"  # no installation can be called so: ids hold no colon


def secret_of(settings: Settings) -> bytes:
    """The signing secret: the setting, else the data directory's file `secret`, made at first use (mode 0600)."""
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    path = settings.data_dir / "secret"
    try:
        return path.read_bytes().strip()
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error}") from error


def _make(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = secrets.token_urlsafe(32).encode()
    fd, draft = tempfile.mkstemp(prefix=".secret.", dir=path.parent)  # mode 0600
    try:
        os.write(fd, fresh)
        os.fsync(fd)
    finally:
        os.close(fd)
    try:
        os.link(draft, path)  # only the first of two makers wins; the other reads what the first wrote
    except FileExistsError:
        return path.read_bytes().strip()
    finally:
        os.unlink(draft)
    return fresh


def token(secret: bytes, purpose: str) -> str:
    """The bearer token for `OPERATOR` or for an enrolled installation's id."""
    digest = hmac.new(secret, f"nextlevel:{purpose}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def proves(secret: bytes, purpose: str, presented: str) -> bool:
    """True if `presented` is the token for `purpose`; compared in constant time."""
    return hmac.compare_digest(token(secret, purpose).encode(), presented.encode("utf-8", "replace"))
