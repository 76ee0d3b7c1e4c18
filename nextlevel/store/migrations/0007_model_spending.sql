-- What language models cost each tenant a day, so that a bound holds over all workers and a restart of any.
CREATE TABLE model_spending (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  day         date NOT NULL,
  model       text NOT NULL,
  calls       integer NOT NULL CHECK (calls >= 0),
  tokens_in   bigint NOT NULL CHECK (tokens_in >= 0),
  tokens_out  bigint NOT NULL CHECK (tokens_out >= 0),
  money       double precision NOT NULL CHECK (money >= 0),
  PRIMARY KEY (tenant_id, day, model)
);
ALTER TABLE model_spending ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_spending FORCE ROW LEVEL SECURITY;
CREATE POLICY pipeline ON model_spending TO nextlevel_pipeline USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON model_spending TO nextlevel_pipeline;
