-- What a merge moves is found by the words of the name that it has now as well; and whoever only knows the names learns
-- of it too.
DROP FUNCTION move_entity(uuid[], uuid, uuid, text, text);

CREATE FUNCTION move_entity(moved uuid[], source uuid, target uuid, why text, cause text, name_words text[])
RETURNS TABLE (scope_id uuid, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  t uuid := wall_tenant();
BEGIN
  IF (SELECT count(*) FROM entities e WHERE e.tenant_id = t AND e.user_id = wall_user() AND e.entity_id IN (source, target)) <> 2 THEN
    RAISE insufficient_privilege USING MESSAGE = 'these are not two entities of this wall';
  END IF;
  INSERT INTO block_versions (tenant_id, block_id, version, change, caused_by, before)
  SELECT t, b.block_id, 1 + (SELECT count(*) FROM block_versions v WHERE v.tenant_id = t AND v.block_id = b.block_id), why, cause,
         to_jsonb(b) - ARRAY['tenant_id', 'block_id', 'user_id', 'hash']
    FROM blocks b WHERE b.tenant_id = t AND b.block_id = ANY (moved) AND b.subject_entity = source;
  UPDATE blocks b SET subject_entity = target,
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
    DELETE FROM mentions m WHERE m.tenant_id = t AND m.block_id = ANY (moved) AND m.entity_id = source RETURNING m.*)
  INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id) SELECT t, g.block_id, target, g.scope_id FROM gone g
  ON CONFLICT DO NOTHING;
  -- Words are added only: those of the other name may stand elsewhere in the block, and one found in vain is ranked out.
  WITH added AS (
    SELECT w.block_id, w.scope_id, n.word FROM block_words w CROSS JOIN (SELECT DISTINCT unnest(name_words) AS word) n
      JOIN mentions m ON m.tenant_id = t AND m.block_id = w.block_id AND m.entity_id = target
     WHERE w.block_id = ANY (moved) AND n.word <> '' AND NOT w.words @@ quote_lexeme(n.word)::tsquery),
  counted AS (
    INSERT INTO word_counts AS c (scope_id, word, blocks)
    SELECT a.scope_id, a.word, count(*) FROM added a GROUP BY a.scope_id, a.word ORDER BY a.scope_id, a.word
    ON CONFLICT ON CONSTRAINT word_counts_pkey DO UPDATE SET blocks = c.blocks + EXCLUDED.blocks)
  UPDATE block_words w SET words = w.words || array_to_tsvector(a.words)
    FROM (SELECT d.block_id, array_agg(d.word) AS words FROM added d GROUP BY d.block_id) a WHERE w.block_id = a.block_id;
  UPDATE blocks b SET updated_at = now() WHERE b.tenant_id = t AND b.block_id = ANY (moved); -- what readers hold of them is old
  RETURN QUERY UPDATE scopes s SET generation = s.generation + 1
                WHERE s.tenant_id = t
                  AND s.scope_id IN (SELECT m.scope_id FROM mentions m WHERE m.tenant_id = t AND m.entity_id IN (source, target))
               RETURNING s.scope_id, s.generation;
END $$;

REVOKE EXECUTE ON FUNCTION move_entity(uuid[], uuid, uuid, text, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION move_entity(uuid[], uuid, uuid, text, text, text[]) TO nextlevel_app;
