/**
 * Traces by OpenTelemetry, sent as OTLP over HTTP in the background (docs/spec/configuration.md#command-line).
 * Loaded dynamically and only if that is set, since loading takes long. The current span is tracked with AsyncLocalStorage,
 * only here; no decision of the service depends on it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes as OtelAttributes,
  type Context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Attributes, Span, SpanStart, Tracer } from './traces.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

export interface TracesOptions {
  /** The endpoint; traces are sent to `/v1/traces` below it. */
  endpoint: string;
  /** Milliseconds between two exports; default 5,000. */
  everyMs?: number;
  /** Which traces are sampled, by the names of `OTEL_TRACES_SAMPLER`; default `parentbased_always_on`. */
  sampling?: { sampler: string; ratio: number };
}

/** Creates the sampler with that name. The SDK does not read the variable itself. */
function samplerOf({ sampler, ratio }: NonNullable<TracesOptions['sampling']>): Sampler {
  const followsParent = sampler.startsWith('parentbased_');
  const name = sampler.replace('parentbased_', '');
  const root =
    name === 'always_off'
      ? new AlwaysOffSampler()
      : name === 'traceidratio'
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

/** The context from the caller's headers; the root context if they name none. */
function contextOf({ traceparent }: NonNullable<SpanStart['parent']>): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function known(attributes: Attributes): OtelAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as OtelAttributes;
}

class OpenSpan implements Span {
  readonly #span: OtelSpan;
  readonly traceId: string;
  readonly traceparent: string;

  constructor(span: OtelSpan) {
    this.#span = span;
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(known(attributes));
  }

  fail(reason: string): void {
    this.#span.setAttribute('error.type', reason);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

/** Creates the tracer that exports to the endpoint. Call `stop` before the process ends. */
export function startTraces({
  endpoint,
  everyMs = 5000,
  sampling = { sampler: 'parentbased_always_on', ratio: 1 },
}: TracesOptions): Tracer {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: 5000 });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'docket' }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    sampler: samplerOf(sampling),
    // If the receiver is slow or unavailable, spans are dropped. The service never waits for it.
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: everyMs, maxQueueSize: 4096 })],
  });
  const tracer = provider.getTracer('docket');
  const present = new AsyncLocalStorage<Context>();
  const run = async <T>(start: SpanStart, fn: (span: Span) => Promise<T>): Promise<T> => {
    const above = start.parent === undefined ? (present.getStore() ?? ROOT_CONTEXT) : contextOf(start.parent);
    const kind = start.kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT;
    const span = tracer.startSpan(start.name, { kind, attributes: known(start.attributes) }, above);
    const open = new OpenSpan(span);
    try {
      return await present.run(trace.setSpan(above, span), () => fn(open));
    } catch (error) {
      const { code } = error as { code?: unknown };
      open.fail(typeof code === 'string' ? code : 'error');
      throw error;
    } finally {
      span.end();
    }
  };
  return {
    run,
    within: (start, fn) => (present.getStore() === undefined ? fn() : run(start(), fn)),
    alone: (fn) => present.exit(fn),
    stop: () => provider.shutdown(),
  };
}
