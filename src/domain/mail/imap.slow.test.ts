/** Reading a mailbox over IMAP, from a server of the test. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../../../test/support/certificate.ts';
import { ImapServer } from '../../../test/support/imap-server.ts';
import { type ImapAccount, readInbox } from './imap.ts';

const LOGIN = { user: 'support', password: 'pass word' };

describe('reading a mailbox', () => {
  let server: ImapServer;
  before(async () => {
    server = await ImapServer.start(LOGIN);
  });
  after(() => server.stop());

  const account = (changes: Partial<ImapAccount> = {}): ImapAccount => ({
    host: '127.0.0.1',
    address: '127.0.0.1',
    port: server.port,
    tls: 'implicit',
    ...LOGIN,
    ca: server.certificate.cert,
    ...changes,
  });
  /** Reads until the messages were marked, or the reading ended with an error. */
  async function readUntil(
    done: () => boolean,
    receive: (text: string) => void = () => undefined,
    waiting = new Map<string, number>(),
  ): Promise<{ got: string[]; sizes: number[]; problems: string[]; progress: number; error: Error | undefined }> {
    const got: string[] = [];
    const sizes: number[] = [];
    const problems: string[] = [];
    let progress = 0;
    const stop = new AbortController();
    let ended: { error: Error | undefined } | undefined;
    const reading = readInbox(account(), {
      signal: stop.signal,
      waiting,
      onProblem: ({ message }) => problems.push(message),
      onProgress: async () => {
        progress++;
      },
      receive: async (raw, size) => {
        const text = Buffer.from(raw).toString();
        receive(text);
        got.push(text);
        sizes.push(size);
      },
    }).then(
      () => (ended = { error: undefined }),
      (error: Error) => (ended = { error }),
    );
    for (const giveUp = Date.now() + 10_000; !done() && ended === undefined; await sleep(10)) {
      assert.ok(Date.now() < giveUp, `got ${JSON.stringify(got)}; ${server.commands.join(' | ')}`);
    }
    stop.abort();
    await reading;
    return { got, sizes, problems, progress, error: ended?.error };
  }

  it('takes what is there and what arrives, once, and marks it after it was received', async () => {
    server.deliver('Subject: 1\r\n\r\nöne');
    server.deliver('Subject: 2\r\n\r\ntwo');
    const marked: boolean[][] = [];
    const { got, problems, error, progress } = await readUntil(
      () => server.seen().length === 3 && server.seen().every(Boolean),
      (text) => {
        marked.push(server.seen());
        // The third one arrives while the connection waits.
        if (text.endsWith('two')) setTimeout(() => server.deliver('Subject: 3\r\n\r\nthree'), 800);
      },
    );
    assert.deepEqual(
      [got.map((text) => text.split('\n').at(-1)), problems, error],
      [['öne', 'two', 'three'], [], undefined],
    );
    assert.deepEqual(marked, [
      [false, false],
      [true, false],
      [true, true, false],
    ]);
    assert.ok(server.commands.some((command) => command === 'IDLE'));
    assert.ok(progress >= 3);
  });

  it('gets the start of a message that is too large, and flags it', async () => {
    server.messages.length = 0;
    const most = 64 * 1024 * 1024;
    server.deliver('Subject: x\r\n\r\nall');
    server.deliver(`Subject: x\r\n\r\n${'a'.repeat(300_000)}`);
    for (const [index, size] of [most, most + 1].entries()) Object.assign(server.messages[index] ?? {}, { size });
    const { got, sizes } = await readUntil(() => server.seen().every(Boolean));
    assert.deepEqual(
      [got.map(({ length }) => length), sizes],
      [
        [17, 256 * 1024],
        [most, most + 1],
      ],
    );
    assert.deepEqual(
      server.messages.map(({ flags }) => [...flags]),
      [['\\Seen'], ['\\Seen', '\\Flagged']],
    );
  });

  it('goes on after a message that cannot be received, and leaves it unseen', async () => {
    server.messages.length = 0;
    for (const text of ['bad', 'good']) server.deliver(`Subject: x\r\n\r\n${text}`);
    const { got, problems } = await readUntil(
      () => server.seen()[1] === true,
      (text) => {
        if (text.endsWith('bad')) throw new Error('overloaded');
      },
    );
    assert.deepEqual([got.length, problems, server.seen()], [1, ['overloaded'], [false, true]]);
  });

  it('gets a message again if the connection breaks before it is marked', async () => {
    server.messages.length = 0;
    server.deliver('Subject: x\r\n\r\nonce');
    let breaks = 1;
    server.breaksAtMark = () => breaks-- > 0;
    const first = await readUntil(() => false);
    assert.deepEqual([first.got.length, server.seen()], [1, [false]]);
    assert.ok(first.error instanceof Error);
    const second = await readUntil(() => server.seen().every(Boolean));
    assert.deepEqual([second.got, second.error], [first.got, undefined]);
  });

  it('begins with other messages than the one that ended the session before', async () => {
    server.messages.length = 0;
    for (const text of ['fatal', 'good']) server.deliver(`Subject: x\r\n\r\n${text}`);
    let breaks = 1;
    server.breaksAtMark = () => breaks-- > 0;
    const waiting = new Map<string, number>();
    await readUntil(() => false, undefined, waiting);
    assert.deepEqual([...waiting.keys()], ['1 1']);
    const { got } = await readUntil(() => server.seen()[1] === true, undefined, waiting);
    assert.deepEqual([got.length, server.seen()], [1, [false, true]]);
  });

  /** Fills the inbox with messages of which the last ones are new. */
  function fill(count: number, unseen: number): void {
    const raw = Buffer.from('Subject: x\r\n\r\nmany');
    server.commands.length = 0;
    server.messages.length = 0;
    for (let at = 0; at < count; at++) {
      server.messages.push({ raw, flags: new Set(at < count - unseen ? ['\\Seen'] : []) });
    }
  }

  it('reads only the new ones of 100,000 messages', async () => {
    fill(100_000, 3);
    const { got } = await readUntil(() => server.messages.at(-1)?.flags.has('\\Seen') === true);
    assert.equal(got.length, 3);
    const of = (name: string): number => server.commands.filter((one) => one.startsWith(name)).length;
    // The size and the content of each.
    assert.deepEqual([of('UID FETCH'), of('UID STORE')], [6, 3]);
    // Each search is of a part of the inbox.
    assert.ok(of('UID SEARCH') <= 20, server.commands.join());
    assert.match(server.commands.find((one) => one.startsWith('UID SEARCH')) ?? '', /^UID SEARCH 1:10000 UNSEEN$/);
  });

  it('begins with the first of 100,000 new messages, in bounded time and memory', async () => {
    fill(100_000, 100_000);
    const heap = process.memoryUsage().heapUsed;
    let most = 0;
    const { got } = await readUntil(
      () => server.messages[19]?.flags.has('\\Seen') === true,
      () => (most = Math.max(most, process.memoryUsage().heapUsed)),
    );
    assert.ok(got.length >= 20 && got.length < 1000, String(got.length));
    // The numbers of the first ones are asked for, and no content but that of the messages that were read.
    const searches = server.commands.filter((one) => one.startsWith('UID SEARCH')).length;
    const fetches = server.commands.filter((one) => one.startsWith('UID FETCH')).length;
    assert.deepEqual([searches, fetches <= 2 * (got.length + 1)], [1, true]);
    assert.ok(most - heap < 64 * 1024 * 1024, `${Math.round((most - heap) / 2 ** 20)} MiB`);
    server.messages.length = 0;
  });

  it('does not connect if it is ended at once', async () => {
    const count = server.commands.length;
    await readInbox(account(), {
      signal: AbortSignal.abort(),
      waiting: new Map(),
      onProblem: () => assert.fail('a problem'),
      onProgress: async () => undefined,
      receive: async () => undefined,
    });
    assert.equal(server.commands.length, count);
  });

  it('sends no password to a server with another certificate, or without TLS', async () => {
    const sent: string[] = [];
    const plain = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n');
      socket.on('data', (chunk) => {
        sent.push(chunk.toString());
        const [tag = ''] = chunk.toString().split(' ');
        socket.write(`* CAPABILITY IMAP4rev1\r\n${tag} OK done\r\n`);
      });
    });
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    const count = server.commands.length;
    const read = (changes: Partial<ImapAccount>): Promise<void> =>
      readInbox(account(changes), {
        signal: new AbortController().signal,
        waiting: new Map(),
        onProblem: () => undefined,
        onProgress: async () => undefined,
        receive: async () => undefined,
      });
    await assert.rejects(read({ ca: makeCertificate(['127.0.0.1']).cert }), /certificate/);
    await assert.rejects(read({ tls: 'starttls', port }));
    assert.equal(server.commands.length, count);
    assert.ok(!sent.join('').includes('pass word'), sent.join(''));
    await new Promise<void>((done) => plain.close(() => done()));
  });

  it('ends with an error if the password is wrong', async () => {
    const reading = readInbox(account({ password: 'wrong' }), {
      signal: new AbortController().signal,
      waiting: new Map(),
      onProblem: () => undefined,
      onProgress: async () => assert.fail('nothing was read'),
      receive: async () => undefined,
    });
    await assert.rejects(reading, (error: Error) => {
      assert.match(error.message, /^The mailbox cannot be read: .*wrong/);
      assert.deepEqual(Object.keys(error), []);
      return true;
    });
  });
});
