/**
 * What the service knows of traces: names and places to hang them on. What makes and sends them is loaded only where it is
 * configured (`traces-otel.ts`); without it none of this is called.
 */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span under way. */
export interface Span {
  readonly traceId: string;
  /** For whoever is called from inside of it, as W3C Trace Context writes it. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Marks it as failed; `reason` is a code, never a value. */
  fail(reason: string): void;
}

export interface SpanStart {
  name: string;
  kind: 'server' | 'client';
  attributes: Attributes;
  /** The headers of the caller; what is malformed in them begins a trace of its own. */
  parent?: { traceparent: string | undefined; tracestate: string | undefined };
}

export interface Tracer {
  /** Runs the function inside of a new span, which ends with it. */
  run<T>(start: SpanStart, fn: (span: Span) => Promise<T>): Promise<T>;
  /** The same inside of a span that is under way; without one the function runs alone: background work polls without end. */
  within<T>(start: () => SpanStart, fn: () => Promise<T>): Promise<T>;
  /** Runs the function as part of nothing: work that a request woke, and that goes on for long after it. */
  alone<T>(fn: () => T): T;
  /** Sends what is left. */
  stop(): Promise<void>;
}

const WITH_NAMES = /(?:\bWITH|,)\s+"?([a-z_]+)"?\s+AS\s*(?:MATERIALIZED\s*)?\(/g;
const MOST_NAMES = 6;

/** What a statement does, by its verb and the names of tables and parts that are written in it: never a value. */
export function statementName(text: string): string {
  const verb = /^\s*([A-Za-z]+)/.exec(text)?.[1]?.toUpperCase() ?? 'SQL';
  if (verb === 'WITH') {
    const names = [...text.matchAll(WITH_NAMES)].map(([, name]) => name ?? '');
    return `WITH ${names.slice(0, MOST_NAMES).join(' ')}${names.length > MOST_NAMES ? ' …' : ''}`;
  }
  const table = /\b(?:FROM|INTO|UPDATE)\s+(?:ONLY\s+)?"?([a-z_]+)"?/.exec(text)?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}
