-- What nobody used for as long as it lives expires, and that is a change like any other.
ALTER TABLE block_versions DROP CONSTRAINT block_versions_change_check,
                           ADD CONSTRAINT block_versions_change_check CHECK (change IN ('confirmed', 'superseded', 'retracted', 'restored', 'merged', 'split', 'expired'));
CREATE INDEX block_versions_expired ON block_versions (changed_at) WHERE change = 'expired';
CREATE INDEX blocks_by_end ON blocks (expires_at) WHERE status IN ('active', 'review');

-- Where blocks have outlived their time, those that wait longest first. The pipeline may know which scopes these are, and
-- nothing of what they hold.
CREATE FUNCTION scopes_with_outlived(at_most integer) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT b.tenant_id, b.user_id, b.scope_id FROM blocks b
   WHERE b.status IN ('active', 'review') AND b.expires_at <= now()
   GROUP BY b.tenant_id, b.user_id, b.scope_id ORDER BY min(b.expires_at) LIMIT at_most
$$;

-- How many blocks wait to expire, and how many did within a day. Numbers, and nothing else.
CREATE FUNCTION count_expired() RETURNS TABLE (waiting bigint, today bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT (SELECT count(*) FROM blocks WHERE status IN ('active', 'review') AND expires_at <= now()),
         (SELECT count(*) FROM block_versions WHERE change = 'expired' AND changed_at > now() - interval '1 day')
$$;

REVOKE EXECUTE ON FUNCTION scopes_with_outlived(integer), count_expired() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_with_outlived(integer), count_expired() TO nextlevel_pipeline;
