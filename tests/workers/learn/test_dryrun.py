"""What `nextlevel learn` shows is what the workers would do, and it leaves no trace."""

from dataclasses import replace
from datetime import UTC, datetime

from nextlevel.workers.learn.dryrun import dry_run
from nextlevel.workers.learn.transcripts import Exchange, Transcript
from tests.support.builders import event

AT = datetime(2026, 6, 3, 12, tzinfo=UTC)
KEY = "ghp" + "_0123456789abcdefABCDEF0123456789abcd"
SAID = (
    "waldseilgarten-crm runs on port 8080.",
    "thanks, have a nice weekend!",
    f"the key is {KEY}. We deploy larkfield on Thursdays.",
    "waldseilgarten-crm runs on port 8080.",
)


def transcript(*said: str) -> Transcript:
    return Transcript("s1", "", tuple(Exchange(each, "Noted.", AT) for each in said))


def test_each_turn_tells_what_is_kept_and_dropped_and_why():
    report = dry_run([transcript(*SAID)], review_below=0.5)
    port, thanks, secret, again = report.turns
    assert ("note", "environment_or_convention", "new") == tuple(
        port.kept[0][k] for k in ("shelf", "branch", "standing")
    )
    assert [] == thanks.kept
    assert thanks.reason.startswith("not worth reading")
    assert ({"github_token": 1}, False) == (secret.redactions, KEY in str(report))
    assert "never_stored" in {each["branch"] for each in secret.dropped}
    assert "known" == again.kept[0]["standing"]
    assert (4, {"github_token": 1}) == (report.totals["turns"], report.totals["secrets"])


async def test_the_workers_keep_exactly_that(bench):
    """The dry run would be worth nothing if it judged by other code."""
    shown = {each["text"] for turn in dry_run([transcript(*SAID)], review_below=0.5).turns for each in turn.kept}
    await bench.remember(*(replace(event(text, seq=n, at=AT.isoformat()), turn=n) for n, text in enumerate(SAID, 1)))
    stored = {f"{s} {p.replace('_', ' ')} {o}" for s, p, o in await bench.facts() | await bench.facts("review")}
    assert stored
    assert shown == stored
