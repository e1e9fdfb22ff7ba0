/** One port for several processes (ADR 0014): no client waits for a response that never comes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { type ChildRole, Supervisor } from '../src/cli/processes.ts';
import { sendRaw, startSample } from './support/http-sample.ts';

const WHOLE = fileURLToPath(new URL('proofs/shared-port-process.ts', import.meta.url));
/** Of nothing but Node's own server, for tests that start many. */
const LIGHT = fileURLToPath(new URL('proofs/shared-port-process-light.ts', import.meta.url));
const HANGS_MS = 60_000;
const CLIENTS = 16;
/** Long version: `npm run test:shared-port`. */
const KILLS = Number(process.env['DOCKET_TEST_PORT_KILLS'] ?? 10);

/** @returns the status and the body; the error code; or `hangs` */
async function ask(url: string, path = '/pid', headers: Record<string, string> = {}): Promise<[unknown, string]> {
  return await new Promise((resolve) => {
    const sent = request(
      url + (path.startsWith('/healthz') ? path : `/api/v1${path}`),
      { agent: false, timeout: HANGS_MS, headers: { authorization: 'Bearer good', ...headers } },
      (response) => {
        text(response).then(
          (said) => resolve([response.statusCode, said]),
          (error: { code: string }) => resolve([error.code, '']),
        );
      },
    );
    sent.on('timeout', () => {
      resolve(['hangs', '']);
      sent.destroy();
    });
    sent.on('error', (error: Error & { code?: string }) => resolve([error.code, '']));
    sent.end();
  });
}

const pidOf = (said: string): number => (JSON.parse(said) as { data: number }).data;

async function pids(url: string, tries = 20): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: tries }, () => ask(url)));
  return new Set(answers.map(([, said]) => pidOf(said)));
}

/** Number of slow requests that each process has. */
async function later(url: string): Promise<Map<number, number>> {
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask(url, '/running')));
  return new Map(answers.map(([, said]) => (JSON.parse(said) as { data: [pid: number, count: number] }).data));
}

async function eventually(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const until = performance.now() + HANGS_MS;
  while (!(await look())) {
    assert.ok(performance.now() < until, `${what}: not within ${HANGS_MS} ms`);
    await sleep(20);
  }
}

function opened(port: number, bytes = ''): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
    socket.on('error', () => {});
    socket.write(bytes);
  });
}

/** File descriptors of connections to `port` that this supervisor process holds. */
function held(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set(
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) === true && state !== '0A')
      .map((parts) => parts[9]),
  );
  return readdirSync('/proc/self/fdinfo').filter((fd) => {
    try {
      return inodes.has(/ino:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '-');
    } catch {
      return false;
    }
  }).length;
}

describe('a port that several processes share', () => {
  let supervisor: Supervisor;
  let url: string;
  let port: number;
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const roles = (count: number): ChildRole[] =>
    Array.from({ length: count }, (_, index) => ({ name: `api-${index}`, role: 'api' }));
  const start = async (count: number, main = LIGHT, host = '127.0.0.1', env = {}): Promise<void> => {
    supervisor = new Supervisor(roles(count), log, { PATH: '/usr/bin:/bin', ...env }, main);
    url = (await supervisor.start({ host, port: 0 })) as string;
    port = Number(new URL(url).port);
  };

  beforeEach(() => {
    warnings.length = 0;
  });
  afterEach(async () => {
    await supervisor.stop(5000);
  });

  it('loses no connection that was on its way to a killed process', async () => {
    await start(2);
    const [halted = 0, other = 0] = await pids(url);
    process.kill(halted, 'SIGSTOP');
    // Half of them go to the suspended process, up to its limit of unconfirmed ones.
    const asked = Array.from({ length: CLIENTS }, () => ask(url));
    let answered = 0;
    const noting = asked.map(async (one) => {
      const [status, said] = await one;
      answered += 1;
      assert.equal(status, 200);
      assert.notEqual(pidOf(said), halted);
    });
    await eventually('the other one answers', () => answered === CLIENTS - 8);
    await sleep(50);
    assert.equal(answered, CLIENTS - 8, 'the others have not been taken');
    process.kill(halted, 'SIGKILL');
    await Promise.all(noting);
    await eventually('another in its place', async () => (await pids(url)).size === 2);
    assert.ok((await pids(url)).has(other));
  });

  it('leaves no client hanging while processes are killed repeatedly', async () => {
    await start(4);
    const outcomes = new Map<unknown, number>();
    let going = true;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (going) {
        const [outcome] = await ask(url);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    });
    const answered = (): number => outcomes.get(200) ?? 0;
    for (let kills = 0; kills < KILLS || answered() <= 10 * KILLS; kills++) {
      const victims = [...(await pids(url))];
      process.kill(victims[kills % victims.length] as number, 'SIGKILL');
      await sleep(Math.random() * 100);
    }
    going = false;
    await Promise.all(clients);
    const summary = JSON.stringify([...outcomes]);
    assert.ok(answered() > 10 * KILLS, summary);
    // Clients of a killed process see the closed connection at once.
    outcomes.delete(200);
    outcomes.delete('ECONNRESET');
    assert.deepEqual([...outcomes], [], summary);
  });

  it('keeps connections while no process runs, and passes them to the next one', async () => {
    await start(1);
    const [only = 0] = await pids(url);
    process.kill(only, 'SIGKILL');
    const answers = await Promise.all(Array.from({ length: CLIENTS }, () => ask(url)));
    assert.deepEqual(
      answers.map(([status]) => status),
      Array.from({ length: CLIENTS }, () => 200),
    );
    assert.ok(!answers.some(([, said]) => pidOf(said) === only));
  });

  it('distributes connections evenly and keeps no copy of them', async () => {
    await start(2);
    const open: Socket[] = [];
    for (let i = 0; i < 20; i++) {
      open.push(await opened(port));
      // In a burst, the faster one is given more.
      await eventually('it is taken', () => held(port) === 0);
    }
    // The copy was closed, not the connection.
    const got = open.map(async (socket) => {
      socket.write('GET /api/v1/pid HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nConnection: close\r\n\r\n');
      return pidOf((await text(socket)).split('\r\n\r\n')[1] ?? '');
    });
    const by = Map.groupBy(await Promise.all(got), (pid) => pid);
    assert.deepEqual(
      [...by.values()].map((all) => all.length),
      [10, 10],
    );
  });

  it('passes none to stopping processes and lets those finish', async () => {
    await start(2, WHOLE);
    const [leaving = 0] = await pids(url);
    const running = Array.from({ length: 10 }, () => ask(url, '/later'));
    await eventually('it has some', async () => ((await later(url)).get(leaving) ?? 0) > 0);
    process.kill(leaving, 'SIGTERM');
    const finished = await Promise.all(running);
    assert.deepEqual(new Set(finished.map(([status]) => status)), new Set([200]));
    assert.ok(
      finished.some(([, said]) => pidOf(said) === leaving),
      'it finished what it had',
    );
    for (let i = 0; i < 20; i++) assert.equal((await ask(url))[0], 200);
  });

  it('finishes running requests when all processes stop', async () => {
    await start(2, WHOLE);
    const running = Array.from({ length: 10 }, () => ask(url, '/later'));
    const all = async (): Promise<number> => [...(await later(url)).values()].reduce((sum, n) => sum + n, 0);
    await eventually('they have them all', async () => (await all()) === 10);
    await supervisor.stop(5000);
    for (const [status] of await Promise.all(running)) assert.equal(status, 200);
    assert.deepEqual(await ask(url), ['ECONNREFUSED', '']);
  });

  it('closes slow clients like a single process', async () => {
    await start(2, WHOLE);
    const began = performance.now();
    const head =
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n';
    const slow = await Promise.all(
      ['', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow:', `${head}Content-Length: 100\r\n\r\n{"name":`].map((bytes) =>
        sendRaw(port, bytes),
      ),
    );
    for (const answer of slow) assert.match(answer, /^HTTP\/1.1 400 [^]*INVALID_REQUEST/);
    assert.ok(performance.now() - began < HANGS_MS);
  });

  it('closes connections over the limit of a process', async () => {
    // An idle client keeps its connection longer than this test may last.
    await start(1, WHOLE, '127.0.0.1', { RECEIVE_MS: '60000' });
    // One after the other: connections that showed no valid key yet fill at most half of the places.
    const idle: Socket[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const socket = await opened(port);
      const answered = once(socket, 'data');
      socket.write('GET /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n');
      await answered;
      idle.push(socket);
    }
    assert.equal((await ask(url))[0], 'ECONNRESET');
    for (const socket of idle.slice(0, 5)) socket.destroy();
    await eventually('there is room again', async () => (await ask(url))[0] === 200);
    for (const socket of idle) socket.destroy();
  });

  it('preserves the client address', async () => {
    await start(1, WHOLE);
    const body = '{"login":"a"}';
    const ip = async (from: string): Promise<unknown> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      socket.write(
        `POST /api/admin/v1/session HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: close\r\nOrigin: http://x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [head, said = ''] = (await text(socket)).split('\r\n\r\n');
      assert.match(head ?? '', / 201 /, said);
      return (JSON.parse(said) as { data: { ip: unknown } }).data.ip;
    };
    assert.equal(await ip('127.0.0.1'), '127.0.0.1');
    assert.equal(await ip('127.0.0.9'), '203.0.113.7', 'of a proxy that is trusted');
  });

  it('treats a half-closed client like a single process', async () => {
    await start(1, WHOLE);
    const alone = await startSample();
    const said = async (at: number): Promise<string> => {
      const socket = await opened(at);
      socket.end('GET /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nConnection: close\r\n\r\n');
      return (await text(socket)).split('\r\n')[0] ?? '';
    };
    try {
      assert.equal(await said(port), await said(alone.port));
    } finally {
      await alone.close();
    }
  });

  it('survives clients that disconnect while waiting', async () => {
    await start(1);
    const [only = 0] = await pids(url);
    process.kill(only, 'SIGSTOP');
    const open = await Promise.all(Array.from({ length: 30 }, () => opened(port, 'GET /healthz HTTP/1.1\r\n')));
    for (const [index, socket] of open.entries()) {
      if (index % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    const patient = ask(url);
    process.kill(only, 'SIGCONT');
    assert.equal((await patient)[0], 200);
    await eventually('nothing is kept', () => held(port) === 0);
  });

  it('listens on IPv6, and on both addresses of localhost', async () => {
    await start(1, LIGHT, '::1');
    assert.equal(url, `http://[::1]:${port}`);
    assert.equal((await ask(url))[0], 200);
    await supervisor.stop(5000);
    const known = await lookup('localhost', { all: true });
    const v6 = known.filter(({ family }) => family === 6).map(({ address }) => `[${address}]`);
    await start(1, LIGHT, 'localhost');
    for (const host of ['127.0.0.1', ...v6]) assert.equal((await ask(`http://${host}:${port}`))[0], 200, host);
  });

  it('reports why a port cannot be opened', async () => {
    await start(1);
    const second = new Supervisor(roles(1), log, { PATH: '/usr/bin:/bin' }, LIGHT);
    await assert.rejects(second.start({ host: '127.0.0.1', port }), /is in use by another program/);
    await second.stop(1000);
    const third = new Supervisor(roles(1), log, { PATH: '/usr/bin:/bin' }, LIGHT);
    await assert.rejects(third.start({ host: '192.0.2.1', port: 0 }), /is not an address of this machine/);
    await third.stop(1000);
  });
});
