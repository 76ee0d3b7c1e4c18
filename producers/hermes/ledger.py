"""What recall has put before the model: not injected again while it stands there, and never learnt."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from nextlevel.safety.markers import HEADER

from .rewind import Mark

_SESSIONS = 256


class Ledger:
    """The lines of one session, by hash. prefetch and sync_turn come from different threads."""

    def __init__(self, session: str = "") -> None:
        self._lock = threading.Lock()
        self._sessions: tuple[str, ...] = (session,)
        self._in_prompt: set[bytes] = set()
        self._offered: set[bytes] = set()  # by the last prefetch; it counts once its turn is complete
        self._ever: set[bytes] = set()
        self._unsaved: set[bytes] = set()
        self._loaded = False
        self._messages = 0
        self._turns: int | None = None
        self._briefed = False
        self._brief_offered = False
        self._carried = True
        self._carry_offered = False
        self.end: Mark | None = None
        """Where the conversation ended at the last turn; None where that is not known."""
        self.told_of_undo = False

    @property
    def brief_due(self) -> bool:
        """True until a turn with an opening brief is complete: in a new or resumed session, after a compaction."""
        with self._lock:
            return not self._briefed

    @property
    def carry_due(self) -> tuple[str, ...]:
        """The sessions of the conversation, from a compaction until a turn with its exact values is complete."""
        with self._lock:
            return () if self._carried else self._sessions

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids that the conversation has had: a compaction may give it a new one."""
        with self._lock:
            return self._sessions

    @property
    def turns_in_prompt(self) -> int | None:
        """How many turns were kept since the last compaction; None where there was none that we know of."""
        with self._lock:
            return self._turns

    def offer(self, context: str, *, with_brief: bool = False, with_carry: bool = False) -> str:
        """What of a recalled context the model does not have yet; "" if it has all of it."""
        lines = [line for line in context.splitlines() if line.strip()]
        with self._lock:
            new = [line for line in lines if line == HEADER or _hash(line) not in self._in_prompt]
            self._offered = {_hash(line) for line in new if line != HEADER}
            self._brief_offered, self._carry_offered = with_brief, with_carry
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

    def turn_kept(self, saved: Iterable[bytes], messages: int | None, *, undone: bool = False) -> None:
        """A turn is complete and on the disk: what was offered for it stands in the prompt from here on.

        A turn that failed never comes here: the host does not deliver its recall. `messages` is the length of the
        conversation, None where it is not told; where a turn made it no longer and none was `undone`, the host
        compacted it and the lines are gone.
        """
        with self._lock:
            self._unsaved -= set(saved)
            if messages is not None and (messages < self._messages or (0 < messages == self._messages and not undone)):
                self._clear()
            if messages is not None:
                self._messages = messages
            self._in_prompt |= self._offered
            self._briefed |= self._brief_offered
            self._carried |= self._carry_offered
            self._offered, self._brief_offered, self._carry_offered = set(), False, False
            if self._turns is not None:
                self._turns += 1

    def compacted(self, before: Ledger | None = None) -> None:
        """The conversation was summarised: what was injected is gone from it, and exact values with it.

        `before` is its ledger under the session id that it had until now, where it got a new one.
        """
        with self._lock:
            self._clear()
        if before is not None and before is not self:
            self._follow(before)

    def branched(self, before: Ledger) -> None:
        """The conversation goes on under a new id, with all that stands in it."""
        self._follow(before)
        with before._lock:
            prompt, state = set(before._in_prompt), (before._messages, before._turns, before._briefed, before._carried)
        with self._lock:
            self._in_prompt |= prompt
            self._messages, self._turns, self._briefed, self._carried = state

    def _follow(self, before: Ledger) -> None:
        with before._lock:
            sessions, ever = before._sessions, set(before._ever)
        with self._lock:
            self._sessions = (*self._sessions[:1], *sessions)
            self._unsaved |= ever - self._ever
            self._ever |= ever

    def rewound(self) -> None:
        """The conversation was taken back: what was injected may be gone from it."""
        with self._lock:
            self._in_prompt.clear()
            self._messages = 0
            self._briefed = False
            self.told_of_undo, self.end = True, None

    def _clear(self) -> None:
        self._in_prompt.clear()
        self._messages = self._turns = 0
        self._briefed = self._carried = False
        self.end = None


class Ledgers:
    """Those of the sessions in use; the least used is dropped, which costs a repeated line at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, Ledger] = OrderedDict()

    def of(self, session: str) -> Ledger:
        with self._lock:
            found = self._sessions.setdefault(session, Ledger(session))
            self._sessions.move_to_end(session)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
            return found


def _hash(line: str) -> bytes:
    """Of the words of a line, so that the same line as an item of another list is still known."""
    return hashlib.sha256(line.strip().lstrip("-*•> ").encode("utf-8", "surrogatepass")).digest()[:16]
