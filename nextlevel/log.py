"""Structured logs: one event and its facts a line, to stderr. Ids and counts, never memory content."""

import logging
import sys

import structlog


def setup(level: str = "info", *, json: bool | None = None) -> None:
    """Configure the process's logging once. JSON lines unless stderr is a terminal (or as `json` says)."""
    as_json = not sys.stderr.isatty() if json is None else json
    renderer = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def get(room: str) -> structlog.typing.FilteringBoundLogger:
    """A logger that names its room in each line."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(room=room)
    return logger
