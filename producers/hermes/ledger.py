"""What recall has put before the model: not injected again while it stands there, and never learnt."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from nextlevel.safety.markers import HEADER

_SESSIONS = 256


class Ledger:
    """The lines of one session, by hash. prefetch and sync_turn come from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_prompt: set[bytes] = set()
        self._offered: set[bytes] = set()  # by the last prefetch; it counts once its turn is complete
        self._ever: set[bytes] = set()
        self._unsaved: set[bytes] = set()
        self._loaded = False
        self._messages = 0
        self._briefed = False
        self._brief_offered = False

    @property
    def brief_due(self) -> bool:
        """True until a turn with an opening brief is complete: in a new or resumed session, after a compaction."""
        with self._lock:
            return not self._briefed

    def offer(self, context: str, *, with_brief: bool = False) -> str:
        """What of a recalled context the model does not have yet; "" if it has all of it."""
        lines = [line for line in context.splitlines() if line.strip()]
        with self._lock:
            new = [line for line in lines if line == HEADER or _hash(line) not in self._in_prompt]
            self._offered = {_hash(line) for line in new if line != HEADER}
            self._brief_offered = with_brief
            self._unsaved |= self._offered - self._ever
            self._ever |= self._offered
            return "\n".join(new) if self._offered else ""

    def without_injected(self, text: str, load: Callable[[], Iterable[bytes]]) -> str:
        """The text without lines that recall injected, also in an earlier process: `load` reads those, once."""
        with self._lock:
            if not self._loaded:
                self._ever |= set(load())
                self._loaded = True
            ever = set(self._ever)
        if not ever:
            return text
        return "\n".join(line for line in text.split("\n") if not line.strip() or _hash(line) not in ever)

    def unsaved(self) -> list[bytes]:
        """Hashes that are not on the disk yet."""
        with self._lock:
            return sorted(self._unsaved)

    def turn_kept(self, saved: Iterable[bytes], messages: int) -> None:
        """A turn is complete and on the disk: what was offered for it stands in the prompt from here on.

        A turn that failed never comes here: the host does not deliver its recall. `messages` is the length of the
        conversation; where it shrank, the host compacted it and the lines are gone.
        """
        with self._lock:
            self._unsaved -= set(saved)
            if messages < self._messages:
                self._in_prompt.clear()
                self._briefed = False
            self._messages = messages
            self._in_prompt |= self._offered
            self._briefed |= self._brief_offered
            self._offered, self._brief_offered = set(), False

    def prompt_cleared(self) -> None:
        """The conversation was compacted or taken back: what was injected may be gone from it."""
        with self._lock:
            self._in_prompt.clear()
            self._messages = 0
            self._briefed = False


class Ledgers:
    """Those of the sessions in use; the least used is dropped, which costs a repeated line at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, Ledger] = OrderedDict()

    def of(self, session: str) -> Ledger:
        with self._lock:
            found = self._sessions.setdefault(session, Ledger())
            self._sessions.move_to_end(session)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
            return found


def _hash(line: str) -> bytes:
    """Of the words of a line, so that the same line as an item of another list is still known."""
    return hashlib.sha256(line.strip().lstrip("-*•> ").encode("utf-8", "surrogatepass")).digest()[:16]
