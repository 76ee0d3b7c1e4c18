"""Every Redis key of the queue, in one place."""

from uuid import UUID

from nextlevel.event import BULK_STREAM, STREAM

STREAMS = (STREAM, BULK_STREAM)
GROUP = "ingest"
STAGES = ("extract", "link", "store")


def stage_queue(stage: str) -> str:
    return f"nl:{stage}"


def receipt(install: str) -> str:
    return f"nl:ack:{install}"


def live(process: str) -> str:
    return f"nl:live:{process}"


def sequence(install: str) -> str:
    """The last number given to a sender that numbers nothing itself."""
    return f"nl:seq:{install}"


MODEL_CALLS = "nl:model:calls"
"""A sorted set of the calls that a language model has to answer, by when each counts as lost."""
MODEL_STARTS = "nl:model:starts"
"""A sorted set of the calls of the last minute, by when they began."""
MODEL_REST = "nl:model:rest"
"""Held for as long as the model server asked everybody to wait."""


def embedding(scope_id: UUID) -> str:
    """Held by the worker that makes the vectors of a scope's past turns."""
    return f"nl:embedding:{scope_id}"
