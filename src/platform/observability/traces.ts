/**
 * Tracing interface of the service. The implementation (`traces-otel.ts`) is loaded only if it is configured; without it,
 * nothing here is called.
 */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span in progress. */
export interface Span {
  readonly traceId: string;
  /** W3C Trace Context header for calls made inside the span. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Marks the span as failed; `reason` is a code, never a value. */
  fail(reason: string): void;
}

export interface SpanStart {
  name: string;
  kind: 'server' | 'client';
  attributes: Attributes;
  /** The caller's headers. Malformed ones start a new trace. */
  parent?: { traceparent: string | undefined; tracestate: string | undefined };
}

export interface Tracer {
  /** Runs the function inside a new span, which ends with it. */
  run<T>(start: SpanStart, fn: (span: Span) => Promise<T>): Promise<T>;
  /**
   * Like `run`, but only inside a current span. Without one, the function runs without a span, because background work polls
   * all the time.
   */
  within<T>(start: () => SpanStart, fn: () => Promise<T>): Promise<T>;
  /** Runs the function outside the current span: for work that a request starts and that continues long after it. */
  alone<T>(fn: () => T): T;
  /** Exports the remaining spans. */
  stop(): Promise<void>;
}

const WITH_NAMES = /(?:\bWITH|,)\s+"?([a-z_]+)"?\s+AS\s*(?:MATERIALIZED\s*)?\(/g;
const MAX_NAMES = 6;

/** Summary of a statement from its verb and the names of tables and CTEs; never contains values. */
export function statementName(text: string): string {
  const verb = /^\s*([A-Za-z]+)/.exec(text)?.[1]?.toUpperCase() ?? 'SQL';
  if (verb === 'WITH') {
    const names = [...text.matchAll(WITH_NAMES)].map(([, name]) => name ?? '');
    return `WITH ${names.slice(0, MAX_NAMES).join(' ')}${names.length > MAX_NAMES ? ' …' : ''}`;
  }
  const table = /\b(?:FROM|INTO|UPDATE)\s+(?:ONLY\s+)?"?([a-z_]+)"?/.exec(text)?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}
