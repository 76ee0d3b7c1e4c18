-- One model's vectors are compared at a time; which, is one row, so that it changes for all processes at once.
CREATE TABLE embedder (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  model       text NOT NULL,
  dimension   integer NOT NULL CHECK (dimension > 0),
  usual       double precision NOT NULL,
  times       double precision NOT NULL CHECK (times > 0),
  since       timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE embedder ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedder FORCE ROW LEVEL SECURITY;
CREATE POLICY pipeline ON embedder TO nextlevel_pipeline USING (true) WITH CHECK (true);
CREATE POLICY reading ON embedder FOR SELECT TO nextlevel_app USING (true);
GRANT SELECT, INSERT, UPDATE ON embedder TO nextlevel_pipeline;
GRANT SELECT ON embedder TO nextlevel_app;

-- All vectors so far are the packaged model's.
INSERT INTO embedder (model, dimension, usual, times)
SELECT e.model, vector_dims(e.emb), 0.74, 1 FROM embeddings e LIMIT 1;
INSERT INTO embedder (model, dimension, usual, times)
SELECT e.model, vector_dims(e.emb), 0.74, 1 FROM passage_embeddings e LIMIT 1 ON CONFLICT DO NOTHING;

-- What has expired is not found, and waits for no vector.
CREATE OR REPLACE FUNCTION scopes_without_vectors(of_model text) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT b.tenant_id, b.user_id, b.scope_id FROM blocks b
   WHERE b.status <> 'expired'
     AND NOT EXISTS (SELECT FROM embeddings e WHERE e.tenant_id = b.tenant_id AND e.block_id = b.block_id AND e.model = of_model)
$$;

-- How many blocks and passages there are, and how many of them wait for a vector of a model. Numbers, and nothing else.
CREATE FUNCTION count_vectors(of_model text) RETURNS TABLE (blocks bigint, blocks_waiting bigint, passages bigint, passages_waiting bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT * FROM
    (SELECT count(*), count(*) FILTER (WHERE e.model IS NULL) FROM blocks b
       LEFT JOIN embeddings e ON e.tenant_id = b.tenant_id AND e.block_id = b.block_id AND e.model = of_model
      WHERE b.status <> 'expired') of_blocks,
    (SELECT count(*), count(*) FILTER (WHERE e.model IS NULL) FROM passages p
       LEFT JOIN passage_embeddings e ON e.tenant_id = p.tenant_id AND e.turn_id = p.turn_id AND e.model = of_model) of_passages
$$;

-- Where vectors lie of other models than the one in use.
CREATE FUNCTION scopes_with_old_vectors() RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s, embedder m
   WHERE EXISTS (SELECT FROM embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
      OR EXISTS (SELECT FROM passage_embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
$$;
REVOKE EXECUTE ON FUNCTION count_vectors(text), scopes_with_old_vectors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_vectors(text), scopes_with_old_vectors() TO nextlevel_pipeline;
