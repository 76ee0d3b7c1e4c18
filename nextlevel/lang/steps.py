"""The steps of a procedure, however it was told: numbered, by arrows or semicolons, or by commas and "then"."""

from __future__ import annotations

import re

FEWEST_STEPS = 3
_NUMBERED = re.compile(r"(?:^|\s)\d{1,2}[.)]\s+")
_ARROW = re.compile(r"\s*(?:→|->|;)\s*")
_COMMA = re.compile(r",\s*|\s+(?:then|dann|danach|sedan|potem|następnie)\s+")
_LEAD = re.compile(
    r"^(?:and|then|finally|first|und|dann|danach|zuletzt|zuerst|och|sedan|först|i|potem|najpierw)\s+", re.I
)
_END = re.compile(r"(?<=[^\s.,;])[.,;]+$")  # not the directory of "docker build ."


def steps_of(text: str) -> list[str]:
    """The steps of a procedure as it was told or done, in their order; none where there are fewer than three.

    >>> steps_of("build, test, then tag.")
    ['build', 'test', 'tag']
    """
    for parting in (_NUMBERED, _ARROW, _COMMA):
        found = [_LEAD.sub("", _END.sub("", step.strip())) for step in parting.split(text)]
        steps = [step for step in found if step]
        if len(steps) >= FEWEST_STEPS:
            return steps
    return []
