-- name: advance
-- Move an outbox's contiguous mark as far as its turns reach without a gap.
-- $1 install
WITH above AS (
  SELECT seq, seq - row_number() OVER (ORDER BY seq) AS run
    FROM turns JOIN installations i USING (install) WHERE install = $1 AND seq > i.mark)
UPDATE installations i
   SET mark = coalesce((SELECT max(seq) FROM above WHERE run = i.mark), i.mark),
       high = greatest(i.high, coalesce((SELECT max(seq) FROM above), 0)),
       last_seen = clock_timestamp()
 WHERE install = $1;

-- name: receipt
-- What an outbox may take as delivered: the mark, the highest, and the gaps between (at most 100, the lowest).
-- $1 install
SELECT i.mark, i.high,
       coalesce((SELECT json_agg(json_build_array(g.first, g.last)) FROM (
         SELECT lag(seq, 1, i.mark) OVER (ORDER BY seq) + 1 AS first, seq - 1 AS last, seq
           FROM turns t WHERE t.install = i.install AND t.seq > i.mark ORDER BY seq LIMIT 10000) g
         WHERE g.last >= g.first), '[]')::text AS gaps,
       coalesce((SELECT json_agg(h.seq) FROM (
         SELECT seq FROM turns t WHERE t.install = i.install AND t.hidden ORDER BY seq DESC LIMIT 1000) h), '[]')::text AS hidden,
       coalesce((SELECT json_object_agg(f.seq, left(f.fp, 8)) FROM (
         SELECT t.seq, t.fp FROM turns t WHERE t.install LIKE i.install || '~%' ORDER BY t.received_at DESC LIMIT 1000) f),
         '{}')::text AS forks
  FROM installations i WHERE i.install = $1;

-- name: seen_lately
-- Outboxes heard of within a day: the ones whose receipts are worth rewriting.
SELECT install FROM installations WHERE last_seen > clock_timestamp() - interval '1 day';
