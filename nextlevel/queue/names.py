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


def embedding(scope_id: UUID) -> str:
    """Held by the worker that makes the vectors of a scope's past turns."""
    return f"nl:embedding:{scope_id}"
