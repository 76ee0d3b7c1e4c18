-- The person's entities that nothing speaks of any more, under whatever profile; one that is merged into another waits for
-- that one.
CREATE FUNCTION orphaned_entities() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT e.entity_id FROM entities e WHERE e.tenant_id = wall_tenant() AND e.user_id = wall_user()
     AND NOT EXISTS (SELECT FROM mentions m WHERE m.tenant_id = e.tenant_id AND m.entity_id = e.entity_id)
     AND NOT EXISTS (SELECT FROM blocks b WHERE b.tenant_id = e.tenant_id AND b.subject_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM document_edges d WHERE d.tenant_id = e.tenant_id AND d.subject_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM document_edges d WHERE d.tenant_id = e.tenant_id AND d.object_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM entity_merges x WHERE x.tenant_id = e.tenant_id AND x.merged = e.entity_id AND x.split_at IS NULL)
$$;
REVOKE EXECUTE ON FUNCTION orphaned_entities() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION orphaned_entities() TO nextlevel_app;
