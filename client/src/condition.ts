/** A condition, in the format of the configuration and of `GET /search`. */
export type Condition =
  | { field: string; operator: string; value?: unknown }
  | { logic: 'AND' | 'OR'; conditions: readonly Condition[] };
