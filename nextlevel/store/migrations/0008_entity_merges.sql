-- Entities are merged and split by hand, and that is taken back. And a worker reads only the names it has not seen.
ALTER TABLE scopes ADD COLUMN names bigint NOT NULL DEFAULT 0;
GRANT UPDATE (names) ON scopes TO nextlevel_app;
ALTER TABLE entity_aliases ADD COLUMN added bigint GENERATED ALWAYS AS IDENTITY;
CREATE INDEX entity_aliases_in_order ON entity_aliases (tenant_id, user_id, added);

ALTER TABLE block_versions DROP CONSTRAINT block_versions_change_check;
ALTER TABLE block_versions ADD CONSTRAINT block_versions_change_check
  CHECK (change IN ('confirmed', 'superseded', 'retracted', 'restored', 'merged', 'split'));

CREATE TABLE entity_merges (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  merge_id    uuid NOT NULL,
  kept        uuid NOT NULL,
  merged      uuid NOT NULL,
  aliases     text[] NOT NULL,
  blocks      uuid[] NOT NULL,
  shared      uuid[] NOT NULL,
  merged_at   timestamptz,
  split_at    timestamptz,
  PRIMARY KEY (tenant_id, merge_id),
  FOREIGN KEY (tenant_id, kept) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, merged) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  CHECK (kept <> merged)
);
CREATE UNIQUE INDEX entity_merges_once ON entity_merges (tenant_id, merged) WHERE split_at IS NULL;
CREATE INDEX entity_merges_of_kept ON entity_merges (tenant_id, kept);
ALTER TABLE entity_merges ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity_merges FORCE ROW LEVEL SECURITY;
CREATE POLICY wall ON entity_merges TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
GRANT SELECT, INSERT, UPDATE ON entity_merges TO nextlevel_app;

-- The blocks that speak of an entity, whatever profile they are told under: an entity is the person's.
CREATE FUNCTION blocks_of_entity(entity uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT m.block_id FROM mentions m JOIN entities e USING (tenant_id, entity_id)
   WHERE m.tenant_id = wall_tenant() AND m.entity_id = entity AND e.user_id = wall_user()
$$;

-- Let blocks speak of one entity instead of another: as subject, in edges and in mentions. The scopes that changed, with
-- their new generations: also those of profiles that stand outside this wall.
CREATE FUNCTION move_entity(moved uuid[], source uuid, target uuid, why text, cause text) RETURNS TABLE (scope_id uuid, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  t uuid := wall_tenant();
  touched uuid[];
BEGIN
  IF (SELECT count(*) FROM entities e WHERE e.tenant_id = t AND e.user_id = wall_user() AND e.entity_id IN (source, target)) <> 2 THEN
    RAISE insufficient_privilege USING MESSAGE = 'these are not two entities of this wall';
  END IF;
  INSERT INTO block_versions (tenant_id, block_id, version, change, caused_by, before)
  SELECT t, b.block_id, 1 + (SELECT count(*) FROM block_versions v WHERE v.tenant_id = t AND v.block_id = b.block_id), why, cause,
         to_jsonb(b) - ARRAY['tenant_id', 'block_id', 'user_id', 'hash']
    FROM blocks b WHERE b.tenant_id = t AND b.block_id = ANY (moved) AND b.subject_entity = source;
  UPDATE blocks b SET subject_entity = target, updated_at = now(),
                      subject = CASE WHEN lower(b.subject) = lower(s.name) THEN g.name ELSE b.subject END
    FROM entities s, entities g
   WHERE b.tenant_id = t AND b.block_id = ANY (moved) AND b.subject_entity = source
     AND s.tenant_id = t AND s.entity_id = source AND g.tenant_id = t AND g.entity_id = target;
  WITH gone AS (
    DELETE FROM edges e WHERE e.tenant_id = t AND e.block_id = ANY (moved) AND source IN (e.subject_entity, e.object_entity)
    RETURNING e.*), now AS (
    SELECT g.block_id, g.scope_id, g.predicate, CASE g.subject_entity WHEN source THEN target ELSE g.subject_entity END AS subject,
           CASE g.object_entity WHEN source THEN target ELSE g.object_entity END AS object FROM gone g)
  INSERT INTO edges (tenant_id, block_id, scope_id, subject_entity, predicate, object_entity)
  SELECT t, n.block_id, n.scope_id, n.subject, n.predicate, n.object FROM now n WHERE n.subject <> n.object ON CONFLICT DO NOTHING;
  WITH gone AS (
    DELETE FROM mentions m WHERE m.tenant_id = t AND m.block_id = ANY (moved) AND m.entity_id = source RETURNING m.*), moving AS (
    INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id) SELECT t, g.block_id, target, g.scope_id FROM gone g
    ON CONFLICT DO NOTHING)
  SELECT array_agg(DISTINCT g.scope_id) INTO touched FROM gone g;
  RETURN QUERY UPDATE scopes s SET generation = s.generation + 1 WHERE s.tenant_id = t AND s.scope_id = ANY (touched)
               RETURNING s.scope_id, s.generation;
END $$;
REVOKE EXECUTE ON FUNCTION blocks_of_entity(uuid), move_entity(uuid[], uuid, uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION blocks_of_entity(uuid), move_entity(uuid[], uuid, uuid, text, text) TO nextlevel_app;
