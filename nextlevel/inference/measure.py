"""A model that nobody has tried here, measured: where its cosines lie, by a dozen questions and their answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import Embedder, Measures

_PROBES = [line.split("\t") for line in Path(__file__).with_name("probes.tsv").read_text("utf-8").splitlines()]

# What the packaged model gives for the probes: how far an answer stands above all else, and how far all else is spread.
_ANSWER, _SPREAD = 0.114, 0.030


async def measure(embedder: Embedder) -> Measures:
    """The measures of an embedder, taken if they are not known yet.

    Raises:
        EmbedderUnavailable: no vectors can be had now, or they don't tell answers from what is none.
    """
    if embedder.measures is None:
        questions = np.stack(await asyncio.gather(*(embedder.query(question) for question, _ in _PROBES)))
        answers = await embedder.passages([answer for _, answer in _PROBES])
        cosines = questions @ answers.T
        others = cosines[~np.eye(len(_PROBES), dtype=bool)]
        usual, spread = float(others.mean()), float(others.std())
        answer = float(cosines.diagonal().mean()) - usual
        if answer <= spread:
            raise EmbedderUnavailable(f"the vectors of {embedder.model} don't tell an answer from what is none")
        # The smaller of the two: what is let in wrongly does more harm than what is missed.
        times = min(_ANSWER / answer, _SPREAD / max(spread, 1e-6))
        embedder.measures = Measures(answers.shape[1], usual, times)
    return embedder.measures
