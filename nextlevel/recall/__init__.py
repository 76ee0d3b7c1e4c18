"""Recall: what matters for a query, with the reason for each line; one function behind prefetch, tools, API and CLI."""

from .answer import Answer, Item, Mode, Request
from .service import Recall

__all__ = ["Answer", "Item", "Mode", "Recall", "Request"]
