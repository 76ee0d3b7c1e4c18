"""What is not remembered: a paused home, an excluded place or platform, a session that the user asked to leave out.

Of such a turn nothing is written and nothing is sent, not even as a question to recall.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from nextlevel.producers.shortterm import outbox
from nextlevel.producers.shortterm.database import BUSY_S
from nextlevel.safety.markers import HEADER

from .config import Config
from .home import Home
from .speaker import Speaker

NOTICE = f"{HEADER}\n- This session is off the record since the user asked for it: nothing of it is remembered."

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_POLITE = r"(?:(?:please|ok(?:ay)?|hey|hi|and|also|btw|bitte|und|hallo|hej|snälla|och|proszę|cześć|hermes)\b|[,;:!\s])*"
_HERE = {
    "en": r"(?:this|the\ current|our)\ (?:session|chat|conversation|talk|discussion)",
    "de": r"(?:diese[rsmn]?|unsere?[rsmn]?)\ (?:sitzung|gespräch|unterhaltung|chat|session)(?:s|es)?",
    "sv": r"(?:den\ här|det\ här|denna|detta|vårt?)\ (?:session(?:en)?|samtal(?:et)?|chatt(?:en)?|konversation(?:en)?)",
    "pl": r"(?:tej|tę|tego|ten|naszej|naszą|ta)\ (?:sesji|sesję|sesja|rozmowy|rozmowę|rozmowie|czatu|czat)",
}
_ASKS = re.compile(
    rf"""^{_POLITE}(?:
      (?:do\ not|don['’]?t|never|(?:can|could|would|will)\ you\ (?:please\ )?not)\ (?:ever\ )?
        (?:remember|store|save|keep|record|memori[sz]e|learn)\ (?:any(?:thing)?\ )?
        (?:(?:from|of|in|about)\ )?{_HERE["en"]}
    | (?:remember|store|save|keep|record)\ nothing\ (?:from|of|in|about)\ {_HERE["en"]}
    | (?:keep\ )?(?:{_HERE["en"]}|this)\ (?:(?:is|stays?|should\ (?:be|stay))\ )?off\ the\ record
    | (?:merke?|speicher[en]?|behalte?)\ (?:dir\ )?(?:bitte\ )?
        (?:nichts\ (?:aus|von|in)\ {_HERE["de"]}|{_HERE["de"]}\ (?:bitte\ )?nicht)
    | (?:nichts\ (?:aus|von|in)\ {_HERE["de"]}|{_HERE["de"]}\ (?:bitte\ )?nicht)\ (?:merken|speichern|behalten)
    | (?:kom\ inte\ ihåg|minns\ inte|spara\ inte|lagra\ inte)\ (?:något\ (?:från|ur|av)\ )?{_HERE["sv"]}
    | (?:kom\ ihåg|spara)\ (?:ingenting|inget)\ (?:från|ur|av)\ {_HERE["sv"]}
    | nie\ (?:zapamiętuj|zapamiętaj|zapisuj|zapisz|zachowuj|pamiętaj)\ (?:(?:niczego|nic)\ )?(?:z\ )?{_HERE["pl"]}
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def asks(text: str) -> bool:
    """True if a message asks not to remember the session: as an order, not "I don't remember this session".

    >>> asks("Please don't remember this session."), asks("Why don't you remember this session?")
    (True, False)
    """
    return any(_ASKS.match(sentence.strip()) for sentence in _SENTENCES.split(text[:2_000]))


def reason(home: Home, speaker: Speaker, session: str, cwd: str | None = None, *, wait_s: float = BUSY_S) -> str | None:
    """Why nothing of this speaker in this session is remembered; None where it is.

    Raises:
        ShortTermUnavailable: what was asked for in an earlier process can't be read, or not within `wait_s` seconds.
    """
    config = home.config
    if config.paused:
        return "memory is paused; `hermes nextlevel resume` ends that"
    if speaker.platform and speaker.platform.lower() in _listed(config.exclude_platforms.lower()):
        return f"the platform {speaker.platform} is excluded in {home.path}/nextlevel/config.json"
    if speaker.is_local and (folder := _excluded_folder(config, cwd)):
        return f"the folder {folder} is excluded in {home.path}/nextlevel/config.json"
    if _is_left_out(home, session, wait_s):
        return "the user asked not to remember this session"
    return None


def leave_out(home: Home, session: str) -> None:
    """From here on nothing of a session is remembered, in any process.

    Raises:
        ShortTermUnavailable: it can't be noted; in this process it holds all the same.
    """
    home.left_out.add(session)
    outbox.note(home.database, outbox.off_record(session), "asked")


def _is_left_out(home: Home, session: str, wait_s: float) -> bool:
    if session in home.left_out:
        return True
    return home.has_database and outbox.noted(home.database, outbox.off_record(session), wait_s=wait_s) is not None


def _excluded_folder(config: Config, cwd: str | None) -> str | None:
    folders = _listed(config.exclude_folders)
    if not folders:
        return None
    try:
        here = Path(cwd or os.getcwd()).resolve()
    except OSError:  # it was deleted under us
        return None
    return next((each for each in folders if here.is_relative_to(Path(each).expanduser().resolve())), None)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
