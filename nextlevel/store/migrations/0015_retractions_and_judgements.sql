-- What a person took back, in their words, and the block that it ended: null where it found none yet. A fact that was told
-- before and arrives later is looked up here.
CREATE TABLE retractions (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  number      smallint NOT NULL,           -- of the turn's retractions, from 0
  user_id     uuid NOT NULL,
  scope_id    uuid NOT NULL,               -- the profile's under which it was said
  at          timestamptz NOT NULL,
  said        text NOT NULL,
  project     text,                        -- in which it was said
  block_id    uuid,
  PRIMARY KEY (tenant_id, turn_id, number),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE SET NULL (block_id)
);
CREATE INDEX retractions_of_user ON retractions (tenant_id, user_id, at);
CREATE INDEX retractions_of_block ON retractions (tenant_id, block_id) WHERE block_id IS NOT NULL;

-- What a language model said of two facts on which the rules can't decide, by their hashes: asked once, replayed from here.
CREATE TABLE judgements (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  later       bytea NOT NULL CHECK (octet_length(later) = 32),   -- the fact that was told later
  earlier     bytea NOT NULL CHECK (octet_length(earlier) = 32),
  judge       text NOT NULL,               -- model, and version of the prompt
  verdict     text CHECK (verdict IN ('same', 'updates', 'refines', 'distinct')),
  trouble     text CHECK (trouble IN ('refused', 'malformed', 'truncated')), -- why its answer is of no use
  made_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, later, earlier, judge),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  CHECK ((verdict IS NULL) = (trouble IS NOT NULL))
);
CREATE INDEX judgements_of_earlier ON judgements (tenant_id, user_id, earlier);

ALTER TABLE retractions ENABLE ROW LEVEL SECURITY;
ALTER TABLE retractions FORCE ROW LEVEL SECURITY;
ALTER TABLE judgements ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgements FORCE ROW LEVEL SECURITY;
CREATE POLICY wall ON retractions TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON judgements TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
GRANT SELECT, INSERT, UPDATE, DELETE ON retractions, judgements TO nextlevel_app;
