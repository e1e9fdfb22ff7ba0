-- How far the heads of the chain of seals were written to the place outside of the database, by place.
CREATE TABLE audit_heads (
  place text PRIMARY KEY,
  number bigint NOT NULL
);
