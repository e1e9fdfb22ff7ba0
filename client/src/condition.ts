/** A condition, as it is written in the configuration and in `GET /search`. */
export type Condition =
  | { field: string; operator: string; value?: unknown }
  | { logic: 'AND' | 'OR'; conditions: readonly Condition[] };
