-- Upkeep of a scope takes as long as there is to do, however much it holds: both ends of its work are found by an index.
DROP INDEX blocks_by_end;
CREATE INDEX blocks_by_end ON blocks (scope_id, expires_at) WHERE status IN ('active', 'review');
CREATE INDEX blocks_by_change ON blocks (scope_id, updated_at);

-- Up to which change upkeep has compared a scope's blocks with what stands beside them.
ALTER TABLE scopes ADD COLUMN compared_to timestamptz NOT NULL DEFAULT now();
GRANT UPDATE (compared_to) ON scopes TO nextlevel_app;

CREATE OR REPLACE FUNCTION scopes_with_outlived(at_most integer) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s
   CROSS JOIN LATERAL (SELECT b.expires_at FROM blocks b
                        WHERE b.scope_id = s.scope_id AND b.status IN ('active', 'review') AND b.expires_at <= now()
                        ORDER BY b.expires_at LIMIT 1) ended
   ORDER BY ended.expires_at LIMIT at_most
$$;

CREATE OR REPLACE FUNCTION count_expired() RETURNS TABLE (waiting bigint, today bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT (SELECT count(*) FROM scopes s JOIN blocks b USING (scope_id)
           WHERE b.status IN ('active', 'review') AND b.expires_at <= now()),
         (SELECT count(*) FROM block_versions WHERE change = 'expired' AND changed_at > now() - interval '1 day')
$$;

-- Where blocks changed that upkeep has not compared yet, those it saw longest ago first.
CREATE FUNCTION scopes_to_compare(at_most integer) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s
   WHERE s.user_id IS NOT NULL
     AND EXISTS (SELECT FROM blocks b WHERE b.scope_id = s.scope_id AND b.updated_at > s.compared_to)
   ORDER BY s.compared_to LIMIT at_most
$$;

REVOKE EXECUTE ON FUNCTION scopes_to_compare(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_to_compare(integer) TO nextlevel_pipeline;
