"""What can be done about a dead letter, in words, by its code."""

from __future__ import annotations

_SENDER = (
    "The sender breaks the contract of turn events (docs/reference/event.md). Mend the sender, then let it tell the "
    "turn again."
)
_NEWER = (
    "The sender is newer than this service, or wrong. Upgrade the service. Then retry, where it never became a turn; "
    "where it did, let the sender tell it again."
)
_BUG = (
    "This is a fault of ours: the traceback tells where. Nothing of the turn is lost. Upgrade, then retry; if it "
    "stays, report the traceback."
)

CURES = {
    "unknown_installation": (
        "Nobody enrolled this sender. Run `nextlevel hermes install` where the agent lives, then retry: the turns are "
        "taken in as they came."
    ),
    "poison": (
        "This turn ended its worker three times: out of memory, or a crash below Python. Look at the workers' log of "
        "that time. Retry after an upgrade; if it happens again, discard the letter and report the turn's size."
    ),
    "killed": "An operator ended it. Retry begins it anew.",
    "undeliverable": (
        "It was handed out five times and never finished: its readers died over it, or Postgres refused it each time. "
        "Its number is accounted for; let the sender tell it again."
    ),
    "refused": "Postgres did not take it in. The reason names the column or the rule; after an upgrade, retry.",
    "unknown_version": _NEWER,
    "unknown_kind": _NEWER,
    "too_large": (
        "It is larger than 4 MiB and can't be taken in. Shorten the tools' results at the sender, and discard this."
    ),
    "bad_json": f"It is no JSON object. {_SENDER}",
    "bad_compression": f"It was packed wrongly, or cut off on its way. {_SENDER}",
    "broken_unicode": f"Its text is no valid Unicode. {_SENDER}",
    "no_event": f"The entry has no field `e` or `z`. {_SENDER}",
    "bad_time": f"Its time can't be read, or has no offset. {_SENDER}",
}


def cure(kind: str, code: str) -> str:
    """What to do about a letter of this kind and code; a code without words of its own is the sender's fault, or a bug.

    >>> cure("quarantined", "bad_fp") == cure("quarantined", "bad_turn")
    True
    """
    if code in CURES:
        return CURES[code]
    return _SENDER if kind == "quarantined" else _BUG
