"""Synthetic talk from a seed: turns as people have them with an agent, in English and German, and questions to memory.

The mix is that of examples/month.jsonl: half of all turns hold nothing to keep, a fifth have tools.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

PROJECTS = ("waldweg-api", "wetterhahn", "kassenbuch", "lotse", "imkerei-shop", "fahrtenbuch", "orgelplan", "moorlicht")
PEOPLE = ("Frieda", "Enno", "Amrei", "Tomasz", "Linnea", "Jonas", "Svea", "Piotr")
THINGS = ("the API", "the worker", "the dashboard", "the importer", "the mail service", "the cache", "the gateway")
DINGE = ("die API", "der Worker", "das Dashboard", "der Import", "der Mailversand", "der Cache", "das Gateway")
TOOLS = ("PostgreSQL", "Valkey", "Docker", "Terraform", "Playwright", "pnpm", "ruff", "Grafana", "Caddy", "MQTT")
HOSTS = ("buche-04", "erle-01", "linde-07", "ahorn-03", "eiche-11")

_TELLS = (
    "{project} runs on port {port}",
    "we deploy {project} with {tool} from now on",
    "{person} is the maintainer of {project}",
    "remember: the staging box of {project} is {host}",
    "no, use {tool} instead of {other} in {project}",
    "I prefer short answers without bullet points",
    "{project} läuft auf Port {port}",
    "wir nehmen für {project} jetzt {tool} statt {other}",
    "merk dir: {person} ist bei uns für {project} zuständig",
    "die Datenbank von {project} liegt auf {host}",
    "ich hätte Tabellen gern kompakt, ohne Aufzählungszeichen",
)
_CHATS = (
    "thanks, looks good",
    "what does this error mean? {tool} says exit code {code}",
    "can you have a look at {thing}?",
    "danke, passt so",
    "was heißt diese Meldung? {tool} bricht mit {code} ab",
    "schau bitte mal, warum {ding} so langsam ist",
    "go on",
    "und jetzt der nächste Schritt",
)
_ANSWERS = (
    "Understood. I changed it and the tests pass.",
    "Done; {tool} reports no error any more.",
    "Verstanden, ich habe es geändert. Die Tests laufen durch.",
    "Das liegt an {tool}: die Konfiguration stammt noch von der alten Version. Ich habe sie angepasst.",
)
_LOG = (
    "2026-06-{day:02d}T{hour:02d}:{minute:02d}:07Z {level} {tool} request {code} took {port} ms on {host}",
    "    at handle (/srv/{project}/src/routes/orders.ts:{code}:{day})",
    "{project}/src/{tool}_{code}.py:{port}: warning: variable 'result_{day}' is never used",
    '{{"id": {port}, "host": "{host}", "status": "ok", "items": [{code}, {day}, {hour}]}}',
    "npm WARN deprecated {tool}@{day}.{hour}.{minute}: use {other} instead",
    "The service of {person} answers slowly since {project} was moved to {host}.",
    "Seit dem Umzug auf {host} antwortet {ding} langsamer, sagt {person}.",
)
_SECRETS = (
    "export DATABASE_URL=postgres://app:hunter{code}two@{host}/app",
    "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ7Y29kZX0ifQ.c2lnbmF0dXJl{port}abc",
)
_QUESTIONS = (
    "what port does {project} use in environment {token}?",
    "who maintains {project} and looks after {thing} for ticket {token}?",
    "where does the database of {project} live since change {token}?",
    "wer kümmert sich bei {project} um {ding} im Ticket {token}?",
    "auf welchem Rechner läuft {project} seit der Umstellung {token}?",
    "do we still use {tool} for {project}, or {other}, see note {token}",
    "how did we fix {thing} when {tool} failed with {token}?",
    "womit haben wir {ding} überwacht, {tool} oder {other} ({token})?",
)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: the two texts, and tool calls as (name, arguments, result)."""

    user: str
    assistant: str
    tools: tuple[tuple[str, str, str], ...] = ()

    @property
    def bytes(self) -> int:
        texts = (self.user, self.assistant, *(part for tool in self.tools for part in tool[1:]))
        return sum(len(text.encode()) for text in texts)


class Talk:
    """An endless conversation; the same seed says the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a seed is the point
        self._tokens: set[str] = set()

    def turn(self) -> Said:
        """A turn of ordinary size."""
        user = self._say(_TELLS if self._random.random() < 0.5 else _CHATS)
        tools: tuple[tuple[str, str, str], ...] = ()
        if self._random.random() < 0.2:
            tools = (("terminal", f"tail -n 12 {self._random.choice(HOSTS)}.log", self.prose(900)),)
        return Said(f"{user} ({self.token()})", f"{self._say(_ANSWERS)} {self._say(_ANSWERS)}", tools)

    def turn_of(self, size: int) -> Said:
        """A turn of about `size` bytes in all; what does not fit the texts comes from tools, 16 kB a call at most."""
        user, assistant = self.prose(min(size // 8, 4_000)), self.prose(min(size // 4, 30_000))
        left = size - len(user.encode()) - len(assistant.encode())
        calls = -(-left // 16_384)
        tools = tuple(("terminal", f"make step-{number}", self.prose(left // calls - 16)) for number in range(calls))
        return Said(f"{self.token()} {user}", assistant, tools)

    def prose(self, size: int) -> str:
        """About `size` bytes of what stands in messages and logs: lines of all kinds, in five hundred a secret."""
        lines: list[str] = []
        left = size
        while left > 0:
            lines.append(self._say(_SECRETS if self._random.random() < 0.002 else _LOG))
            left -= len(lines[-1].encode()) + 1
        return "\n".join(lines)[:size]

    def question(self) -> str:
        """A question that was never asked before."""
        return self._say(_QUESTIONS, token=self.token())

    def port_of(self, number: int) -> tuple[str, str]:
        """A new fact, as a person tells it, and the words by which one knows that it was learnt."""
        project = f"{self._random.choice(PROJECTS)}-{self.token()}"
        port = str(20_000 + number)
        told = f"{project} runs on port {port}" if number % 2 else f"{project} läuft auf Port {port}"
        return f"remember: {told}" if number % 2 else f"merk dir: {told}", project

    def token(self) -> str:
        """A word that was never said before, as ticket numbers and branch names have them."""
        while (found := "".join(self._random.choices("abcdefghjkmnpqrstuvwxyz", k=6))) in self._tokens:
            pass
        self._tokens.add(found)
        return found

    def _say(self, templates: tuple[str, ...], **more: str) -> str:
        pick = self._random
        tool, other = pick.sample(TOOLS, 2)
        return pick.choice(templates).format(
            project=pick.choice(PROJECTS),
            person=pick.choice(PEOPLE),
            thing=pick.choice(THINGS),
            ding=pick.choice(DINGE),
            tool=tool,
            other=other,
            host=pick.choice(HOSTS),
            port=pick.randrange(1_024, 20_000),
            code=pick.randrange(1, 600),
            day=pick.randrange(1, 29),
            hour=pick.randrange(24),
            minute=pick.randrange(60),
            level=pick.choice(("INFO", "WARN", "ERROR")),
            **more,
        )
