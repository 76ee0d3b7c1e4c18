"""The tools as the model is told of them: constants, since a change would break its prefix cache."""

from __future__ import annotations

from typing import Any

from nextlevel.model import BlockType

TYPES = [kind.value for kind in BlockType]


def _schema(name: str, description: str, required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": parameters}


SCHEMAS: tuple[dict[str, Any], ...] = (
    _schema(
        "nextlevel_search",
        "Search memory: facts about the user, their projects, people, preferences, what was said in earlier sessions, "
        "and the notes they imported; each hit names its tier. Use it when the user refers to something from before "
        "that is not in this conversation. 'Did we discuss X last week?' is answered by session.",
        ["query"],
        query={"type": "string", "description": "What to look for, in the user's own words."},
        as_of={"type": "string", "description": "What held at this time (RFC 3339 with offset). Default: now."},
        known_at={
            "type": "string",
            "description": "What memory knew at this time (RFC 3339 with offset), whatever it learnt or corrected "
            "since. Only for 'what did you know on 3 June?'; for 'what was it on 3 June?' use as_of. Default: now.",
        },
    ),
    _schema(
        "nextlevel_remember",
        "Store one fact in long-term memory because the user asked for it or will need it in later sessions. One dense "
        "sentence, e.g. 'waldseilgarten-crm: docker compose runs on port 8080'. Never a secret.",
        ["text"],
        text={"type": "string", "description": "The fact."},
        type={"type": "string", "enum": TYPES, "description": "What kind of fact. Default: found from the text."},
        project={"type": "string", "description": "The project it belongs to, if to one."},
    ),
    _schema(
        "nextlevel_forget",
        "Forget something the user wants removed from memory. With `query`, one matching memory is forgotten; if "
        "several match, they are listed and nothing is forgotten: call again with the `block` of the right one.",
        [],
        query={"type": "string", "description": "What to forget, in words."},
        block={"type": "string", "description": "The id of the memory, as a search or a former call gave it."},
    ),
    _schema(
        "nextlevel_graph",
        "How people, projects, technologies and places that are remembered are related. Use it for 'who works with "
        "whom' and 'what depends on what'; for facts and figures use nextlevel_search.",
        [],
        entity={"type": "string", "description": "Only what is within two steps of this name. Default: everything."},
    ),
    _schema(
        "nextlevel_reflect",
        "Gather all that is remembered about one topic, by what it speaks of and in order of time, to draw a "
        "conclusion from many memories: how something developed, a pattern, a summary. For one fact use "
        "nextlevel_search.",
        ["topic"],
        topic={"type": "string", "description": "What to think about, e.g. 'how we test the crm'."},
    ),
    _schema("nextlevel_stats", "How much is remembered, and whether the memory pipeline is healthy.", []),
)
NAMES = frozenset(schema["name"] for schema in SCHEMAS)
