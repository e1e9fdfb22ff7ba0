/**
 * Prometheus metrics: requests, event loop, memory, the gauges of the service, and the merge of several processes. Labels come from declarations (operations,
 * statuses, task names), never from client input or records.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge as LevelMetric, Histogram, Registry } from '@prometheus-io/client';
import { counter, type Gauge } from '../platform/observability/gauges.ts';

/** Upper bounds in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 300];

interface Cell {
  time: { observe(seconds: number): void };
  count: { inc(): void };
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #durations = new Histogram({
    name: 'docket_http_request_duration_seconds',
    help: 'Response time by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: BOUNDS,
    registers: [this.#registry],
  });
  readonly #requests = new Counter({
    name: 'docket_http_requests_total',
    help: 'Responses by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [this.#registry],
  });
  /** Operation → status → labelled metrics, cached so that labels are resolved once. */
  readonly #cells = new Map<string, Map<number, Cell>>();
  readonly #added = new Map<string, LevelMetric<string> | Counter<string>>();
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });
  #limited = 0;
  #overloaded = 0;

  constructor() {
    this.#delay.enable();
  }

  observe(operation: string, status: number, ms: number): void {
    const cell = this.#cells.get(operation)?.get(status) ?? this.#cell(operation, status);
    cell.time.observe(ms / 1000);
    cell.count.inc();
    if (status === 429) this.#limited++;
    if (status === 503) this.#overloaded++;
  }

  #cell(operation: string, status: number): Cell {
    const labels = { operation, status: String(status) };
    const cell = { time: this.#durations.labels(labels), count: this.#requests.labels(labels) };
    const statuses = this.#cells.get(operation) ?? new Map<number, Cell>();
    statuses.set(status, cell);
    this.#cells.set(operation, statuses);
    return cell;
  }

  /** All metrics as text. Event loop delays cover the time since the last call. */
  async render(inFlight: number, gauges: readonly Gauge[]): Promise<string> {
    const memory = process.memoryUsage();
    const cpu = process.cpuUsage();
    this.#set([
      { name: 'docket_http_requests_in_flight', help: 'Requests in progress.', value: inFlight },
      counter('docket_http_rate_limited_total', 'Requests rejected because a key exceeded its rate.', this.#limited),
      counter(
        'docket_http_unavailable_total',
        'Responses with status 503: overload or database unavailable.',
        this.#overloaded,
      ),
      ...this.#loopDelays(),
      { name: 'process_resident_memory_bytes', help: 'Resident memory.', value: memory.rss },
      { name: 'nodejs_heap_used_bytes', help: 'Heap in use.', value: memory.heapUsed },
      { name: 'nodejs_external_memory_bytes', help: 'Memory outside the heap.', value: memory.external },
      counter('process_cpu_seconds_total', 'CPU time used.', (cpu.user + cpu.system) / 1e6),
      { name: 'process_uptime_seconds', help: 'Time since the process started.', value: process.uptime() },
      ...gauges,
    ]);
    // No blank lines between families: the merge of several processes reads line by line.
    return (await this.#registry.metrics()).replaceAll(/\n{2,}/g, '\n');
  }

  #set(gauges: readonly Gauge[]): void {
    for (const [name, family] of Map.groupBy(gauges, (gauge) => gauge.name)) {
      const metric = this.#added.get(name) ?? this.#add(family[0] as Gauge);
      metric.reset();
      for (const { labels = {}, value } of family) metric.inc(labels, value);
    }
  }

  #add({ name, help, labels = {}, type = 'gauge' }: Gauge): LevelMetric<string> | Counter<string> {
    const options = { name, help, labelNames: Object.keys(labels), registers: [this.#registry] };
    const metric = type === 'counter' ? new Counter(options) : new LevelMetric(options);
    this.#added.set(name, metric);
    return metric;
  }

  #loopDelays(): Gauge[] {
    const name = 'docket_event_loop_delay_seconds';
    const help = 'Event loop delay since the previous scrape.';
    // Without samples, the histogram returns NaN and an invalid minimum.
    const read = (nanoseconds: number): number => (this.#delay.count === 0 ? 0 : nanoseconds / 1e9);
    // Not `quantile`: that label is reserved for summaries.
    const gauges = [50, 99].map((percentile) => ({
      name,
      help,
      value: read(this.#delay.percentile(percentile)),
      labels: { percentile: String(percentile) },
    }));
    gauges.push({ name, help, value: read(this.#delay.max), labels: { percentile: '100' } });
    this.#delay.reset();
    return gauges;
  }

  stop(): void {
    this.#delay.disable();
    this.#registry.clear();
  }
}

/** The metrics of one process. */
export interface ProcessMetrics {
  process: string;
  /** Prometheus text format; null if the process did not answer. */
  text: string | null;
}

interface Family {
  head: string[];
  samples: string[];
}

const SAMPLE = /^([A-Za-z_:][A-Za-z0-9_:]*)(\{)?/;
const HEAD = /^# (?:HELP|TYPE|UNIT) (\S+)/;
const OF_FAMILY = /_(?:bucket|sum|count|total|created|info)$/;

/** Merges all parts: one block per family, each sample with the label `process`, and `docket_process_up` per process. */
export function mergeMetrics(parts: readonly ProcessMetrics[]): string {
  const families = new Map<string, Family>();
  const up = familyOf(families, 'docket_process_up');
  up.head.push('# HELP docket_process_up 1 if the process returned its metrics.', '# TYPE docket_process_up gauge');
  for (const { process, text } of parts) {
    const label = `process="${process}"`;
    up.samples.push(`docket_process_up{${label}} ${text === null ? 0 : 1}`);
    addPart(families, label, text ?? '');
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n`;
}

function addPart(families: Map<string, Family>, label: string, text: string): void {
  const declared = new Set<string>();
  for (const line of text.split('\n')) {
    const family = HEAD.exec(line)?.[1];
    if (family !== undefined) {
      declared.add(family);
      const { head } = familyOf(families, family);
      // All processes run the same version, so the HELP and TYPE lines of the first are used.
      if (!head.some((one) => one.split(' ', 3).join(' ') === line.split(' ', 3).join(' '))) head.push(line);
      continue;
    }
    const [, name, labelled] = SAMPLE.exec(line) ?? [];
    if (name === undefined) continue;
    const short = name.replace(OF_FAMILY, '');
    const samples = familyOf(families, declared.has(name) || !declared.has(short) ? name : short).samples;
    const rest = line.slice(name.length + (labelled === undefined ? 0 : 1));
    const separator = labelled === undefined ? '}' : rest.startsWith('}') ? '' : ',';
    samples.push(`${name}{${label}${separator}${rest}`);
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const family: Family = { head: [], samples: [] };
  families.set(name, family);
  return family;
}
