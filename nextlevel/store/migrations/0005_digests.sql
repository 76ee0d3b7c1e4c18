-- What a session came to, made once it falls idle; and a block that a rejected turn had replaced can come back.
ALTER TABLE sessions ADD COLUMN digest jsonb;
ALTER TABLE sessions ADD COLUMN digested_at timestamptz;
CREATE INDEX sessions_undigested ON sessions (last_at) WHERE digested_at IS NULL;
CREATE INDEX sessions_of_profile ON sessions (tenant_id, user_id, profile, last_at);
CREATE POLICY wall ON sessions TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
GRANT SELECT, UPDATE (digest, digested_at) ON sessions TO nextlevel_app;

ALTER TABLE block_versions DROP CONSTRAINT block_versions_change_check;
ALTER TABLE block_versions ADD CHECK (change IN ('confirmed', 'superseded', 'retracted', 'restored'));
