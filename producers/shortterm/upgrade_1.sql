-- From user_version 1 to 2: the events leave their rows, so that a change of state no longer writes them anew.

CREATE TABLE events (
  row         INTEGER PRIMARY KEY REFERENCES outbox,
  event       TEXT NOT NULL
);
INSERT INTO events (row, event) SELECT row, event FROM outbox WHERE event IS NOT NULL;

-- SQLite drops no column that a CHECK names: the table is made anew.
CREATE TABLE slim (
  row         INTEGER PRIMARY KEY,
  install     TEXT NOT NULL REFERENCES identities,
  seq         INTEGER NOT NULL CHECK (seq > 0),
  fp          TEXT NOT NULL UNIQUE,
  pair        TEXT NOT NULL,
  kind        TEXT NOT NULL,
  lane        TEXT NOT NULL,
  profile     TEXT NOT NULL,
  principal   TEXT NOT NULL,
  chat        TEXT,
  session     TEXT NOT NULL,
  turn        INTEGER NOT NULL,
  at          REAL NOT NULL,
  held        INTEGER NOT NULL DEFAULT 1 CHECK (held IN (0, 1)),
  state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'published', 'acked')),
  publishes   INTEGER NOT NULL DEFAULT 0,
  next_at     REAL NOT NULL DEFAULT 0,
  UNIQUE (install, seq),
  CHECK (held = 1 OR state = 'acked')
);
INSERT INTO slim
SELECT row, install, seq, fp, pair, kind, lane, profile, principal, chat, session, turn, at, event IS NOT NULL, state,
       publishes, next_at
  FROM outbox;
DROP TABLE outbox;
ALTER TABLE slim RENAME TO outbox;
CREATE INDEX outbox_due ON outbox (row) WHERE state <> 'acked';
CREATE INDEX outbox_pair ON outbox (pair);
CREATE INDEX outbox_session ON outbox (session, turn);
CREATE INDEX outbox_held ON outbox (at) WHERE held = 1;

PRAGMA user_version = 2;
