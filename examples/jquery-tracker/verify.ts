/** Reads everything back and compares it with the plans: values, history, numbers, and that there is nothing more. */
import { isDeepStrictEqual } from 'node:util';
import { type Client, granted } from './client.ts';
import { TYPE } from './configure.ts';
import type { Journal } from './journal.ts';
import type { TicketPlan, Values } from './plan.ts';
import { inParallel, type Progress } from './progress.ts';

interface Person {
  id: string;
  displayName: string;
}

interface StoredRecord {
  id: string;
  number: string | null;
  title: string | null;
  typeCode: string;
  revision: number;
  state: string;
  values: Values;
  createdBy: Person | null;
  updatedBy: Person | null;
}

interface HistoryEvent {
  type: string;
  actor: { id: string | null; displayName: string; via: string };
  revision: number | null;
  changes: { field: string; from: unknown; to: unknown }[];
}

/** Something that the service holds otherwise than planned. */
export interface Deviation {
  ticket: string;
  what: string;
  expected: unknown;
  found: unknown;
}

export interface Verdict {
  records: number;
  events: number;
  /** Records of the type that the list shows. */
  listed: number;
  deviations: Deviation[];
}

interface Context {
  client: Client;
  journal: Journal;
  /** Of a person who may read every ticket and its history. */
  reader: string;
  userIds: ReadonlyMap<string, string>;
}

/** Compares every ticket. Tickets that were refused are deviations, too: they are not there. */
export async function verify(
  context: Context,
  plans: readonly TicketPlan[],
  workers: number,
  progress: Progress,
): Promise<Verdict> {
  const verdict: Verdict = { records: 0, events: 0, listed: 0, deviations: [] };
  const numbers = new Map<string, string>();
  await inParallel(plans, workers, async (plan) => {
    const differ = (what: string, expected: unknown, found: unknown): void => {
      if (!isDeepStrictEqual(expected, found)) verdict.deviations.push({ ticket: plan.ticket, what, expected, found });
    };
    const id = context.journal.created.get(plan.ticket);
    differ('a record was created', true, id !== undefined);
    if (id !== undefined) {
      const record = await read<StoredRecord>(context, 'read', `/api/v1/objects/${id}`);
      const events = await read<HistoryEvent[]>(context, 'history', `/api/v1/objects/${id}/history`);
      compareRecord(context, plan, record, differ);
      compareHistory(context, plan, events, differ);
      const twin = numbers.get(record.number ?? '');
      differ('no other record has its number', undefined, twin);
      numbers.set(record.number ?? '', plan.ticket);
      verdict.records++;
      verdict.events += events.length;
    }
    progress.add();
  });
  const listed = await listAll(context);
  verdict.listed = listed.length;
  const ours = [...context.journal.created.values()].sort();
  if (!isDeepStrictEqual(listed.toSorted(), ours)) {
    const what = 'the list has exactly the records that were created';
    verdict.deviations.push({ ticket: '', what, expected: ours.length, found: listed.length });
  }
  return verdict;
}

async function read<Data>(context: Context, name: string, path: string): Promise<Data> {
  const call = { name, method: 'GET', path, key: context.reader } as const;
  return granted(call, await context.client.call<Data>(call));
}

type Differ = (what: string, expected: unknown, found: unknown) => void;

function compareRecord(context: Context, plan: TicketPlan, record: StoredRecord, differ: Differ): void {
  for (const code of new Set([...Object.keys(plan.final), ...Object.keys(record.values)])) {
    differ(`value of ${code}`, plan.final[code] ?? null, record.values[code] ?? null);
  }
  differ('title', plan.final.summary ?? null, record.title);
  differ('type', TYPE, record.typeCode);
  differ('state', 'ACTIVE', record.state);
  differ('has a number', true, record.number !== null);
  differ('revision', plan.patches.at(-1)?.revision ?? 1, record.revision);
  differ('created by', context.userIds.get(plan.reporter), record.createdBy?.id);
  const last = plan.patches.findLast((patch) => Object.keys(patch.effect).length > 0);
  differ('updated by', context.userIds.get(last?.author ?? plan.reporter), record.updatedBy?.id);
}

function compareHistory(context: Context, plan: TicketPlan, events: HistoryEvent[], differ: Differ): void {
  const opened = { type: 'ObjectCreated', author: plan.reporter, revision: 1, effect: asEffect(plan.opening) };
  const changed = plan.patches
    .filter((patch) => Object.keys(patch.effect).length > 0)
    .map(({ author, revision, effect }) => ({ type: 'ObjectUpdated', author, revision, effect }));
  const expected = [opened, ...changed];
  differ('number of events', expected.length, events.length);
  expected.forEach((event, index) => {
    const found = events[index];
    if (found === undefined) return;
    const where = `event ${index + 1}`;
    differ(`${where}: type`, event.type, found.type);
    differ(`${where}: revision`, event.revision, found.revision);
    differ(`${where}: actor`, context.userIds.get(event.author), found.actor.id);
    differ(`${where}: actor's name`, event.author, found.actor.displayName);
    differ(`${where}: way in`, 'api', found.actor.via);
    const changes = Object.fromEntries(found.changes.map(({ field, from, to }) => [field, [from, to]]));
    differ(`${where}: changes`, event.effect, changes);
  });
}

function asEffect(opening: Values): Record<string, [null, unknown]> {
  return Object.fromEntries(Object.entries(opening).map(([code, value]) => [code, [null, value]]));
}

async function listAll(context: Context): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const path = `/api/v1/objects?typeId=${TYPE}&pageSize=100&page=${page}`;
    const list = await read<{ rows: { id: string }[]; hasMore: boolean }>(context, 'list 100', path);
    ids.push(...list.rows.map((row) => row.id));
    if (!list.hasMore) return ids;
  }
}
