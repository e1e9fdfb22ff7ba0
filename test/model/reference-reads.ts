/** The reference model of reads: records, lists, search, history, workflow and what stands around a record. */
import { isDeepStrictEqual } from 'node:util';
import type { Call } from './calls.ts';
import { type Outcome, refuse, sameRecord, succeed } from './outcome.ts';
import { canSeeComment, visible } from './reference-around.ts';
import { slaAnswer } from './sla.ts';
import type { Event, RecordState, State } from './state.ts';
import { canRead, canSee, FIELDS, transitionsOf } from './values.ts';
import type { Caller } from './world.ts';

const ABSENT = refuse(404, 'NOT_FOUND');

/** The outcome of a read; undefined for other operations. Reads change nothing. */
export function judgeReads(state: State, { op, who }: Call): Outcome | undefined {
  if (op.kind === 'list') return list(state, who, op.type, op.state);
  if (op.kind === 'search') {
    const { filter } = op;
    if (filter !== undefined && !canRead(who, 'ticket', filter.field)) return refuse(400, 'INVALID_FILTER');
    const hits = [...state.records.values()].filter(
      (one) => !one.archived && canSee(who, one) && one.values['run'] === op.run && matches(one, filter),
    );
    return succeed(200, state, (data) => {
      if (!data.totalExact || data.total !== hits.length) return `expected a total of ${hits.length}`;
      const times = data.results.map(({ updatedAt }: { updatedAt: string }) => updatedAt);
      if (!isDeepStrictEqual(times, [...times].sort().reverse())) return 'expected the last update first';
      return same(
        ids(data.results).sort(),
        hits
          .slice(0, 100)
          .map(({ id }) => id)
          .sort(),
      );
    });
  }
  if (op.kind === 'users' || !('objectId' in op) || op.objectId === undefined) return undefined;
  const record = visible(state, who, op.objectId);
  switch (op.kind) {
    case 'read':
      return record === undefined ? ABSENT : succeed(200, state, (data) => sameRecord(record, who, data));
    case 'workflow':
      return record === undefined ? ABSENT : succeed(200, state, (data) => workflow(record, who, data));
    case 'history':
      if (record === undefined) return ABSENT;
      if (who === 'viewer' || (who === 'agent' && record.type !== 'ticket')) return refuse(403, 'RIGHT_MISSING');
      return succeed(200, state, (data) => same(shown(data), history(state, who, record)));
    case 'comments': {
      if (record === undefined) return ABSENT;
      const found = [...state.comments.values()]
        .filter((one) => one.objectId === record.id && !one.archived && canSeeComment(who, one))
        .map(({ body, visibility, revision }) => ({ body, visibility, revision }));
      return succeed(200, state, (data) => {
        const order = data.map(({ createdAt, id }: any) => `${createdAt} ${id}`);
        if (!isDeepStrictEqual(order, order.toSorted())) return `not oldest first: ${order.join(', ')}`;
        // Two calls at one moment may make their comments in one millisecond; then ids give the order.
        const unordered = (list: readonly any[]): string[] =>
          list.map(({ body, visibility, revision }) => JSON.stringify([body, visibility, revision])).toSorted();
        return same(unordered(data), unordered(found));
      });
    }
    case 'relations': {
      if (record === undefined) return ABSENT;
      const found = [...state.relations.values()]
        .filter((one) => !one.archived && one.source === record.id && visible(state, who, one.target) !== undefined)
        .map(({ id, definition, target, revision }) => ({ id, definition, target, revision }));
      return succeed(200, state, (data) =>
        same(
          data.map(({ id, definitionCode, targetObjectId, revision }: any) => ({
            id,
            definition: definitionCode,
            target: targetObjectId,
            revision,
          })),
          found,
        ),
      );
    }
    case 'sla':
      if (record === undefined) return ABSENT;
      return succeed(200, state, (data) =>
        same(
          data.map(({ status, startedAt, elapsedMs, breached }: any) => ({ status, startedAt, elapsedMs, breached })),
          record.sla.map((instance) => slaAnswer(instance, state.now)),
        ),
      );
    default:
      return undefined;
  }
}

function same(found: unknown, wanted: unknown): string | undefined {
  return isDeepStrictEqual(found, wanted)
    ? undefined
    : `expected ${JSON.stringify(wanted)}, not ${JSON.stringify(found)}`;
}

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

function list(state: State, who: Caller, type: string, wanted: string): Outcome {
  if (who !== 'chief' && type === 'word') return refuse(400, 'INVALID_REQUEST');
  if (who === 'viewer' && type === 'part') return refuse(400, 'INVALID_REQUEST');
  const rows = [...state.records.values()]
    .filter((one) => one.type === type && canSee(who, one))
    .filter((one) => (wanted === 'ARCHIVED' ? one.archived : !one.archived))
    .filter((one) => wanted === 'ARCHIVED' || wanted === 'ACTIVE' || one.workflow === wanted)
    .sort((one, other) => other.createdAt - one.createdAt || (other.id > one.id ? 1 : -1));
  // Records of earlier runs follow those of this one.
  return succeed(200, state, (data) => {
    const wrong = same(
      ids(data.rows.filter(({ id }: { id: string }) => state.records.has(id))),
      ids(rows).slice(0, 100),
    );
    if (wrong !== undefined) return wrong;
    for (const row of data.rows) {
      const record = state.records.get(row.id);
      const difference = record === undefined ? undefined : sameRecord(record, who, row);
      if (difference !== undefined) return `${row.id}: ${difference}`;
    }
    return undefined;
  });
}

/** A record whose type does not have the field matches no condition on it. */
function matches(
  { type, values }: RecordState,
  filter: { field: string; operator: string; value: any } | undefined,
): boolean {
  if (filter === undefined) return true;
  if (!FIELDS[type].includes(filter.field)) return false;
  const value = values[filter.field] ?? null;
  switch (filter.operator) {
    case 'equals':
      return value === filter.value;
    case 'not-equals':
      return value !== filter.value;
    case 'is-empty':
      return (value === null) === filter.value;
    case 'in':
      return filter.value.includes(value);
    case 'contains':
      return Array.isArray(value) && value.includes(filter.value);
    case 'range':
      return typeof value === 'number' && value >= filter.value[0] && value <= filter.value[1];
    default:
      throw new Error(`no operator ${filter.operator}`);
  }
}

function workflow(record: RecordState, who: Caller, data: any): string | undefined {
  const offered = transitionsOf(who).filter(
    ({ from, ofKindA }) =>
      record.workflow !== null && from.includes(record.workflow) && (!ofKindA || record.values['kind'] === 'a'),
  );
  const found = {
    object: data.object,
    state: data.state?.code ?? null,
    transitions: data.transitions.map(({ code }: { code: string }) => code).sort(),
  };
  return same(found, {
    object: { id: record.id, revision: record.revision },
    state: record.workflow,
    transitions: record.archived ? [] : offered.map(({ code }) => code).sort(),
  });
}

interface Shown {
  type: string;
  revision?: number;
  fields: string[];
}

/** The events of an answer, without those of SLA instances: background tasks make some of them. */
function shown(data: readonly any[]): Shown[] {
  return data
    .filter(({ type }) => !type.startsWith('Sla'))
    .map(({ type, revision, changes }) => ({
      type,
      ...(type.startsWith('Object') ? { revision } : {}),
      fields: changes.map(({ field }: { field: string }) => field).sort(),
    }));
}

/** The events that the caller may see. */
function history(state: State, who: Caller, record: RecordState): Shown[] {
  return record.history.flatMap((event): Shown[] => {
    if (event.about !== undefined) return isAboutVisible(state, who, event) ? [{ type: event.type, fields: [] }] : [];
    const fields = event.fields.filter(
      (field) => field === 'state' || field === 'workflowState' || canRead(who, record.type, field),
    );
    return fields.length === 0 ? [] : [{ type: event.type, revision: event.revision, fields }];
  });
}

function isAboutVisible(state: State, who: Caller, { about = '' }: Event): boolean {
  const comment = state.comments.get(about);
  if (comment !== undefined) return canSeeComment(who, comment);
  const relation = state.relations.get(about);
  return relation !== undefined && visible(state, who, relation.target) !== undefined;
}
