/** Figures for Prometheus, in its text form 0.0.4: requests, event loop, memory, and what the service adds. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A value read when the figures are asked for. `labels` distinguish values of one name. */
export interface Gauge {
  name: string;
  help: string;
  value: number;
  labels?: Record<string, string>;
  /** `counter` for what only rises. */
  type?: 'gauge' | 'counter';
}

/** Upper bounds in milliseconds. */
const BOUNDS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 300_000];

interface Cell {
  /** One count per bound and one for what is beyond. */
  counts: Uint32Array;
  sum: number;
}

export class Metrics {
  /** Operation → status → durations. Operations come from declarations, never from what a client sent. */
  readonly #requests = new Map<string, Map<number, Cell>>();
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });

  constructor() {
    this.#delay.enable();
  }

  observe(operation: string, status: number, ms: number): void {
    let statuses = this.#requests.get(operation);
    if (statuses === undefined) {
      statuses = new Map();
      this.#requests.set(operation, statuses);
    }
    let cell = statuses.get(status);
    if (cell === undefined) {
      cell = { counts: new Uint32Array(BOUNDS.length + 1), sum: 0 };
      statuses.set(status, cell);
    }
    let index = 0;
    while (index < BOUNDS.length && ms > (BOUNDS[index] as number)) index++;
    cell.counts[index] = (cell.counts[index] as number) + 1;
    cell.sum += ms;
  }

  /** Everything as text. The delays of the event loop are those since the last call. */
  render(inFlight: number, gauges: readonly Gauge[]): string {
    const lines: string[] = [];
    this.#renderRequests(lines);
    const memory = process.memoryUsage();
    const cpu = process.cpuUsage();
    const own: Gauge[] = [
      { name: 'docket_http_requests_in_flight', help: 'Requests being worked on.', value: inFlight },
      ...this.#loopDelays(),
      { name: 'process_resident_memory_bytes', help: 'Resident memory.', value: memory.rss },
      { name: 'nodejs_heap_used_bytes', help: 'Heap in use.', value: memory.heapUsed },
      { name: 'nodejs_external_memory_bytes', help: 'Memory outside the heap.', value: memory.external },
      {
        name: 'process_cpu_seconds_total',
        help: 'Processor time used.',
        value: (cpu.user + cpu.system) / 1e6,
        type: 'counter',
      },
      { name: 'process_uptime_seconds', help: 'Time since the process started.', value: process.uptime() },
    ];
    renderGauges(lines, [...own, ...gauges]);
    return `${lines.join('\n')}\n`;
  }

  #renderRequests(lines: string[]): void {
    lines.push('# HELP docket_http_request_duration_seconds Time to answer, by operation and status.');
    lines.push('# TYPE docket_http_request_duration_seconds histogram');
    const totals: string[] = [];
    for (const [operation, statuses] of this.#requests) {
      for (const [status, { counts, sum }] of statuses) {
        const labels = `operation="${escapeLabel(operation)}",status="${status}"`;
        let below = 0;
        for (const [index, bound] of BOUNDS.entries()) {
          below += counts[index] as number;
          lines.push(`docket_http_request_duration_seconds_bucket{${labels},le="${bound / 1000}"} ${below}`);
        }
        below += counts[BOUNDS.length] as number;
        lines.push(`docket_http_request_duration_seconds_bucket{${labels},le="+Inf"} ${below}`);
        lines.push(`docket_http_request_duration_seconds_sum{${labels}} ${sum / 1000}`);
        lines.push(`docket_http_request_duration_seconds_count{${labels}} ${below}`);
        totals.push(`docket_http_requests_total{${labels}} ${below}`);
      }
    }
    lines.push('# HELP docket_http_requests_total Requests answered, by operation and status.');
    lines.push('# TYPE docket_http_requests_total counter', ...totals);
  }

  #loopDelays(): Gauge[] {
    const name = 'docket_event_loop_delay_seconds';
    const help = 'How late the event loop was since the figures were last read.';
    // Without a sample yet the histogram answers NaN and an absurd minimum.
    const read = (nanoseconds: number): number => (this.#delay.count === 0 ? 0 : nanoseconds / 1e9);
    const gauges = [0.5, 0.99].map((quantile) => ({
      name,
      help,
      value: read(this.#delay.percentile(quantile * 100)),
      labels: { quantile: String(quantile) },
    }));
    gauges.push({ name, help, value: read(this.#delay.max), labels: { quantile: '1' } });
    this.#delay.reset();
    return gauges;
  }

  stop(): void {
    this.#delay.disable();
  }
}

function renderGauges(lines: string[], gauges: readonly Gauge[]): void {
  for (const [name, family] of Map.groupBy(gauges, (gauge) => gauge.name)) {
    lines.push(`# HELP ${name} ${family[0]?.help ?? ''}`, `# TYPE ${name} ${family[0]?.type ?? 'gauge'}`);
    for (const gauge of family) {
      const labels = Object.entries(gauge.labels ?? {}).map(([key, value]) => `${key}="${escapeLabel(value)}"`);
      lines.push(`${name}${labels.length > 0 ? `{${labels.join(',')}}` : ''} ${gauge.value}`);
    }
  }
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
