import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { MemoryClient, type Port } from './client.ts';
import { MemoryIndex } from './memory-index.ts';
import type { Word } from '../query.ts';
import type { Answer, Ask, FromThread, MemoryScope, ToThread } from './messages.ts';
import { MemoryServer } from './server.ts';

const TYPE = '00000000-0000-7000-8000-0000000000aa';
const ID = '00000000-0000-7000-8000-000000000001';
const SCOPE: MemoryScope = {
  typeIds: [TYPE],
  free: [''],
  order: 'updated_at',
  indexed: false,
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
type Question = Extract<ToThread, { kind: 'question' }>;
const NONE = { operands: [], count: 0 };
const WORD: Word = {
  kind: 'word',
  free: { exact: NONE, like: NONE, matched: [{ lexeme: 'a', prefix: false }] },
  classes: [],
};
const ASK: Extract<Ask, { kind: 'find' }> = {
  kind: 'find',
  scope: SCOPE,
  fresh: true,
  steps: [WORD],
  page: { limit: 5, offset: 0, except: [] },
  ranking: null,
};
const FOUND: Answer = { kind: 'found', found: { ids: ID, ranks: null, sizes: Uint32Array.of(3) } };
const STATEMENT = { kind: 'statement' } as const;

/** A client whose questions are answered at the other end of a channel. */
async function connected(reply: (question: Question) => Promise<void>, longestMs = 5000) {
  const { port1, port2 } = new MessageChannel();
  port2.on('message', (question: Question) => void reply(question));
  const client = new MemoryClient(port1 as unknown as Port, longestMs);
  const say = (message: FromThread): void => port2.postMessage(message, []);
  assert.deepEqual(await client.ask(ASK), STATEMENT, 'nothing is ready yet');
  say({ kind: 'state', state: 'ready', documents: 1, bytes: 1 });
  while (client.state.state !== 'ready') await new Promise(setImmediate);
  return { client, say, end: () => port2.close(), close: () => port1.close() };
}

describe('Questions to the thread with the index', () => {
  test('are answered from an index that is up to date, else by the statement', async () => {
    let isReady = true;
    let reads = 0;
    const added: string[] = [];
    const followed = {
      index: new MemoryIndex(),
      state: 'ready' as const,
      columns: new Set<string>(),
      addColumns: (names: readonly string[]) => void added.push(...names),
      catchUp: async () => {
        reads++;
        return isReady;
      },
    };
    const server = new MemoryServer(followed);
    const { client, say, close } = await connected(async ({ number, ask }) =>
      say({ kind: 'reply', number, answer: await server.answer(ask) }),
    );
    const values = new Map([
      ['$typeId', { value: TYPE }],
      ['$state', { value: 'ACTIVE' }],
    ]);
    const document = {
      id: ID,
      updatedAt: 1,
      profileId: 1,
      versions: [1, 1] as const,
      size: 3,
      lexemes: new Map([['a', 'A']]),
      values,
    };
    followed.index.apply([document]);
    assert.deepEqual(await client.ask(ASK), FOUND);
    const zones = [0.5, 0.5, 0.5, 1] as const;
    const ranked = await client.ask({ ...ASK, ranking: { words: [], weights: [], zones, b: 0 } });
    assert.deepEqual(ranked, {
      kind: 'found',
      found: { ids: ID, ranks: Float64Array.of(0), sizes: Uint32Array.of(3) },
    });
    const sampled = await client.ask({ kind: 'sample', scope: SCOPE, fresh: false, words: [WORD], size: 5 });
    assert.equal(reads, 2, 'a later step of a question reads nothing');
    const ids = ['00000000-0000-7000-8000-000000000009', ID];
    const ranking = { words: [], weights: [], zones, b: 0 };
    const again = await client.ask({ kind: 'rank', scope: SCOPE, fresh: false, ids, ranking });
    assert.deepEqual(again, { kind: 'found', found: { ids: ID, ranks: Float64Array.of(0), sizes: Uint32Array.of(3) } });
    assert.deepEqual(sampled, { kind: 'sample', records: 1, holding: [1], average: 3 });
    // Everything was read again.
    followed.index = new MemoryIndex();
    assert.deepEqual(await client.ask(ASK), {
      kind: 'found',
      found: { ids: '', ranks: null, sizes: new Uint32Array() },
    });
    const field = { code: 'kind', kind: 'value', dataType: 'string', multiple: false } as const;
    const rights = new Map([[TYPE, { field, operator: 'is-empty', value: true } as const]]);
    assert.deepEqual(await client.ask({ ...ASK, scope: { ...SCOPE, rights } }), STATEMENT);
    assert.deepEqual(added, ['kind'], 'the column is read from then on');
    isReady = false;
    assert.deepEqual(await client.ask(ASK), STATEMENT);
    close();
  });

  test('get each their own answer, in any order', async () => {
    const held: Question[] = [];
    const { client, say, close } = await connected(async (question) => {
      if (held.push(question) < 3) return;
      for (const { number, ask } of held.reverse()) {
        const ids = ask.kind === 'find' ? String(ask.page.offset) : '';
        const found = { ids, ranks: null, sizes: Uint32Array.of(1) };
        say({ kind: 'reply', number, answer: { kind: 'found', found } });
      }
    });
    const answers = await Promise.all([0, 1, 2].map((offset) => client.ask({ ...ASK, page: { ...ASK.page, offset } })));
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'found' ? answer.found.ids : null)),
      ['0', '1', '2'],
    );
    close();
  });

  test('are left to the statement when the thread is late or has ended', async () => {
    let late: Question | undefined;
    const { client, say, close } = await connected(async (question) => {
      late = question;
    }, 10);
    assert.deepEqual(await client.ask(ASK), STATEMENT);
    say({ kind: 'reply', number: late?.number ?? 0, answer: FOUND });
    const waiting = await connected(async () => {});
    const asked = waiting.client.ask(ASK);
    waiting.end();
    assert.deepEqual(await asked, STATEMENT);
    assert.deepEqual(await waiting.client.ask(ASK), STATEMENT);
    close();
  });
});
