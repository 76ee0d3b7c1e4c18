-- name: add
-- One answer of a model, on the day that Postgres has (UTC).
-- $1 tenant · $2 model · $3 calls · $4 tokens in · $5 tokens out · $6 money, in the currency of the price
INSERT INTO model_spending AS spent (tenant_id, day, model, calls, tokens_in, tokens_out, money)
VALUES ($1, (clock_timestamp() AT TIME ZONE 'UTC')::date, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, day, model) DO UPDATE
   SET calls = spent.calls + excluded.calls, tokens_in = spent.tokens_in + excluded.tokens_in,
       tokens_out = spent.tokens_out + excluded.tokens_out, money = spent.money + excluded.money;

-- name: today
-- $1 tenant
SELECT coalesce(sum(tokens_in + tokens_out), 0)::bigint AS tokens, coalesce(sum(money), 0)::float8 AS money
  FROM model_spending WHERE tenant_id = $1 AND day = (clock_timestamp() AT TIME ZONE 'UTC')::date;

-- name: by_model
-- What all tenants together spent today, by model.
SELECT model, sum(calls)::bigint AS calls, sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out,
       sum(money)::float8 AS money
  FROM model_spending WHERE day = (clock_timestamp() AT TIME ZONE 'UTC')::date GROUP BY model ORDER BY model;
