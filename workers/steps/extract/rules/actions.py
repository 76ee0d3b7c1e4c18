"""What the agent did for the user, step by step: a workflow of five or more calls that ended well can be repeated."""

from __future__ import annotations

import re

from nextlevel.model import BlockType, Candidate, Category, Provenance, Turn

from .names import is_temporary
from .pack import Pack

FEWEST_CALLS = 5
_MOST_STEPS = 12
_STEP_CHARS = 70
_OBJECT_CHARS = 520
_WRAPPER = re.compile(r"^(?:\w+\s*=\s*)?[{\[]?\s*\"?(?:command|cmd|input|path)\"?\s*[:=]\s*\"?", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


def workflow(turn: Turn, span: str, subject: str, pack: Pack | None) -> Candidate | None:
    """The procedure behind a turn's tool calls, or None. Results are never read: only what the agent itself did counts.

    A call that failed is left out; so is one that holds a redacted secret or works on temporary files only.
    """
    calls = [call for call in turn.tools if call.ok and "[redacted:" not in call.args and call.args.strip()]
    steps: list[str] = []
    for call in calls:
        step = _step(call.name, call.args)
        if step not in steps:
            steps.append(step)
    if len(steps) < FEWEST_CALLS or not span:
        return None
    kept = [step for step in steps if not _only_temporary(step)][:_MOST_STEPS]
    asked = pack is not None and (pack.has("explicit", turn.user_text) or pack.has("steps", turn.user_text))
    return Candidate(
        type=BlockType.PROCEDURAL,
        category=Category.WORKFLOW,
        subject=subject,
        predicate="done_by",
        object=_cut("; ".join(kept)),
        confidence=0.9 if asked else 0.85,
        provenance=Provenance.USER_ACCEPTED,
        span=span,
        rule="workflow",
        context=span[:300],
        explicit=asked,
    )


def _step(name: str, args: str) -> str:
    told = _SPACES.sub(" ", _WRAPPER.sub("", args)).strip(" {}\"'")
    return (told if name in ("terminal", "bash", "shell", "run", "exec", "execute") else f"{name} {told}")[
        :_STEP_CHARS
    ].strip()


def _only_temporary(step: str) -> bool:
    paths = [word for word in step.split() if "/" in word]
    return bool(paths) and all(is_temporary(path) for path in paths)


def _cut(text: str) -> str:
    return text if len(text) <= _OBJECT_CHARS else text[:_OBJECT_CHARS].rsplit(";", 1)[0]
