/** The listening sockets of a single serving process (ADR 0016). */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { Listeners } from './listeners.ts';

const CLIENTS = 64;
const unheard = (error: Error): void => {
  throw error;
};

describe('listeners of a process', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  const opened = async (take: (socket: Socket) => void, port = 0): Promise<URL> => {
    const doors = new Listeners((socket) => {
      ends.push(() => socket.destroy());
      take(socket);
    }, unheard);
    const url = new URL(await doors.open({ host: '127.0.0.1', port }));
    ends.push(() => doors.close());
    return url;
  };

  it('accept many pending connections in one turn of the event loop', async () => {
    let came = 0;
    const url = await opened(() => {
      came += 1;
    });
    for (let n = 0; n < CLIENTS; n++) {
      const client = connect(Number(url.port), '127.0.0.1');
      client.on('error', () => {});
      ends.push(() => client.destroy());
    }
    let turns = 0;
    for (; came < CLIENTS && turns < 10 * CLIENTS; turns++) {
      // The kernel has accepted all connections by the end of the first iteration.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(came, CLIENTS);
    assert.ok(turns < CLIENTS / 2, `${turns} turns`);
  });

  it('reject a second service and other programs, while processes of one service share the port', async () => {
    const { port } = await opened(() => {});
    await assert.rejects(
      opened(() => {}, Number(port)),
      /127\.0\.0\.1:\d+ is in use by another program; .*DOCKET_PORT/,
    );
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    ends.push(() => other.close());
    const { port: taken } = other.address() as { port: number };
    await assert.rejects(
      opened(() => {}, taken),
      /is in use by another program/,
    );
  });

  it('reopen at the same address as soon as they are closed, and accept nobody in between', async () => {
    const first = new Listeners(() => {}, unheard);
    const { port } = new URL(await first.open({ host: '127.0.0.1', port: 0 }));
    first.close();
    const refused = await new Promise<string>((resolve) => {
      connect(Number(port), '127.0.0.1').on('error', ({ message }) => resolve(message));
    });
    assert.match(refused, /ECONNREFUSED/);
    assert.equal((await opened(() => {}, Number(port))).port, port);
  });
});
