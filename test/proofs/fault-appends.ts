/**
 * Concurrent clients append unique tokens to the same few texts, through every channel, while processes are killed. Every
 * acknowledged token must be present exactly once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyOutcome } from './fault-injection.ts';
import type { FaultEnvironment } from './fault-environment.ts';
import { attempt, type LoadAnswer, random } from './fault-client.ts';

const TEXTS = 4;
const WAYS = ['patch', 'bulk', 'inbound', 'import'] as const;

interface Text {
  id: string;
  ext: string;
}

export interface Appends {
  problems: string[];
  acknowledged: number;
  conflicts: number;
  unknown: number;
}

interface Client {
  stage: FaultEnvironment;
  next(): number;
  name: string;
  texts: readonly Text[];
  seen: Appends;
  /** Acknowledged tokens, and tokens of unknown outcome. */
  sure: Map<string, Text>;
  maybe: Set<string>;
  /** Texts that were read; each must be a prefix of the final one. */
  reads: { text: Text; note: string }[];
}

async function ask(client: Client, method: string, path: string, body?: unknown): Promise<LoadAnswer | undefined> {
  const urls = client.stage.urls();
  const url = urls[Math.floor(client.next() * urls.length)] as string;
  return await attempt(url, client.stage.key, method, `/api/v1${path}`, body);
}

type Sent = 'done' | 'refused' | 'unknown';

/** One append at the revision that was read. An import has no revision and appends only. */
async function append(client: Client, way: (typeof WAYS)[number], text: Text): Promise<void> {
  const read = await ask(client, 'GET', `/objects/${text.id}`);
  if (read?.status !== 200) return;
  const { revision, values } = read.body.data as { revision: number; values: { note?: string | null } };
  const note = values.note ?? '';
  client.reads.push({ text, note });
  const token = `${client.name}.${client.reads.length};`;
  const { ids } = client.stage;
  const changed = note + token;
  let sent: Sent;
  if (way === 'bulk') {
    const items = [{ objectId: text.id, expectedRevision: revision, changes: { note: changed } }];
    const answer = await ask(client, 'POST', '/bulk', { operation: 'update', items });
    const [result] = (answer?.body.data ?? []) as unknown as { status: string; error?: { code: string } }[];
    sent = outcome(answer, result?.status === 'SUCCEEDED' ? undefined : (result?.error?.code ?? ''));
  } else if (way === 'inbound') {
    sent = outcome(await ask(client, 'POST', `/inbound/${ids.alter}`, { id: text.id, at: revision, note: changed }));
  } else {
    const body = { expectedRevision: revision, changes: { note: changed } };
    sent = outcome(await ask(client, 'PATCH', `/objects/${text.id}`, body));
  }
  if (sent === 'done') client.sure.set(token, text);
  else if (sent === 'unknown') client.maybe.add(token);
  client.seen[sent === 'done' ? 'acknowledged' : sent === 'refused' ? 'conflicts' : 'unknown']++;
}

function outcome(answer: LoadAnswer | undefined, itemCode?: string): Sent {
  if (answer === undefined) return 'unknown';
  const code = answer.status < 300 ? itemCode : answer.body.error?.code;
  if (code === undefined) return 'done';
  return code === 'REVISION_CONFLICT' ? 'refused' : 'unknown';
}

/** Imports change another field of the same records all the while: an append that they overtake must be refused, not lost. */
async function importTitles(client: Client, turn: number): Promise<void> {
  const content = JSON.stringify(client.texts.map(({ ext }) => ({ ext, name: `title ${turn}` })));
  await ask(client, 'POST', '/imports/run', { definitionId: client.stage.ids.titles, content, dryRun: false });
}

export interface AppendOptions {
  clients: number;
  ms: number;
  /** Kills of a process of the service, and of a connection of the database, spread over the time. */
  serviceKills: number;
  backendKills: number;
  seed: number;
}

export async function appendTokens(environment: FaultEnvironment, options: AppendOptions): Promise<Appends> {
  const seen: Appends = { problems: [], acknowledged: 0, conflicts: 0, unknown: 0 };
  const texts = await makeTexts(environment, options.seed);
  const shared = {
    stage: environment,
    texts,
    seen,
    sure: new Map<string, Text>(),
    maybe: new Set<string>(),
    reads: [],
  };
  const until = performance.now() + options.ms;
  const clients = Array.from({ length: options.clients }, async (_, turn) => {
    const client: Client = { ...shared, next: random(options.seed + turn + 1), name: `t${turn}` };
    const way = WAYS[turn % WAYS.length] ?? 'patch';
    for (let count = 0; performance.now() < until; count++) {
      const text = texts[Math.floor(client.next() * texts.length)] as Text;
      if (way === 'import') await importTitles(client, count);
      else await append(client, way, text);
    }
  });
  const next = random(options.seed);
  const kills = options.serviceKills + options.backendKills;
  for (let turn = 0; turn < kills; turn++) {
    await sleep((options.ms / (kills + 1)) * (0.5 + next() / 2));
    if (turn < options.serviceKills) await environment.killService(turn % environment.processes);
    else await environment.killBackend(next);
  }
  await Promise.all(clients);
  // Statements of a killed process may still be running in the database for a moment.
  await sleep(1000);
  seen.problems.push(...(await judgeTokens(environment, shared)), ...(await verifyOutcome(environment)));
  return seen;
}

/** Made by an import, so that later imports find them by the same external ids. */
async function makeTexts(environment: FaultEnvironment, seed: number): Promise<Text[]> {
  const exts = Array.from({ length: TEXTS }, (_, turn) => `text-${seed}-${turn}`);
  const content = JSON.stringify(exts.map((ext) => ({ ext, name: ext, note: '' })));
  const url = environment.urls()[0] as string;
  const body = { definitionId: environment.ids.rows, content, dryRun: false };
  const answer = await attempt(url, environment.key, 'POST', '/api/v1/imports/run', body);
  const rows = answer?.body.data?.['rows'] as { id: string }[] | undefined;
  if (rows?.length !== TEXTS) throw new Error(`the texts were not made: ${JSON.stringify(answer?.body)}`);
  return rows.map(({ id }, turn) => ({ id, ext: exts[turn] as string }));
}

async function judgeTokens(
  environment: FaultEnvironment,
  seen: Pick<Client, 'sure' | 'maybe' | 'reads' | 'texts'>,
): Promise<string[]> {
  const problems: string[] = [];
  const rows = await environment.rows<{ id: string; note: string; replayed: string }>(
    `SELECT o.id::text, coalesce(o."values" ->> 'note', '') AS note, coalesce((SELECT j.changes -> 'note' ->> 1 FROM journal j
      WHERE j.object_id = o.id AND j.changes ? 'note' ORDER BY j.revision DESC LIMIT 1), '') AS replayed
    FROM objects o WHERE o.id = ANY($1::uuid[])`,
    [seen.texts.map(({ id }) => id)],
  );
  const final = new Map(rows.map(({ id, note }) => [id, note]));
  for (const { id, note, replayed } of rows) {
    if (note !== replayed) problems.push(`the history of ${id} ends with another text`);
    const tokens = note.split(';').filter((token) => token !== '');
    if (new Set(tokens).size !== tokens.length) problems.push(`${id} holds a token twice`);
    for (const token of tokens) {
      if (!seen.sure.has(`${token};`) && !seen.maybe.has(`${token};`))
        problems.push(`${token} was rejected but is stored`);
    }
  }
  for (const [token, { id }] of seen.sure) {
    if (final.get(id)?.includes(token) !== true) problems.push(`${token} was acknowledged and is lost`);
  }
  for (const { text, note } of seen.reads) {
    if (final.get(text.id)?.startsWith(note) !== true)
      problems.push(`${text.id} was read as something that it never became`);
  }
  return problems;
}
