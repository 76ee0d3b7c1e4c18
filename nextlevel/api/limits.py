"""No body may fill the memory: a request is cut off at a size, whatever its headers say."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nextlevel.event import MAX_EVENT_BYTES

from .errors import refusal

MAX_BODY_BYTES = MAX_EVENT_BYTES + MAX_EVENT_BYTES // 2
"""An event of the largest size, with room for JSON's escapes."""


class BodyLimit:
    """Refuses bodies of more than MAX_BODY_BYTES with 413, by the header where it is there, else by counting."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or int(announced) > MAX_BODY_BYTES:
            await self._refuse(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            await self._refuse(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = refusal(413, "too_large", f"a body may have {MAX_BODY_BYTES} bytes")
        await response(scope, receive, send)


async def _body(receive: Receive) -> list[Message] | None:
    """All of a body, as it came; None where it is too long."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    left = iter(messages)

    async def replay() -> Message:
        return next(left, None) or await receive()

    return replay
