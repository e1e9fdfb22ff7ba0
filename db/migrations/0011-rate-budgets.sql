-- What processes share of each caller's budget of requests. Not logged: after a crash every budget is whole again.
-- full_at: when the whole budget will be back, in milliseconds of the database's clock since 1970; beside it the last
-- settlement, by which it came about: at, how many requests it reported and asked for, and how many it got.
CREATE UNLOGGED TABLE rate_budgets (
  caller_id text PRIMARY KEY,
  full_at double precision NOT NULL,
  at double precision NOT NULL,
  spent integer NOT NULL,
  returned integer NOT NULL,
  spent_until double precision,
  wanted integer NOT NULL,
  granted integer NOT NULL
) WITH (fillfactor = 50);
