-- Nothing to make: conditions compile to functions that PostgreSQL brings (src/mechanisms/db/filter-sql.ts), so that their
-- indexes depend on no function of ours and neither a restore nor a schema path can part them.
SELECT;
