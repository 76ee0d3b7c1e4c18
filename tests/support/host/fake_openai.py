"""A tiny OpenAI-compatible server: scripted answers out, every request kept. It runs in Hermes's own Python.

A step is `{"text"}` or `{"tool_calls": [{"name", "arguments"}]}`, and may have `match`, a pattern looked for in the
last user message: titles and summaries come to the same endpoint and are answered apart, each time unless `once`. Steps
without `match` are used once, in order; then the default answer, for ever.

What goes wrong with servers are steps too: `{"text", "finish": "length"}`, `{"refusal"}`, `{"status", "headers"}`,
`{"raw": text}` (a body that is no completion), `{"hang": True}` (no answer until the server is closed).
"""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "fake-model"
Step = dict[str, Any]


def text_of(content: Any) -> str:
    """The text of a message's content, a string or a list of parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class FakeOpenAI(ThreadingHTTPServer):
    """Listens on a free port of this machine while its block runs."""

    daemon_threads = True

    def __init__(self, script: list[Step], *, default: str = "Understood.") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._ordered = [step for step in script if "match" not in step]
        self._matched = [step for step in script if "match" in step]
        self._default = {"text": default}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.asked = threading.Event()
        self.requests: list[dict[str, Any]] = []
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"

    def next(self, request: dict[str, Any]) -> Step:
        users = [text_of(m.get("content")) for m in request.get("messages", []) if m.get("role") == "user"]
        last = users[-1] if users else ""
        with self._lock:
            self.requests.append(request)
            self.asked.set()
            for step in self._matched:
                if re.search(step["match"], last, re.DOTALL):
                    if step.get("once"):
                        self._matched.remove(step)
                    return step
            return self._ordered.pop(0) if self._ordered else self._default

    def __enter__(self) -> FakeOpenAI:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def wait_until_closed(self) -> None:
        self._closing.wait()

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeOpenAI

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "test", "context_length": 131_072}
        self._json({"object": "list", "data": [model]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        step = self.server.next(request)
        if step.get("hang"):
            self.server.wait_until_closed()
            self.close_connection = True
        elif "status" in step:
            self._send(step["status"], b'{"error": {"message": "scripted"}}', step.get("headers", {}))
        elif "raw" in step:
            self._send(200, step["raw"].encode(), {})
        elif request.get("stream"):
            self._stream(step, request)
        else:
            self._json(_completion(step, request))

    def _json(self, payload: dict[str, Any]) -> None:
        self._send(200, json.dumps(payload).encode(), {})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, step: Step, request: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in _chunks(step, request):
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()
        self.close_connection = True


def _calls(step: Step) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{time.time_ns()}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for number, call in enumerate(step.get("tool_calls", []))
    ]


def _completion(step: Step, request: dict[str, Any]) -> dict[str, Any]:
    calls = _calls(step)
    message: dict[str, Any] = {"role": "assistant", "content": step.get("text")}
    if "refusal" in step:
        message["refusal"] = step["refusal"]
    if calls:
        message["tool_calls"] = calls
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model", MODEL),
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "choices": [
            {"index": 0, "message": message, "finish_reason": step.get("finish", "tool_calls" if calls else "stop")}
        ],
    }


def _chunks(step: Step, request: dict[str, Any]) -> list[dict[str, Any]]:
    base = {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": request.get("model", MODEL),
    }
    calls = _calls(step)
    text = step.get("text", "")
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[place : place + 7]} for place in range(0, len(text), 7)]
    deltas += [{"tool_calls": [{"index": number, **call}]} for number, call in enumerate(calls)]
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [*chunks, {**base, "choices": [end]}, {**base, "choices": [], "usage": usage}]
