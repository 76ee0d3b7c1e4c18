"""Messages that nobody typed: what a reader of text must get through in bounded time, each from a seed."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator

MIB = 1 << 20
PASTE = 4 * MIB
"""Characters of the longest: an event may hold so much."""


def messages(seed: int, size: int = PASTE) -> Iterator[tuple[str, str]]:
    """Name and text of each, `size` characters long or a little more."""
    rng = random.Random(seed)  # noqa: S311, noise to read and no secret
    log = "2026-05-12 09:30:00 INFO worker-{} did run on port {} in /srv/app/{}\n"
    yield "minified JavaScript", _repeated("function a1(b,c){return b?c.d1:b.e('1')};", size)
    yield "base64, one line", base64.b64encode(rng.randbytes(size * 3 // 4)).decode()
    yield "base64, in lines", base64.encodebytes(rng.randbytes(size * 3 // 4)).decode()
    yield "10,000 log lines", "".join(log.format(n, 8000 + n % 1000, n) for n in range(10_000))
    yield (
        "log without stamps",
        "".join(f"worker-{n} runs on port {8000 + n % 1000}, never stops\n" for n in range(10_000)),
    )
    yield (
        "statements",
        _repeated("we never deploy on friday because the api is on port 8080, and Elin does billing. ", size),
    )
    yield "one endless sentence", _repeated("we never deploy on friday and the api is on port 8080, ", size)
    yield "mixed scripts", _repeated("the port är 8080 und nie вниз 端口是8080 ポートは8080です żółw. ", size)
    yield "right to left", _repeated("المنفذ 8080 يعمل على الخادم الجديد ولا تلمسه أبدا. ", size)
    yield "emoji", _repeated("🎉🚀👩‍💻 port 8080 ", size)
    yield "combining marks", _repeated("p̸̧̛o̶r̷t 8080 ", size)
    yield "HTML in lines", _repeated('<div class="a"><p>the api runs on port 8080</p></div>\n', size)
    yield "HTML, one line", _repeated('<div class="a"><p>the api runs on port 8080</p></div>', size)
    yield "broken Markdown", _repeated('```\n> - * ** __ [x](y "z\n', size)
    yield "Chinese without a stop", _repeated("我们不要在周五发布端口是8080李蓉负责前端", size)
    yield "Japanese without a stop", _repeated("アプリはポート8455で動いていますが絵文字は使わない", size)
    for name, piece in (
        ("one letter", "a"), ("one digit", "1"), ("spaces", " "), ("lines", "\n"), ("quotes", '"'), ("back ticks", "`"),
        ("slashes", "/a"), ("hyphens", "a-"), ("dots", "a."), ("mail signs", "a@b."), ("commas", "a, "),
        ("and", "and "), ("never", "never "), ("names", "Anna Berg "), ("dates", "01-23 "), ("he is my", "he is my "),
    ):  # fmt: skip
        yield f"endless {name}", _repeated(piece, size)


def _repeated(piece: str, size: int) -> str:
    return piece * (size // len(piece) + 1)
