"""What can go wrong, as a tree. The two branches decide a turn's fate; each message says what to do.

NextLevelError
├─ Transient              the cause may pass: the work is kept and tried again
│  ├─ StoreUnreachable    Postgres
│  ├─ QueueUnreachable    Redis
│  ├─ ServiceUnreachable  the recall service
│  ├─ EmbedderUnavailable the embedding model or its endpoint
│  ├─ ModelBusy           the language model or its server
│  └─ ShortTermUnavailable  tier 2, the SQLite file beside the agent
└─ Permanent              trying again can't help: visible, with its reason
   ├─ MalformedEvent      a turn event that breaks the contract
   ├─ UnknownInstallation an event or request of somebody we never enrolled
   ├─ ScopeDenied         somebody asked for memory that is not theirs
   ├─ NotFound            there is no such thing in this scope
   ├─ Conflict            what is asked for contradicts what is stored
   ├─ Misconfigured       settings, data directory or schema are not as they must be
   ├─ UnusableAnswer      what a language model said can't be used
   ├─ UnusableFile        a file that somebody handed us can't be read, or is not what it must be
   └─ AlreadyRunning      another process owns this data directory
"""


class NextLevelError(Exception):
    """The root of every error raised on purpose."""


class Transient(NextLevelError):
    """The cause may pass: keep the work and try again, without counting an attempt."""

    retry_after_s: float = 0.0  # how long the other side asks us to wait; 0: it does not say


class StoreUnreachable(Transient):
    """Postgres does not answer."""


class QueueUnreachable(Transient):
    """Redis does not answer, or is full."""


class ServiceUnreachable(Transient):
    """The recall service does not answer."""


class EmbedderUnavailable(Transient):
    """No embedding can be had now; words and graph still answer."""


class ModelBusy(Transient):
    """The language model can't be reached, is busy or gave no answer in time (`timed_out`)."""

    def __init__(self, message: str, *, retry_after_s: float = 0.0, timed_out: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s, self.timed_out = retry_after_s, timed_out


class ShortTermUnavailable(Transient):
    """Tier 2 can't be read or written: disk full, locked too long, or damaged. The message names file and cure."""


class Permanent(NextLevelError):
    """Trying again can't help: make it visible, with its reason."""


class MalformedEvent(Permanent):
    """A turn event that breaks the contract; `code` names the broken rule for counters and the dead set."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail


class UnknownInstallation(Permanent):
    """Nobody enrolled this installation; run `nextlevel hermes install` where the agent lives."""


class ScopeDenied(Permanent):
    """The memory asked for belongs to somebody else."""


class NotFound(Permanent):
    """There is no such thing in this scope."""


class Conflict(Permanent):
    """What is asked for contradicts what is stored, or may mean several things; the message says how."""


class Misconfigured(Permanent):
    """Settings, data directory or schema are not as they must be; the message names the cure."""


class UnusableAnswer(Permanent):
    """A language model's answer is of no use. `code`: refused, malformed or truncated; `said`: what there is of it."""

    # `tokens` are those in and out that the server counted, 0 where it did not.
    def __init__(self, code: str, detail: str, said: str = "", tokens: tuple[int, int] = (0, 0)) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail, self.said, self.tokens = code, detail, said, tokens


class UnusableFile(Permanent):
    """A file that somebody handed us can't be read or written, or is not what it must be; the message says where."""


class AlreadyRunning(Permanent):
    """Another process owns this data directory."""
