"""The typed client of the HTTP API, for the command line and for other hosts.

    client = Client("http://127.0.0.1:7717", token)
    scope = ScopeName(install="local", profile="default", principal="local")
    print(client.recall("which port does the crm use?", scope).context)

Each call makes its own connection, so threads may share a client. Answers are frozen dataclasses where their shape is
fixed, else the decoded JSON. Errors are those of `nextlevel.errors`.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import (
    Conflict,
    MalformedEvent,
    Misconfigured,
    NextLevelError,
    NotFound,
    Permanent,
    ScopeDenied,
    ServiceUnreachable,
    UnknownInstallation,
)

TIMEOUT_S = 10.0
PAGE = 200


@dataclass(frozen=True, slots=True)
class ScopeName:
    """Whose memory, as an installation names it: itself, one of its agent's profiles, and whom the agent talks to."""

    install: str = "local"
    profile: str = "default"
    principal: str = "local"


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a recall gave. `items` say each why; `rung` is the way it was answered; `abstained`: nothing fits.

    `sessions` are those in which it was spoken of, for a search that asks what was said.
    """

    context: str
    items: list[dict[str, Any]]
    rung: str
    ms: float
    abstained: bool
    dropped: list[dict[str, Any]] = field(default_factory=list)
    generation: dict[str, int] = field(default_factory=dict)
    vectors: bool = False
    sessions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn that the service took, the state it is in, why it was not kept where it was not, and what it became."""

    turn: str
    state: str
    reason: str | None = None
    blocks: list[dict[str, Any]] = field(default_factory=list)


class Client:
    """The API of one service. `timeout_s` bounds connecting and each wait for bytes."""

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = TIMEOUT_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or parts.hostname is None:
            raise Misconfigured(f"{url!r} is not an http address: set NEXTLEVEL_SERVICE_URL")
        self.url = url.rstrip("/")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._timeout_s = timeout_s

    def alive(self) -> bool:
        """True if the service answers at all."""
        try:
            self._call("GET", "/healthz")
        except NextLevelError:
            return False
        return True

    def unready(self) -> list[str]:
        """Why the service is not ready to serve memory; empty when it is."""
        answer = self._call("GET", "/readyz", accept=(503,))
        reasons: list[str] = answer["reasons"] if answer["status"] == "not ready" else []
        return reasons

    def recall(
        self,
        query: str,
        scope: ScopeName,
        *,
        mode: str = "search",
        session: str | None = None,
        budget_tokens: int | None = None,
        deadline_ms: int | None = None,
        as_of: str | None = None,
        known_at: str | None = None,
        k: int | None = None,
        explain: bool = False,
        brief: bool = False,
        project: str | None = None,
    ) -> Recalled:
        """What is known that fits the query, at most `k` of it.

        `as_of` (RFC 3339) asks what held then; `known_at`, by what was learnt until then. `brief`: a session begins, so
        give what it needs to know whatever it asks; `project` is the one in focus.
        """
        options = {
            **{"session": session, "budget_tokens": budget_tokens, "deadline_ms": deadline_ms},
            **{"as_of": as_of, "known_at": known_at, "k": k, "project": project, "brief": brief or None},
        }
        given = {name: value for name, value in options.items() if value is not None}
        body = {"query": query, "scope": asdict(scope), "mode": mode, "explain": explain, **given}
        answer = self._call("POST", "/v1/recall", body)
        return Recalled(**{name: answer[name] for name in Recalled.__slots__ if name in answer})

    def enrol(self, install: str, *, tenant: str = "local", user: str = "local") -> tuple[str, str]:
        """Let an installation's turns in as this tenant's user. Returns its owner: an earlier one stays."""
        answer = self._call(
            "POST", "/v1/installations", {"install": install, "tenant": tenant, "user": user}, accept=(201,)
        )
        return answer["tenant"], answer["user"]

    def publish(self, event: Mapping[str, Any]) -> Accepted:
        """Hand over one turn event (docs/reference/event.md). The same event twice is one turn."""
        answer = self._call("POST", "/v1/turns", {"event": dict(event)})
        return Accepted(answer["id"], answer["state"])

    def remember(self, text: str, scope: ScopeName, *, type: str | None = None) -> Accepted:
        """Store a memory because a person says so. Waits a few seconds for what it becomes; the turn goes on anyway."""
        answer = self._call("POST", "/v1/remember", {"scope": asdict(scope), "text": text, "type": type})
        return Accepted(answer["turn"], answer["state"], answer["reason"], answer["blocks"])

    def matches(self, query: str, scope: ScopeName) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The blocks and the documents that a `forget` of this text would be about; nothing is deleted."""
        answer = self._call("POST", "/v1/forget", {"scope": asdict(scope), "query": query})
        return answer["matches"], answer["documents"]

    def forget(self, block: str, scope: ScopeName) -> list[str]:
        """Forget one block by its id. When this returns, no recall gives it any more."""
        gone: list[str] = self._call("POST", "/v1/forget", {"scope": asdict(scope), "block": block})["forgotten"]
        return gone

    def forget_document(self, document: str, scope: ScopeName) -> None:
        """Take a document out of the library by its id. Importing its folder again leaves it out until it changes."""
        self._call("POST", "/v1/forget", {"scope": asdict(scope), "document": document})

    def library(self, folder: str, scope: ScopeName) -> dict[str, tuple[str, bool]]:
        """What the library holds of a folder, by path: the hash of each document, and whether it is memory too."""
        found: dict[str, tuple[str, bool]] = {}
        after = ""
        while True:
            query = urlencode({**asdict(scope), "folder": folder, "after": after})
            page = self._call("GET", f"/v1/library?{query}")
            found |= {path: (hash_, path in page["as_memory"]) for path, hash_ in page["hashes"].items()}
            if page["next"] is None:
                return found
            after = page["next"]

    def keep_documents(
        self,
        folder: str,
        documents: Sequence[Mapping[str, str]],
        scope: ScopeName,
        *,
        project: str | None = None,
        as_memory: bool = False,
    ) -> dict[str, Any]:
        """Put Markdown into the library: each with `path`, `text`, `hash` (SHA-256, hex), `changed_at` (RFC 3339).

        `as_memory`: the general lines of each enter memory too.
        """
        body = {"scope": asdict(scope), "folder": folder, "project": project, "as_memory": as_memory}
        return self._call("POST", "/v1/library/documents", body | {"documents": [*documents]})

    def remove_documents(self, folder: str, paths: Sequence[str] | None, scope: ScopeName) -> int:
        """Take documents out of the library, of these paths or all of the folder; how many there were."""
        body = {"scope": asdict(scope), "folder": folder, "paths": None if paths is None else [*paths]}
        removed: int = self._call("POST", "/v1/library/remove", body)["removed"]
        return removed

    def feedback(self, block: str, verdict: str, scope: ScopeName) -> None:
        """Say that a block was `used`, or is `wrong`: its place in recall moves a little. `none` takes it back."""
        self._call("POST", "/v1/feedback", {"scope": asdict(scope), "block": block, "verdict": verdict})

    def blocks(self, scope: ScopeName, *, status: Sequence[str] = ()) -> list[dict[str, Any]]:
        """All blocks of a scope, newest first; of these states only, if some are named."""
        found: list[dict[str, Any]] = []
        query = [*asdict(scope).items(), *(("status", each) for each in status), ("limit", str(PAGE))]
        after: list[tuple[str, str]] = []
        while True:
            page = self._call("GET", f"/v1/blocks?{urlencode([*query, *after])}")
            found += page["blocks"]
            if page["next"] is None:
                return found
            after = [("after", page["next"])]

    def history(self, block: str, scope: ScopeName) -> list[dict[str, Any]]:
        """A fact through time, oldest first: each `block` with its `changes` and `sources`."""
        query = urlencode(asdict(scope))
        answer = self._call("GET", f"/v1/blocks/{quote(block, safe='')}/history?{query}")
        found: list[dict[str, Any]] = answer["history"]
        return found

    def graph(
        self, scope: ScopeName, *, entity: str | None = None, hops: int = 2, limit: int = 1_000
    ) -> list[dict[str, Any]]:
        """The edges of a scope's graph, newest first, with names and types of both ends; at most 1,000.

        With `entity` those within so many hops (1 to 3) of it.
        """
        around = [] if entity is None else [("entity", entity), ("hops", str(hops))]
        query = urlencode([*asdict(scope).items(), *around, ("limit", str(limit))])
        edges: list[dict[str, Any]] = self._call("GET", f"/v1/graph?{query}")["edges"]
        return edges

    def entity(self, name: str, scope: ScopeName, *, type: str | None = None) -> dict[str, Any]:
        """An entity with its other names, and what was merged into it or split off."""
        given = {"name": name} | ({} if type is None else {"type": type})
        return self._call("GET", f"/v1/entities?{urlencode([*asdict(scope).items(), *given.items()])}")

    def discussed(
        self, name: str, scope: ScopeName, *, since: str | None = None, before: str | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """What was said of an entity, newest first: `session`, `turn_id`, `at`, `span`. Times in RFC 3339."""
        given = {"name": name, "since": since, "before": before, "limit": str(limit)}
        query = urlencode(
            [*asdict(scope).items(), *((key, value) for key, value in given.items() if value is not None)]
        )
        said: list[dict[str, Any]] = self._call("GET", f"/v1/entities/discussed?{query}")["said"]
        return said

    def merge(self, keep: str, merge: str, scope: ScopeName) -> dict[str, Any]:
        """Let the entity of one name be that of another, which is returned; `split` takes it back."""
        return self._call("POST", "/v1/entities/merge", {"scope": asdict(scope), "keep": keep, "merge": merge})

    def split(self, entity: str, name: str, scope: ScopeName, *, blocks: Sequence[str] = ()) -> dict[str, Any]:
        """Take apart what was merged, or give these blocks to a new entity of that name, which is returned."""
        body = {"scope": asdict(scope), "entity": entity, "name": name, "blocks": list(blocks)}
        return self._call("POST", "/v1/entities/split", body)

    def sessions(self, scope: ScopeName, *, limit: int = 50) -> list[dict[str, Any]]:
        """The latest conversations of a profile, at most 200, each with its `digest`; None where it is open."""
        query = urlencode([*asdict(scope).items(), ("limit", str(limit))])
        found: list[dict[str, Any]] = self._call("GET", f"/v1/sessions?{query}")["sessions"]
        return found

    def trace(self, turn: str) -> dict[str, Any]:
        """A turn's life: its state and reason, its events, its blocks."""
        return self._call("GET", f"/v1/trace/{quote(turn, safe='')}")

    def status(self) -> dict[str, Any]:
        """Stages with depth and oldest age, receipts, dead letters, workers."""
        return self._call("GET", "/v1/status")

    def dead(
        self, *, kind: str | None = None, code: str | None = None, text: str | None = None, limit: int = 50
    ) -> dict[str, Any]:
        """What died and fits, newest first: `letters`, how many there are (`count`), the id of the `newest`."""
        given = {"kind": kind, "code": code, "text": text, "limit": limit}
        query = urlencode({name: value for name, value in given.items() if value is not None})
        return self._call("GET", f"/v1/dead?{query}")

    def decide_dead(
        self, deed: str, *, up_to: int, kind: str | None = None, code: str | None = None, text: str | None = None
    ) -> dict[str, Any]:
        """`retry` or `discard` all that fit, up to the newest one seen: how many are `done`, why others are `left`."""
        return self._call("POST", f"/v1/dead/{deed}", {"up_to": up_to, "kind": kind, "code": code, "text": text})

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, accept: Sequence[int] = ()
    ) -> dict[str, Any]:
        connection = self._kind(self._host, self._port, timeout=self._timeout_s)
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, self._base + path, content, self._headers | {"Content-Type": "application/json"})
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServiceUnreachable(
                f"the service at {self.url} does not answer ({error}): is `nextlevel up` running?"
            ) from error
        finally:
            connection.close()
        return self._read(answer.status, raw, accept)

    def _read(self, status: int, raw: bytes, accept: Sequence[int]) -> dict[str, Any]:
        try:
            document = json.loads(raw)
        except ValueError as error:
            raise ServiceUnreachable(f"{self.url} answered {status}, no JSON: is it the nextlevel service?") from error
        fault = document.get("error") if isinstance(document, dict) else None
        if isinstance(document, dict) and fault is None and (status < 400 or status in accept):
            return document
        if not isinstance(fault, dict):
            raise ServiceUnreachable(f"{self.url} answered {status} and no error of ours: is it the nextlevel service?")
        raise error_of(status, str(fault.get("code", "")), str(fault.get("message", "")))


def error_of(status: int, code: str, message: str) -> NextLevelError:
    """The error that an answer stands for: of the class that the service raised, where it matters to a caller."""
    if code == "unknown_installation":
        return UnknownInstallation(message)
    if status in {401, 403}:
        return ScopeDenied(message)
    if status == 404:
        return NotFound(message)
    if status == 409:
        return Conflict(message)
    if status == 422 and code != "invalid_request":
        return MalformedEvent(code, message.removeprefix(f"{code}: "))
    if status >= 500:
        return ServiceUnreachable(f"the service can't answer now ({code}): {message}")
    return Permanent(f"the service refused the request ({code}): {message}")
