/**
 * `npm run test:unauthenticated-load [-- --seconds 10 --rate 30]`: latency of a signed-in caller's creates alone, and while
 * unauthenticated clients or another caller attack one process. Sender, attackers, service and database share the machine.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../../src/domain/access/keys.ts';
import { longRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';
import { type Kind, quantile, OpenLoopSender } from './open-loop-sender.ts';

const CREATE: Kind = {
  method: 'POST',
  path: '/api/v1/objects',
  body: { typeDefinitionId: 'thing', values: { title: 'made beside strangers', tag: 'load' } },
  weight: 1,
};
const SOCKETS = 26;
const CONNECTIONS = 12;
const BODY = 10_000_000;

/** Starts an attack. @returns what ends it */
type Attack = (url: string, otherKey: string) => () => Promise<void>;

function slowSockets(path: string, authorization: (otherKey: string) => string): Attack {
  return (url, otherKey) => {
    const { hostname, port } = new URL(url);
    const sockets: Socket[] = [];
    for (let one = 0; one < SOCKETS; one++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      socket.resume();
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${authorization(otherKey)}`;
      socket.write(`${head}Content-Length: ${BODY}\r\n\r\n`);
      socket.write(Buffer.alloc(BODY - 1, 'x'));
      sockets.push(socket);
    }
    return async () => {
      for (const socket of sockets) socket.destroy();
    };
  };
}

/** Closed loop over the given number of connections. */
function flood(request: (turn: number) => [path: string, init: RequestInit]): Attack {
  return (url) => {
    let on = true;
    let turn = 0;
    const loops = Array.from({ length: CONNECTIONS }, async () => {
      while (on) {
        const [path, init] = request(turn++);
        try {
          const answer = await fetch(url + path, init);
          await answer.arrayBuffer();
        } catch {
          await sleep(10);
        }
      }
    });
    return async () => {
      on = false;
      await Promise.all(loops);
    };
  };
}

const signIn = (login: string, from: string): [string, RequestInit] => [
  '/api/admin/v1/session',
  {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify({ login, password: 'a guess that is not right' }),
  },
];

const ATTACKS: Readonly<Record<string, Attack>> = {
  [`${SOCKETS} slow bodies of 10 MB to the sign-in`]: slowSockets('/api/admin/v1/session', () => ''),
  [`${SOCKETS} slow bodies of 10 MB with a wrong key`]: slowSockets(
    '/api/v1/objects',
    () => 'Authorization: Bearer none\r\n',
  ),
  [`${SOCKETS} slow bodies of 10 MB of another caller`]: slowSockets(
    '/api/v1/objects',
    (otherKey) => `Authorization: Bearer ${otherKey}\r\n`,
  ),
  [`${CONNECTIONS} connections that sign in, from one address`]: flood((turn) =>
    signIn(`person-${turn}`, '198.51.100.1'),
  ),
  [`${CONNECTIONS} connections that sign in, each time from another address`]: flood((turn) =>
    signIn(`person-${turn}`, `198.51.${(turn >> 8) % 256}.${turn % 256}`),
  ),
  [`${CONNECTIONS} connections with keys that do not exist`]: flood(() => [
    '/api/v1/objects',
    { headers: { authorization: `Bearer ${makeKey().key}` } },
  ]),
};

const run = longRun({ seconds: 10, rate: 30 });
const ms = run.number('seconds') * 1000;
const problems: string[] = [];
const environment = await FaultEnvironment.start({
  processes: 1,
  settings: { DOCKET_RATE_LIMIT: 'off', DOCKET_TRUSTED_PROXIES: '127.0.0.0/8' },
});
try {
  const url = environment.urls()[0] as string;
  const sender = new OpenLoopSender(url, environment.key, [CREATE]);
  const otherKey = await environment.newKey('alice');
  const creates = async (name: string): Promise<number> => {
    const { shots, unsent, broken, turnedAway } = await sender.fire(run.number('rate'), ms);
    const made = shots.filter(({ status }) => status === 201);
    run.say(`${name}: ${made.length} made, p50 ${quantile(made, 0.5)} ms, p99 ${quantile(made, 0.99)} ms`);
    const lost = shots.length - made.length + unsent + broken + turnedAway;
    if (lost > 0) problems.push(`${name}: ${lost} creates were not made`);
    return quantile(made, 0.99);
  };
  await creates('first, not counted');
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const alone = await creates('alone');
    const end = attack(url, otherKey);
    await sleep(1000);
    const attacked = await creates(name);
    await end();
    run.say(`p99 ${alone} → ${attacked} ms, ${(attacked / alone).toFixed(1)} times`);
    if (attacked > 2 * alone) problems.push(`${name}: p99 is more than twice that without it`);
    await sleep(2000);
  }
  sender.close();
  if (!environment.alive()) problems.push(`the process ended by itself: ${environment.said()}`);
} finally {
  await environment.close();
}
run.end(problems);
