-- A block as memory knew it at a moment: nothing if it was learnt later, and as it was then if it has changed since.
CREATE FUNCTION as_known(b blocks, moment timestamptz) RETURNS SETOF blocks LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT was.* FROM jsonb_populate_record(b, coalesce(
           (SELECT v.before FROM block_versions v
             WHERE v.tenant_id = b.tenant_id AND v.block_id = b.block_id AND v.changed_at > moment ORDER BY v.version LIMIT 1),
           '{}')) was
   WHERE b.created_at <= moment
$$;
