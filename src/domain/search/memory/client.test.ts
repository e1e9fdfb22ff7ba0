import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { MemoryClient, type Port } from './client.ts';
import { MemoryIndex } from './memory-index.ts';
import type { Ask, Question } from './messages.ts';
import type { Scope } from './search.ts';
import { MemoryServer } from './server.ts';

const TYPE = '00000000-0000-7000-8000-0000000000aa';
const ID = '00000000-0000-7000-8000-000000000001';
const SCOPE: Scope = {
  state: 'ACTIVE',
  workflowStateIds: null,
  rights: new Map([[TYPE, null]]),
  classes: [],
  trusted: null,
  filter: null,
  environment: {
    names: { typeCodes: new Map(), states: new Map(), mismatched: new Map() },
    variables: { me: '', groups: [], orgUnit: null, orgUnits: [], now: '', today: '' },
  },
  version: 1,
  variablesKey: '',
};
const ASK: Ask = {
  kind: 'find',
  scope: SCOPE,
  need: { kind: 'lexemes', operands: [{ lexeme: 'a', prefix: false }], within: null },
  page: { limit: 5, offset: 0, except: new Set() },
  ranking: null,
};
const FOUND = { kind: 'found', found: [{ id: ID, rank: null, size: 3 }] } as const;
const STATEMENT = { kind: 'statement' } as const;

/** A client whose questions are answered at the other end of a channel. */
function connected(reply: (question: Question) => Promise<void>, longestMs = 5000) {
  const { port1, port2 } = new MessageChannel();
  port2.on('message', (question: Question) => void reply(question));
  return { client: new MemoryClient(port1 as unknown as Port, longestMs), port: port2, close: () => port1.close() };
}

describe('Questions to the thread with the index', () => {
  test('are answered from an index that is up to date, else by the statement', async () => {
    let isReady = true;
    const followed = { index: new MemoryIndex(), catchUp: async () => isReady };
    const server = new MemoryServer(followed, new Set());
    const { client, port, close } = connected(async ({ number, ask }) => {
      port.postMessage({ number, answer: await server.answer(ask) });
    });
    const values = new Map([
      ['$typeId', { value: TYPE }],
      ['$state', { value: 'ACTIVE' }],
    ]);
    const document = { id: ID, updatedAt: 1, profileId: 1, size: 3, lexemes: new Map([['a', 'A']]), values };
    followed.index.apply([document]);
    assert.deepEqual(await client.ask(ASK), FOUND);
    const zones = [0.5, 0.5, 0.5, 1] as const;
    const ranked = await client.ask({ ...ASK, ranking: { words: [], weights: [], zones } });
    assert.deepEqual(ranked, { kind: 'found', found: [{ id: ID, rank: 0, size: 3 }] });
    const sampled = await client.ask({ kind: 'sample', scope: SCOPE, needs: [ASK.need], size: 5 });
    assert.deepEqual(sampled, { kind: 'sample', records: 1, holding: [1], average: 3 });
    // Everything was read again.
    followed.index = new MemoryIndex();
    assert.deepEqual(await client.ask(ASK), { kind: 'found', found: [] });
    assert.deepEqual(await client.ask({ ...ASK, scope: { ...SCOPE, state: 'ARCHIVED' } }), STATEMENT);
    isReady = false;
    assert.deepEqual(await client.ask(ASK), STATEMENT);
    close();
  });

  test('get each their own answer, in any order', async () => {
    const held: Question[] = [];
    const { client, port, close } = connected(async (question) => {
      if (held.push(question) < 3) return;
      for (const { number, ask } of held.reverse()) {
        const found = ask.kind === 'find' ? [{ id: String(ask.page.offset), rank: null, size: 0 }] : [];
        port.postMessage({ number, answer: { kind: 'found', found } });
      }
    });
    const answers = await Promise.all([0, 1, 2].map((offset) => client.ask({ ...ASK, page: { ...ASK.page, offset } })));
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'found' ? answer.found[0]?.id : null)),
      ['0', '1', '2'],
    );
    close();
  });

  test('are left to the statement when the thread is late or has ended', async () => {
    let late: Question | undefined;
    const { client, port } = connected(async (question) => {
      late = question;
    }, 10);
    assert.deepEqual(await client.ask(ASK), STATEMENT);
    port.postMessage({ number: late?.number, answer: FOUND });
    const waiting = connected(async () => {});
    const asked = waiting.client.ask(ASK);
    waiting.port.close();
    assert.deepEqual(await asked, STATEMENT);
    assert.deepEqual(await waiting.client.ask(ASK), STATEMENT);
    port.close();
  });
});
