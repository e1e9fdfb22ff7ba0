/**
 * Sends requests at a given rate regardless of responses (open loop), over persistent raw connections. The sender must be much
 * cheaper than the server under test: requests are prepared once, and only counted parts of responses are parsed.
 */
import { connect, type Socket } from 'node:net';

export interface Kind {
  method: string;
  path: string;
  body?: unknown;
  /** Weight relative to the others. */
  weight: number;
}

/** One answer. */
export interface TimedRequest {
  /** When it was due, in milliseconds from the beginning. */
  at: number;
  /** From when it was due until it was answered. */
  ms: number;
  status: number;
  retryAfter: boolean;
}

export interface RequestBatch {
  shots: TimedRequest[];
  /** Due requests that were not sent for lack of a connection. */
  unsent: number;
  /** Sent over a connection that had been answered before, and it ended without an answer. */
  broken: number;
  /** A new connection was refused, or ended before anything was answered. */
  turnedAway: number;
}

interface Line {
  socket: Socket;
  at: number;
  busy: boolean;
  text: string;
  answered: boolean;
}

const MAX_LINES = 1500;
const TICK_MS = 4;

export class OpenLoopSender {
  readonly #host: string;
  readonly #port: number;
  readonly #requests: Buffer[] = [];
  readonly #free: Line[] = [];
  readonly #lines = new Set<Line>();
  readonly #mostLines: number;
  #volley: RequestBatch = { shots: [], unsent: 0, broken: 0, turnedAway: 0 };
  #began = 0;
  #turn = 0;

  /** Responses so far of the current batch. */
  get answered(): number {
    return this.#volley.shots.length;
  }

  constructor(url: string, key: string, kinds: readonly Kind[], mostLines = MAX_LINES) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#mostLines = mostLines;
    for (const kind of kinds) {
      const body = kind.body === undefined ? '' : JSON.stringify(kind.body);
      const head = [
        `${kind.method} ${kind.path} HTTP/1.1`,
        `Host: ${hostname}`,
        `Authorization: Bearer ${key}`,
        ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      ];
      const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
      for (let one = 0; one < kind.weight; one++) this.#requests.push(request);
    }
  }

  #open(): Line {
    const socket = connect(this.#port, this.#host);
    const line: Line = { socket, at: 0, busy: false, text: '', answered: false };
    this.#lines.add(line);
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(line, text));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#lines.delete(line);
      const free = this.#free.indexOf(line);
      if (free !== -1) this.#free.splice(free, 1);
      if (line.busy) this.#volley[line.answered ? 'broken' : 'turnedAway']++;
      line.busy = false;
    });
    return line;
  }

  #read(line: Line, text: string): void {
    line.text += text;
    const head = line.text.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = /content-length: (\d+)/i.exec(line.text.slice(0, head))?.[1];
    if (line.text.length < head + 4 + Number(length ?? 0)) return;
    const status = Number(line.text.slice(9, 12));
    const retryAfter = status < 400 || /\r\nretry-after: \d/i.test(line.text.slice(0, head));
    this.#volley.shots.push({ at: line.at, ms: performance.now() - this.#began - line.at, status, retryAfter });
    const last = /\r\nconnection: close/i.test(line.text.slice(0, head));
    line.text = '';
    line.busy = false;
    line.answered = true;
    if (last) line.socket.end();
    else if (!line.socket.destroyed) this.#free.push(line);
  }

  #send(at: number): void {
    const line = this.#free.pop() ?? (this.#lines.size < this.#mostLines ? this.#open() : undefined);
    if (line === undefined) {
      this.#volley.unsent++;
      return;
    }
    line.at = at;
    line.busy = true;
    line.socket.write(this.#requests[this.#turn++ % this.#requests.length] as Buffer);
  }

  /** Sends `rate` requests a second for `ms`, and waits for their answers, at most `waitMs`. */
  async fire(rate: number, ms: number, waitMs = 5000): Promise<RequestBatch> {
    this.#volley = { shots: [], unsent: 0, broken: 0, turnedAway: 0 };
    this.#began = performance.now();
    let sent = 0;
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const now = performance.now() - this.#began;
        const due = Math.floor((Math.min(now, ms) * rate) / 1000);
        for (; sent < due; sent++) this.#send((sent * 1000) / rate);
        if (now >= ms) {
          clearInterval(timer);
          resolve();
        }
      }, TICK_MS);
    });
    const until = performance.now() + waitMs;
    while ([...this.#lines].some(({ busy }) => busy) && performance.now() < until) {
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
    return this.#volley;
  }

  /** Keeps `lines` requests running for `ms`, or until `over` returns true. @returns the responses in that time */
  async keep(lines: number, ms: number, over: () => boolean = () => false): Promise<RequestBatch> {
    this.#volley = { shots: [], unsent: 0, broken: 0, turnedAway: 0 };
    this.#began = performance.now();
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const now = performance.now() - this.#began;
        if (now >= ms || over()) {
          clearInterval(timer);
          resolve();
          return;
        }
        const busy = this.#lines.size - this.#free.length;
        for (let more = busy; more < lines; more++) this.#send(now);
      }, 1);
    });
    return this.#volley;
  }

  close(): void {
    for (const { socket } of this.#lines) socket.destroy();
  }
}

/** The `part` of all (0.5, 0.99, 1) that were no slower, in whole milliseconds. */
export function quantile(shots: readonly TimedRequest[], part: number): number {
  const sorted = shots.map(({ ms }) => ms).sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
}
