"""What must not stand in a prompt for good: secrets, orders, hidden text, and what the host would blank out."""

from __future__ import annotations

import re
import unicodedata

from nextlevel.safety import injection, invisible
from nextlevel.safety.redact import redact

LONGEST = 300
"""Characters of an entry: both files are small, and what is longer is a document."""

# The host shows an entry as "[BLOCKED: …]" where one of these stands in it (HOST's scan, as far as facts can meet it).
_BLOCKED = re.compile(
    r"""authorized_keys | (?:\$HOME|~)/\.(?:ssh|hermes/\.env)
      | (?:update|modify|edit|write|change|append|add\s+to)\s.*(?:AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules)
      | (?:update|modify|edit|write|change|append|add\s+to)\s.*\.hermes/(?:config\.yaml|SOUL\.md)
      | (?:send|post|upload|transmit)\s.*\s(?:to|at)\s+https?://
      | cat\s.*(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)
      | (?:curl|wget)\s.*\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)
      | \b(?:cobalt\s*strike|sliver|havoc|mythic|metasploit|brainworm)\b
      | \bcommand\s+and\s+control\b | \bc2\s+(?:server|channel|infrastructure|beacon)\b
      | (?:heartbeat|beacon|check[\s-]?in)\s+(?:to|with)\s | connect\s+to\s+the\s+network\b | pull\s+(?:new\s+)?tasks?\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def why_not(text: str) -> str | None:
    """Why a text may not be proposed: `secret`, `injection`, `invisible` or `blocked by the host`; None: it may."""
    if "[redacted:" in text or redact(text).counts:
        return "secret"
    if invisible.count(text) or not all(each.isprintable() or each == "\n" for each in text):
        return "invisible"
    if injection.suspicious(text):
        return "injection"
    if _BLOCKED.search(unicodedata.normalize("NFKC", text)):
        return "blocked by the host"
    return None
