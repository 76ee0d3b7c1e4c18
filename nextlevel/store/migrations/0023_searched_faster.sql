-- How many blocks a scope has is counted as they come and go: counted anew for each question it took 4 ms at 10,000.
INSERT INTO word_counts (scope_id, word, blocks) SELECT scope_id, '~s' || scope_id, count(*) FROM block_words GROUP BY scope_id;

CREATE OR REPLACE FUNCTION index_words(block uuid, block_scope uuid, terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  fresh text[] := ARRAY(SELECT DISTINCT left(t, 200) FROM unnest(terms || ('~s' || block_scope)) t WHERE t <> '' ORDER BY 1);
BEGIN
  IF block_scope <> ALL (wall_scopes()) THEN RAISE insufficient_privilege USING MESSAGE = 'that scope is not in this wall'; END IF;
  INSERT INTO block_words (block_id, tenant_id, scope_id, words)
       VALUES (block, wall_tenant(), block_scope, array_to_tsvector(fresh));
  -- In order of word, so that two stores of one scope can't deadlock on the counts.
  INSERT INTO word_counts (scope_id, word, blocks) SELECT block_scope, w, 1 FROM unnest(fresh) w
  ON CONFLICT (scope_id, word) DO UPDATE SET blocks = word_counts.blocks + 1;
END $$;

-- How many blocks of the wall hold a word at all.
CREATE FUNCTION worded_blocks() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(sum(c.blocks), 0) FROM unnest(wall_scopes()) s JOIN word_counts c ON c.scope_id = s AND c.word = '~s' || s
$$;

-- How rare each of these words is among the blocks of the wall: ln(1 + blocks / blocks with it). One that none has is left out.
CREATE OR REPLACE FUNCTION weigh_words(terms text[]) RETURNS TABLE (word text, idf real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls uuid[] := wall_scopes();
  held real := worded_blocks();
BEGIN
  RETURN QUERY
    SELECT c.word, ln(1 + held / sum(c.blocks))::real
      FROM word_counts c WHERE c.scope_id = ANY (walls) AND c.word = ANY (terms) GROUP BY c.word;
END $$;

-- Few rows are promised, so that their blocks are looked up one by one: joined with all of a scope's, they took 14 ms.
ALTER FUNCTION search_words(text[], integer) ROWS 100;

-- A list of pending entries, which every search reads through until a vacuum, cost it up to 10 ms.
ALTER INDEX block_words_gin SET (fastupdate = off);
ALTER INDEX passage_words_gin SET (fastupdate = off);
ALTER INDEX section_words_gin SET (fastupdate = off);
SELECT gin_clean_pending_list('block_words_gin'), gin_clean_pending_list('passage_words_gin'), gin_clean_pending_list('section_words_gin');

REVOKE EXECUTE ON FUNCTION worded_blocks() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION worded_blocks() TO nextlevel_app;
