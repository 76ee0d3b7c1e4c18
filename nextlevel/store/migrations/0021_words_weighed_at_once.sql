-- Words are weighed at once, and what a query is compared with is made once for a question.
-- How rare each of these words is among the blocks of the wall: ln(1 + blocks / blocks with it). One that none has is left out.
CREATE FUNCTION weigh_words(terms text[]) RETURNS TABLE (word text, idf real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls uuid[] := wall_scopes();
  held real := (SELECT count(*) FROM block_words b WHERE b.scope_id = ANY (walls));
BEGIN
  RETURN QUERY
    SELECT c.word, ln(1 + held / sum(c.blocks))::real
      FROM word_counts c WHERE c.scope_id = ANY (walls) AND c.word = ANY (terms) GROUP BY c.word;
END $$;

-- The blocks that share most with a query: any word counts (OR), rare ones more (idf). Only the six rarest terms are
-- looked up: more cost time and bring almost nothing (.614 → .612 recall@10 on LoCoMo).
CREATE OR REPLACE FUNCTION search_words(terms text[], at_most integer) RETURNS TABLE (block_id uuid, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls tsquery := (SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery;
  rarest tsquery[];  -- made once: else they are read anew for each block that has one
  weights real[];
BEGIN
  SELECT array_agg(quote_lexeme(f.word)::tsquery), array_agg(f.idf) INTO rarest, weights
    FROM (SELECT w.word, w.idf FROM weigh_words(terms) w ORDER BY w.idf DESC, w.word LIMIT 6) f;
  IF rarest IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT f.block_id, sum(f.idf)::real
      FROM unnest(rarest, weights) AS t (query, idf)
     CROSS JOIN LATERAL (SELECT b.block_id, t.idf FROM block_words b WHERE b.words @@ (walls && t.query)) f
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT at_most;
END $$;

REVOKE EXECUTE ON FUNCTION weigh_words(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION weigh_words(text[]) TO nextlevel_app;
