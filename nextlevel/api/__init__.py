"""The HTTP API, for any host: one module a subject, bodies checked at the edge, errors mapped in one place."""

from .app import create_app

__all__ = ["create_app"]
