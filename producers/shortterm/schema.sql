-- Tier 2, as of user_version 3. One file for each home of an agent, beside it on its disk.

-- Under which ids turns leave this home. The first is the enrolled one; a copied or restored home gets another, so that
-- no number is used for two turns.
CREATE TABLE identities (
  install     TEXT PRIMARY KEY,
  home        TEXT NOT NULL,                       -- the home's resolved path when the id was made
  next_seq    INTEGER NOT NULL DEFAULT 1 CHECK (next_seq > 0),
  mark        INTEGER NOT NULL DEFAULT 0,          -- the last receipt: every number up to here is in Postgres
  high        INTEGER NOT NULL DEFAULT 0,          -- the last receipt: the highest number in Postgres
  is_current  INTEGER NOT NULL CHECK (is_current IN (0, 1)),
  made_at     REAL NOT NULL
);
CREATE UNIQUE INDEX one_current_identity ON identities (is_current) WHERE is_current = 1;

-- One row for each event. A row is never deleted: its number closes a gap and its pair counts repeats.
--     pending → published → acked, and back to pending where a receipt shows that Postgres lost it
CREATE TABLE outbox (
  row         INTEGER PRIMARY KEY,
  install     TEXT NOT NULL REFERENCES identities,
  seq         INTEGER NOT NULL CHECK (seq > 0),
  fp          TEXT NOT NULL UNIQUE,
  pair        TEXT NOT NULL,                       -- the fingerprint as if it had never been said before
  kind        TEXT NOT NULL,
  lane        TEXT NOT NULL,
  profile     TEXT NOT NULL,
  principal   TEXT NOT NULL,
  chat        TEXT,                                -- the group chat it was said in, else null
  session     TEXT NOT NULL,
  turn        INTEGER NOT NULL,                    -- place in the session, from 1; 0: outside a conversation
  at          REAL NOT NULL,                       -- seconds since the epoch
  held        INTEGER NOT NULL DEFAULT 1 CHECK (held IN (0, 1)),  -- 0 once retention took its event away
  state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'published', 'acked')),
  publishes   INTEGER NOT NULL DEFAULT 0,
  next_at     REAL NOT NULL DEFAULT 0,             -- when it is published (again), seconds since the epoch
  UNIQUE (install, seq),
  CHECK (held = 1 OR state = 'acked')
);
CREATE INDEX outbox_due ON outbox (row) WHERE state <> 'acked';
CREATE INDEX outbox_pair ON outbox (pair);
CREATE INDEX outbox_session ON outbox (session, turn);
CREATE INDEX outbox_held ON outbox (at) WHERE held = 1;

-- JSON, and above 32 KiB the same packed by zlib, a blob then (kept.py). Apart from its row: SQLite writes a whole row
-- anew for each change of its state, and an event may have megabytes.
CREATE TABLE events (
  row         INTEGER PRIMARY KEY REFERENCES outbox,
  event       TEXT NOT NULL
);

-- The words of the turns that may be shown, by `row`. Cut and folded by nextlevel.lang, so the tokenizer only splits at
-- spaces: the signs are those that join an identifier there.
CREATE VIRTUAL TABLE words USING fts5 (
  user_words, assistant_words,
  tokenize = "unicode61 remove_diacritics 0 tokenchars '._@/:+#''’-'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);

-- What recall put before the model, by hash: never learnt again, in any later process.
CREATE TABLE injected (
  session     TEXT NOT NULL,
  line        BLOB NOT NULL,
  PRIMARY KEY (session, line)
) WITHOUT ROWID;

-- How retention is reminded, and what a person is told.
CREATE TABLE notes (
  name        TEXT PRIMARY KEY,
  value       TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 3;
