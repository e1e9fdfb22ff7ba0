/** Values that are read when `/metrics` is, as modules declare them; `http/metrics.ts` writes them. */

/** A value read at scrape time. `labels` distinguish values of the same name. */
export interface Gauge {
  name: string;
  help: string;
  value: number;
  labels?: Record<string, string>;
  /** `counter` for values that only increase. */
  type?: 'gauge' | 'counter';
}

export function counter(name: string, help: string, value: number): Gauge {
  return { name, help, value, type: 'counter' };
}
