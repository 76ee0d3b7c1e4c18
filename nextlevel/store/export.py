"""All of one person's memory, to be carried out of the house: each block with what it stands on and speaks of."""

from __future__ import annotations

from dataclasses import dataclass

from nextlevel.model import Block, Scope

from .blocks import block_of
from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Told:
    """A block, the turns that told it (the first one first), and the names of the entities that it speaks of."""

    block: Block
    turns: tuple[str, ...]
    names: tuple[str, ...]


async def told(conn: Connection, scope: Scope) -> list[Told]:
    """Every block behind this wall, whatever its status, in the order learnt."""
    rows = await conn.fetch(SQL.export.told, scope.tenant_id, scope.readable)
    return [Told(block_of(row), tuple(row["turns"]), tuple(row["names"])) for row in rows]
