-- What was asked and what was shown, so that an operator can see where a memory went. Kept for 30 days and 100,000 rows.
CREATE TABLE recalls (
  recall_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  session     text NOT NULL,               -- empty where the host named none
  at          timestamptz NOT NULL,
  query       text NOT NULL CHECK (char_length(query) <= 300), -- redacted
  mode        text NOT NULL CHECK (mode IN ('prefetch', 'search')),
  rung        text NOT NULL CHECK (rung IN ('cache', 'hot', 'sql')),
  ms          real NOT NULL,
  abstained   boolean NOT NULL,
  vectors     boolean NOT NULL,            -- whether meaning was compared
  shown       jsonb NOT NULL,              -- [{"block": uuid, "score": 0..1}, …], best first
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);
CREATE INDEX recalls_of_user ON recalls (tenant_id, user_id, at);
CREATE INDEX recalls_by_age ON recalls (at);

-- How fast turns end, and which did last: without a scan of all that ever ended.
CREATE INDEX turns_ended ON turns (finished_at, id) WHERE finished_at IS NOT NULL;

ALTER TABLE recalls ENABLE ROW LEVEL SECURITY;
ALTER TABLE recalls FORCE ROW LEVEL SECURITY;
CREATE POLICY pipeline ON recalls TO nextlevel_pipeline USING (true) WITH CHECK (true);
CREATE POLICY wall ON recalls TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
GRANT SELECT, INSERT, DELETE ON recalls TO nextlevel_pipeline;
GRANT SELECT, DELETE ON recalls TO nextlevel_app;
