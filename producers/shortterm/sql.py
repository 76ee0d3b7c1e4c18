"""Every statement on tier 2 that both the plugin (sqlite3) and the relay (aiosqlite) run, and the plugin's own.

Named parameters; times are seconds since the epoch.
"""

from __future__ import annotations

# ---- identity

CURRENT_IDENTITY = "SELECT install, home, next_seq, mark, high FROM identities WHERE is_current = 1"
RETIRE_IDENTITY = "UPDATE identities SET is_current = 0 WHERE is_current = 1"
# Our own turn was filed as a fork: another home gives numbers under this id.
RETIRE_FORKED_IDENTITY = """
UPDATE identities SET is_current = 0
 WHERE install = :install AND is_current = 1 AND EXISTS (
   SELECT 1 FROM json_each(:forks) AS fork JOIN outbox AS o
       ON o.install = :install AND o.seq = CAST(fork.key AS INTEGER) AND substr(o.fp, 1, 8) = fork.value)
"""
ADD_IDENTITY = """
INSERT INTO identities (install, home, is_current, made_at)
SELECT :install, :home, 1, :now WHERE NOT EXISTS (SELECT 1 FROM identities WHERE is_current = 1)
"""
# A counter row, not AUTOINCREMENT: that one burns numbers on conflict, and each would be a gap for ever.
TAKE_NUMBER = "UPDATE identities SET next_seq = next_seq + 1 WHERE install = :install"

# ---- writing

FIND_FINGERPRINT = "SELECT install, seq FROM outbox WHERE fp = :fp"
COUNT_PAIR = "SELECT count(*) FROM outbox WHERE pair = :pair"
NEXT_TURN = "SELECT coalesce(max(turn), 0) + 1 FROM outbox WHERE session = :session"
ADD_ROW = """
INSERT INTO outbox (install, seq, fp, pair, kind, lane, profile, principal, chat, session, turn, at)
VALUES (:install, :seq, :fp, :pair, :kind, :lane, :profile, :principal, :chat, :session, :turn, :at)
"""
KEEP_EVENT = "INSERT INTO events (row, event) VALUES (:row, :event)"
ADD_WORDS = "INSERT INTO words (rowid, user_words, assistant_words) VALUES (:row, :user_words, :assistant_words)"
ADD_INJECTED = "INSERT OR IGNORE INTO injected (session, line) VALUES (:session, :line)"
INJECTED = "SELECT line FROM injected WHERE session = :session"

# ---- delivery

# Nothing waits longer than 10 minutes: what seems to was written while the clock was ahead.
DUE = """
SELECT row, lane, event FROM outbox JOIN events USING (row)
 WHERE state <> 'acked' AND (next_at <= :now OR next_at > :now + 600) ORDER BY row LIMIT :limit
"""
# Before it is sent, so that the plugin and the relay don't both send it. 30 s, doubling to 10 minutes.
MARK_PUBLISHED = """
UPDATE outbox SET state = 'published', publishes = publishes + 1, next_at = :now + min(600, 30 << min(publishes, 5))
 WHERE row = :row
"""
# It could not be sent: as if it had not been tried.
RELEASE = "UPDATE outbox SET state = 'pending', publishes = publishes - 1, next_at = 0 WHERE row = :row"
WAITING = "SELECT count(*) FROM outbox WHERE state <> 'acked'"
# Ids under which a receipt may change something: the current one, those with turns not yet acknowledged, and those with
# turns that are shown, of which something may be forgotten elsewhere.
AWAITED = """
SELECT install, mark, high, next_seq, is_current FROM identities AS i
 WHERE is_current = 1 OR EXISTS (SELECT 1 FROM outbox AS o WHERE o.install = i.install AND o.held = 1)
"""

# ---- receipts

_COVERED = """(seq <= :mark OR (seq <= :high AND NOT EXISTS (
  SELECT 1 FROM json_each(:gaps) AS gap
   WHERE seq BETWEEN json_extract(gap.value, '$[0]') AND json_extract(gap.value, '$[1]'))))"""
# Only what was published: where a home was cloned, the receipt may speak of the other home's turn of the same number.
# Publishing ours shows Postgres the two, and it keeps both.
ACKNOWLEDGE = f"UPDATE outbox SET state = 'acked' WHERE install = :install AND state = 'published' AND {_COVERED}"  # noqa: S608
RESEND = f"""
UPDATE outbox SET state = 'pending', publishes = 0, next_at = 0
 WHERE install = :install AND state = 'acked' AND held = 1 AND NOT {_COVERED}
"""  # noqa: S608
# Without a change nothing is written, and a poll costs no fsync.
NOTE_RECEIPT = """
UPDATE identities SET mark = :mark, high = :high WHERE install = :install AND (mark <> :mark OR high <> :high)
"""
HIDE_TURNS = """
DELETE FROM words WHERE rowid IN (
  SELECT row FROM outbox WHERE install = :install AND seq IN (SELECT value FROM json_each(:seqs)))
"""

# ---- the host's own memory

MIRRORED_ENTRIES = "SELECT event FROM outbox JOIN events USING (row) WHERE kind = 'core_write'"

# ---- search

# Rows are numbered without gaps, from 1 up, and from -1 down what came back after a rescue.
DOCUMENTS = """
SELECT coalesce((SELECT max(row) FROM outbox), 0) - coalesce((SELECT min(row) FROM outbox WHERE row < 0), 0)
"""
TERM_COUNTS = "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(:terms))"
# A group sees what was said in that group; a person sees what that person said. `after_turn` cuts off what the model
# still has before its eyes.
# The best are chosen by their numbers alone: else an event of kilobytes is sorted for each turn that shares a word.
SEARCH = """
WITH best AS MATERIALIZED (
  SELECT o.row, bm25(words, 2.0, 1.0) AS rank
    FROM words JOIN outbox AS o ON o.row = words.rowid
   WHERE words MATCH :match
     AND o.kind = coalesce(:kind, o.kind) AND o.at >= :since
     AND CASE WHEN :chat IS NULL THEN o.profile = :profile AND o.principal = :principal ELSE o.chat = :chat END
     AND NOT (o.session = :session AND o.turn > :after_turn)
   ORDER BY rank LIMIT :limit)
SELECT o.install || ':' || o.seq AS id, o.session, o.turn, e.event, w.user_words, w.assistant_words
  FROM best JOIN outbox AS o USING (row) JOIN words AS w ON w.rowid = o.row JOIN events AS e ON e.row = o.row
 ORDER BY best.rank
"""
# Newest first, as the same reader may see them. What is too long even packed is not read.
RECENT = """
SELECT o.install || ':' || o.seq AS id, o.session, e.event
  FROM outbox AS o JOIN words AS w ON w.rowid = o.row JOIN events AS e ON e.row = o.row
 WHERE o.session IN (SELECT value FROM json_each(:sessions)) AND o.kind = 'turn' AND length(e.event) <= :longest
   AND CASE WHEN :chat IS NULL THEN o.profile = :profile AND o.principal = :principal ELSE o.chat = :chat END
 ORDER BY o.row DESC LIMIT :limit
"""
LAST_TURN = "SELECT coalesce(max(turn), 0) FROM outbox WHERE session = :session"

# ---- retention

# Delivered, older than the days kept, and in none of the newest sessions.
EXPIRED = """
SELECT row FROM outbox
 WHERE held = 1 AND state = 'acked' AND at < :before
   AND session NOT IN (SELECT session FROM outbox GROUP BY session ORDER BY max(row) DESC LIMIT :sessions)
 ORDER BY row LIMIT :limit
"""
EMPTY_ROW = "UPDATE outbox SET held = 0 WHERE row = :row"
DELETE_EVENT = "DELETE FROM events WHERE row = :row"
DELETE_WORDS = "DELETE FROM words WHERE rowid = :row"
GET_NOTE = "SELECT value FROM notes WHERE name = :name"
SET_NOTE = (
    "INSERT INTO notes (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)

# ---- out of a damaged file

COPY_IDENTITY = "INSERT OR IGNORE INTO identities VALUES (?, ?, ?, ?, ?, ?, ?)"
COPY_ROW = "INSERT OR IGNORE INTO outbox VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
COPY_EVENT = "INSERT OR IGNORE INTO events VALUES (?, ?)"
COPY_WORDS = "INSERT INTO words (rowid, user_words, assistant_words) VALUES (?, ?, ?)"
COPY_INJECTED = "INSERT OR IGNORE INTO injected VALUES (?, ?)"
COPY_NOTE = "INSERT OR IGNORE INTO notes VALUES (?, ?)"
# Where only one half of an event could be read, nothing can be sent or shown.
DROP_EVENTS_WITHOUT_ROW = "DELETE FROM events WHERE row NOT IN (SELECT row FROM outbox)"
DROP_WORDS_WITHOUT_EVENT = "DELETE FROM words WHERE rowid NOT IN (SELECT row FROM events)"
EMPTY_ROWS_WITHOUT_EVENT = """
UPDATE outbox SET held = 0 WHERE held = 1 AND state = 'acked' AND row NOT IN (SELECT row FROM events)
"""
DROP_ROWS_WITHOUT_EVENT = "DELETE FROM outbox WHERE state <> 'acked' AND row NOT IN (SELECT row FROM events)"
PEOPLE = "SELECT DISTINCT profile, principal FROM outbox"

# ---- back from Postgres, after that

# To look at all rows takes long, and who comes has just told something.
WHO_TOLD_LATELY = """
SELECT DISTINCT profile, principal FROM (SELECT profile, principal FROM outbox ORDER BY row DESC LIMIT 100)
"""
ORDERS_WAITING = "SELECT 1 FROM outbox WHERE kind IN ('forget', 'retract') AND state <> 'acked' LIMIT 1"
FIND_ROW = "SELECT row, held FROM outbox WHERE fp = :fp"
HOLD_ROW = "UPDATE outbox SET held = 1 WHERE row = :row"
KNOW_IDENTITY = """
INSERT INTO identities (install, home, next_seq, is_current, made_at) VALUES (:install, :home, :seq + 1, 0, :now)
ON CONFLICT (install) DO UPDATE SET next_seq = max(next_seq, excluded.next_seq)
"""
# Below all others: what is newest is found by the highest row, and this was said before the file was made.
ADD_PAST_ROW = """
INSERT OR IGNORE INTO outbox
       (row, install, seq, fp, pair, kind, lane, profile, principal, chat, session, turn, at, state)
SELECT min(coalesce(min(row), 0), 0) - 1,
       :install, :seq, :fp, :pair, :kind, :lane, :profile, :principal, :chat, :session, :turn, :at, 'acked'
  FROM outbox
"""

# ---- what a person is told

COUNTS = """
SELECT count(*) AS events,
       coalesce(sum(state = 'pending'), 0) AS pending,
       coalesce(sum(state = 'published'), 0) AS published,
       coalesce(sum(state = 'acked'), 0) AS acknowledged,
       min(CASE WHEN state <> 'acked' THEN at END) AS oldest_waiting_at,
       max(CASE WHEN kind = 'turn' THEN at END) AS last_turn_at,
       count(DISTINCT CASE WHEN held = 1 THEN session END) AS sessions
  FROM outbox
"""
