/**
 * `npm run bench:rules -- [--calls N] [--rules N]`: response times of creating a record of a type with rules of which none matches,
 * beside one of an equal type without rules. The calls take turns, so that drift of the machine affects both.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { docket, freePort, type ServiceOptions, startService, stop } from './processes.ts';

const { values: options } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, rules: { type: 'string', default: '100' } },
});
const CALLS = Number(options.calls);
const RULES = Number(options.rules);
/** Calls of each kind that are not measured. */
const WARM_UP = 300;
/** Rounds, each with its own medians. */
const ROUNDS = 5;

/** Conditions of several kinds: a required value, alternatives, words in a text, facts about the event. */
function conditionOf(index: number): unknown {
  const leaf = (field: string, operator: string, value: unknown): unknown => ({ field, operator, value });
  switch (index % 4) {
    case 0:
      return leaf('category', 'equals', `category-${index}`);
    case 1:
      return {
        logic: 'AND',
        conditions: [leaf('priority', 'in', ['p8', 'p9']), leaf('title', 'contains', `word${index}`)],
      };
    case 2:
      return {
        logic: 'OR',
        conditions: [leaf('title', 'starts-with', `Word ${index}`), leaf('category', 'equals', `other-${index}`)],
      };
    default:
      return {
        logic: 'AND',
        conditions: [leaf('changed', 'contains', 'title'), leaf('description', 'contains', `word${index}`)],
      };
  }
}

function bundle(): unknown {
  const fields = [
    { code: 'title', dataType: 'string', required: true, search: { filter: true, text: true } },
    { code: 'description', dataType: 'text', search: { text: true } },
    { code: 'category', dataType: 'string' },
    { code: 'priority', dataType: 'string' },
  ];
  const types = ['plain', 'ruled'].map((code) => ({ code, title: 'title', fields }));
  const rules = Array.from({ length: RULES }, (_, index) => ({
    code: `rule-${index}`,
    on: ['ObjectCreated', 'ObjectUpdated'],
    types: ['ruled'],
    runAs: 'admin',
    when: conditionOf(index),
    do: [{ set: { priority: 'p1' } }],
  }));
  const actions = ['read', 'create', 'update'];
  const records = types.map(({ code: type }) => ({ type, actions, fields: { read: '*', write: '*' } }));
  return { types, rules, roles: [{ code: 'bench', records, assignedTo: { users: ['admin'] } }] };
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

async function measure(connection: Connection, key: string): Promise<void> {
  const create = async (typeDefinitionId: string, index: number): Promise<number> => {
    const values = {
      title: `Mail is slow ${index}`,
      description: 'Since this morning.',
      category: 'mail',
      priority: 'p3',
    };
    const json = JSON.stringify({ typeDefinitionId, values });
    const head = `POST /api/v1/objects HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
    const began = performance.now();
    const answer = await connection.request(
      `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    );
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.body.toString('utf8').slice(0, 500)}`);
    return performance.now() - began;
  };
  process.stdout.write(`| round | ms without rules | ms with ${RULES} rules | ratio of speeds |\n|---|---|---|---|\n`);
  for (let round = 0; round <= ROUNDS; round++) {
    const times: Record<'plain' | 'ruled', number[]> = { plain: [], ruled: [] };
    const calls = round === 0 ? WARM_UP : Math.ceil(CALLS / ROUNDS);
    for (let call = 0; call < calls; call++) {
      // Each of the two is first in every other turn.
      for (const type of call % 2 === 0 ? (['plain', 'ruled'] as const) : (['ruled', 'plain'] as const)) {
        times[type].push(await create(type, call));
      }
    }
    if (round === 0) continue;
    const [plain, ruled] = [median(times.plain), median(times.ruled)];
    process.stdout.write(`| ${round} | ${plain.toFixed(2)} | ${ruled.toFixed(2)} | ${(plain / ruled).toFixed(3)} |\n`);
  }
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
// The embedded database may run as another user.
await chmod(folder, 0o711);
const service: ServiceOptions = { folder, port: await freePort(), env: { DOCKET_STARTER: 'itsm' } };
try {
  const started = await startService(service);
  try {
    const files = path.join(folder, 'bundle');
    await mkdir(files);
    await writeFile(path.join(files, 'bench.yaml'), JSON.stringify(bundle()));
    await docket(service, ['apply', files]);
    const args = [
      'keys',
      'create',
      '--owner',
      'admin',
      '--name',
      'bench',
      '--scopes',
      'objects:write,objects:read',
      '--json',
    ];
    const { key } = JSON.parse(await docket(service, args)) as { key: string };
    const connection = await Connection.open(started.port);
    await measure(connection, key);
    connection.close();
  } finally {
    await stop(started.child);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
