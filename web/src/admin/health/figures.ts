/** Readiness and metrics from the service's probes. Probes are outside the API and need no permissions. */

export interface Readiness {
  ready: boolean;
  checks: Readonly<Record<string, string>>;
  /** Response time in milliseconds. */
  took: number;
}

export interface Figures {
  uptimeMs: number;
  memoryBytes: number;
  inFlight: number;
  requests: number;
  failed: number;
  slow: number;
}

export async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const start = performance.now();
  const response = await fetch('/readyz', { signal });
  const body = (await response.json()) as { checks?: Record<string, string> };
  return { ready: response.ok, checks: body.checks ?? {}, took: Math.round(performance.now() - start) };
}

export async function readVersion(signal: AbortSignal): Promise<string> {
  const response = await fetch('/api/admin/v1/openapi.json', { signal });
  const body = (await response.json()) as { info?: { version?: string } };
  return body.info?.version ?? '';
}

/** Null if metrics are not allowed from this network. */
export async function readFigures(signal: AbortSignal): Promise<Figures | null> {
  const response = await fetch('/metrics', { signal });
  if (!response.ok) return null;
  return figuresOf(await response.text());
}

const LINE = /^(\w+)(?:\{([^}]*)\})? (\S+)/;

/** Parses metrics in Prometheus text format. */
export function figuresOf(text: string): Figures {
  const single = new Map<string, number>();
  const found = { requests: 0, failed: 0, fast: 0 };
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    const amount = Number(value);
    if (name === 'docket_http_request_duration_seconds_count') {
      found.requests += amount;
      if (/status="5/.test(labels)) found.failed += amount;
    } else if (name === 'docket_http_request_duration_seconds_bucket' && /le="1"/.test(labels)) found.fast += amount;
    else if (labels === '') single.set(name, amount);
  }
  return {
    uptimeMs: (single.get('process_uptime_seconds') ?? 0) * 1000,
    memoryBytes: single.get('process_resident_memory_bytes') ?? 0,
    inFlight: single.get('docket_http_requests_in_flight') ?? 0,
    requests: found.requests,
    failed: found.failed,
    slow: Math.max(0, found.requests - found.fast),
  };
}
