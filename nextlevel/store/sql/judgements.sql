-- Table judgements: what a language model said of two facts.

-- name: held
-- $1 tenant · $2 user · $3 hashes of the later facts · $4 of the earlier ones, pair by pair · $5 judges, the first wanted most
SELECT DISTINCT ON (j.later, j.earlier) j.later, j.earlier, j.verdict FROM unnest($3::bytea[], $4::bytea[]) p (later, earlier)
  JOIN judgements j ON j.tenant_id = $1 AND j.user_id = $2 AND j.later = p.later AND j.earlier = p.earlier AND j.judge = ANY ($5::text[])
 ORDER BY j.later, j.earlier, array_position($5::text[], j.judge);

-- name: keep
-- The first answer stays: two workers may have asked at once.
-- $1 tenant · $2 user · $3 later · $4 earlier · $5 judge · $6 verdict, or null · $7 why there is none, or null
INSERT INTO judgements (tenant_id, user_id, later, earlier, judge, verdict, trouble) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING;

-- name: forget
-- $1 tenant · $2 user · $3 hashes
DELETE FROM judgements WHERE tenant_id = $1 AND user_id = $2 AND (later = ANY ($3) OR earlier = ANY ($3));

-- name: cosines
-- How near blocks lie to a vector; those without a vector of this model are left out.
-- $1 tenant · $2 blocks · $3 unit vector · $4 model
SELECT block_id, -(emb <#> $3::halfvec) AS cosine FROM embeddings WHERE tenant_id = $1 AND block_id = ANY ($2) AND model = $4;
